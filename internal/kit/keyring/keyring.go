// Package keyring seals short secrets before they are stored: AES-256 in Galois/counter
// mode, with a random nonce, each bound to the place where it is kept.
package keyring

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// keyBytes is the length of a key.
const keyBytes = 32

// Ring is the keys of an installation: the first one seals, each of them opens. A nil
// ring leaves secrets in the clear, and opens no other.
type Ring struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

// New makes the text of a fresh key: 32 random bytes in base64.
func New() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

// Parse reads keys, one a line and the one that seals first. Empty lines and what
// follows # are passed over. Errors name the line, and never show it.
func Parse(text []byte) (*Ring, error) {
	r := &Ring{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != keyBytes {
			return nil, crowd.Errorf(crowd.Invalid, "line %d is no key: a key is %d bytes in base64, as \"throng key new\" makes it", n, keyBytes)
		}
		if r, err = r.with(raw); err != nil {
			return nil, crowd.Errorf(crowd.Invalid, "line %d: %v", n, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, crowd.Errorf(crowd.Invalid, "this is no list of keys: %v", lines.Err())
	case len(r.keys) == 0:
		return nil, crowd.Errorf(crowd.Invalid, "there is no key in it: make one with \"throng key new\"")
	}
	return r, nil
}

func (r *Ring) with(raw []byte) (*Ring, error) {
	sum := sha256.Sum256(append([]byte("throng key\x00"), raw...))
	k := key{id: hex.EncodeToString(sum[:6])}
	if r.find(k.id) != nil {
		return nil, fmt.Errorf("the key %s is there twice", k.id)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	if k.aead, err = cipher.NewGCM(block); err != nil {
		return nil, err
	}
	return &Ring{append(slices.Clone(r.keys), k)}, nil
}

func (r *Ring) find(id string) *key {
	if i := slices.IndexFunc(r.keys, func(k key) bool { return k.id == id }); i >= 0 {
		return &r.keys[i]
	}
	return nil
}

// And returns the keys of r, then those of others that r has not.
func (r *Ring) And(others *Ring) *Ring {
	all := slices.Clone(r.keys)
	for _, k := range others.keys {
		if r.find(k.id) == nil {
			all = append(all, k)
		}
	}
	return &Ring{all}
}

// Current returns the id of the key that seals, "" of a nil ring.
func (r *Ring) Current() string {
	if r == nil {
		return ""
	}
	return r.keys[0].id
}

// IDs returns the ids of the keys, which tell nothing of them: the one that seals first.
func (r *Ring) IDs() []string {
	if r == nil {
		return nil
	}
	ids := make([]string, 0, len(r.keys))
	for _, k := range r.keys {
		ids = append(ids, k.id)
	}
	return ids
}

// Sealed is a secret that only a key opens.
type Sealed struct {
	Key  string // the id of the key; "" for a secret in the clear, of an earlier version
	Text string // nonce and ciphertext in base64
}

// Seal seals a secret for a place: whoever moves it to another one cannot have it
// opened there.
func (r *Ring) Seal(place, secret string) Sealed {
	if r == nil {
		return Sealed{Text: secret}
	}
	k := &r.keys[0]
	nonce := make([]byte, k.aead.NonceSize(), k.aead.NonceSize()+len(secret)+k.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return Sealed{k.id, base64.StdEncoding.EncodeToString(k.aead.Seal(nonce, nonce, []byte(secret), []byte(place)))}
}

// ErrNoKey is the error about a secret that none of the keys opens.
var ErrNoKey = errors.New("its key is missing")

// Open opens a secret that was sealed for a place. Its error is ErrNoKey where the
// key is not there.
func (r *Ring) Open(place string, s Sealed) (string, error) {
	if s.Key == "" {
		return s.Text, nil
	}
	var k *key
	if r != nil {
		k = r.find(s.Key)
	}
	if k == nil {
		return "", fmt.Errorf("a secret is sealed with the key %s, and the keys that there are are %s: %w", s.Key, cmp.Or(strings.Join(r.IDs(), ", "), "none"), ErrNoKey)
	}
	raw, err := base64.StdEncoding.DecodeString(s.Text)
	if n := k.aead.NonceSize(); err == nil && len(raw) >= n {
		var plain []byte
		if plain, err = k.aead.Open(nil, raw[:n], raw[n:], []byte(place)); err == nil {
			return string(plain), nil
		}
	}
	return "", crowd.Errorf(crowd.Internal, "the secret kept for %s was changed in the database", strings.ReplaceAll(place, "\x00", " "))
}
