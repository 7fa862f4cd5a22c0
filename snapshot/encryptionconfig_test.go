package snapshot

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

var boxSecret = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("S", 32)))

func TestParseEncryptionConfig(t *testing.T) {
	rules := "\nresources:\n- resources: [secrets, '*.example.com']\n  providers:\n  - aescbc: {keys: [{name: k1, secret: " + boxSecret + "}, {name: k2, secret: " + boxSecret + "}]}\n" +
		"  - secretbox: {keys: [{name: k1, secret: " + boxSecret + "}]}\n  - identity: {}\n- resources: ['*.*']\n  providers: [{kms: {apiVersion: v2, name: vault, cachesize: 3, timeout: 3s, endpoint: 'unix:///x'}}]\n"
	const want = `aescbc "k1", aescbc "k2", secretbox "k1", kms v2 "vault"`
	for _, head := range []string{
		"kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1",
		"---\n# a comment\nkind: \"EncryptionConfiguration\" # of 2024\napiVersion: apiserver.config.k8s.io/v1beta1",
		"kind: EncryptionConfig\napiVersion: v1",
		"kind: 'EncryptionConfig'\r\napiVersion: apiserver.config.k8s.io/v1",
	} {
		k, err := ParseEncryptionConfig([]byte(head + rules))
		if err != nil || k.String() != want {
			t.Errorf("%q: %v, %v", head, k, err)
		}
		if !LooksLikeEncryptionConfig([]byte(head + rules)[:len(head)+40]) {
			t.Errorf("%q is not found", head)
		}
	}
	inJSON := `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration","resources":[{"resources":["secrets"],"providers":[{"aesgcm":{"keys":[{"name":"k1","secret":"` + boxSecret + `"}]}}]}]}`
	if k, err := ParseEncryptionConfig([]byte(inJSON)); err != nil || k.String() != `aesgcm "k1"` {
		t.Errorf("JSON: %v, %v", k, err)
	}
}

// TestParseEncryptionConfigErrors hides a secret in everything that is wrong.
func TestParseEncryptionConfigErrors(t *testing.T) {
	const head = "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n"
	entry := func(provider string) string {
		return head + "resources: [{resources: [a], providers: [" + provider + "]}]"
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "encryption configuration: not of the kind EncryptionConfiguration (apiserver.config.k8s.io/v1)"},
		{"text", "HIDDEN", "encryption configuration: not an object of the kind"},
		{"other kind", "kind: HIDDEN\napiVersion: v1", "encryption configuration: not of the kind EncryptionConfiguration (apiserver.config.k8s.io/v1)"},
		{"other group", "kind: EncryptionConfiguration\napiVersion: HIDDEN/v1", "encryption configuration: not of the kind EncryptionConfiguration (apiserver.config.k8s.io/v1)"},
		{"no rules", head, "encryption configuration: it has no resources"},
		{"broken", head + "resources: [\n  *HIDDEN\n", "encryption configuration: not YAML or JSON"},
		{"two values", head + "x: HIDDEN: 2\n", "encryption configuration: not YAML or JSON: line"},
		{"a map", entry("{aescbc: {keys: [{name: a, secret: {HIDDEN: x}}]}}"), "encryption configuration: resources.providers.aescbc.keys.secret has a value of the wrong type"},
		{"a number", entry("{aescbc: {keys: [{name: a, secret: 4111}]}}"), "encryption configuration: resources.providers.aescbc.keys.secret has a value of the wrong type"},
		{"not base64", entry("{aescbc: {keys: [{name: a, secret: HIDDEN-}]}}"), "encryption configuration: resources[0].providers[0].aescbc.keys[0].secret: not base64"},
		{"short", entry("{aesgcm: {keys: [{name: a, secret: SElEREVO}]}}"), "encryption configuration: resources[0].providers[0].aesgcm.keys[0].secret: not a secret of the right length"},
		{"short box", entry("{secretbox: {keys: [{name: a, secret: SElEREVOSElEREVOSElERA==}]}}"), "encryption configuration: resources[0].providers[0].secretbox.keys[0].secret: not a secret of the right length"},
		{"no name", entry("{secretbox: {keys: [{secret: " + boxSecret + "}]}}"), "encryption configuration: resources[0].providers[0].secretbox.keys[0].name: missing"},
		{"no keys", entry("{secretbox: {}}"), "encryption configuration: resources[0].providers[0].secretbox.keys: missing"},
		{"unknown provider", entry("{HIDDEN: {}}"), "encryption configuration: resources[0].providers[0]: 0 providers that are known, want one"},
		{"two providers", entry("{identity: {}, kms: {name: HIDDEN}}"), "encryption configuration: resources[0].providers[0]: 2 providers that are known, want one"},
	}
	for _, tt := range tests {
		k, err := ParseEncryptionConfig([]byte(tt.text))
		if k != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v", tt.name, k, err)
			continue
		}
		for _, secret := range []string{"HIDDEN", "4111", "SElE", boxSecret} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error quotes the input: %v", tt.name, err)
			}
		}
	}
}

