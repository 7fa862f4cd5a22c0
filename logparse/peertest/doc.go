// Package peertest measures the program on large logs beside what others need for
// the same file in the same run: jq and lnav, which read its records, ripgrep, which
// reads its lines, gzip and zstd, which unpack it. All run as processes of their
// own, and it is their CPU time that is compared, since a machine has other things
// to do. What is not installed is left out.
//
//	go test ./logparse/peertest -run '^$' -bench . -log.size 2GiB
package peertest
