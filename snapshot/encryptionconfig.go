package snapshot

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// The kinds of an API server's --encryption-provider-config; the second is that
// of releases before 1.13 (--experimental-encryption-provider-config).
var configKinds = []string{"EncryptionConfiguration", "EncryptionConfig"}

// configGroup is the group of the kinds; the older one has the version alone.
const configGroup = "apiserver.config.k8s.io"

// encryptionConfig is what is read of an EncryptionConfiguration (apiserver
// v0.37 pkg/apis/apiserver/v1/types_encryption.go).
type encryptionConfig struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Resources  []struct {
		Resources []string         `json:"resources"`
		Providers []configProvider `json:"providers"`
	} `json:"resources"`
}

// configProvider is one provider: exactly one of the fields is set.
type configProvider struct {
	AESGCM    *configKeys `json:"aesgcm"`
	AESCBC    *configKeys `json:"aescbc"`
	Secretbox *configKeys `json:"secretbox"`
	Identity  *struct{}   `json:"identity"`
	KMS       *struct {
		APIVersion string `json:"apiVersion"`
		Name       string `json:"name"`
	} `json:"kms"`
}

type configKeys struct {
	Keys []struct {
		Name   string `json:"name"`
		Secret string `json:"secret"`
	} `json:"keys"`
}

// ParseEncryptionConfig reads an API server's EncryptionConfiguration
// (apiserver.config.k8s.io/v1, its betas, and the older v1 EncryptionConfig), as
// YAML or JSON. Errors say where something is wrong, never what stands there:
// it may be a secret.
func ParseEncryptionConfig(data []byte) (*Keys, error) {
	c, err := decodeConfig(data)
	if err != nil {
		return nil, fmt.Errorf("encryption configuration: %w", err)
	}
	k := &Keys{}
	for i, entry := range c.Resources {
		rule := keyRule{resources: entry.Resources}
		for j, p := range entry.Providers {
			provider, err := p.parse()
			if err != nil {
				return nil, fmt.Errorf("encryption configuration: resources[%d].providers[%d]%w", i, j, err)
			}
			rule.providers = append(rule.providers, provider)
		}
		k.rules = append(k.rules, rule)
	}
	if len(k.rules) == 0 {
		return nil, errors.New("encryption configuration: it has no resources")
	}
	return k, nil
}

// yamlLine finds the place in an error of the YAML parser, whose other words may
// quote the input.
var yamlLine = regexp.MustCompile(`\bline \d+`)

// decodeConfig decodes the bytes and makes sure of the kind.
func decodeConfig(data []byte) (*encryptionConfig, error) {
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		if line := yamlLine.FindString(err.Error()); line != "" {
			return nil, fmt.Errorf("not YAML or JSON: %s", line)
		}
		return nil, errors.New("not YAML or JSON")
	}
	c := &encryptionConfig{}
	if err := json.Unmarshal(asJSON, c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, fmt.Errorf("%s has a value of the wrong type", wrong.Field)
		}
		return nil, errors.New("not an object of the kind")
	}
	group, version, found := strings.Cut(c.APIVersion, "/")
	if !slices.Contains(configKinds, c.Kind) || found && group != configGroup || !found && group != "v1" || found && version == "" {
		return nil, errors.New("not of the kind EncryptionConfiguration (" + configGroup + "/v1)")
	}
	return c, nil
}

// parse makes a provider of an entry; an error begins with the field it is
// about.
func (c configProvider) parse() (provider, error) {
	var all []provider
	for _, secrets := range []struct {
		name string
		keys *configKeys
	}{{providerGCM, c.AESGCM}, {providerCBC, c.AESCBC}, {providerSecretbox, c.Secretbox}} {
		if secrets.keys == nil {
			continue
		}
		keys, err := secrets.keys.parse(openers[secrets.name])
		if err != nil {
			return provider{}, fmt.Errorf(".%s.%w", secrets.name, err)
		}
		all = append(all, provider{name: secrets.name, version: "v1", keys: keys})
	}
	if c.Identity != nil {
		all = append(all, provider{name: providerIdentity})
	}
	if c.KMS != nil {
		p := provider{name: providerKMS, version: c.KMS.APIVersion, plugin: c.KMS.Name}
		if p.version == "" {
			p.version = "v1"
		}
		all = append(all, p)
	}
	if len(all) != 1 {
		return provider{}, fmt.Errorf(": %d providers that are known, want one", len(all))
	}
	return all[0], nil
}

// parse makes openers of the secrets.
func (c *configKeys) parse(open func([]byte) (opener, error)) ([]namedKey, error) {
	var keys []namedKey
	for i, k := range c.Keys {
		secret, err := base64.StdEncoding.DecodeString(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("keys[%d].secret: not base64", i)
		}
		opens, err := open(secret)
		if err != nil {
			return nil, fmt.Errorf("keys[%d].secret: %w", i, err)
		}
		if k.Name == "" {
			return nil, fmt.Errorf("keys[%d].name: missing", i)
		}
		keys = append(keys, namedKey{name: k.Name, open: opens})
	}
	if len(keys) == 0 {
		return nil, errors.New("keys: missing")
	}
	return keys, nil
}
