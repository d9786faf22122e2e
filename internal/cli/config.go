package cli

import (
	"cmp"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// Config is "throng config".
type Config struct {
	Print ConfigPrint `cmd:"" help:"Print each setting of a server, its value, and where it comes from."`
}

// ConfigPrint is "throng config print".
type ConfigPrint struct {
	serverFlags
	Output
}

// setting is one of a server's.
type setting struct {
	Name   string `json:"name"`   // as in the file of settings
	Value  any    `json:"value"`  // a text, a number, a truth value or a list of texts
	Origin string `json:"origin"` // flag, environment NAME, FILE:LINE or default
}

const (
	byFlagItself = "flag"
	byDefault    = "default"
	hidden       = "(hidden)"
)

// Run prints the settings that a server with the same flags would have.
func (x *ConfigPrint) Run(c *Context, k *kong.Context) error {
	origins := c.settings.origins
	for _, p := range k.Path {
		if p.Flag != nil && !p.Resolved {
			origins[p.Flag.Name] = byFlagItself
		}
	}
	var list []setting
	for _, f := range settingsOf(k.Selected()) {
		list = append(list, setting{f.Name, shown(f), cmp.Or(origins[f.Name], byDefault)})
		if f.Name == "key-file" && x.KeyFile == "" {
			list = append(list, keysGiven()...)
		}
	}
	return x.print(c, list, func(w io.Writer) {
		writeTable(w, list, "SETTING|VALUE|ORIGIN", func(s setting) []any {
			if items, ok := s.Value.([]string); ok {
				return []any{s.Name, strings.Join(items, ", "), s.Origin}
			}
			return []any{s.Name, s.Value, s.Origin}
		})
	})
}

// keysGiven are the keys that keyFlag.keys finds where there is no --key-file.
func keysGiven() []setting {
	if os.Getenv(keysVariable) != "" {
		return []setting{{"keys", hidden, variable(keysVariable)}}
	}
	if file := credential(); file != "" {
		return []setting{{"keys", file, variable(credentialsVariable)}}
	}
	return nil
}

// shown is the value of a flag as it may be shown.
func shown(f *kong.Flag) any {
	switch v := f.Target.Interface().(type) {
	case []string:
		return append([]string{}, v...)
	case span:
		return v.text()
	case string:
		if f.Tag.Has(secretTag) {
			return withoutPassword(v)
		}
		return v
	default:
		return v
	}
}

// withoutPassword is an address without its password, or nothing of it if it is not known
// where in it that ends.
func withoutPassword(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Opaque+u.Fragment != "" || strings.Contains(u.Path, "@") {
		return hidden
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return hidden
	}
	for name, values := range q {
		switch {
		case strings.Contains(name, "password"):
			q.Set(name, "xxxxx") // as url.URL.Redacted writes a password
			u.RawQuery = q.Encode()
		case strings.Contains(name, "@"), name != "from" && strings.Contains(strings.Join(values, ""), "@"):
			return hidden
		}
	}
	return u.Redacted()
}