// TestKeysPrint prints keys in every way, alone and inside of others.
func TestKeysPrint(t *testing.T) {
	k := parseKeys(t, config(confKey{providerGCM, "key1", []byte(strings.Repeat("S", 32))}))
	for _, v := range []any{k, *k, Options{Keys: k}, &History{secrets: k}, k.rules} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, "SSSS") || strings.Contains(s, "53535353") || strings.Contains(s, "83 83 83") || strings.Contains(s, "0x53, 0x53") {
				t.Errorf("%s of %T shows the secret: %s", verb, v, s)
			}
		}
	}
}

func TestLooksLikeEncryptionConfig(t *testing.T) {
	for text, want := range map[string]bool{
		`{"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1","resources":[{"res`:               true,
		"\xef\xbb\xbf \n{\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\"kind\": [1]}, \"kind\": \"EncryptionConfig\"": true,
		"apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n":                                      true,
		"": false,
		`{"kind":"Event","requestObject":{"kind":"EncryptionConfiguration"}}`: false,
		`{"apiVersion":"v1","items":[{"kind":"EncryptionConfiguration"}]}`:    false,
		`{"apiVersion":"kind","EncryptionConfiguration":"x"}`:                 false,
		`{"kind":"EncryptionConfigurationList"}`:                              false,
		`{"kind":`:                                                            false,
		"data:\n  config: |\n    kind: EncryptionConfiguration\n":             false,
		"I1130 kind: EncryptionConfiguration\n":                               false,
		"kind: EncryptionConfigurations\n":                                    false,
	} {
		if got := LooksLikeEncryptionConfig([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestKeyRules(t *testing.T) {
	tests := []struct {
		rule string
		key  string
		want bool
	}{
		{"secrets", "/registry/secrets/a/b", true},
		{"secrets", "/registry/configmaps/a/b", false},
		{"secrets", "/registry/example.com/secrets/a/b", false},
		{"secrets.", "/registry/secrets/a/b", true},
		{"*.", "/registry/secrets/a/b", true},
		{"*.", "/registry/masterleases/10.0.0.1", true},
		{"*.", "/registry/deployments/a/b", false},
		{"deployments.apps", "/registry/deployments/a/b", true},
		{"deployments", "/registry/deployments/a/b", false},
		{"*.apps", "/registry/daemonsets/a/b", true},
		{"*.apps", "/registry/pods/a/b", false},
		{"things.example.com", "/registry/example.com/things/a/b", true},
		{"*.example.com", "/registry/example.com/things/a/b", true},
		{"*.example.com", "/registry/www.example.com/things/a/b", false},
		{"*.*", "/registry/example.com/things/a/b", true},
		{"*.*", "/registry/pods/a/b", true},
	}
	for _, tt := range tests {
		r, ok := ParseKey(tt.key)
		if got := (keyRule{resources: []string{tt.rule}}).matches(r); !ok || got != tt.want {
			t.Errorf("%s for %s: %v", tt.rule, tt.key, got)
		}
	}
}

// FuzzParseEncryptionConfig wants no panic.
func FuzzParseEncryptionConfig(f *testing.F) {
	f.Add([]byte(config(confKey{providerCBC, "a", make([]byte, 32)})))
	f.Add([]byte(`{"kind":"EncryptionConfig","apiVersion":"v1","resources":[{"providers":[{"kms":{"name":"x"}},{"identity":{}}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = LooksLikeEncryptionConfig(b)
		k, err := ParseEncryptionConfig(b)
		if (k == nil) == (err == nil) {
			t.Fatalf("%v, %v", k, err)
		}
		_ = k.String()
	})
}
