package notifytest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/notify"
)

var b64 = base64.RawURLEncoding

// Browser is one that has subscribed.
type Browser struct {
	Key  *ecdh.PrivateKey
	Auth []byte
}

// NewBrowser returns a browser with keys of its own.
func NewBrowser(t testing.TB) *Browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{Key: key, Auth: make([]byte, 16)}
	_, _ = rand.Read(b.Auth)
	return b
}

// Target is where it takes messages, if its push service is at endpoint.
func (b *Browser) Target(endpoint string) notify.Target {
	return notify.Target{Endpoint: endpoint, P256dh: b64.EncodeToString(b.Key.PublicKey().Bytes()), Auth: b64.EncodeToString(b.Auth)}
}

// Decrypt reads a message as RFC 8291 and RFC 8188 say, one record.
func (b *Browser) Decrypt(body []byte) ([]byte, error) {
	const salt, head = 16, 16 + 4 + 1
	if len(body) < head+65 {
		return nil, errors.New("too short")
	}
	size, keyLength := binary.BigEndian.Uint32(body[salt:]), int(body[head-1])
	if keyLength != 65 || len(body)-head-keyLength > int(size) {
		return nil, fmt.Errorf("a key of %d bytes, a record of %d, which should have at most %d", keyLength, len(body)-head-keyLength, size)
	}
	from, err := ecdh.P256().NewPublicKey(body[head : head+keyLength])
	if err != nil {
		return nil, err
	}
	shared, err := b.Key.ECDH(from)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(b.Key.PublicKey().Bytes()) + string(from.Bytes())
	ikm, err := hkdf.Key(sha256.New, shared, b.Auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, body[:salt], "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, body[:salt], "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := gcm.Open(nil, nonce, body[head+keyLength:], nil)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimRight(text, "\x00")
	if len(text) == 0 || text[len(text)-1] != 2 {
		return nil, errors.New("the last record does not end in 2")
	}
	return text[:len(text)-1], nil
}

// Claims verifies a VAPID header (RFC 8292) against the public key that the
// browser was given, and returns what it claims.
func Claims(header, public string) (aud, sub string, exp time.Time, err error) {
	rest, is := strings.CutPrefix(header, "vapid ")
	token, key, both := strings.Cut(rest, ", ")
	token, isT := strings.CutPrefix(token, "t=")
	key, isK := strings.CutPrefix(key, "k=")
	if !is || !both || !isT || !isK || key != public {
		return "", "", exp, fmt.Errorf("%q is not a header with the key %s", header, public)
	}
	raw, err := b64.DecodeString(key)
	if err != nil {
		return "", "", exp, err
	}
	verifier, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return "", "", exp, err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", exp, errors.New("not a token of three parts")
	}
	var values [3][]byte
	for i := range parts {
		if values[i], err = b64.DecodeString(parts[i]); err != nil {
			return "", "", exp, err
		}
	}
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(values[2][:32]), new(big.Int).SetBytes(values[2][32:])
	if !ecdsa.Verify(verifier, hash[:], r, s) {
		return "", "", exp, errors.New("the signature is wrong")
	}
	var head struct{ Typ, Alg string }
	var body struct {
		Aud, Sub string
		Exp      int64
	}
	if err := errors.Join(json.Unmarshal(values[0], &head), json.Unmarshal(values[1], &body)); err != nil {
		return "", "", exp, err
	}
	if head.Alg != "ES256" || head.Typ != "JWT" {
		return "", "", exp, fmt.Errorf("the token is %+v", head)
	}
	return body.Aud, body.Sub, time.Unix(body.Exp, 0), nil
}
