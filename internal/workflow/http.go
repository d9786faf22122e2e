package workflow

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// HTTP is a call of a service for each item. Its own columns are the properties of
// Response.
type HTTP struct {
	Name        string // of a service that the installation declares, which has its address and capacity; "": URL
	Path        string // below the address of the service called Name; "": the address itself
	URL         string
	Method      string
	Headers     map[string]string
	Send        []string // columns; nil: all but those that are Hidden
	Hidden      []string // columns that tell known answers (truth) of crowd steps, unless it reveals them
	Timeout     time.Duration
	Tries       int
	Backoff     time.Duration
	Concurrency int // calls at a time; 0: as the service called Name says
	Response    *jsonschema.Schema
}

// callTime is how long a call is expected to take.
const callTime = time.Second

// MakesItems reports false: an item's reply is added to it.
func (s *HTTP) MakesItems() bool { return false }

// WhyAllRows returns "": each item goes by itself.
func (s *HTTP) WhyAllRows() string { return "" }

// Summary names the service or the host that is called.
func (s *HTTP) Summary() string {
	if s.Name != "" {
		return "service · " + s.Name
	}
	if u, err := url.Parse(s.URL); err == nil {
		return "service · " + u.Host
	}
	return "service"
}

// HTTP returns what an HTTP step says; nil for another kind.
func (s *Step) HTTP() *HTTP {
	c, _ := s.Spec.(*HTTP)
	return c
}

var httpKind = kind{
	name:  HTTPStep,
	shape: httpShape,
	look:  Look{"service", "service", Hexagon, Paint{"#e3f5ea", "#2b8a57"}, Paint{"#143d29", "#5fc08d"}},
	read:  (*reader).http,
	typeHint: func(step, column string) string {
		return column + " is a number if the response of " + step + " says type: number"
	},
}

var httpShape = fields.Object("An HTTP call for each item.",
	fields.May("url", fields.Text(1, maxURL).Doc("The address, http or https.")),
	fields.May("name", word.Doc("In place of url: a service that the installation declares, with its address and capacity.")),
	fields.May("path", fields.Text(1, maxPath).Doc("With name: where below the service's address, such as v1/score.")),
	fields.May("method", fields.Choice("POST", "PUT", "PATCH", "GET").Doc("Default: POST. GET puts the columns into the query.")),
	fields.May("headers", fields.Map(50, anyName, fields.Text(0, 4096)).Doc("Headers; ${secret:NAME} stands for a secret of the tenant.")),
	fields.May("send", fields.List(1, maxColumns, fields.Text(1, maxColumnName)).Doc("The columns that are sent. Left out: all but known answers (truth), and what steps with checks add.")),
	fields.May("reveal", fields.Bool.Doc("Send known answers, and what steps with checks before this one add, too. Default: false.")),
	fields.May("timeout", fields.Duration(time.Millisecond, MaxTimeout).Doc("The most that one try may take. Default: 10s.")),
	fields.May("tries", fields.Count(1, MaxTries).Doc("How often it is tried in all. Default: 5.")),
	fields.May("backoff", fields.Duration(0, MaxBackoff).Doc("The waiting before the second try; it doubles. Default: 1s.")),
	fields.May("concurrency", fields.Count(1, MaxConcurrency).Doc("With url: how many calls there are at a time. Default: 10.")),
	fields.May("expect", fields.Duration(time.Nanosecond, maxDuration).Doc("How long a call takes, until that has been observed. Default: 1s.")),
	fields.Must("response", fields.Any.Doc("A JSON Schema of the answer: an object, whose properties become columns.")),
).ExactlyOne("the service", "url", "name")

// http reads an HTTP step.
func (r *reader) http(m *made, v *fields.Part) {
	r.joinSources(m, m.sources)
	if v == nil {
		m.loseColumns()
		return
	}
	s := &HTTP{
		Method:  fields.Or(v, "method", "POST"),
		Timeout: fields.Or(v, "timeout", DefaultTimeout),
		Tries:   fields.Or(v, "tries", DefaultTries),
		Backoff: fields.Or(v, "backoff", DefaultBackoff),
	}
	m.step.Spec = s
	r.expect(m, v.Get("expect"))
	r.address(s, v)
	r.headers(s, v.Get("headers"))
	r.send(m, v.Get("send"))
	s.Hidden = r.hidden(m, v, nil, func(column string) (list []Place) {
		for _, c := range v.Get("send").Parts() {
			if c != nil && Hides([]string{column}, c.Text()) {
				list = append(list, c.At())
			}
		}
		return list
	})
	r.response(m, v)
}

