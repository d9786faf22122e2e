package workflow_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow"
)

// called are the addresses that a step calls whose path stands below declared ones; nil: the
// path is refused.
func called(t *testing.T, below string, declared ...string) (list []string) {
	t.Helper()
	text := fmt.Sprintf("workflow: w\ninputs:\n  a: {columns: [id]}\nsteps:\n  s:\n    from: a\n    service:\n      name: known\n      path: %q\n      response: {type: object, properties: {x: {type: number}}}\n", below)
	w, _ := workflow.Parse([]byte(text), now, nil)
	if w == nil {
		return nil
	}
	for _, address := range declared {
		call, err := w.Steps[0].Spec.(*workflow.HTTP).Below(address)
		if err != nil {
			t.Fatalf("%q below %s: %v", below, address, err)
		}
		list = append(list, call.URL)
	}
	return list
}

var declared = []string{"https://scores.example", "https://scores.example/", "https://scores.example:8443/v1", "http://10.1.2.3/a/b/", "https://scores.example/v1?key=1"}

// stays fails the test unless whatever a path leads to is at the declared host and below the
// declared path, also for servers that decode more than once and drop what follows a ;.
func stays(t *testing.T, below string) (taken bool) {
	t.Helper()
	for i, address := range called(t, below, declared...) {
		taken = true
		base, _ := url.Parse(declared[i])
		u, err := url.Parse(address)
		if err != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil || u.Opaque != "" || u.Fragment != "" || u.RawQuery != base.RawQuery {
			t.Fatalf("%q below %s is %s: %v", below, declared[i], address, err)
		}
		under := strings.TrimSuffix(base.Path, "/") + "/"
		for plain, before := u.EscapedPath(), ""; plain != before; {
			if !strings.HasPrefix(path.Clean(plain)+"/", under) || strings.HasPrefix(plain, "//") || strings.ContainsAny(plain, "\x00\r\n\\") {
				t.Fatalf("%q below %s is %s, decoded %q", below, declared[i], address, plain)
			}
			if bare := dropped(plain); !strings.HasPrefix(path.Clean(bare)+"/", under) || strings.HasPrefix(bare, "//") {
				t.Fatalf("%q below %s is %s, without what follows a ; %q", below, declared[i], address, bare)
			}
			before = plain
			if next, err := url.PathUnescape(plain); err == nil {
				plain = next
			}
		}
	}
	return taken
}

// dropped is a path as servers see it that take what follows a ; for parameters.
func dropped(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i], _, _ = strings.Cut(part, ";")
	}
	return strings.Join(parts, "/")
}

// TestPathsBelowAService are plain, and what they lead to is the service.
func TestPathsBelowAService(t *testing.T) {
	for below, good := range map[string]bool{
		"v1/score": true, "v1/score/": true, "images:annotate": true, "users/a@b.example": true, "a%20b/c": true, "100%25": true, "größe/x": true, "a..b/...": true,
		"%252e%252e/x": false, "v1/%25252e%25252e": false, "%00": false, "v1/a%00": false, "v1/%0d%0aHost:x": false, "http://evil.example/x": false, "https:evil.example": false,
		"HTTP:/evil.example": false, "http%3A//evil.example": false, "@evil.example": false, "user:x@evil.example/": false, "%40evil.example": false, "//evil.example/x": false,
		"/evil.example": false, "v1//x": false, "ftp:/x": false, ";a//x": false, ";a/x": false, "%c0%ae%c0%ae/x": false, "..%20/x": false, "v1/\u202ex": false, `..\x`: false, "..": false, "%2e": false,
	} {
		if taken := stays(t, below); taken != good {
			t.Errorf("%q: taken is %v", below, taken)
		}
	}
}

// TestNoPathLeavesItsService puts paths together of what such attacks are made of.
func TestNoPathLeavesItsService(t *testing.T) {
	pieces := []string{"..", ".", "/", "//", "%2e", "%2E%2e", "%252e", "%25", "25", "2e", "%2f", "%252f", "%5c", `\`, ";", "%3b", "@", "%40", ":", "%3a", "http:", "evil.example", "?", "#", "%3f", "%23", "%00", "%0a", " ", "%20", "%", "v1", "a", "ä", "%c0%ae", "\u202e", "[::1]", "~", "*"}
	r := rand.New(rand.NewPCG(1, 12))
	taken := 0
	for range 8_000 {
		var below strings.Builder
		for range 1 + r.IntN(7) {
			below.WriteString(pieces[r.IntN(len(pieces))])
		}
		if stays(t, below.String()) {
			taken++
		}
	}
	if taken < 300 {
		t.Errorf("only %d paths were taken", taken)
	}
}

func FuzzPathBelow(f *testing.F) {
	for _, below := range []string{"v1/score", "%252e%252e/x", "@evil", "http://evil", "a;b/..;/x", "%c0%ae/x"} {
		f.Add(below)
	}
	f.Fuzz(func(t *testing.T, below string) { stays(t, below) })
}
