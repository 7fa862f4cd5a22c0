package source

import "bytes"

// archiveMarks are the first bytes of archives and of compressed files.
var archiveMarks = []struct {
	offset int
	mark   string
}{
	{0, "\x1f\x8b\x08"},       // gzip (RFC 1952), deflate
	{0, "\x28\xb5\x2f\xfd"},   // zstd (RFC 8878)
	{0, "\xfd7zXZ\x00"},       // xz
	{0, "PK\x03\x04"},         // zip
	{0, "PK\x05\x06"},         // zip without entries
	{0, "7z\xbc\xaf\x27\x1c"}, // 7-Zip
	{0, "\x04\x22\x4d\x18"},   // lz4 frame
	{0, "\x1f\x9d"},           // compress (.Z)
	{257, "ustar"},            // tar (POSIX.1-1988 and GNU)
}

// isArchive looks for the marks, and for bzip2's, whose fourth byte is a digit.
func isArchive(block []byte) bool {
	for _, a := range archiveMarks {
		if len(block) >= a.offset && bytes.HasPrefix(block[a.offset:], []byte(a.mark)) {
			return true
		}
	}
	return len(block) >= 10 && bytes.HasPrefix(block, []byte("BZh")) && block[3] >= '1' && block[3] <= '9' &&
		bytes.Equal(block[4:10], []byte("1AY&SY"))
}
