package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// SignInOptions is what SignIn measures.
type SignInOptions struct {
	Hostile int           // requests that want to fill the server's memory, after half as many to warm up
	Rate    float64       // guesses a second while somebody signs in
	For     time.Duration // how long they guess
	Dir     string        // for the database; "": a temporary folder
	Log     io.Writer
}

// SignInResult is what strangers cost a server before they have signed in, and how long
// somebody with the right password waits meanwhile. Guesses go at the name that signs in
// and at names of nobody in turn, each from an address of its own, so that no limit
// spares the server the work.
type SignInResult struct {
	Hostile    int            `json:"hostile_requests"`
	Routes     []string       `json:"public_routes"`         // that were tried: all that need no account
	Answers    map[string]int `json:"hostile_answers"`       // by HTTP status
	LiveGrowth int64          `json:"live_growth_bytes"`     // of what the server keeps: of its heap without garbage, after the requests over before them
	RSSGrowth  int64          `json:"rss_growth_bytes"`      // of all memory that it has from the system, garbage included
	PeakGrowth int64          `json:"peak_rss_growth_bytes"` // likewise, of the most that it ever took
	Guesses    int            `json:"guesses"`
	GuessRate  float64        `json:"guesses_per_s"`
	Looked     int            `json:"guesses_looked_at"` // not refused as too many
	SignIns    int            `json:"sign_ins"`          // with the right password meanwhile
	Refused    int            `json:"sign_ins_refused"`  // of them, since too many sign in at the moment
	AloneP50   float64        `json:"alone_p50_ms"`      // of sign-ins while nobody guesses
	P50        float64        `json:"p50_ms"`            // of sign-ins while they do
	P95        float64        `json:"p95_ms"`
	Max        float64        `json:"max_ms"`
}

const (
	hostileClients = 16
	aloneSignIns   = 10
	signInEvery    = 500 * time.Millisecond
)

// SignIn measures a server that strangers send what they like.
func SignIn(ctx context.Context, o SignInOptions) (out SignInResult, err error) {
	if o.Hostile < hostileClients || !(o.Rate > 0 && o.Rate <= 10_000) || o.For < 2*signInEvery {
		return out, fmt.Errorf("nothing to measure: %d requests, %v guesses a second for %s (at least %d, 1 and %s)", o.Hostile, o.Rate, o.For, hostileClients, 2*signInEvery)
	}
	dir, remove, err := folder(o.Dir)
	if err != nil {
		return out, err
	}
	defer remove()
	server, err := process.Start(ctx, process.Config{Args: []string{"serve", "--data", filepath.Join(dir, "throng"), "--listen", "127.0.0.1:0", "--trust-proxy"}})
	if err != nil {
		return out, err
	}
	defer server.Kill()
	s := &strangers{url: server.URL, http: process.HTTP(4 * hostileClients), password: process.NewPassword()}
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if s.admin, err = server.FirstAdmin(ctx, s.password); err != nil {
		return out, err
	}
	public, names, err := s.publicForms(ctx)
	if err != nil {
		return out, err
	}
	s.forms, out.Routes = append(public, hostileForms...), names
	if err := s.fill(ctx, server, o, &out); err != nil {
		return out, err
	}
	return out, s.guessAndSignIn(ctx, o, &out)
}

// strangers are clients without an account, and one with a password.
type strangers struct {
	url      string
	http     *http.Client
	password string // of admin
	admin    *client.Client
	forms    []hostileForm
}

// fill sends hostile requests and measures what the server keeps of them.
func (s *strangers) fill(ctx context.Context, server *process.Server, o SignInOptions, out *SignInResult) error {
	load.Say(o.Log, "%d hostile requests to warm up", o.Hostile/2)
	if _, err := s.hostile(ctx, 1, o.Hostile/2); err != nil {
		return err
	}
	kept, err := s.live(ctx)
	if err != nil {
		return err
	}
	before, err := server.Usage()
	if err != nil {
		return err
	}
	load.Say(o.Log, "%d hostile requests", o.Hostile)
	out.Hostile = o.Hostile
	if out.Answers, err = s.hostile(ctx, 2, o.Hostile); err != nil {
		return err
	}
	after, err := server.Usage()
	if err != nil {
		return err
	}
	out.RSSGrowth, out.PeakGrowth = after.RSS-before.RSS, after.PeakRSS-before.PeakRSS
	still, err := s.live(ctx)
	out.LiveGrowth = still - kept
	return err
}

