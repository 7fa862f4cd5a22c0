package logparse

import "strings"

// levelNames are the names of levels in all the formats, in small letters.
var levelNames = map[string]Level{
	"trace": LevelDebug, "trac": LevelDebug, "debug": LevelDebug, "debu": LevelDebug, "d": LevelDebug, "t": LevelDebug,
	"info": LevelInfo, "i": LevelInfo, "notice": LevelInfo, "n": LevelInfo, "information": LevelInfo,
	"warn": LevelWarn, "warning": LevelWarn, "w": LevelWarn,
	"error": LevelError, "erro": LevelError, "err": LevelError, "e": LevelError,
	"fatal": LevelFatal, "fata": LevelFatal, "f": LevelFatal, "panic": LevelFatal, "pani": LevelFatal, "dpanic": LevelFatal,
	"critical": LevelFatal, "crit": LevelFatal, "c": LevelFatal, "alert": LevelFatal, "emerg": LevelFatal,
}

// levelNamed is the level of a name, in any case; unknown if it is none.
func levelNamed(name string) Level {
	if l, ok := levelNames[name]; ok {
		return l
	}
	if len(name) > len("information") {
		return LevelUnknown
	}
	return levelNames[strings.ToLower(name)]
}
