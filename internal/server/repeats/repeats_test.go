package repeats

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// memory keeps requests in memory.
type memory map[store.RequestKey]store.Request

func (m memory) Request(_ context.Context, key store.RequestKey) (store.Request, error) {
	r, found := m[key]
	if !found {
		return r, crowd.Errorf(crowd.NotFound, "none")
	}
	return r, nil
}

func (m memory) PutRequest(_ context.Context, r store.Request) error {
	m[r.RequestKey] = r
	return nil
}

func (m memory) DropRequests(_ context.Context, before time.Time, limit int) (n int, err error) {
	for key, r := range m {
		if n < limit && r.At.Before(before) {
			delete(m, key)
			n++
		}
	}
	return n, nil
}

// form is a form in parts as a browser sends it.
func form(t *testing.T, boundary, file string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	if err := m.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	_ = m.WriteField("tenant", "n1") // a buffer never fails
	part, _ := m.CreateFormFile("file", "tasks.csv")
	_, _ = io.WriteString(part, file)
	_ = m.Close()
	r := httptest.NewRequest(http.MethodPost, "/x", &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return r
}

// TestBrowsersNameTheirPartsAnewEachTime: a form that is sent again is the same one, and
// one with another file is another, however it comes in pieces.
func TestBrowsersNameTheirPartsAnewEachTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	digest := func(boundary, file string) string {
		r := form(t, boundary, file)
		r.Body = io.NopCloser(pieces{r.Body, random})
		a := newAsked(r, &Request{Streams: true})
		if a.digest() != "" {
			t.Error("a body that was not read is known")
		}
		if err := a.readAll(); err != nil {
			t.Fatal(err)
		}
		return a.digest()
	}
	files := []string{"", "a\n", "a", "a\n\n", "--\n", "-\n--b\r\n", "--bound\n--boundar\n", strings.Repeat("a,b\r\n", 1000), strings.Repeat("x", 10_000)}
	seen := map[string]string{}
	for _, file := range files {
		first := digest("boundary-of-some-length", file)
		for range 20 {
			if again := digest(fmt.Sprintf("b%d", random.Int64()), file); again != first {
				t.Fatalf("%.20q is another form when it is sent again", file)
			}
		}
		if other, is := seen[first]; is {
			t.Errorf("%.20q and %.20q are one form", file, other)
		}
		seen[first] = file
	}
	r := form(t, "b", "a")
	r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	if a := newAsked(r, &Request{Streams: true}); a.readAll() == nil || a.digest() != "" {
		t.Error("a body that broke off is known")
	}
}

// pieces gives what it reads in pieces of any length.
type pieces struct {
	io.Reader
	random *rand.Rand
}

func (p pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), 1+p.random.IntN(30))])
}

// TestATenantHasAShareOfKeys: those of others are not used up with it, it comes back, and
// long answers use up more of it.
func TestATenantHasAShareOfKeys(t *testing.T) {
	kept, now := memory{}, time.Unix(1, 0)
	s := New(kept, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	who := func(tenant crowd.TenantID) *access.Principal {
		return &access.Principal{User: store.User{ID: crowd.WorkerID(tenant), Tenants: []crowd.TenantID{tenant}}}
	}
	n := 0
	send := func(tenant crowd.TenantID, bytes int) error {
		n++
		q := Request{Who: who(tenant), Key: fmt.Sprint(n), Address: "/x"}
		return s.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/x", nil), q, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, bytes)) // a recorder never fails
		})
	}
	for range share.Burst {
		if err := send(1, 10); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
	}
	if err := send(1, 10); crowd.CodeOf(err) != crowd.TooMany {
		t.Errorf("one more: %v", err)
	}
	for range share.Burst / 100 {
		if err := send(2, 100*shareBytes-1); err != nil {
			t.Fatalf("another tenant's request %d: %v", n, err)
		}
	}
	if err := send(2, 10); crowd.CodeOf(err) != crowd.TooMany {
		t.Errorf("one more of the other tenant: %v", err)
	}
	now = now.Add(share.Every)
	if err := send(1, 100*shareBytes); err != nil {
		t.Errorf("a while later: %v", err)
	}
	last := kept[store.RequestKey{Person: 1, Key: fmt.Sprint(n)}]
	if last.Withheld != store.TooLong || last.Body != "" {
		t.Errorf("a long answer without a share: %d bytes, %q", len(last.Body), last.Withheld)
	}
	now = now.Add(Life + time.Second)
	if err := s.Sweep(t.Context()); err != nil || len(kept) != 0 {
		t.Errorf("%d are left after their time: %v", len(kept), err)
	}
}

