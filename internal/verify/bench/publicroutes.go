package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/server/web"
)

// hostileForm makes a request of a stranger.
type hostileForm func(s *strangers, random *rand.Rand) (*http.Request, error)

// strangersFields are what pages without an account take, in addresses and forms.
var strangersFields = []string{"token", "name", "full_name", "password", "again", "code", "state", "next", "ticket", "error", "answer"}

// publicForms returns a form for each route that needs no account, and the routes: those of
// the pages by their table, those of the API by the document that the server gives.
func (s *strangers) publicForms(ctx context.Context) (forms []hostileForm, names []string, err error) {
	for _, pattern := range web.PublicRoutes() {
		method, path, _ := strings.Cut(pattern, " ")
		names = append(names, pattern)
		forms = append(forms, func(s *strangers, random *rand.Rand) (*http.Request, error) {
			to, values := s.url+withRandomParts(path, random), url.Values{}
			for _, name := range strangersFields {
				values.Set(name, text(random, 1+random.IntN(300)))
			}
			if method == http.MethodPost {
				return s.postForm(strings.TrimPrefix(to, s.url), values.Encode())
			}
			return http.NewRequest(method, to+"?"+values.Encode(), nil)
		})
	}
	operations, err := s.publicOperations(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range operations {
		names = append(names, o.method+" "+o.path)
		forms = append(forms, func(s *strangers, random *rand.Rand) (*http.Request, error) {
			body := make(map[string]string)
			values := url.Values{}
			for _, name := range o.fields {
				body[name] = text(random, 1+random.IntN(300))
				values.Set(name, body[name])
			}
			to := s.url + withRandomParts(o.path, random)
			if o.method == http.MethodGet {
				values.Set("token", text(random, 60))
				return http.NewRequest(o.method, to+"?"+values.Encode(), nil)
			}
			encoded, err := json.Marshal(body)
			if err != nil {
				return nil, err
			}
			q, err := http.NewRequest(o.method, to, strings.NewReader(string(encoded)))
			if err == nil {
				q.Header.Set("Content-Type", "application/json")
				q.Header.Set("Idempotency-Key", text(random, 60))
			}
			return q, err
		})
	}
	return forms, names, nil
}

// withRandomParts puts random text in place of the parts of a path that are named.
func withRandomParts(path string, random *rand.Rand) string {
	path = strings.TrimSuffix(path, "{$}")
	for {
		begin := strings.IndexByte(path, '{')
		end := strings.IndexByte(path, '}')
		if begin < 0 || end < begin {
			return path
		}
		path = path[:begin] + text(random, 1+random.IntN(40)) + path[end+1:]
	}
}

// publicOperation is an operation of the API that needs no token.
type publicOperation struct {
	method, path string
	fields       []string // of its body
}

// publicOperations reads them from the server's document.
func (s *strangers) publicOperations(ctx context.Context) (list []publicOperation, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	reply, err := s.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	type schema struct {
		Ref        string `json:"$ref"`
		Properties map[string]struct {
			Type any `json:"type"`
		}
	}
	type operation struct {
		Security    []any
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
	}
	var doc struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]schema }
	}
	if err := json.NewDecoder(reply.Body).Decode(&doc); err != nil {
		return nil, fmt.Errorf("the server's document: %w", err)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			o := doc.Paths[path][method]
			if len(o.Security) > 0 {
				continue
			}
			of := o.RequestBody.Content["application/json"].Schema
			if name, is := strings.CutPrefix(of.Ref, "#/components/schemas/"); is {
				of = doc.Components.Schemas[name]
			}
			public := publicOperation{method: strings.ToUpper(method), path: path}
			for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
				if of.Properties[name].Type == "string" {
					public.fields = append(public.fields, name)
				}
			}
			list = append(list, public)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the server's document has no operation that needs no token")
	}
	return list, nil
}