// address reads what is called: an address, or a service that is declared.
func (r *reader) address(s *HTTP, v *fields.Part) {
	name, path := v.Get("name"), v.Get("path")
	if name == nil {
		s.URL, s.Concurrency = fields.Or(v, "url", ""), fields.Or(v, "concurrency", DefaultConcurrency)
		if u := v.Get("url"); u != nil {
			if wrong := wrongURL(u.Text()); wrong != "" {
				r.problem(u.At(), "%s", wrong)
			}
		}
		if path != nil && !v.Has("name") {
			r.problem(path.Start(), "path goes with name: an address that a step gives itself is whole")
		}
		return
	}
	s.Name = name.Text()
	if r.checker != nil {
		if wrong := r.checker.CheckService(s.Name); wrong != "" {
			r.problem(name.At(), "%s", wrong)
		}
	}
	if path != nil {
		s.Path = path.Text()
		if wrong := wrongPath(s.Path); wrong != "" {
			r.problem(path.At(), "%s", wrong)
		}
	}
	if c := v.Get("concurrency"); c != nil {
		r.problem(c.Start(), "the service %s has its own concurrency, which all who call it share: leave it out", s.Name)
	}
}

// maxURL is how long the address of a service may be, in characters.
const maxURL = 2048

// maxPath is how long a path below a service may be, in characters.
const maxPath = 1024

