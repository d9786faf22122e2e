package api

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/kit/lists"
)

//go:embed docs.html
var docsHTML string

// docsTag is the operations with a tag.
type docsTag struct {
	Name string
	Ops  []*huma.Operation
}

// docsField is a property of a body.
type docsField struct {
	Name     string
	Required bool
	*huma.Schema
}

// mountDocs serves a readable page of the OpenAPI document, without scripts and
// without anything from elsewhere.
func mountDocs(mux *http.ServeMux, doc *huma.OpenAPI) {
	page := sync.OnceValue(func() []byte {
		var out bytes.Buffer
		page := template.Must(template.New("docs").Funcs(template.FuncMap{
			"fields": func(s *huma.Schema) []docsField { return fieldsOf(doc, s) },
			"type":   func(s *huma.Schema) string { return typeOf(doc, s) },
			"kinds":  func(m map[string]*huma.MediaType) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") },
		}).Parse(docsHTML))
		if err := page.Execute(&out, map[string]any{"Info": doc.Info, "Tags": docsOf(doc)}); err != nil {
			panic(err) // the template and the types are ours: a test renders it
		}
		return out.Bytes()
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		_, _ = w.Write(page())
	})
}

func docsOf(doc *huma.OpenAPI) []docsTag {
	var tags []docsTag
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o == nil {
				continue
			}
			i := slices.IndexFunc(tags, func(t docsTag) bool { return t.Name == o.Tags[0] })
			if i < 0 {
				i = len(tags)
				tags = append(tags, docsTag{Name: o.Tags[0]})
			}
			tags[i].Ops = append(tags[i].Ops, o)
		}
	}
	return tags
}

// fieldsOf lists the properties of an object, or of the objects in a list.
func fieldsOf(doc *huma.OpenAPI, s *huma.Schema) []docsField {
	s = resolve(doc, s)
	if s.Type == huma.TypeArray {
		s = resolve(doc, s.Items)
	}
	return lists.Map(slices.Sorted(maps.Keys(s.Properties)), func(name string) docsField {
		return docsField{name, slices.Contains(s.Required, name), s.Properties[name]}
	})
}

func resolve(doc *huma.OpenAPI, s *huma.Schema) *huma.Schema {
	if s.Ref != "" {
		return doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func typeOf(doc *huma.OpenAPI, s *huma.Schema) string {
	r := resolve(doc, s)
	switch {
	case r.Type == huma.TypeArray:
		return "list of " + typeOf(doc, r.Items)
	case len(r.Enum) > 0:
		words := make([]string, len(r.Enum))
		for i, e := range r.Enum {
			words[i], _ = e.(string)
		}
		return strings.Join(words, " | ")
	case r.Format != "" && r.Type == huma.TypeString:
		return r.Format
	case r.Type == "":
		return "any JSON"
	}
	return r.Type
}
