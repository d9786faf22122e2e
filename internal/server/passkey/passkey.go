// Package passkey asks browsers for passkeys, and checks what they answer: the part of a
// site in WebAuthn. It keeps nothing, and knows nobody.
package passkey

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/throng-dev/throng/crowd"
)

// patience is how long a browser gives somebody to show a passkey.
const patience = 5 * time.Minute

// MaxAnswer bounds what a browser answers, in bytes.
const MaxAnswer = 16 << 10

// localhost is the one name at which browsers do without encryption.
const localhost = "localhost"

// Site is where passkeys are good. Make it with NewSite.
type Site struct{ party *webauthn.WebAuthn }

// NewSite returns the site at an address, which the operator has given or, where they have
// not, a request was sent to. Passkeys are bound to the host in it, so it is an error if that
// could be anything, or if browsers refuse it.
func NewSite(address string, given bool) (*Site, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, crowd.Errorf(crowd.Conflict, "passkeys do not work here: %q is not the address of a site", address)
	}
	host := u.Hostname()
	switch {
	case host == localhost && (u.Scheme == "http" || u.Scheme == "https"):
	case !given:
		return nil, crowd.Errorf(crowd.Conflict, "passkeys do not work here yet: they are bound to the name of the site, so who runs it has to give it, with throng serve --public-url https://…; without it, they work at http://localhost only")
	case u.Scheme != "https":
		return nil, crowd.Errorf(crowd.Conflict, "passkeys do not work here: --public-url is %s, and browsers give them to sites with https only, or at http://localhost", address)
	case protocol.ValidateRPID(host) != nil:
		return nil, crowd.Errorf(crowd.Conflict, "passkeys do not work here: --public-url is %s, and browsers bind them to a name, not to an address", address)
	}
	wait := webauthn.TimeoutConfig{Timeout: patience, TimeoutUVD: patience}
	party, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Throng", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation, Timeouts: webauthn.TimeoutsConfig{Login: wait, Registration: wait},
	})
	if err != nil {
		return nil, crowd.Errorf(crowd.Conflict, "passkeys do not work at %s: %s", address, err)
	}
	return &Site{party}, nil
}

// Key is the public half of a passkey, and what an authenticator knows of its owner.
type Key struct {
	Handle     []byte              `json:"handle"` // random, so that it tells nothing of them
	Credential webauthn.Credential `json:"credential"`
}

// ID is the name of a passkey.
func (k *Key) ID() string { return base64.RawURLEncoding.EncodeToString(k.Credential.ID) }

// String returns the passkey as it is kept.
func (k *Key) String() (string, error) {
	text, err := json.Marshal(k)
	return string(text), err
}

// ParseKey reads what String returned.
func ParseKey(text string) (Key, error) {
	var k Key
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return k, fmt.Errorf("passkey: a key that was kept cannot be read: %w", err)
	}
	return k, nil
}

// Owner is whose passkeys they are.
type Owner struct {
	Name   string
	Handle []byte
	Keys   []Key // that they have
}

// WebAuthnID implements webauthn.User.
func (o *Owner) WebAuthnID() []byte { return o.Handle }

// WebAuthnName implements webauthn.User.
func (o *Owner) WebAuthnName() string { return o.Name }

// WebAuthnDisplayName implements webauthn.User.
func (o *Owner) WebAuthnDisplayName() string { return o.Name }

// WebAuthnCredentials implements webauthn.User.
func (o *Owner) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(o.Keys))
	for i := range o.Keys {
		list[i] = o.Keys[i].Credential
	}
	return list
}

// Make returns what a browser is asked for that shall make a passkey, in JSON.
func (s *Site) Make(o *Owner, challenge []byte) (string, error) {
	asked, _, err := s.make(o, challenge)
	return encode(asked, err)
}

