package correlate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
)

// worldOfWrites has a Secret and a Deployment that were changed, refused and lost.
func worldOfWrites(t *testing.T) *Case {
	t.Helper()
	w := world.New()
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "cart"}
	secret := &corev1.Secret{ObjectMeta: *meta.DeepCopy(), Data: map[string][]byte{"key": []byte("hunter2hunter2")}, StringData: map[string]string{"other": "hunter3"}}
	secret.Annotations = map[string]string{lastApplied: `{"data":{"key":"hunter4"}}`}
	d := &appsv1.Deployment{ObjectMeta: meta}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "reg.example/cart:1"}}
	w.Put(1*sec, secret)
	w.Put(2*sec, d)
	w.Refuse(3*sec, secret, 7)
	tried := d.DeepCopy()
	tried.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:2"
	tried.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "hunter5"}, {Name: "MODE", Value: "fast"}}
	now := metav1.NewTime(w.Time(12 * sec))
	tried.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "ci", Operation: metav1.ManagedFieldsOperationUpdate, Time: &now}}
	w.Propose(12*sec, 3, tried, 3)
	w.Audit(12*sec, world.Request{ID: "lost-1", Verb: "patch", Resource: "deployments", Namespace: "shop", Name: "cart", User: "bot", Agent: "ci/1.0",
		URI: "/apis/apps/v1/namespaces/shop/deployments/cart", Code: 500, Message: "etcdserver: request timed out", Took: 7 * sec})
	w.Elect(20 * sec)
	w.Renew("kube-system", "kube-scheduler", "a_1", 21*sec, 60*sec, 2*sec)
	dir := t.TempDir()
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.SaveWAL(dir); err != nil {
		t.Fatal(err)
	}
	return loadDir(t, dir)
}

// TestAttempted checks that the objects of writes that did not land are shown, and
// that nothing secret in them is.
func TestAttempted(t *testing.T) {
	rows := slices.Collect(worldOfWrites(t).Writes(WriteQuery{Failed: true, Attempted: true}))
	if len(rows) != 2 {
		t.Fatalf("%d rows, want the refused Secret and the lost Deployment", len(rows))
	}
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter", "aHVudGVy"} { // and in base64
		if strings.Contains(string(text), secret) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	for _, shown := range []string{"reg.example/cart:2", "DB_PASSWORD", `"value":"fast"`, "secret#1"} {
		if !strings.Contains(string(text), shown) {
			t.Errorf("%s is not shown: %s", shown, text)
		}
	}
	lost, refused := rows[0], rows[1] // nothing dates the refused one closely
	if refused.Object != "secrets/shop/cart" || refused.Fate != FateRejected || refused.Attempted == nil {
		t.Errorf("refused: %+v", refused.Write)
	}
	if lost.Object != "deployments/shop/cart" || lost.Fate != FateLost || lost.AuditID != "lost-1" || lost.RequestID == "" || lost.Member != world.MemberIDs[0] {
		t.Errorf("lost: %+v", lost.Write)
	}
}

// TestAttemptedOnRequest checks that no object is shown that was not asked for, and
// none of a write that landed.
func TestAttemptedOnRequest(t *testing.T) {
	c := worldOfWrites(t)
	for row := range c.Writes(WriteQuery{}) {
		if row.Attempted != nil {
			t.Errorf("%s: %v", row.Object, row.Attempted)
		}
	}
	for row := range c.Writes(WriteQuery{Attempted: true}) {
		if row.Fate == FateLanded && row.Attempted != nil {
			t.Errorf("%s landed and is shown: %v", row.Object, row.Attempted)
		}
	}
}
