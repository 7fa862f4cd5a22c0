package main

import (
	"fmt"
	"strconv"
	"strings"

	"etcd-autopsy/correlate"
)

// stageList is "1 build, 2 publish, …".
func stageList() string {
	var out []string
	for n := 1; correlate.StageName(n) != ""; n++ {
		out = append(out, fmt.Sprintf("%d %s", n, correlate.StageName(n)))
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
		if n, err := strconv.Atoi(s); err == nil && correlate.StageName(n) != "" {
			return fmt.Sprintf("%s (%s)", s, correlate.StageName(n))
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
