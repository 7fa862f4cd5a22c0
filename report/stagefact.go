package report

import (
	"fmt"
	"time"

	"etcd-autopsy/correlate"
)

// stageFact is what a reader has to know about a stage besides its times.
type stageFact struct {
	// zh is the name in the Chinese list of stages.
	zh string
	// low and high bound the usual time of one pod; 0 where none is usual.
	low, high time.Duration
	// done says when the stage is reached.
	done string
}

// stageFacts are the stages by number; the first entry is unused.
var stageFacts = [...]stageFact{
	1: {"代码提交与CI构建", time.Minute, 10 * time.Minute, "an image exists"},
	2: {"镜像推送与版本标记", 30 * time.Second, 3 * time.Minute, "the image can be pulled"},
	3: {"更新Deployment资源", time.Second, 2 * time.Second, "the new template is stored"},
	4: {"ReplicaSet版本演进", time.Second, 5 * time.Second, "a pod of the new template is created"},
	5: {"Pod调度决策", 100 * time.Millisecond, 5 * time.Second, "a pod is bound to a node"},
	6: {"Kubelet拉取镜像", 10 * time.Second, 2 * time.Minute, "volumes, sandbox and images are there"},
	7: {"容器启动与健康检查", 5 * time.Second, 30 * time.Second, "the containers are ready"},
	8: {"Pod就绪与流量接入", time.Second, 3 * time.Second, "the pod is ready in its Services"},
	9: {"发布收敛", 0, 0, "the counts of the workload agree"},
}

func factOf(stage int) stageFact {
	if stage < 1 || stage >= len(stageFacts) {
		return stageFact{}
	}
	return stageFacts[stage]
}

// usual writes the usual time of a stage.
func (f stageFact) usual() string {
	if f.high == 0 {
		return "–"
	}
	return duration(f.low) + " – " + duration(f.high)
}

// stageName writes a stage for a sentence: "stage 6 (prepare)".
func stageName(stage int) string {
	return fmt.Sprintf("stage %d (%s)", stage, correlate.StageName(stage))
}

// stateWords are the words for a stage's state.
var stateWords = map[correlate.StageState]string{
	correlate.StageReached:    "done",
	correlate.StageDelayed:    "delayed",
	correlate.StageStalled:    "stalled",
	correlate.StageInProgress: "in progress",
	correlate.StageNotReached: "not reached",
	correlate.StageNoEvidence: "no evidence",
}

// stateMark sets a state; a state of a later version is shown as it is.
func stateMark(s correlate.StageState) phrase {
	if w, ok := stateWords[s]; ok {
		return mark(w, "state-"+string(s))
	}
	return mark(string(s), "state-no-evidence")
}
