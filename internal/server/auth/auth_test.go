package auth_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/auth"
)

func TestPasswordIsRightOnlyForItsHash(t *testing.T) {
	p, ctx := auth.NewPasswords(2, auth.DefaultCost), context.Background()
	hash, err := p.Hash(ctx, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := p.Hash(ctx, "correct horse battery")
	if hash == again || strings.Contains(hash, "horse") {
		t.Fatalf("the hash is not salted, or shows the password: %s", hash)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterY": false, "": false} {
		if ok, err := p.Check(ctx, hash, password, false); err != nil || ok != want {
			t.Errorf("Check(%q) = %t, %v; want %t", password, ok, err, want)
		}
	}
}

func TestNobodyWithoutPasswordSignsIn(t *testing.T) {
	p := auth.NewPasswords(1, auth.DefaultCost)
	for _, password := range []string{"", "anything"} {
		if ok, err := p.Check(context.Background(), "", password, false); ok || err != nil {
			t.Errorf("Check with no hash = %t, %v", ok, err)
		}
	}
}

func TestBrokenHashIsAnError(t *testing.T) {
	p := auth.NewPasswords(1, auth.DefaultCost)
	for _, hash := range []string{"x", "$argon2i$v=19$m=19456,t=2,p=1$AAAA$AAAA", "$argon2id$v=18$m=19456,t=2,p=1$AAAA$AAAA",
		"$argon2id$v=19$m=7,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=1,p=0$AAAA$AAAA", "$argon2id$v=19$m=8,t=1,p=256$AAAA$AAAA",
		"$argon2id$v=19$m=8,t=1,p=1$AAAA$", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA$", "$argon2id$v=19$m=8,t=1,p=1$AAAA",
		"$argon2id$v=19$m=8,t=1,p=1$AAAA$*", "$argon2id$v=19$m=19456,t=2,p=1$*$AAAA", "$argon2id$v=19$m=19456,t=0,p=1$AAAA$AAAA", "$argon2id$v=19$m=19456,t=2,p=999$AAAA$AAAA"} {
		if ok, err := p.Check(context.Background(), hash, "x", false); ok || err == nil {
			t.Errorf("Check(%q) = %t, %v; want an error", hash, ok, err)
		}
	}
	for _, hash := range []string{"$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=2040,t=1,p=255$AAAA$AAAA"} {
		if ok, err := p.Check(context.Background(), hash, "x", false); ok || err != nil {
			t.Errorf("Check(%q) = %t, %v; want no error", hash, ok, err)
		}
	}
}

func TestWaitingForASlotEndsWithTheContext(t *testing.T) {
	p := auth.NewPasswords(0, auth.DefaultCost)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Hash(ctx, "whatever it is"); err == nil {
		t.Error("hashed without a slot")
	}
}

func TestNewPasswordsHaveALeastAndAGreatestLength(t *testing.T) {
	for password, want := range map[string]crowd.Code{
		strings.Repeat("ä", auth.MinPassword):   "",
		strings.Repeat("a", auth.MinPassword-1): crowd.Invalid,
		strings.Repeat("a", auth.MaxPassword+1): crowd.Invalid,
		"\xff" + strings.Repeat("a", 20):        crowd.Invalid,
	} {
		if got := crowd.CodeOf(auth.ValidPassword(password)); got != want {
			t.Errorf("%d characters, UTF-8 %t: %q, want %q", utf8.RuneCountInString(password), utf8.ValidString(password), got, want)
		}
	}
}

func TestSecretsDiffer(t *testing.T) {
	a, b := auth.NewSecret("thr"), auth.NewSecret("thr")
	if a == b || !strings.HasPrefix(a, "thr_") || len(a) != 47 {
		t.Errorf("secrets %q and %q", a, b)
	}
	if auth.HashSecret(a) == auth.HashSecret(b) || len(auth.HashSecret(a)) != 64 {
		t.Error("hashes do not tell secrets apart")
	}
}
