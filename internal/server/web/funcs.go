package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// funcs are what the templates can call.
func funcs(a assets) template.FuncMap {
	return template.FuncMap{
		"static":    a.url,
		"key":       newKey,
		"when":      when,
		"stamp":     func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"clock":     func(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" },
		"span":      format.Duration,
		"input":     inputValue,
		"percent":   percent,
		"place":     format.Place,
		"share":     share,
		"count":     count,
		"plural":    plural,
		"number":    format.Number,
		"fixed":     func(v float64, n int) string { return strconv.FormatFloat(v, 'f', n, 64) },
		"sentence":  sentence,
		"clip":      format.Clip,
		"dict":      dict,
		"field":     newField,
		"filled":    filledWith,
		"add":       func(a, b int) int { return a + b },
		"minus":     func(a, b int) int { return a - b },
		"checked":   func(url string) template.URL { return template.URL(url) }, // only for Cell.URL, which package task has checked
		"rule":      ruleText,
		"seconds":   func(d time.Duration) int64 { return int64(d / time.Second) },
		"money":     func(m crowd.Money) string { return m.String() },
		"short":     crowd.Money.Short,
		"reviewWhy": reviewWhy,
		"payState":  payState,
		"state":     func(s any) string { return fmt.Sprint(s) },
		"join":      strings.Join,
		"budget":    func(b batches.BatchView) crowd.Money { return b.Budget() },
		"tickedIf":  ticked,
		"delimiters": func() []choice {
			return []choice{{"auto", "find it out"}, {",", "comma: ,"}, {";", "semicolon: ;"}, {"tab", "tab"}, {"|", "bar: |"}}
		},
		"onDuplicates": func() []choice {
			return []choice{{string(table.Keep), "keep all of them"}, {string(table.Drop), "keep the first of them"}, {string(table.Refuse), "refuse them as wrong"}}
		},
		"ticks":        ticks,
		"factorKind":   factorKind,
		"changedThing": changedThing, "changedByAdmins": changedByAdmins,
		"codeHelp": codeHelp,
	}
}

// when shows a time: absolute with its zone, and how far off it is.
func when(now, t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	layout := "2 Jan 2006, 15:04 UTC"
	if t.Year() == now.Year() {
		layout = "2 Jan, 15:04 UTC"
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" title="` + t.Format("Mon, 2 Jan 2006, 15:04:05 UTC") + `">` +
		t.Format(layout) + ` <span class="muted">(` + template.HTMLEscapeString(relative(now, t)) + `)</span></time>`)
}

func relative(now, t time.Time) string {
	d := t.Sub(now)
	switch {
	case d > -2*time.Second && d < 2*time.Second:
		return "now"
	case d > 0:
		return "in " + format.Duration(d)
	}
	return format.Duration(-d) + " ago"
}

func inputValue(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(inputTime)
}

// number64 is what a template may hand over as a number.
func number64(v any) float64 {
	switch n := v.(type) {
	case int:
		return float64(n)
	case uint32:
		return float64(n)
	case int64:
		return float64(n)
	case crowd.Money:
		return float64(n)
	case float64:
		return n
	}
	return math.NaN()
}

// share is part/whole in percent, 0 to 100, with two places, for the
// attributes of pictures.
func share(part, whole any) string {
	p, w := number64(part), number64(whole)
	if !(w > 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Min(100, math.Max(0, 100*p/w)), 'f', 2, 64)
}

// percent is the same for reading.
func percent(part, whole any) string { return format.Percent(number64(part), number64(whole)) }

func count(v any) string { return format.Thousands(int64(number64(v))) }

func plural(v any, noun string) string { return format.Grouped(int64(number64(v)), noun) }

// ruleText says how many answers a task gets.
func ruleText(r label.Rule) string {
	switch {
	case r.FollowsAnswers():
		return r.String()
	case r.Fixed():
		return plural(r.Most(), "answer") + " a task"
	}
	return fmt.Sprintf("until %d agree, of at most %d", r.Fewest(), r.Most())
}

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: a key without a value")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: the key %v is not a string", pairs[i])
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

// ticks reports whether a tenant or a name is ticked in a field of a form: of a person, among
// tenants, or among names, each of which may be nil.
func ticks(f *form, form, field string, of any, id fmt.Stringer) bool {
	if typed := f.typed(form); typed != nil {
		return slices.Contains(typed[field], id.String())
	}
	is := func(t crowd.TenantID) bool { return t == id }
	switch x := of.(type) {
	case store.User:
		return slices.ContainsFunc(x.Tenants, is)
	case []crowd.TenantID:
		return slices.ContainsFunc(x, is)
	case []string:
		return slices.Contains(x, id.String())
	}
	return false
}

// choice is an option of a menu.
type choice struct{ Value, Label string }

// menu makes options of a list, after those that come first.
func menu[T any](list []T, of func(T) choice, first ...choice) []choice {
	for _, x := range list {
		first = append(first, of(x))
	}
	return first
}

func tenantChoice(t store.Tenant) choice   { return choice{t.ID.String(), t.Name} }
func poolChoice(v control.PoolView) choice { return choice{v.ID.String(), v.Name} }

// The names of tenants and pools by their ids.

func tenantNames(list []store.Tenant) accounts.Names { return accounts.NamesOf(list) }

func poolNames(list []control.PoolView) map[crowd.PoolID]string {
	names := make(map[crowd.PoolID]string, len(list))
	for _, v := range list {
		names[v.ID] = v.Name
	}
	return names
}

// fieldData is one labelled control of a form.
type fieldData struct {
	ID, Name, Label, Value, Bad         string
	Type, Help, Unit, Placeholder, List string
	Min, Max, Step, Auto, Mode          string
	Rows                                int
	Required, Ticked                    bool
	Choices                             []choice
}

// newField makes a control: of form id, called name, with its present value.
// More is pairs "key=value", or a list of choices for a menu.
func newField(f *form, id, name, label, value string, more ...any) (fieldData, error) {
	d := fieldData{ID: id + "-" + name, Name: name, Label: label, Value: f.Val(id, name, value), Bad: f.Bad(id, name), Type: "text"}
	texts := map[string]*string{
		"type": &d.Type, "help": &d.Help, "unit": &d.Unit, "placeholder": &d.Placeholder, "list": &d.List,
		"min": &d.Min, "max": &d.Max, "step": &d.Step, "auto": &d.Auto, "mode": &d.Mode,
	}
	for _, m := range more {
		if list, ok := m.([]choice); ok {
			d.Type, d.Choices = "select", list
			continue
		}
		key, val, _ := strings.Cut(fmt.Sprint(m), "=")
		if text := texts[key]; text != nil {
			*text = val
			continue
		}
		switch key {
		case "rows":
			d.Type = "textarea"
			d.Rows, _ = strconv.Atoi(val)
		case "required":
			d.Required = true
		default:
			return d, fmt.Errorf("field %s: what is %q?", name, key)
		}
	}
	if d.Type == "checkbox" {
		d.Ticked = f.On(id, name, value != "")
	}
	if d.Type == "password" {
		d.Value = ""
	}
	return d, nil
}
