// Package passkeytest has an authenticator, and the browser before it, for tests: it makes
// and shows passkeys as it is told, also in ways that a real one does not.
package passkeytest

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
)

// Authenticator holds passkeys. Its fields may be changed between two calls.
type Authenticator struct {
	Verifies bool   // it asks for a PIN
	Counts   bool   // each time it shows a passkey; else it says 0
	Counter  uint32 // what it has counted to
	Absent   bool   // nobody touches it
	keys     []key
}

type key struct {
	id, handle []byte
	private    *ecdsa.PrivateKey
}

// Lie is what is not as it should be in an answer; zero: everything is.
type Lie struct {
	Challenge string // in place of the one that was asked with
	Origin    string // of the page
	Type      string // of what was done
	Site      string // for which it is
	Signature []byte
	Handle    []byte
	NoHandle  bool
	Cross     bool // the page is within one of another site
}

type entity struct {
	ID string `json:"id"`
}

type asked struct {
	Challenge string   `json:"challenge"`
	Site      string   `json:"rpId"`
	Allowed   []entity `json:"allowCredentials"`
	Excluded  []entity `json:"excludeCredentials"`
	RP        entity   `json:"rp"`
	User      entity   `json:"user"`
}

var base64URL = base64.RawURLEncoding

func parse(t testing.TB, text string) (a asked) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("what is asked for is %q: %v", text, err)
	}
	return a
}

// Copy returns another authenticator with the same passkeys.
func (a *Authenticator) Copy() *Authenticator {
	c := *a
	c.keys = slices.Clone(a.keys)
	return &c
}

// Handle is the handle of the owner of the passkey that was made last.
func (a *Authenticator) Handle() []byte { return a.keys[len(a.keys)-1].handle }

// Make makes a passkey as a page at an origin asks, and returns what the browser answers.
func (a *Authenticator) Make(t testing.TB, text, origin string, lie Lie) string {
	t.Helper()
	x := parse(t, text)
	for _, e := range x.Excluded {
		if slices.ContainsFunc(a.keys, func(k key) bool { return base64URL.EncodeToString(k.id) == e.ID }) {
			t.Fatal("the authenticator has a passkey of this account")
		}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := base64URL.DecodeString(x.User.ID)
	if err != nil {
		t.Fatal(err)
	}
	k := key{id: make([]byte, 16), handle: handle, private: private}
	_, _ = rand.Read(k.id) // never fails
	a.keys = append(a.keys, k)
	public, err := private.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	data := a.data(cmp.Or(lie.Site, x.RP.ID), 0x40)
	data = append(data, make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(k.id)))
	data = append(data, k.id...)
	data = append(data, "\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"...) // CBOR: ES256 on P-256
	data = append(data, public[1:33]...)
	data = append(data, "\x22\x58\x20"...)
	data = append(data, public[33:]...)
	object := []byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59")
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	object = append(object, data...)
	return answer(t, k, map[string]any{"clientDataJSON": client(t, "webauthn.create", x.Challenge, origin, lie), "attestationObject": base64URL.EncodeToString(object), "transports": []string{"internal"}})
}

// Show shows a passkey as a page at an origin asks, and returns what the browser answers.
func (a *Authenticator) Show(t testing.TB, text, origin string, lie Lie) string {
	t.Helper()
	x := parse(t, text)
	i := slices.IndexFunc(a.keys, func(k key) bool {
		return len(x.Allowed) == 0 || slices.ContainsFunc(x.Allowed, func(e entity) bool { return e.ID == base64URL.EncodeToString(k.id) })
	})
	if i < 0 {
		t.Fatal("the authenticator has no such passkey")
	}
	return a.show(t, a.keys[i], x, origin, lie)
}

// ShowAnyway shows the passkey that was made last, whichever was asked for.
func (a *Authenticator) ShowAnyway(t testing.TB, text, origin string) string {
	t.Helper()
	return a.show(t, a.keys[len(a.keys)-1], parse(t, text), origin, Lie{})
}

func (a *Authenticator) show(t testing.TB, k key, x asked, origin string, lie Lie) string {
	t.Helper()
	data := a.data(cmp.Or(lie.Site, x.Site), 0)
	plain := client(t, "webauthn.get", x.Challenge, origin, lie)
	raw, err := base64URL.DecodeString(plain)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(raw)
	sum := sha256.Sum256(append(slices.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	if lie.Signature != nil {
		signature = lie.Signature
	}
	response := map[string]any{"clientDataJSON": plain, "authenticatorData": base64URL.EncodeToString(data), "signature": base64URL.EncodeToString(signature)}
	handle := k.handle
	if lie.Handle != nil {
		handle = lie.Handle
	}
	if !lie.NoHandle {
		response["userHandle"] = base64URL.EncodeToString(handle)
	}
	return answer(t, k, response)
}

func (a *Authenticator) data(site string, flags byte) []byte {
	if !a.Absent {
		flags |= 1
	}
	if a.Verifies {
		flags |= 4
	}
	if a.Counts {
		a.Counter++
	}
	sum := sha256.Sum256([]byte(site))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), a.Counter)
}

func client(t testing.TB, kind, challenge, origin string, lie Lie) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": cmp.Or(lie.Type, kind), "challenge": cmp.Or(lie.Challenge, challenge), "origin": cmp.Or(lie.Origin, origin), "crossOrigin": lie.Cross})
	if err != nil {
		t.Fatal(err)
	}
	return base64URL.EncodeToString(text)
}

func answer(t testing.TB, k key, response map[string]any) string {
	t.Helper()
	id := base64URL.EncodeToString(k.id)
	text, err := json.Marshal(map[string]any{"id": id, "rawId": id, "type": "public-key", "clientExtensionResults": map[string]any{}, "response": response})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
