// Package oidc lets people sign in with the accounts that they have at providers of
// OpenID Connect, by the code flow with PKCE. It keeps nothing and knows no user.
package oidc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/groups"
)

// Settings say how people sign in with one provider.
type Settings struct {
	Name       string         `yaml:"name"`               // of it in addresses
	Button     string         `yaml:"button"`             // what the sign-in page says; empty: the name
	Issuer     string         `yaml:"issuer"`             // its address
	ClientID   string         `yaml:"client_id"`          // of this server
	SecretFile string         `yaml:"client_secret_file"` // in which the client's secret is; relative to the file of settings
	Scopes     []string       `yaml:"scopes"`             // to ask for besides openid, profile and email
	Claim      string         `yaml:"groups_claim"`       // that holds somebody's groups; empty: groups
	Groups     groups.Mapping `yaml:"groups"`             // what those in a group are
	LinkEmail  bool           `yaml:"link_by_email"`      // to people with the same address, if the provider has verified it
	ExternalID string         `yaml:"external_id_claim"`  // that holds whom it provisions by SCIM; empty: sub
	Secret     string         `yaml:"-"`

	TrustFactor bool `yaml:"trust_second_factor"` // it asks for a second factor, so nobody who comes from there is asked again
}

const maxSettings = 1 << 20

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// ReadSettings reads a file with the key providers, a list.
func ReadSettings(path string) ([]Settings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return nil, err
	}
	list, err := parse(text)
	for i := range list {
		if err != nil {
			break
		}
		s := &list[i]
		secret := s.SecretFile
		if !filepath.IsAbs(secret) {
			secret = filepath.Join(filepath.Dir(path), secret)
		}
		var value []byte
		if value, err = os.ReadFile(secret); err == nil {
			if s.Secret = strings.TrimSpace(string(value)); s.Secret == "" {
				err = fmt.Errorf("client_secret_file: %s is empty", secret)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func parse(text []byte) ([]Settings, error) {
	var file struct {
		Providers []Settings `yaml:"providers"`
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		return nil, plain(err)
	}
	if len(file.Providers) == 0 {
		return nil, crowd.Fieldf("providers", "names none: it is a list, each with name, issuer, client_id and client_secret_file")
	}
	seen := map[string]bool{}
	for i := range file.Providers {
		s := &file.Providers[i]
		if err := s.complete(); err != nil {
			return nil, fmt.Errorf("providers[%d].%w", i, err)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("providers[%d].%w", i, crowd.Fieldf("name", "%q is there twice", s.Name))
		}
		seen[s.Name] = true
	}
	return file.Providers, nil
}

// ofType is how the decoder names the Go type that has no such field.
var ofType = regexp.MustCompile(`not found in type \S+`)

// plain says an error of the decoder without the types of this program.
func plain(err error) error {
	return errors.New(ofType.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: construct errors: "), "is not known"))
}

// complete checks settings and fills in what may be left out.
func (s *Settings) complete() error {
	u, err := url.Parse(s.Issuer)
	switch {
	case !providerName.MatchString(s.Name):
		return crowd.Fieldf("name", "%q is not a name (a to z, 0 to 9 and -, at most 32)", s.Name)
	case s.Name == "passkey":
		return crowd.Fieldf("name", "passkey is not free: it is the address of another page")
	case err != nil || u.Host == "" || u.RawQuery+u.Fragment != "" || u.User != nil:
		return crowd.Fieldf("issuer", "%q is not an address, like https://login.example.org", s.Issuer)
	case u.Scheme != "https" && !(u.Scheme == "http" && local(u.Hostname())):
		return crowd.Fieldf("issuer", "%q has to begin with https://", s.Issuer)
	case s.ClientID == "":
		return crowd.Fieldf("client_id", "is missing: the provider gives one to this server")
	case s.SecretFile == "":
		return crowd.Fieldf("client_secret_file", "is missing: it names a file with the secret that the provider gave to this server")
	}
	if s.Button == "" {
		s.Button = s.Name
	}
	if s.Claim == "" {
		s.Claim = "groups"
	}
	if s.ExternalID == "" {
		s.ExternalID = "sub"
	}
	return s.Groups.Complete("groups")
}

// local reports whether a host is this machine, to which nobody else listens.
func local(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// KnownBySubject reports whether people are provisioned under the subject by which they
// sign in.
func (s *Settings) KnownBySubject() bool { return s.ExternalID == "" || s.ExternalID == "sub" }

// Names reports whether a group makes anybody something.
func (s *Settings) Names(group string) bool { _, named := s.Groups[group]; return named }
