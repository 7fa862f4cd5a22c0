package source

import "bytes"

// otherMarks are the first bytes of archives that are known and not unpacked.
var otherMarks = []struct{ name, mark string }{
	{"7-Zip", "7z\xbc\xaf\x27\x1c"},
	{"lz4", "\x04\x22\x4d\x18"},
	{"compress (.Z)", "\x1f\x9d"},
	{"RAR", "Rar!\x1a\x07"},
}

// isArchive looks for the marks of archives and compressed files.
func isArchive(block []byte) bool {
	return isTar(block) || isZip(block) || codecOf(block) != nil || otherArchive(block) != ""
}

// otherArchive is the name of an archive that is not unpacked, "" for others.
func otherArchive(block []byte) string {
	for _, a := range otherMarks {
		if bytes.HasPrefix(block, []byte(a.mark)) {
			return a.name
		}
	}
	return ""
}

// isBzip2 wants the mark and that of its first block: "BZh" alone is a word.
func isBzip2(block []byte) bool {
	return len(block) >= 10 && bytes.HasPrefix(block, []byte("BZh")) && block[3] >= '1' && block[3] <= '9' &&
		bytes.Equal(block[4:10], []byte("1AY&SY"))
}
