package keyring_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/keyring"
)

func ring(t testing.TB, keys ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Parse([]byte(strings.Join(keys, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSealedSecretsOpen only with their key, at their place, and unchanged.
func TestSealedSecretsOpen(t *testing.T) {
	t.Parallel()
	own, other := keyring.New(), keyring.New()
	mine, theirs, both := ring(t, own), ring(t, other), ring(t, other, own)
	rapid.Check(t, func(t *rapid.T) {
		secret, place := rapid.String().Draw(t, "secret"), rapid.String().Draw(t, "place")
		s := mine.Seal(place, secret)
		if again := mine.Seal(place, secret); again.Text == s.Text {
			t.Fatal("the same nonce twice")
		}
		if strings.Contains(s.Text, secret) && len(secret) > 3 {
			t.Fatalf("%q shows in %q", secret, s.Text)
		}
		for _, r := range []*keyring.Ring{mine, both, theirs.And(mine), mine.And(theirs)} {
			if got, err := r.Open(place, s); err != nil || got != secret {
				t.Fatalf("opened: %q, %v; want %q", got, err, secret)
			}
		}
		for _, r := range []*keyring.Ring{nil, theirs} {
			if got, err := r.Open(place, s); !errors.Is(err, keyring.ErrNoKey) || got != "" {
				t.Fatalf("without the key: %q, %v", got, err)
			}
		}
		if got, err := mine.Open(place+"x", s); err == nil {
			t.Fatalf("at another place: %q", got)
		}
		raw, err := base64.StdEncoding.DecodeString(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		cut := raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "length")]
		for _, b := range [][]byte{raw, cut} {
			if got, err := mine.Open(place, keyring.Sealed{Key: s.Key, Text: base64.StdEncoding.EncodeToString(b)}); err == nil {
				t.Fatalf("changed by hand: %q", got)
			}
		}
	})
	if got, err := (*keyring.Ring)(nil).Open("p", (*keyring.Ring)(nil).Seal("p", "in the clear")); err != nil || got != "in the clear" {
		t.Errorf("without a ring: %q, %v", got, err)
	}
}

// TestParse reads files of keys.
func TestParse(t *testing.T) {
	t.Parallel()
	a, b := keyring.New(), keyring.New()
	for _, text := range []string{a, a + "\n", "\n# ours\n  " + a + " # of May\r\n\n" + b + "\n"} {
		if r, err := keyring.Parse([]byte(text)); err != nil || r.Current() != ring(t, a).Current() {
			t.Errorf("%q: %v", text, err)
		}
	}
	if ids := ring(t, a, b).IDs(); len(ids) != 2 || len(ids[0]) != 12 || ids[0] == ids[1] {
		t.Errorf("ids: %q", ids)
	}
	for text, want := range map[string]string{
		"":                          "there is no key in it",
		"# nothing\n\n":             "there is no key in it",
		a + "\nword":                "line 2 is no key",
		a[:40]:                      "line 1 is no key",
		a + a:                       "line 1 is no key",
		a + "\n\n" + a:              "line 3: the key ",
		strings.Repeat("A", 1<<20):  "no list of keys",
		string([]byte{0, 0xff}) + a: "line 1 is no key",
	} {
		if _, err := keyring.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", text, err, want)
		} else if strings.Contains(err.Error(), a[:40]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

// FuzzParse: whatever is read is a ring that seals and opens, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(keyring.New()))
	f.Add([]byte("# a\n\r\n" + keyring.New() + "\n" + keyring.New()))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := keyring.Parse(text)
		if err != nil {
			return
		}
		if got, err := r.Open("p", r.Seal("p", "s")); err != nil || got != "s" {
			t.Errorf("opened: %q, %v", got, err)
		}
	})
}