// TestWhoHangsUpGetsTheAnswerLater: a request is carried out to its end, though nobody waits for its
// answer any more, and its answer is kept for who sends it again.
func TestWhoHangsUpGetsTheAnswerLater(t *testing.T) {
	kept := memory{}
	s := New(kept, func() time.Time { return time.Unix(1, 0) }, slog.New(slog.DiscardHandler))
	q := Request{Who: &access.Principal{User: store.User{ID: 1}}, Key: "k", Address: "/x"}
	ctx, hangUp := context.WithCancel(t.Context())
	carriedOut := 0
	handle := func(w http.ResponseWriter, r *http.Request) {
		carriedOut++
		store.EffectsOf(r.Context())[0].Keep()
		hangUp()
		if err := r.Context().Err(); err != nil { // as what is read for the answer fails then
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made") // a recorder never fails
	}
	for range 2 {
		answer := httptest.NewRecorder()
		if err := s.Serve(answer, httptest.NewRequest(http.MethodPost, "/x", nil).WithContext(ctx), q, handle); err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusCreated || answer.Body.String() != "made" || carriedOut != 1 {
			t.Errorf("carried out %d times, answered %d %s", carriedOut, answer.Code, answer.Body)
		}
	}
}

// FuzzForms: what is asked does not depend on the pieces in which it comes, and another body is
// another request, whatever the header says of it. A form in parts is the same with other marks.
func FuzzForms(f *testing.F) {
	f.Add("text/csv; boundary=b", "thing\na cat", "thing\na cow", 3)
	f.Add("multipart/form-data; boundary=b", "--b\r\n\r\nx\r\n--b--", "--b\r\n\r\nx\r\n--by--", 1)
	f.Add("multipart/form-data; boundary=long-mark", "--long", "--lo", 2)
	f.Add("multipart/form-data; boundary=\"\"", "", "\n", 1)
	f.Fuzz(func(t *testing.T, kind, one, other string, size int) {
		digest := func(kind, body string, pieces int) string {
			r := httptest.NewRequest(http.MethodPost, "/x", iotest.OneByteReader(strings.NewReader(body)))
			if pieces > 1 {
				r.Body = io.NopCloser(bufio.NewReaderSize(strings.NewReader(body), pieces))
			}
			r.Header.Set("Content-Type", kind)
			a := newAsked(r, &Request{Streams: true})
			if err := a.readAll(); err != nil || a.digest() == "" {
				t.Fatalf("not read to its end: %v", err)
			}
			return a.digest()
		}
		first := digest(kind, one, 0)
		if digest(kind, one, 16+size&63) != first {
			t.Errorf("%q in other pieces is another", one)
		}
		if one != other && !strings.Contains(one+other, "\x00") && digest(kind, other, 0) == first {
			t.Errorf("%q and %q are one", one, other)
		}
	})
}

// FuzzKeys: a key that is taken is one of visible characters, and the same in quotation marks.
func FuzzKeys(f *testing.F) {
	for _, key := range []string{"", "a", `"a"`, `"`, "a b", "ä", strings.Repeat("x", MaxKey), strings.Repeat("x", MaxKey+1)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey([]string{text})
		if err != nil {
			return
		}
		if key == "" || len(key) > MaxKey || strings.ContainsAny(key, "\"\\ \x00\n\r") {
			t.Errorf("%q is read as %q", text, key)
		}
		if again, err := ParseKey([]string{`"` + key + `"`}); again != key || err != nil {
			t.Errorf("in quotation marks, %q is %q: %v", key, again, err)
		}
	})
}