// live returns the bytes of the server's heap that are no garbage: the least of some garbage
// collections, since one that runs while a password is checked finds 19 MiB for that in use.
// Pages are asked for until there were so many.
func (s *strangers) live(ctx context.Context) (least int64, err error) {
	const collections, pages, most = 4, 200, 500
	var first, last int64
	for n := 0; last-first < collections; n++ {
		if n == most {
			return 0, fmt.Errorf("the server collects no garbage within %d pages", n*pages)
		}
		figures, err := s.figures(ctx, "go_gc_duration_seconds_count", "go_gc_heap_live_bytes")
		if err != nil {
			return 0, err
		}
		if n == 0 {
			first = figures[0]
		} else if figures[0] > last && (least == 0 || figures[1] < least) {
			least = figures[1]
		}
		last = figures[0]
		if err := load.InParallel(hostileClients, func(int) error { return s.askForPages(ctx, pages/hostileClients) }); err != nil {
			return 0, err
		}
	}
	return least, nil
}

// askForPages asks for n pages, one after the other.
func (s *strangers) askForPages(ctx context.Context, n int) error {
	for range n {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/signin", nil)
		if err != nil {
			return err
		}
		reply, err := s.http.Do(q)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, reply.Body)
		if err = errors.Join(err, reply.Body.Close()); err != nil {
			return err
		}
	}
	return nil
}

// figures reads some of the server's metrics.
func (s *strangers) figures(ctx context.Context, names ...string) (list []int64, err error) {
	var text strings.Builder
	if err := s.admin.Metrics(ctx, &text); err != nil {
		return nil, err
	}
	for _, name := range names {
		_, after, _ := strings.Cut(text.String(), "\n"+name+" ")
		figure, _, _ := strings.Cut(after, "\n")
		x, err := strconv.ParseFloat(figure, 64)
		if err != nil {
			return nil, fmt.Errorf("the server's metrics have no %s: %w", name, err)
		}
		list = append(list, int64(x))
	}
	return list, nil
}

// hostile sends n requests of all forms and counts the answers by status.
func (s *strangers) hostile(ctx context.Context, seed uint64, n int) (map[string]int, error) {
	var mu sync.Mutex
	answers := make(map[string]int)
	err := load.InParallel(hostileClients, func(client int) error {
		random := rand.New(rand.NewPCG(seed, uint64(client)))
		for i := client; i < n; i += hostileClients {
			q, err := s.forms[i%len(s.forms)](s, random)
			if err != nil {
				return err
			}
			status, err := s.send(ctx, q, random)
			if err != nil {
				return err
			}
			mu.Lock()
			answers[status]++
			mu.Unlock()
		}
		return nil
	})
	return answers, err
}

// send sends a request from a random address and returns the status of the answer. A
// connection that the server cuts, as it may while too much is sent, counts as "cut".
func (s *strangers) send(ctx context.Context, q *http.Request, random *rand.Rand) (string, error) {
	q.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", random.IntN(256), random.IntN(256), random.IntN(256)))
	reply, err := s.http.Do(q.WithContext(ctx))
	if err != nil {
		return "cut", ctx.Err()
	}
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		return "cut", ctx.Err()
	}
	return fmt.Sprint(reply.StatusCode), nil
}

// hostileForms are what strangers may send besides something to each public route: names,
// secrets and sizes of their choice.
var hostileForms = []hostileForm{
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a name of nobody
		return s.post("/signin", "name", text(r, 40), "password", text(r, 100))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a name of somebody
		return s.post("/signin", "name", "admin", "password", text(r, 20))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a name that nobody can have
		return s.post("/signin", "name", text(r, 40_000), "password", text(r, 20))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a form of megabytes
		return s.post("/signin", "name", "admin", "password", text(r, 2<<20))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a form of many fields
		return s.postForm("/signin", strings.Repeat("a=b&", 20_000)+text(r, 10)+"=x")
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // secrets that were never given
		q, err := http.NewRequest(http.MethodGet, s.url+"/v1/me", nil)
		q.Header.Set("Authorization", "Bearer tok_"+text(r, 43))
		return q, err
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) {
		q, err := http.NewRequest(http.MethodGet, s.url+"/account", nil)
		q.Header.Set("Cookie", "throng_session="+text(r, 3000)+"; throng_device="+text(r, 3000))
		return q, err
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // one-time links
		return s.post("/setup", "token", "set_"+text(r, 43), "password", text(r, 20))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) {
		return s.post("/invitation", "token", "inv_"+text(r, 43), "name", text(r, 20), "password", text(r, 20))
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // providers that are not there
		return http.NewRequest(http.MethodGet, s.url+"/signin/"+text(r, 30)+"/back?state="+text(r, 2000)+"&code="+text(r, 2000), nil)
	},
	func(s *strangers, r *rand.Rand) (*http.Request, error) { // a join by JSON
		q, err := http.NewRequest(http.MethodPost, s.url+"/v1/invitation/join", strings.NewReader(`{"secret": "inv_`+text(r, 43)+`", "name": "`+text(r, 30)+`", "password": "`+text(r, 60)+`"}`))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Idempotency-Key", text(r, 60))
		return q, err
	},
}

