package web

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// Config sets up the pages.
type Config struct {
	App *app.App
	Log *slog.Logger     // default: slog.Default()
	Now func() time.Time // default: time.Now
	// TrustProxy believes X-Forwarded-Proto and X-Forwarded-For. Set it only behind a
	// proxy that sets these headers itself.
	TrustProxy bool
	// MaxUpload is the largest file of tasks, in bytes; default: DefaultMaxUpload.
	MaxUpload int64
	Scratch   *httpkit.Scratch
}

// Validate says what is wrong with the configuration.
func (c *Config) Validate() error {
	if c.App == nil {
		return errors.New("web: Config.Service is missing")
	}
	if c.MaxUpload < 0 {
		return errors.New("web: Config.MaxUpload is negative")
	}
	return nil
}

// The limits of a request's body.
const (
	DefaultMaxUpload = 4 << 30
	maxPublicForm    = 16 << 10 // of a form that anybody may send
	maxForm          = 8 << 20  // a form may carry a template of 1 MiB, three bytes for each in the worst case
)

// server is what the handlers share.
type server struct {
	Config
	pages  pages
	assets assets
}

// What is part of the program is read once, for all servers of a process.
var (
	theAssets = sync.OnceValue(func() assets { return must(loadAssets()) })
	thePages  = sync.OnceValue(func() pages { return must(loadPages(theAssets())) })
)

// New returns the handler of all pages. It serves everything under "/"; mount
// it next to the API.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxUpload == 0 {
		cfg.MaxUpload = DefaultMaxUpload
	}
	cfg.Scratch = cmp.Or(cfg.Scratch, &httpkit.Scratch{})
	s := &server{Config: cfg, assets: theAssets(), pages: thePages()}
	mux := http.NewServeMux()
	for _, rt := range routes() {
		mux.Handle(rt.pattern, s.guard(rt))
	}
	for pattern, keep := range onlyPosted(routes()) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+strings.Join(strings.Split(r.URL.EscapedPath(), "/")[1:1+keep], "/"), http.StatusSeeOther)
		})
	}
	mux.Handle("GET /static/", s.assets)
	mux.Handle("GET /favicon.ico", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.assets.url("icon.svg"), http.StatusFound)
	}))
	mux.Handle("/", s.guard(route{access: public, handle: (*request).notFound}))

	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&request{server: s, w: w, r: r}).showError(errCrossSite)
	}))
	return httpkit.SecureHeaders(cfg.TrustProxy, httpkit.Recover(cfg.Log, func(w http.ResponseWriter, r *http.Request, err error) {
		(&request{server: s, w: w, r: r}).showError(err)
	}, cross.Handler(mux))), nil
}

// must is for files that are part of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic("web: " + err.Error())
	}
	return v
}