func (s *Site) make(o *Owner, challenge []byte) (*protocol.PublicKeyCredentialCreationOptions, *webauthn.SessionData, error) {
	asked, kept, err := s.party.BeginRegistration(o, func(c *protocol.PublicKeyCredentialCreationOptions) error {
		c.Challenge = challenge
		c.AuthenticatorSelection = protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred}
		c.CredentialExcludeList = webauthn.Credentials(o.WebAuthnCredentials()).CredentialDescriptors()
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return &asked.Response, kept, nil
}

// Made returns the passkey with which a browser has answered Make.
func (s *Site) Made(o *Owner, challenge []byte, answer string) (Key, error) {
	k := Key{Handle: o.Handle}
	_, kept, err := s.make(o, challenge)
	if err != nil {
		return k, err
	}
	if len(answer) > MaxAnswer {
		return k, refused(errors.New("the answer is too long"))
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return k, refused(err)
	}
	credential, err := s.party.CreateCredential(o, *kept, parsed)
	if err != nil {
		return k, refused(err)
	}
	k.Credential = *credential
	k.Credential.Attestation = webauthn.CredentialAttestation{} // nothing hangs on who made the authenticator
	return k, nil
}

// Ask returns what a browser is asked for that shall show one of some passkeys, in JSON. For
// none it is any of this site, and who shows it has to be verified by the authenticator, with
// a PIN or a finger.
func (s *Site) Ask(keys []Key, challenge []byte) (string, error) {
	asked, _, err := s.ask(&Owner{Keys: keys, Handle: []byte("any")}, challenge, len(keys) == 0)
	return encode(asked, err)
}

func (s *Site) ask(o *Owner, challenge []byte, alone bool) (*protocol.PublicKeyCredentialRequestOptions, *webauthn.SessionData, error) {
	with := func(c *protocol.PublicKeyCredentialRequestOptions) error {
		c.Challenge = challenge
		c.UserVerification = protocol.VerificationPreferred
		if alone {
			c.UserVerification = protocol.VerificationRequired
		}
		return nil
	}
	var asked *protocol.CredentialAssertion
	var kept *webauthn.SessionData
	var err error
	if len(o.Keys) == 0 {
		asked, kept, err = s.party.BeginDiscoverableLogin(with)
	} else {
		asked, kept, err = s.party.BeginLogin(o, with)
	}
	if err != nil {
		return nil, nil, err
	}
	return &asked.Response, kept, nil
}

// Shown is what a browser has answered Ask, unchecked.
type Shown struct {
	parsed *protocol.ParsedCredentialAssertionData
}

// ParseShown reads an answer.
func ParseShown(answer string) (*Shown, error) {
	if len(answer) > MaxAnswer {
		return nil, refused(errors.New("the answer is too long"))
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return nil, refused(err)
	}
	return &Shown{parsed}, nil
}

// ID is the name of the passkey that was shown.
func (x *Shown) ID() string { return base64.RawURLEncoding.EncodeToString(x.parsed.RawID) }

// Check checks that a passkey was shown for a challenge, and returns what it has counted to,
// which is for the caller to compare with what it had before.
// Alone, its holder has to have been verified by the authenticator, and to be who it says.
func (s *Site) Check(x *Shown, k Key, challenge []byte, alone bool) (counter int64, err error) {
	if alone && !bytes.Equal(x.parsed.Response.UserHandle, k.Handle) {
		return 0, refused(errors.New("the authenticator does not say whose it is"))
	}
	o := &Owner{Handle: k.Handle, Keys: []Key{k}}
	_, kept, err := s.ask(o, challenge, alone)
	if err != nil {
		return 0, err
	}
	if _, err := s.party.ValidateLogin(o, *kept, x.parsed); err != nil {
		return 0, refused(err)
	}
	return int64(x.parsed.Response.AuthenticatorData.Counter), nil
}

// RefusedError is the error of an answer that is not right, for the log.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string { return "passkey: " + e.Why }

func refused(err error) error {
	why := err.Error()
	var e *protocol.Error
	if errors.As(err, &e) && e.DevInfo != "" {
		why += ": " + e.DevInfo
	}
	return &RefusedError{why}
}

func encode(asked any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(asked)
	return string(text), err
}
