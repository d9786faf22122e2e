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
)

//go:embed docs.html
var docsHTML string

var docsPage = template.Must(template.New("docs").Parse(docsHTML))

type docsTag struct {
	Name string
	Ops  []docsOp
}

type docsOp struct {
	ID, Method, Path, Summary, Text string
	Open                            bool // needs no token
	Params                          []docsField
	Body                            []docsField
	Uploads                         []string // content types of a body that is not JSON
	Streams                         []string // content types of a response that is not JSON
	Status                          string
	Response                        []docsField
}

type docsField struct {
	Name, In, Type, Text string
	Required             bool
}

// mountDocs serves a readable page of the OpenAPI document, without scripts and
// without anything from elsewhere.
func mountDocs(mux *http.ServeMux, doc *huma.OpenAPI) {
	page := sync.OnceValue(func() []byte {
		var out bytes.Buffer
		if err := docsPage.Execute(&out, map[string]any{"Info": doc.Info, "Tags": docsOf(doc)}); err != nil {
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
	paths := make([]string, 0, len(doc.Paths))
	for path := range doc.Paths {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
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
			tags[i].Ops = append(tags[i].Ops, docsOpOf(doc, o))
		}
	}
	return tags
}

func docsOpOf(doc *huma.OpenAPI, o *huma.Operation) docsOp {
	d := docsOp{ID: o.OperationID, Method: o.Method, Path: o.Path, Summary: o.Summary, Text: o.Description, Open: len(o.Security) == 0}
	for _, p := range o.Parameters {
		d.Params = append(d.Params, docsField{Name: p.Name, In: p.In, Type: typeOf(doc, p.Schema), Text: textOf(p.Description, p.Schema), Required: p.Required})
	}
	if o.RequestBody != nil {
		if m := o.RequestBody.Content["application/json"]; m != nil {
			d.Body = fieldsOf(doc, m.Schema)
		} else {
			d.Uploads = slices.Sorted(maps.Keys(o.RequestBody.Content))
		}
	}
	for _, status := range []string{"200", "201", "204"} {
		if r := o.Responses[status]; r != nil {
			d.Status = status
			if m := r.Content["application/json"]; m != nil {
				d.Response = fieldsOf(doc, m.Schema)
			} else {
				d.Streams = slices.Sorted(maps.Keys(r.Content))
			}
		}
	}
	return d
}

// fieldsOf lists the properties of an object, or of the objects in a list.
func fieldsOf(doc *huma.OpenAPI, s *huma.Schema) []docsField {
	s = resolve(doc, s)
	if s.Type == huma.TypeArray {
		s = resolve(doc, s.Items)
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	fields := make([]docsField, 0, len(names))
	for _, name := range names {
		p := s.Properties[name]
		fields = append(fields, docsField{Name: name, Type: typeOf(doc, p), Text: textOf(p.Description, p), Required: slices.Contains(s.Required, name)})
	}
	return fields
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

func textOf(text string, s *huma.Schema) string {
	if s != nil && text == "" {
		return s.Description
	}
	return text
}