// wrongPath explains why a text is no path below the address of a service. What is sent
// should be what is written, however often a server or a proxy on the way decodes it.
func wrongPath(path string) string {
	wrong := func(why string) string { return fmt.Sprintf("path %s %s", yamlfile.Quote(path), why) }
	u, err := url.Parse("http://x/" + path)
	switch {
	case err != nil || strings.ContainsAny(path, `\`) || strings.Contains(path, "${"):
		return wrong("is not a path like v1/score")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(path, "#"):
		return wrong("has a ? or a # part, which a path has not: columns are sent by themselves")
	case strings.HasPrefix(path, "/"):
		return wrong("begins with a /: leave it out, as a path begins below the address of the service")
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if why := wrongPart(part, i == 0, i == len(parts)-1); why != "" {
			return wrong(why)
		}
	}
	return ""
}

// wrongPart explains why a text cannot stand between two slashes of a path.
func wrongPart(part string, first, last bool) string {
	plain, err := url.PathUnescape(part)
	name, _, _ := strings.Cut(plain, ";") // servers that take ;… for parameters drop it
	name = strings.TrimSpace(name)
	switch {
	case err != nil || name == "." || name == ".." || strings.ContainsAny(plain, `/\`):
		return "leads out of the service: a path stays below its address"
	case encoded.MatchString(plain):
		return "is encoded twice: encode it once, or not at all"
	case !utf8.ValidString(plain) || strings.ContainsFunc(plain, format.Disguises):
		return "has a character that cannot be seen: leave it out"
	case first && (strings.Contains(plain, "@") || beginsAddress.MatchString(plain)):
		return "begins like an address: a path begins below that of the service, such as v1/score"
	case name == "" && !last:
		return "has nothing between two slashes: leave one of them out"
	}
	return ""
}

var (
	encoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	// beginsAddress is a scheme. A colon within a name is none: images:annotate.
	beginsAddress = regexp.MustCompile(`(?i)^https?:|:$`)
)

// Below returns a copy of the step's call to a service that is declared at an address.
// It has an error if the address is none.
func (s *HTTP) Below(address string) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if s.Path != "" {
		u = u.JoinPath(s.Path)
	}
	call := *s
	call.URL = u.String()
	return &call, nil
}

// CheckServiceName checks the name under which a service is declared.
func CheckServiceName(name string) error {
	if !nameForm.MatchString(name) {
		return crowd.Fieldf("name", "%q is not the name of a service: a letter and then letters, digits and _, at most 63", name)
	}
	return nil
}

// CheckServiceURL checks the address at which a service is declared.
func CheckServiceURL(address string) error {
	if wrong := wrongURL(address); wrong != "" {
		return crowd.Fieldf("url", "%s", wrong)
	}
	if len(address) > maxURL {
		return crowd.Fieldf("url", "an address has at most %d characters", maxURL)
	}
	return nil
}

// expect reads what a service expects of itself, which may stand at the step, too.
func (r *reader) expect(m *made, v *fields.Part) {
	switch {
	case v != nil && m.value.Has("expect"):
		r.problem(v.Start(), "expect is said by the step already, in line %d: leave one of them out", m.value.KeyPlace("expect").Line)
	case v != nil:
		m.step.Expect = v.Scalar.(time.Duration)
	case m.step.Expect == 0:
		m.step.Expect = callTime
	}
}

// wrongURL explains why a text cannot be the address of a service.
func wrongURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "${"):
		return "an address is fixed: secrets stand in headers, as ${secret:NAME}, and columns are sent by themselves"
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("%s is not an address like https://scores.example/v1/score", yamlfile.Quote(text))
	case strings.ContainsFunc(text+u.Host, format.Disguises):
		return fmt.Sprintf("%s has a character that cannot be seen: leave it out", yamlfile.Quote(text))
	case u.User != nil:
		return "a name and a password do not belong into an address: use a header with ${secret:NAME}"
	case u.Fragment != "":
		return "an address of a service has no # part"
	}
	return ""
}

// SecretForm is how the value of a header names a secret.
var SecretForm = regexp.MustCompile(`\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}`)

var headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // a token of RFC 9110

// ours are the headers that a call has by itself, and those that would change
// how it is carried.
var ours = []string{
	"accept-encoding", "connection", "content-length", "content-type", "expect", "host", "idempotency-key", "keep-alive",
	"proxy-authorization", "proxy-connection", "te", "throng-try", "trailer", "transfer-encoding", "upgrade",
}

func (r *reader) headers(s *HTTP, v *fields.Part) {
	if v == nil {
		return
	}
	s.Headers = map[string]string{}
	seen := map[string]bool{}
	for _, h := range v.Parts() {
		name := h.Name()
		lower := strings.ToLower(name)
		switch {
		case !headerForm.MatchString(name):
			r.problem(h.Start(), "%s is not the name of a header", yamlfile.Quote(name))
		case slices.Contains(ours, lower):
			r.problem(h.Start(), "the header %s is set by the call itself: leave it out", name)
		case seen[lower]:
			r.problem(h.Start(), "the header %s stands here already", name)
		case strings.Contains(SecretForm.ReplaceAllString(h.Text(), ""), "${"):
			rest := SecretForm.ReplaceAllStringFunc(h.Text(), func(s string) string { return strings.Repeat("x", len(s)) })
			line, column := lineColumn(h.Text(), len([]rune(h.Text()[:strings.Index(rest, "${")])))
			r.problem(h.Node.At(line, column), "a secret is written as ${secret:NAME}, its name made of letters, digits and _")
		case strings.ContainsFunc(h.Text(), func(c rune) bool { return c < ' ' || c == 0x7f }):
			r.problem(h.At(), "the value of a header stands in one line, without control characters")
		}
		seen[lower] = true
		s.Headers[name] = h.Text()
	}
}

func (r *reader) send(m *made, v *fields.Part) {
	for _, c := range v.Parts() {
		if c == nil || !r.known(m, c.Text(), c.At()) {
			continue
		}
		s := m.step.HTTP()
		if slices.Contains(s.Send, c.Text()) {
			r.problem(c.At(), "%s is sent already", yamlfile.Quote(c.Text()))
			continue
		}
		s.Send = append(s.Send, c.Text())
	}
}

// response reads the schema of the answer, which says which columns the step adds.
func (r *reader) response(m *made, v *fields.Part) {
	response := v.Get("response")
	if response == nil {
		m.loseColumns()
		return
	}
	raw, ok := response.Node.JSON(&r.notes)
	if !ok {
		m.loseColumns()
		return
	}
	s, err := jsonschema.Compile(raw)
	if err != nil {
		m.loseColumns()
		var wrong *crowd.Error
		if errors.As(err, &wrong) && strings.HasPrefix(wrong.Field, "#") {
			r.problem(response.Node.Pointed(strings.TrimPrefix(wrong.Field, "#")).Place, "response: %s", wrong.Message)
			return
		}
		r.problem(response.At(), "response: %s", yamlfile.Message(err))
		return
	}
	if typ := response.Node.Field("type").Value; typ == nil || typ.Text != "object" {
		r.problem(response.At(), "response is the schema of an object: it begins with type: object")
	}
	r.tooManyPatterns(m, response, s)
	m.step.HTTP().Response = s
	columns, places := r.properties(response, s)
	if len(columns) == 0 {
		r.problem(response.Start(), "response names no properties, so the step would add no column: write it like {type: object, properties: {risk: {type: number}}}")
	}
	r.own(m, columns, func(i int) Place { return places[i] })
}

// properties returns the columns that an answer becomes. A cell holds one value,
// so arrays and objects are refused.
func (r *reader) properties(response *fields.Part, s *jsonschema.Schema) ([]Column, []Place) {
	var columns []Column
	var places []Place
	folded := map[string]bool{}
	for _, p := range s.Properties() {
		property := response.Node.Field("properties").Value.Field(p.Name)
		at := response.Start()
		if property.Key != nil {
			at = property.Key.Place
		}
		wrong := checkColumn(p.Name)
		lower := strings.ToLower(p.Name)
		switch {
		case wrong != nil:
			r.problem(at, "%s", wrong)
			continue
		case folded[lower]:
			r.problem(at, "%s is a column already; large and small letters are the same here", yamlfile.Quote(p.Name))
			continue
		}
		folded[lower] = true
		if typ := property.Value.Field("type").Value; typ != nil {
			for _, t := range append([]*yamlfile.Node{typ}, typ.Items...) {
				if t.Text == "array" || t.Text == "object" {
					r.problem(t.Place, "the property %s is an %s; a column holds a string, a number or a bool", p.Name, t.Text)
				}
			}
		}
		columns = append(columns, Column{p.Name, condition.Type(p.Kind)})
		places = append(places, at)
	}
	return columns, places
}
