package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var staticFiles embed.FS

// assets serves the files of static/ under /static/<version>/, where the
// version is a hash of all of them: they may be cached for ever, and may name
// each other.
type assets struct {
	version string
	files   map[string][]byte
}

func loadAssets() (assets, error) {
	a := assets{files: make(map[string][]byte)}
	sum := sha256.New()
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if name == "static/app.css" {
			data = append(data, kindRules()...)
		}
		a.files[strings.TrimPrefix(name, "static/")] = data
		_, _ = sum.Write([]byte(name + "\x00")) // never fails
		_, _ = sum.Write(data)
		return nil
	})
	a.version = hex.EncodeToString(sum.Sum(nil))[:16]
	return a, err
}

func (a assets) url(name string) string { return "/static/" + a.version + "/" + name }

func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
	data, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if version != a.version { // a page from before an update: what there is now, but not for long
		w.Header().Set("Cache-Control", "no-cache")
	} else {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
