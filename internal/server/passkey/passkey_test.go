package passkey_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/passkey"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
)

const origin = "https://throng.example"

func site(t testing.TB) *passkey.Site {
	t.Helper()
	s, err := passkey.NewSite(origin, true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSites: the address of the site decides, and what is wrong with it is said.
func TestSites(t *testing.T) {
	t.Parallel()
	for address, x := range map[string]struct {
		given bool
		says  string // "": they work
	}{
		"https://throng.example":      {true, ""},
		"https://throng.example:8443": {true, ""},
		"https://example.org/throng":  {true, ""},
		"http://localhost:8080":       {true, ""},
		"http://localhost":            {false, ""},
		"https://localhost:8443":      {false, ""},
		"https://other.example":       {false, "--public-url"}, // as a request says
		"http://127.0.0.1:8080":       {false, "--public-url"},
		"http://throng.example":       {true, "https only"},
		"https://192.0.2.1":           {true, "to a name, not to an address"},
		"https://[2001:db8::1]:8443":  {true, "to a name, not to an address"},
		"http://127.0.0.1":            {true, "https only"},
		"":                            {false, "not the address of a site"},
		"localhost":                   {true, "not the address of a site"},
		"ftp://localhost":             {true, "https only"},
	} {
		_, err := passkey.NewSite(address, x.given)
		switch {
		case x.says == "" && err != nil, x.says != "" && (crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), x.says)):
			t.Errorf("%q: %v, want %q", address, err, x.says)
		}
	}
}

// kept returns a key as it is read from where it was kept.
func kept(t testing.TB, k passkey.Key) passkey.Key {
	t.Helper()
	text, err := k.String()
	if err != nil {
		t.Fatal(err)
	}
	if k, err = passkey.ParseKey(text); err != nil {
		t.Fatal(err)
	}
	return k
}

