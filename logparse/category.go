package logparse

// notMeaning says, by category, what messages of one kind of trouble are often taken
// for and do not show. A signature can say it better.
var notMeaning = map[string]string{
	"slow-network":               "not where the network is slow or cut: it is the view of one side, and a paused or stopped process on the other side looks the same",
	"leadership":                 "not a fault of the cluster by itself: terms change when members restart or leadership is moved on purpose",
	"corruption":                 "not which copy is the wrong one: compare the members at one revision before anything is removed",
	"api-timeout":                "not that the request was not carried out, nor which side was slow",
	"membership":                 "not a fault by itself: members are also added and removed on purpose",
	"lifecycle":                  "not a fault by itself: programs are also started and stopped on purpose",
	"space":                      "not that the disk is full: etcd counts its own quota",
	"slow-disk":                  "no proof of a slow disk: CPU starvation, a paused process and large requests look the same",
	"tls-auth":                   "not that the cluster was held up: one client, or one peer, was refused",
	"controller-leader-election": "not that nobody led: a standby may have taken over at once",
	"runtime":                    "not that containers which run are affected",
	"node":                       "not that pods on the node had stopped: the report of the node was missing or bad",
	"watch-cache":                "not that data is wrong: the cache of one API server is behind or built anew",
	"compaction":                 "not a fault by itself: compaction is routine",
	"client-overload":            "not that the server is slow: it limits clients on purpose",
	"quorum":                     "not that the cluster has lost its quorum, unless a majority says so",
	"network-cni":                "not that the node's own network is down",
	"volume":                     "not that data is lost",
	"probe":                      "not that the container has crashed",
	"api-conflict":               "no error: optimistic locking at work, the client tries again",
	"admission":                  "not that the API server is slow: something that it has to ask did not agree or answer",
	"scheduling":                 "not that the scheduler is at fault: it says what the nodes lack",
	"image":                      "not that the registry is down: name, tag and credentials fail alike",
	"leader-starved":             "no proof of a slow disk: CPU starvation and a paused process look the same",
	"clock":                      "not which of the two clocks is wrong",
}
