package main

import (
	"fmt"
	"strings"
)

// stageNames are the names of stages 1 to 9.
var stageNames = [...]string{"build", "publish", "update", "replicaset", "schedule", "prepare", "start", "serve", "converge"}

// stageList is "1 build, 2 publish, …".
func stageList() string {
	var out []string
	for i, n := range stageNames {
		out = append(out, fmt.Sprintf("%d %s", i+1, n))
	}
	return strings.Join(out, ", ")
}

// stagesInWords spells out the stages of a cause: "3,4" is "stage 3 (update) or
// 4 (replicaset)".
func stagesInWords(stages string) string {
	switch stages {
	case "":
		return "nothing"
	case "any":
		return "any stage"
	}
	named := func(s string) string {
		if len(s) == 1 && s[0] >= '1' && int(s[0]-'1') < len(stageNames) {
			return fmt.Sprintf("%s (%s)", s, stageNames[s[0]-'1'])
		}
		return s
	}
	if from, to, ok := strings.Cut(stages, "-"); ok {
		return "stages " + named(from) + " to " + named(to)
	}
	list := strings.Split(stages, ",")
	for i := range list {
		list[i] = named(list[i])
	}
	if len(list) == 1 {
		return "stage " + list[0]
	}
	last := len(list) - 1
	return "stage " + strings.Join(list[:last], ", ") + " or " + list[last]
}
