package web

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// aProvider is a small provider of OpenID Connect whose tokens can be spoilt.
type aProvider struct {
	*httptest.Server
	t   testing.TB
	key *rsa.PrivateKey

	mu     sync.Mutex
	down   bool
	asked  int                                 // requests
	claims map[string]any                      // of whoever signs in
	info   map[string]any                      // what is told of them besides; nil: there is no UserInfo
	spoil  func(header, claims map[string]any) // before the token is signed
	sign   func(text string) string            // nil: as it should
	codes  map[string]url.Values               // of the requests for which they were given
}

func newProvider(t testing.TB) *aProvider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &aProvider{t: t, key: key, codes: map[string]url.Values{}, claims: map[string]any{"sub": "1", "preferred_username": "otto", "groups": []string{"crowd"}}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *aProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked++; p.down {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	answer := func(v any) { w.Header().Set("Content-Type", "application/json"); _ = json.NewEncoder(w).Encode(v) }
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		doc := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}}
		if p.info != nil {
			doc["userinfo_endpoint"] = p.URL + "/info"
		}
		answer(doc)
	case "/info":
		answer(p.info)
	case "/keys":
		answer(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": b64(p.key.N.Bytes()), "e": b64(big.NewInt(int64(p.key.E)).Bytes())}}})
	case "/auth":
		q := r.URL.Query()
		code := rand.Text()
		p.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"state": {q.Get("state")}, "code": {code}}.Encode(), http.StatusFound)
	case "/token":
		q := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		_, secret, _ := r.BasicAuth()
		if q == nil || q.Get("code_challenge_method") != "S256" || b64(sum[:]) != q.Get("code_challenge") || secret != "s3cret" || q.Get("redirect_uri") != r.PostFormValue("redirect_uri") {
			w.WriteHeader(http.StatusBadRequest)
			answer(map[string]any{"error": "invalid_grant"})
			return
		}
		answer(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.token(q)})
	default:
		http.NotFound(w, r)
	}
}

func (p *aProvider) token(q url.Values) string {
	header, claims := map[string]any{"alg": "RS256", "kid": "1"}, maps.Clone(p.claims)
	maps.Copy(claims, map[string]any{"iss": p.URL, "aud": q.Get("client_id"), "nonce": q.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()})
	if p.spoil != nil {
		p.spoil(header, claims)
	}
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	text := b64(h) + "." + b64(c)
	if p.sign != nil {
		return p.sign(text)
	}
	sum := sha256.Sum256([]byte(text))
	s, err := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Error(err)
	}
	return text + "." + b64(s)
}