func made(t testing.TB, s *passkey.Site, a *passkeytest.Authenticator) passkey.Key {
	t.Helper()
	o := &passkey.Owner{Name: "ann", Handle: []byte("a random handle")}
	challenge := bytes.Repeat([]byte{1}, 32)
	asked, err := s.Make(o, challenge)
	if err != nil {
		t.Fatal(err)
	}
	k, err := s.Made(o, challenge, a.Make(t, asked, origin, passkeytest.Lie{}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestShow: a passkey that was made is shown, and none that is not as it was asked for.
func TestShow(t *testing.T) {
	t.Parallel()
	s := site(t)
	for name, x := range map[string]struct {
		lie   passkeytest.Lie
		set   func(*passkeytest.Authenticator)
		alone bool
		good  bool
	}{
		"as asked":                          {good: true},
		"as asked, verified":                {set: func(a *passkeytest.Authenticator) { a.Verifies = true }, good: true},
		"alone, verified":                   {set: func(a *passkeytest.Authenticator) { a.Verifies = true }, alone: true, good: true},
		"alone, not verified":               {alone: true},
		"alone, without a handle":           {set: func(a *passkeytest.Authenticator) { a.Verifies = true }, lie: passkeytest.Lie{NoHandle: true}, alone: true},
		"without a handle, next to another": {lie: passkeytest.Lie{NoHandle: true}, good: true},
		"another handle":                    {lie: passkeytest.Lie{Handle: []byte("another")}},
		"nobody touched it":                 {set: func(a *passkeytest.Authenticator) { a.Absent = true }},
		"another origin":                    {lie: passkeytest.Lie{Origin: "https://throng.example.evil.example"}},
		"another port":                      {lie: passkeytest.Lie{Origin: origin + ":8443"}},
		"not encrypted":                     {lie: passkeytest.Lie{Origin: "http://throng.example"}},
		"another site":                      {lie: passkeytest.Lie{Site: "evil.example"}},
		"within another page":               {lie: passkeytest.Lie{Cross: true}},
		"another challenge":                 {lie: passkeytest.Lie{Challenge: "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"}},
		"no challenge":                      {lie: passkeytest.Lie{Challenge: "AA"}},
		"made, not shown":                   {lie: passkeytest.Lie{Type: "webauthn.create"}},
		"signed by nobody":                  {lie: passkeytest.Lie{Signature: []byte{0x30, 6, 2, 1, 1, 2, 1, 1}}},
		"not signed":                        {lie: passkeytest.Lie{Signature: []byte{}}},
		"counts on":                         {set: func(a *passkeytest.Authenticator) { a.Counts = true }, good: true},
	} {
		a := &passkeytest.Authenticator{}
		if x.set != nil {
			x.set(a)
		}
		absent := a.Absent
		a.Absent = false
		k := kept(t, made(t, s, a))
		a.Absent = absent
		challenge := bytes.Repeat([]byte{3}, 32)
		keys := []passkey.Key{k}
		if x.alone {
			keys = nil
		}
		asked, err := s.Ask(keys, challenge)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := passkey.ParseShown(a.Show(t, asked, origin, x.lie))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if shown.ID() != k.ID() {
			t.Errorf("%s: the passkey is %s, want %s", name, shown.ID(), k.ID())
		}
		counter, err := s.Check(shown, k, challenge, x.alone)
		if (err == nil) != x.good || x.good && counter != int64(a.Counter) {
			t.Errorf("%s: %v, counted to %d", name, err, counter)
		}
		var refused *passkey.RefusedError
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}
}

// TestMake: what is not as it was asked for is no passkey.
func TestMake(t *testing.T) {
	t.Parallel()
	s := site(t)
	o := &passkey.Owner{Name: "ann", Handle: []byte("handle")}
	challenge := bytes.Repeat([]byte{1}, 32)
	asked, err := s.Make(o, challenge)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		lie  passkeytest.Lie
		good bool
	}{
		"as asked":            {good: true},
		"another origin":      {lie: passkeytest.Lie{Origin: "https://evil.example"}},
		"another site":        {lie: passkeytest.Lie{Site: "evil.example"}},
		"another challenge":   {lie: passkeytest.Lie{Challenge: "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"}},
		"shown, not made":     {lie: passkeytest.Lie{Type: "webauthn.get"}},
		"within another page": {lie: passkeytest.Lie{Cross: true}},
	} {
		_, err := s.Made(o, challenge, (&passkeytest.Authenticator{}).Make(t, asked, origin, x.lie))
		if (err == nil) != x.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, answer := range []string{"", "{}", "null", "[", strings.Repeat("x", passkey.MaxAnswer+1)} {
		if _, err := s.Made(o, challenge, answer); err == nil {
			t.Errorf("%.10q is a passkey", answer)
		}
		if _, err := passkey.ParseShown(answer); err == nil {
			t.Errorf("%.10q shows a passkey", answer)
		}
	}
}

// FuzzAnswers reads what browsers answer, which may be anything: nothing but what the
// authenticator has signed is taken.
func FuzzAnswers(f *testing.F) {
	s := site(f)
	a := &passkeytest.Authenticator{Verifies: true}
	k := made(f, s, a)
	o := &passkey.Owner{Name: "ann", Handle: []byte("handle")}
	challenge := bytes.Repeat([]byte{3}, 32)
	asked, err := s.Ask(nil, challenge)
	if err != nil {
		f.Fatal(err)
	}
	making, err := s.Make(o, challenge)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.Show(f, asked, "https://evil.example", passkeytest.Lie{}))
	f.Add(a.Make(f, making, "https://evil.example", passkeytest.Lie{}))
	f.Add("{}")
	f.Fuzz(func(t *testing.T, answer string) {
		if k, err := s.Made(o, challenge, answer); err == nil && (k.ID() == "" || len(k.Credential.PublicKey) == 0) {
			t.Error("a passkey is made of nothing")
		}
		shown, err := passkey.ParseShown(answer)
		if err != nil {
			return
		}
		if _, err := s.Check(shown, k, challenge, true); err == nil {
			t.Error("a passkey is shown that nobody has signed for this site")
		}
	})
}
