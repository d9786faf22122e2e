package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what apps take for granted; HMAC does not need collisions to be hard to find
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The codes of RFC 6238 as every authenticator app makes them: HMAC-SHA1, six digits, a
// new one every 30 seconds.
const (
	totpStep    = 30
	totpDigits  = 6
	totpModulus = 1_000_000
	totpSkew    = 1 // a clock may be so many steps off
	totpBytes   = 20
)

var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

func randomBase32(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return base32Plain.EncodeToString(raw)
}

// NewTOTP returns a fresh secret of 160 bits in base32, as people type it into an app.
func NewTOTP() string { return randomBase32(totpBytes) }

// TOTP returns the code of a secret at a time, or an error if it is no secret.
func TOTP(secret string, at time.Time) (string, error) { return totp(secret, at.Unix()/totpStep) }

func totp(secret string, step int64) (string, error) {
	key, err := base32Plain.DecodeString(secret)
	if err != nil {
		return "", fmt.Errorf("auth: not a secret of codes")
	}
	h := hmac.New(sha1.New, key)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := h.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%0*d", totpDigits, binary.BigEndian.Uint32(sum[at:])&0x7fffffff%totpModulus), nil
}

// MatchTOTP returns the step of time of a code, which is good at a time if it is not later
// than the step after; 0: it is not good. Clocks may be a step off.
func MatchTOTP(secret, code string, at time.Time, after int64) (int64, error) {
	now, found := at.Unix()/totpStep, int64(0)
	for step := now - totpSkew; step <= now+totpSkew; step++ {
		good, err := totp(secret, step)
		if err != nil {
			return 0, err
		}
		if hmac.Equal([]byte(good), []byte(code)) && step > after && found == 0 {
			found = step
		}
	}
	return found, nil
}

// TOTPURL is what an app reads from a QR code: the secret of an account on a site.
func TOTPURL(site, account, secret string) string {
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + site + ":" + account,
		RawQuery: "secret=" + secret + "&issuer=" + strings.ReplaceAll(url.QueryEscape(site), "+", "%20")}
	return u.String()
}

// recoveryBytes is what a recovery code holds: too much to be guessed, also from its hash.
const recoveryBytes = 10

// NewRecoveryCode returns a fresh code of 16 letters and digits, in groups of four.
func NewRecoveryCode() string {
	t := strings.ToLower(randomBase32(recoveryBytes))
	return t[:4] + "-" + t[4:8] + "-" + t[8:12] + "-" + t[12:]
}

// HashRecoveryCode returns what is kept of a recovery code, or "" if it is none.
func HashRecoveryCode(code string) string {
	text := strings.ToUpper(CleanCode(code))
	raw, err := base32Plain.DecodeString(text)
	if err != nil || len(raw) != recoveryBytes || base32Plain.EncodeToString(raw) != text {
		return ""
	}
	return HashSecret("recovery " + hex.EncodeToString(raw))
}

// CleanCode returns a code as it was shown without what people put between its parts.
func CleanCode(code string) string { return strings.NewReplacer(" ", "", "-", "").Replace(code) }