// be changes a provider.
func (p *aProvider) be(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func withProvider(t testing.TB, link bool) (*company, *aProvider) {
	p := newProvider(t)
	return newCompany(t, 0, func(cfg *app.Config) {
		cfg.Providers = withGroups(p.URL)
		cfg.Providers[0].LinkEmail = link
	}), p
}

func withGroups(issuer string) []oidc.Settings {
	return []oidc.Settings{{Name: "corp", Button: "Corp", Issuer: issuer, ClientID: "throng", Secret: "s3cret", Claim: "groups",
		Groups: groups.Mapping{"crowd": {Pool: 1}, "north": {Held: []store.HeldRole{{Role: "requester", Tenant: 1}, {Role: "viewer", Tenant: 1}, {Role: "viewer", Tenant: 99}, {Role: "gone"}}}, "root": {Held: []store.HeldRole{{Role: "admin"}}}}}}
}

// TestSignInByAProvider: who is new is made, and becomes each time what their groups say.
func TestSignInByAProvider(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	b := c.browser(t, "otto")
	if p.asked != 0 {
		t.Errorf("%d requests before anybody signs in", p.asked)
	}
	b.get("/signin?next=/work/earnings").want(200, "Corp")
	b.get("/signin/corp?next=/work/earnings").want(200).at("/work/earnings")
	first := b.principal().User
	if first.Name != "otto" || first.Pool != 1 || first.Admin || len(first.Tenants) > 0 {
		t.Errorf("otto is %+v", first)
	}
	entries, err := c.app.Audit.List(t.Context(), c.boss.principal(), audit.Filter{AuditFilter: store.AuditFilter{Operation: "Accounts.FinishSignIn", Object: first.ID.String(), Limit: 10}})
	if err != nil || len(entries) != 2 || string(entries[0].After) != `{"pool":"p1"}` || entries[0].Actor != first.ID {
		t.Errorf("of the first sign-in the audit log tells %+v, %v", entries, err)
	}
	p.be(func() { p.claims["groups"] = []string{"north", "root"}; p.claims["preferred_username"] = "rita" })
	c.browser(t, "again").get("/signin/corp").want(200).at("/batches")
	u := b.principal().User
	if u.ID != first.ID || u.Name != "otto" || u.Pool != 0 || !u.Admin || len(u.Tenants) != 1 || len(u.Roles) != 1 {
		t.Errorf("with other groups otto is %+v", u)
	}
	told := toldOfSignIns(t, c)
	if len(told) != 1 || told[0].Who != "otto" || told[0].Object != u.ID.String() || string(told[0].After) != `{"roles":["n1/requester","n1/viewer"]}` || told[0].Address != "" {
		t.Errorf("the tenant is told %+v", told)
	}
	p.be(func() { p.claims["sub"] = "2" })
	other := c.browser(t, "rita2")
	other.get("/signin/corp").want(200)
	if u := other.principal().User; u.Name != "rita-2" { // rita is somebody else, with a password
		t.Errorf("another rita is %+v", u)
	}
	p.be(func() { p.claims["sub"], p.claims["preferred_username"] = "4", "u1" })
	like := c.browser(t, "like u1")
	like.get("/signin/corp").want(200)
	if u := like.principal().User; u.Name != "user-u1" { // u1 is the administrator's id
		t.Errorf("whom the provider calls u1 is %+v", u)
	}
	p.be(func() { p.claims["preferred_username"] = "rita" })
	p.be(func() { p.claims["sub"], p.claims["groups"] = "3", "none" })
	c.browser(t, "none").get("/signin/corp").want(http.StatusForbidden, "in no group")
	c.browser(t, "none").get("/signin/none").want(http.StatusNotFound)
	if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), first.ID, func(u *store.User) error { u.Suspended = true; return nil }); err != nil {
		t.Fatal(err)
	}
	p.be(func() { p.claims["sub"] = "1" })
	c.browser(t, "suspended").get("/signin/corp").want(http.StatusForbidden, "suspended")
}

// TestSignInLinksByEmail only where the administrator and the provider say so.
func TestSignInLinksByEmail(t *testing.T) {
	t.Parallel()
	for _, how := range []struct{ link, known bool }{{false, true}, {true, false}, {true, true}} {
		link := how.link
		c, p := withProvider(t, link)
		rita := c.personNamed(t, "rita")
		if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), rita.ID, func(u *store.User) error { u.Email, u.EmailVerified = "rita@example.org", how.known; return nil }); err != nil {
			t.Fatal(err)
		}
		for i, verified := range []any{false, nil, true} {
			p.be(func() {
				p.claims["sub"], p.claims["email"], p.claims["email_verified"] = string(rune('a'+i)), "Rita@example.org", verified
			})
			b := c.browser(t, "rita")
			b.get("/signin/corp").want(200)
			if got := b.principal().User.ID == rita.ID; got != (link && how.known && verified == true) {
				t.Errorf("link %t, the address is known to be theirs %t, verified %v: is rita: %t", link, how.known, verified, got)
			}
		}
	}
}

