package httpstep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/workflow"
)

// maxQuery is how long an address may get by the fields of a GET.
const maxQuery = 8000

// request makes the request of a try, and has its secrets masked.
func (c *Client) request(ctx context.Context, s *workflow.HTTP, call Call, try int, m *masks) (*http.Request, error) {
	if call.Key == "" || len(call.Key) > maxKey || strings.ContainsFunc(call.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &Failure{Reason: BadFields, Message: fmt.Sprintf("the idempotency key should be 1 to %d visible ASCII characters", maxKey)}
	}
	fields, err := choose(call.Fields, s.Send)
	if err != nil {
		return nil, err
	}
	address, body := s.URL, []byte(nil)
	if methodOf(s) == http.MethodGet {
		address, err = withQuery(s.URL, fields)
	} else {
		body, err = object(fields)
	}
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, methodOf(s), address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "throng")
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		value, err := c.fill(s.Headers[name], destination{req.URL, s.Name, call.Origin}, m)
		if err != nil {
			return nil, err
		}
		req.Header.Set(name, value)
	}
	req.Header.Set("Idempotency-Key", call.Key)
	req.Header.Set(tryHeader, strconv.Itoa(try))
	return req, nil
}

// destination is where a request with secrets goes.
type destination struct {
	*url.URL
	service string // its name, if it is declared
	origin  string // Call.Origin
}

// moved reports whether the service is elsewhere than when the run began.
func (d *destination) moved() bool { return d.origin != "" && Origin(d.URL) != d.origin }

// fill puts the secrets into the value of a header of a request.
func (c *Client) fill(value string, to destination, m *masks) (string, error) {
	var failed error
	filled := workflow.SecretForm.ReplaceAllStringFunc(value, func(ref string) string {
		name := workflow.SecretForm.FindStringSubmatch(ref)[1]
		secret, ok := c.opts.Secrets(name)
		switch {
		case !ok || secret.Value == "":
			failed = &Failure{Reason: NoSecret, Message: fmt.Sprintf("there is no secret %s: set it first", name)}
		case len(secret.Hosts) == 0 && to.moved():
			failed = &Failure{Reason: NoSecret, Message: fmt.Sprintf("the service %s has moved from %s to %s since the run began, and the secret %s is bound to no host: if it may go there, set it again with the host %s and retry the items, or have a new run go on from this one", to.service, to.origin, Origin(to.URL), name, to.Host)}
		case !secret.MayGoTo(to.URL):
			failed = &Failure{Reason: NoSecret, Message: fmt.Sprintf("the secret %s may not be sent to %s, only to %s: set it again with that host", name, to.Host, strings.Join(secret.Hosts, ", "))}
		case hasControl(secret.Value):
			failed = &Failure{Reason: NoSecret, Message: fmt.Sprintf("the secret %s holds a line end or a control character: set it again without", name)}
		}
		m.add(secret.Value)
		return secret.Value
	})
	return filled, failed
}

// choose returns the fields to send, in the order of send.
func choose(fields []Field, send []string) ([]Field, error) {
	seen := make(map[string]Field, len(fields))
	for _, f := range fields {
		if _, twice := seen[f.Name]; twice || f.Name == "" {
			return nil, &Failure{Reason: BadFields, Message: fmt.Sprintf("the column %q is empty or there are two of it", f.Name)}
		}
		seen[f.Name] = f
	}
	if send == nil {
		return fields, nil
	}
	chosen := make([]Field, 0, len(send))
	for _, name := range send {
		f, ok := seen[name]
		if !ok {
			return nil, &Failure{Reason: BadFields, Message: fmt.Sprintf("send: the item has no column %q", name)}
		}
		chosen = append(chosen, f)
	}
	return chosen, nil
}

func withQuery(address string, fields []Field) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for _, f := range fields {
		q.Set(f.Name, f.Value)
	}
	u.RawQuery = q.Encode()
	if text := u.String(); len(text) <= maxQuery {
		return text, nil
	}
	return "", &Failure{Reason: BadFields, Message: fmt.Sprintf("the item is too long for an address of %d characters: use POST, or send fewer columns", maxQuery)}
}

// object writes fields as a JSON object.
func object(fields []Field) ([]byte, error) {
	var out bytes.Buffer
	text := json.NewEncoder(&out)
	text.SetEscapeHTML(false)
	write := func(s string) error {
		err := text.Encode(s)
		out.Truncate(out.Len() - 1) // the line end that Encode adds
		return err
	}
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write(f.Name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if f.Kind == jsonschema.Text || f.Kind == "" {
			if err := write(f.Value); err != nil {
				return nil, err
			}
			continue
		}
		kind := condition.Type(f.Kind)
		value, ok := kind.JSON(f.Value)
		if !ok {
			return nil, &Failure{Reason: BadFields, Message: fmt.Sprintf("%s: %s %q", f.Name, kind.Misfit(), format.Clip(f.Value, 50))}
		}
		out.WriteString(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// Values returns the values of an answer's properties, in the order of the schema, which
// the answer has to fit: "" where it has none or null.
func Values(body []byte, schema *jsonschema.Schema) ([]string, error) {
	if err := schema.Check(body); err != nil {
		return nil, err
	}
	return pick(body, schema.Properties())
}

// pick returns the values of an answer's properties.
func pick(body []byte, properties []jsonschema.Property) ([]string, error) {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("it is not a JSON object")
	}
	values := make([]string, 0, len(properties))
	for _, p := range properties {
		raw, ok := answer[p.Name]
		if !ok {
			values = append(values, "")
			continue
		}
		text, err := table.JSONText(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		values = append(values, text)
	}
	return slices.Clip(values), nil
}
