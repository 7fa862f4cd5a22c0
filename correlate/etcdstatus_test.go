package correlate

import (
	"strings"
	"testing"
)

const (
	statusList = `[{"Endpoint":"https://10.0.0.1:2379","Status":{"header":{"cluster_id":14841639068965178418,"member_id":10501334649042878790,"revision":41250,"raft_term":7},"version":"3.5.9","dbSize":104857600,"leader":10501334649042878790,"raftIndex":50100,"raftTerm":7,"raftAppliedIndex":50099,"dbSizeInUse":52428800,"errors":["memberID:10501334649042878790 alarm:NOSPACE "]}}]`
	memberList = `{"header":{"cluster_id":14841639068965178418,"member_id":10501334649042878790,"raft_term":7},"members":[{"ID":10501334649042878790,"name":"cp-1","peerURLs":["https://10.0.0.1:2380"],"clientURLs":["https://10.0.0.1:2379"]},{"ID":10501334649042878791,"name":"cp-2","peerURLs":[],"clientURLs":[],"isLearner":true}]}`
	alarmList  = `{"header":{"cluster_id":14841639068965178418},"alarms":[{"memberID":10501334649042878790,"alarm":1}]}`
	hexList    = `{"header":{"cluster_id":"cdf818194e3a8c32"},"members":[{"ID":"91bc3c398fb3c146","name":"cp-1"}]}`
)

// Saved answers of etcdctl name members, sizes and alarms.
func TestEtcdStatus(t *testing.T) {
	c := openLogs(t, map[string]string{"etcd_info/endpoint_status.json": statusList, "etcd_info/member_list.json": memberList, "etcd_info/alarm_list.json": alarmList})
	for _, in := range c.Inputs() {
		if in.Kind != "status" || len(in.Problems) > 0 || in.Records == 0 {
			t.Errorf("%+v", in)
		}
	}
	rows := c.Members()
	if len(rows) != 2 || rows[0].Name != "cp-1" || rows[0].ID != "91bc3c398fb3c146" || strings.Join(rows[0].Alarms, " ") != "NOSPACE" || !rows[1].Learner {
		t.Fatalf("%+v", rows)
	}
	st := rows[0].Status[0]
	if st.Version != "3.5.9" || st.DBSize != 100<<20 || st.Revision != 41250 || st.Leader != "cp-1" || st.Applied != 50099 || len(st.Errors) != 1 {
		t.Errorf("%+v", st)
	}
	a, err := c.Analyze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Episodes) != 1 || a.Episodes[0].Kind != "nospace" || len(a.Episodes[0].Evidence) != 1 || !strings.Contains(a.Evidence[0].Source, "alarm_list.json") {
		t.Errorf("%+v %+v", a.Episodes, a.Evidence)
	}
}

func TestEtcdStatusShapes(t *testing.T) {
	c := openLogs(t, map[string]string{"a.json": hexList})
	if rows := c.Members(); len(rows) != 1 || rows[0].ID != "91bc3c398fb3c146" {
		t.Errorf("%+v", rows)
	}
	c = openLogs(t, map[string]string{"a.json": memberList[:100]})
	if in := c.Inputs()[0]; in.Kind == "status" && len(in.Problems) == 0 {
		t.Errorf("%+v", in)
	}
	for _, other := range []string{`{"members":[1]}`, `[{"Endpoint":"x"}]`, `{"level":"info","msg":"x","header":1}`} {
		if looksLikeStatus([]byte(other)) {
			t.Errorf("%s looks like an answer of etcdctl", other)
		}
	}
}
