package auth

import (
	"encoding/base32"
	"net/url"
	"testing"
	"time"
)

// TestTOTP compares with the table of RFC 6238, appendix B, of whose eight digits the last
// six are shown.
func TestTOTP(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if got, err := TOTP(secret, time.Unix(at, 0)); err != nil || got != want {
			t.Errorf("at %d: %s, %v; want %s", at, got, err, want)
		}
	}
	if got, err := TOTP("not base32!", time.Unix(59, 0)); err == nil {
		t.Errorf("of no secret: %s", got)
	}
}

func TestMatchTOTP(t *testing.T) {
	secret, now := NewTOTP(), time.Unix(1_800_000_000, 0)
	step := now.Unix() / 30
	for off := int64(-3); off <= 3; off++ {
		code, err := TOTP(secret, now.Add(time.Duration(off)*30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		want := step + off
		if off < -1 || off > 1 {
			want = 0
		}
		if got, err := MatchTOTP(secret, code, now, 0); err != nil || got != want {
			t.Errorf("%d steps off: %d, %v; want %d", off, got, err, want)
		}
		if got, err := MatchTOTP(secret, code, now, step+off); err != nil || got != 0 {
			t.Errorf("%d steps off, used before: %d, %v", off, got, err)
		}
	}
	for _, code := range []string{"", "0", "12345", "1234567", "abcdef", "１２３４５６"} {
		if got, err := MatchTOTP(secret, code, now, 0); err != nil || got != 0 {
			t.Errorf("%q: %d, %v", code, got, err)
		}
	}
}

func TestTOTPURL(t *testing.T) {
	text := TOTPURL("crowd.example:8080", "ann&co?", "ABC")
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/crowd.example:8080:ann&co?" || u.Query().Get("secret") != "ABC" || u.Query().Get("issuer") != "crowd.example:8080" {
		t.Errorf("%s, %v", text, err)
	}
}

func TestRecoveryCodes(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		code := NewRecoveryCode()
		hash := HashRecoveryCode(code)
		if hash == "" || seen[hash] {
			t.Fatalf("%s is %q", code, hash)
		}
		seen[hash] = true
		if HashRecoveryCode(" "+CleanCode(code)) != hash {
			t.Errorf("%s without hyphens is another", code)
		}
	}
	for _, code := range []string{"", "123456", "aaaa-aaaa-aaaa-aaa", "aaaa-aaaa-aaaa-aaaaa", "0000-0000-0000-0000"} {
		if HashRecoveryCode(code) != "" {
			t.Errorf("%q is a recovery code", code)
		}
	}
}