// post makes a request that posts a form, whose values stand after their names.
func (s *strangers) post(path string, pairs ...string) (*http.Request, error) {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return s.postForm(path, values.Encode())
}

func (s *strangers) postForm(path, encoded string) (*http.Request, error) {
	q, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(encoded))
	if err == nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return q, err
}

// text returns n random letters.
func text(random *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('a' + random.IntN(26))
	}
	return string(out)
}

// guessAndSignIn has strangers guess while somebody signs in.
func (s *strangers) guessAndSignIn(ctx context.Context, o SignInOptions, out *SignInResult) error {
	var alone, under []float64
	for range aloneSignIns {
		ms, _, err := s.signIn(ctx)
		if err != nil {
			return err
		}
		alone = append(alone, ms)
	}
	load.Say(o.Log, "%v guesses a second for %s", o.Rate, o.For)
	start := time.Now()
	guessers := load.NewCrew(ctx)
	guessers.Go(func() error { return s.guess(guessers, o, out) })
	err := inTime(ctx, start, o.For, signInEvery, func() error {
		ms, refused, err := s.signIn(ctx)
		under = append(under, ms)
		if refused {
			out.Refused++
		}
		return err
	})
	if err = errors.Join(err, guessers.Wait()); err != nil {
		return err
	}
	out.GuessRate, out.SignIns = float64(out.Guesses)/time.Since(start).Seconds(), len(under)
	out.AloneP50, out.P50, out.P95, out.Max = stats.Quantile(alone, 0.5), stats.Quantile(under, 0.5), stats.Quantile(under, 0.95), stats.Quantile(under, 1)
	return nil
}

// guess sends each guess at its time, however long the answers to others take.
func (s *strangers) guess(crew *load.Crew, o SignInOptions, out *SignInResult) error {
	random := rand.New(rand.NewPCG(3, 0))
	var looked atomic.Int64
	var sent sync.WaitGroup
	err := inTime(crew.Quit(), time.Now(), o.For, time.Duration(float64(time.Second)/o.Rate), func() error {
		name := "admin"
		if out.Guesses++; out.Guesses%2 == 0 {
			name = text(random, 12)
		}
		q, err := s.post("/signin", "name", name, "password", text(random, 20))
		from := rand.New(rand.NewPCG(4, random.Uint64()))
		sent.Go(func() {
			if status, err := s.send(crew.Quit(), q, from); err == nil && status == "401" {
				looked.Add(1)
			}
		})
		return err
	})
	sent.Wait()
	out.Looked = int(looked.Load())
	return err
}

// inTime calls f now and then every so often, until so long after the start.
func inTime(ctx context.Context, start time.Time, long, every time.Duration, f func() error) error {
	for due := start; due.Sub(start) < long; due = due.Add(every) {
		if !load.Sleep(ctx, time.Until(due)) {
			return ctx.Err()
		}
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// signIn signs in with the right password, from an address of its own, and returns how
// many milliseconds it took, and whether it was refused since too many sign in.
func (s *strangers) signIn(ctx context.Context) (ms float64, refused bool, err error) {
	q, err := s.post("/signin", "name", "admin", "password", s.password)
	if err != nil {
		return 0, false, err
	}
	q.Header.Set("X-Forwarded-For", "192.0.2.1")
	start := time.Now()
	reply, err := s.http.Do(q.WithContext(ctx))
	if err != nil {
		return 0, false, err
	}
	defer reply.Body.Close()
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		return 0, false, err
	}
	refused = reply.StatusCode == http.StatusTooManyRequests
	if reply.StatusCode != http.StatusSeeOther && !refused {
		return 0, false, fmt.Errorf("the right password is answered with %s", reply.Status)
	}
	return time.Since(start).Seconds() * 1000, refused, nil
}