// TestSpoiltTokens let nobody in.
func TestSpoiltTokens(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		spoil func(h, c map[string]any)
		sign  func(string) string
		good  bool
	}{
		"as it should be":        {good: true},
		"expired":                {spoil: func(_, c map[string]any) { c["exp"] = in(-2 * time.Minute) }},
		"expired by their clock": {spoil: func(_, c map[string]any) { c["exp"] = in(-30 * time.Second) }, good: true},
		"from the future":        {spoil: func(_, c map[string]any) { c["iat"] = in(2 * time.Minute) }},
		"a fast clock":           {spoil: func(_, c map[string]any) { c["iat"], c["nbf"] = in(30*time.Second), in(30*time.Second) }, good: true},
		"not yet good":           {spoil: func(_, c map[string]any) { c["nbf"] = in(2 * time.Minute) }},
		"another audience":       {spoil: func(_, c map[string]any) { c["aud"] = "other" }},
		"for several":            {spoil: func(_, c map[string]any) { c["aud"] = []string{"throng", "other"} }},
		"for another party":      {spoil: func(_, c map[string]any) { c["azp"] = "other" }},
		"another issuer":         {spoil: func(_, c map[string]any) { c["iss"] = "https://example.org" }},
		"another nonce":          {spoil: func(_, c map[string]any) { c["nonce"] = "x" }},
		"no nonce":               {spoil: func(_, c map[string]any) { delete(c, "nonce") }},
		"no subject":             {spoil: func(_, c map[string]any) { delete(c, "sub") }},
		"no end":                 {spoil: func(_, c map[string]any) { delete(c, "exp") }},
		"alg none":               {spoil: func(h, _ map[string]any) { h["alg"] = "none" }, sign: func(s string) string { return s + "." }},
		"a shared secret":        {spoil: func(h, _ map[string]any) { h["alg"] = "HS256" }},
		"no signature":           {sign: func(s string) string { return s + "." }},
		"another key": {sign: func(s string) string {
			sum := sha256.Sum256([]byte(s))
			sig, _ := rsa.SignPKCS1v15(nil, other, crypto.SHA256, sum[:])
			return s + "." + b64(sig)
		}},
		"no token": {sign: func(string) string { return "" }},
		"rubbish":  {sign: func(string) string { return "a.b.c" }},
	} {
		p.be(func() { p.spoil, p.sign = x.spoil, x.sign })
		got := c.browser(t, name).get("/signin/corp")
		if in := got.URL.Path == "/work"; in != x.good {
			t.Errorf("%s: let in: %t, %d at %s: %s", name, in, got.Status, got.URL.Path, words(got.Root))
		}
		if !x.good {
			got.want(http.StatusUnauthorized, "has not confirmed who you are", "Password")
		}
	}
}

// TestBackFromAProvider: each sign-in is finished once, in the browser that began it.
func TestBackFromAProvider(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	b := c.browser(t, "otto")
	var back string // the address with which they come back
	u := backOf(b, &back)
	c.browser(t, "thief").get(u.RequestURI()).want(http.StatusUnauthorized, "another browser")
	q := u.Query()
	q.Set("state", "other")
	b.get(u.Path+"?"+q.Encode()).want(http.StatusUnauthorized, "another browser")
	kept := b.Jar.Cookies(u)
	b.get(u.RequestURI()).want(200).at("/work")
	thief := c.browser(t, "thief")
	thief.Jar.SetCookies(u, kept) // all that the browser had, and the address
	thief.get(u.RequestURI()).want(http.StatusUnauthorized)
	u = backOf(b, &back)
	q = u.Query()
	q.Del("code")
	q.Set("error", "access_denied")
	b.get(u.Path+"?"+q.Encode()).want(http.StatusUnauthorized, "has not let you in")
	p.be(func() { p.codes = map[string]url.Values{} })
	u = backOf(b, &back)
	q = u.Query()
	q.Set("code", "guessed")
	b.get(u.Path+"?"+q.Encode()).want(http.StatusUnauthorized, "has not confirmed")
}

// TestASignInEnds ten minutes after it was begun, whatever the provider says then.
func TestASignInEnds(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	p.be(func() {
		p.spoil = func(_, claims map[string]any) {
			claims["iat"], claims["exp"] = c.now().Unix(), c.now().Add(time.Minute).Unix()
		}
	})
	for _, x := range []struct {
		after time.Duration
		good  bool
	}{{oidc.FlowLife - time.Minute, true}, {oidc.FlowLife, false}} {
		var back string
		b := c.browser(t, "otto")
		u := backOf(b, &back)
		c.ahead.Add(int64(x.after))
		if got := b.get(u.RequestURI()); x.good {
			got.want(200).at("/work")
		} else {
			got.want(http.StatusUnauthorized, "too long ago")
		}
	}
}

// TestUserInfo counts if it is about who signs in, and no longer than an answer may be.
func TestUserInfo(t *testing.T) {
	t.Parallel()
	for how, x := range map[string]struct {
		info   map[string]any
		status int
		text   string
	}{
		"theirs":         {map[string]any{"sub": "1", "groups": []string{"crowd"}}, 200, ""},
		"another's":      {map[string]any{"sub": "2", "groups": []string{"crowd"}}, http.StatusUnauthorized, "has not confirmed who you are"},
		"nobody's":       {map[string]any{"groups": []string{"crowd"}}, http.StatusUnauthorized, "has not confirmed who you are"},
		"without groups": {map[string]any{"sub": "1"}, http.StatusForbidden, "in no group"},
		"without an end": {map[string]any{"sub": "1", "a": strings.Repeat("x", 2<<20), "groups": []string{"crowd"}}, http.StatusServiceUnavailable, "does not answer"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, p := withProvider(t, false)
			p.be(func() { delete(p.claims, "groups"); p.info = x.info })
			c.browser(t, "otto").get("/signin/corp").want(x.status, x.text)
		})
	}
}

// TestAddressesOfUserInfo: whether an address is verified is said by the document that names it.
// What the ID token says of one address does not count for another one, nor the other way round.
func TestAddressesOfUserInfo(t *testing.T) {
	t.Parallel()
	type claims = map[string]any
	const ritas, other = "rita@example.org", "other@example.org"
	for how, x := range map[string]struct {
		token, info claims
		links       bool
	}{
		"verified by the token, named by UserInfo": {claims{"email": other, "email_verified": true}, claims{"email": ritas}, false},
		"verified by the token without an address": {claims{"email_verified": true}, claims{"email": ritas}, false},
		"named by the token, verified by UserInfo": {claims{"email": ritas}, claims{"email_verified": true}, false},
		"refused by UserInfo":                      {claims{"email": ritas, "email_verified": true}, claims{"email": ritas, "email_verified": false}, false},
		"verified by UserInfo":                     {claims{"email": other}, claims{"email": ritas, "email_verified": true}, true},
		"verified by the token":                    {claims{"email": ritas, "email_verified": true}, claims{}, true},
		"of both, verified by the token":           {claims{"email": ritas, "email_verified": true}, claims{"email": ritas}, true},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, p := withProvider(t, true)
			rita := c.personNamed(t, "rita")
			if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), rita.ID, func(u *store.User) error { u.Email, u.EmailVerified = ritas, true; return nil }); err != nil {
				t.Fatal(err)
			}
			p.be(func() {
				delete(p.claims, "groups")
				maps.Copy(p.claims, x.token)
				p.info = claims{"sub": "1", "groups": []string{"crowd"}}
				maps.Copy(p.info, x.info)
			})
			b := c.browser(t, "who comes")
			b.get("/signin/corp").want(200)
			if got := b.principal().User.ID == rita.ID; got != x.links {
				t.Errorf("who comes is rita: %t, want %t", got, x.links)
			}
			if told := toldOfSignIns(t, c); x.links && (len(told) == 0 || told[len(told)-1].Object != rita.ID.String() || len(told[len(told)-1].After) > 0) {
				t.Errorf("her tenant is told %+v", told)
			}
		})
	}
}

// toldOfSignIns is what people of the first tenant read of sign-ins by providers in its part of
// the audit log, the latest first.
func toldOfSignIns(t *testing.T, c *company) []audit.Entry {
	t.Helper()
	of := &access.Principal{User: store.User{ID: 900, Roles: []store.HeldRole{{Role: "viewer", Tenant: 1}}}}
	told, err := c.app.Audit.List(t.Context(), of, audit.Filter{AuditFilter: store.AuditFilter{Operation: "Accounts.FinishSignIn", Limit: 10}})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// backOf begins a sign-in and returns the address with which the browser would come back.
func backOf(b *browser, back *string) *url.URL {
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/back") {
			*back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	b.get("/signin/corp")
	b.CheckRedirect = nil
	u, _ := url.Parse(*back)
	return u
}

// TestAProviderThatIsDown leaves the sign-in with a password.
func TestAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	p.be(func() { p.down = true })
	b := c.browser(t, "otto")
	b.get("/signin/corp").want(http.StatusServiceUnavailable, "Corp does not answer", "sign in with a password")
	asked := p.asked
	for range 20 {
		b.get("/signin/corp").want(http.StatusServiceUnavailable)
	}
	if p.asked > asked+2 {
		t.Errorf("asked %d times while it is down", p.asked-asked)
	}
	b.get("/signin").form("/signin").set("name", "rita").set("password", password).send().want(200).at("/batches")
}
