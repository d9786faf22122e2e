package scenario

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// An Expectation is something that a scenario's file says will come of it, for
// one policy and, in a sweep, one α: an entry of the file that names several
// makes several.
type Expectation struct {
	Line   int    // in the file
	Column int    // in the line
	Text   string // in words, for the report
	Policy string // of which policy, one of Scenario.Policies
	Metric string // what is compared: a name of sim.AllMetrics or of Figures

	// The batches that it is about, where Metric is a figure of batches. Empty
	// fields choose all.
	Batch, Flow, Tenant, Kind, Class string

	Alpha float64 // of the sweep; 0 without one

	// The figure lies from Least to Most; -Inf and +Inf: no bound. If Open, the
	// bounds themselves do not meet it.
	Least, Most float64
	Open        bool
	// Than is another policy: the figure is how much more it is than with that
	// one, or, if Ratio, how many times as much. "": the figure itself.
	Than  string
	Ratio bool

	// per is the unit in which the file says a share or a rate: %, /m, /h or /d;
	// "": as it is.
	per string

	// The window that it is about. 0, 0: the whole run; To 0: until its end.
	From, To time.Duration
}

func (r *reader) expectations(o *object) {
	for _, e := range o.objects("expect") {
		r.expectation(e)
	}
}

func (r *reader) expectation(o *object) {
	e := Expectation{Line: o.Node.Line, Column: o.Node.Column, Least: math.Inf(-1), Most: math.Inf(1)}
	if !o.Complete {
		return
	}
	okWindow := r.expectedWindow(o, &e)
	figure, ok := r.figureOf(o, &e)
	if !ok {
		return
	}
	okBatches := r.chosen(o, figure, &e)
	is, okIs := r.bounds(o, figure, &e)
	policies, alphas := r.policiesOf(o), r.alphasOf(o)
	if !okIs || !okBatches || !okWindow {
		return
	}
	if slices.Contains(policies, e.Than) {
		r.errorf(o.Value("is"), "%s is compared with itself", e.Than)
		return
	}
	if len(r.s.Expect)+len(policies)*len(alphas) > maxExpected {
		r.errorf(o.Node, "for all policies and values of α these are more than %d expectations", maxExpected)
		return
	}
	for _, p := range policies {
		for _, alpha := range alphas {
			one := e
			one.Policy, one.Alpha = p, alpha
			one.Text = one.words(is, len(r.s.Alphas) > 0)
			r.s.Expect = append(r.s.Expect, &one)
		}
	}
}

// expectedWindow reads from and to.
func (r *reader) expectedWindow(o *object, e *Expectation) bool {
	ok := true
	for f, to := range map[string]*time.Duration{"from": &e.From, "to": &e.To} {
		if !o.Has(f) {
			continue
		}
		if !set(o, f, to) || !r.within(o.Value(f), f, *to) {
			ok = false
		}
	}
	switch {
	case ok && o.Has("to") && e.To == e.From:
		r.errorf(o.Value("to"), "the window from %s to %s is empty: to is after from", yamlfile.Words(e.From), yamlfile.Words(e.To))
		return false
	case ok && o.Has("to") && e.To < e.From:
		r.errorf(o.Value("to"), "the window ends (%s) before it begins (%s)", yamlfile.Words(e.To), yamlfile.Words(e.From))
		return false
	}
	return ok
}

// figureOf reads what an expectation is about.
func (r *reader) figureOf(o *object, e *Expectation) (Figure, bool) {
	name, ok := r.text(o.Value("that"))
	if !ok {
		return Figure{}, false
	}
	windowed := o.Has("from") || o.Has("to")
	f, known := findFigure(name, windowed)
	if !known {
		names := figureNames()
		r.errorf(o.Value("that"), "there is no figure %s: %s", yamlfile.Quote(name), r.notes.Hint(name, names))
		return f, false
	}
	e.Metric = name
	if windowed && !f.windowed() {
		r.errorf(o.Value("that"), "%s is about the whole run; from and to go with %s", name, yamlfile.Enumerate(namesOf(Figure.windowed)))
		return f, false
	}
	return f, true
}

func namesOf(which func(Figure) bool) []string {
	return lists.Map(lists.Filter(Figures, which), func(f Figure) string { return f.Name })
}

// chosen reads which batches an expectation is about.
func (r *reader) chosen(o *object, f Figure, e *Expectation) bool {
	ok, chosen := true, false
	for field, to := range map[string]*string{"batch": &e.Batch, "flow": &e.Flow, "tenant": &e.Tenant, "kind": &e.Kind, "class": &e.Class} {
		if !o.Has(field) {
			continue
		}
		chosen = true
		name, good := r.text(o.Value(field))
		if good && !f.Batches {
			r.errorf(o.Value(field), "%s is about the whole run; %s goes with %s", f.Name, field, yamlfile.Enumerate(namesOf(func(f Figure) bool { return f.Batches })))
			good = false
		}
		if good && !r.choices(field)[name] {
			_, good = r.find(o.Value(field), name, slices.Sorted(maps.Keys(r.choices(field))), field)
		}
		*to = name
		ok = ok && good
	}
	if f.Batches && !chosen {
		r.errorf(o.Node, "%s is about batches: say batch, flow, tenant, kind or class", f.Name)
		return false
	}
	return ok
}

// choices are the names that a field of an expectation may have.
func (r *reader) choices(field string) map[string]bool {
	if r.known == nil {
		setup := r.s.Setup
		r.known = map[string]map[string]bool{"batch": {}, "flow": {}, "tenant": {}, "kind": {}, "class": {}}
		for i := range setup.Batches {
			r.known["batch"][setup.Batches[i].Name] = true
		}
		for i := range setup.Flows {
			r.known["flow"][setup.Flows[i].Name] = true
		}
		for _, name := range r.tenantNames {
			r.known["tenant"][name] = true
		}
		for _, name := range r.kindNames {
			r.known["kind"][name] = true
		}
		for _, c := range setup.SizeClasses() {
			r.known["class"][c.Name] = true
		}
	}
	return r.known[field]
}

// policiesOf reads whose figure it is: one policy, several, or each.
func (r *reader) policiesOf(o *object) []string {
	if !o.Has("of") {
		return r.s.Policies
	}
	nodes := []*node{o.Value("of")}
	if nodes[0].Kind == yamlfile.List {
		nodes = o.List("of")
	}
	var list []string
	for _, n := range nodes {
		if text, ok := r.text(n); ok {
			if name, ok := r.among(n, text); ok && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// among returns the name of a policy that is one of the scenario's.
func (r *reader) among(n *node, text string) (string, bool) {
	name, ok := r.policy(n, text, ParsePolicy)
	if !ok {
		return "", false
	}
	if !slices.Contains(r.s.Policies, name) {
		r.errorf(n, "the policy %s is not run: policies has %s", name, yamlfile.Enumerate(r.s.Policies))
		return "", false
	}
	return name, true
}

// alphasOf reads at which α it holds: at one, or at each.
func (r *reader) alphasOf(o *object) []float64 {
	switch {
	case o.Has("alpha"):
		alpha, ok := fields.Get[float64](o.Part, "alpha")
		switch {
		case ok && len(r.s.Alphas) == 0:
			r.errorf(o.Value("alpha"), "there is no sweep; leave alpha out, or say sweep: {alpha: […]}")
			ok = false
		case ok && !slices.Contains(r.s.Alphas, alpha):
			r.errorf(o.Value("alpha"), "α = %g is not in the sweep %v", alpha, r.s.Alphas)
			ok = false
		}
		if !ok {
			return nil
		}
		return []float64{alpha}
	case len(r.s.Alphas) > 0:
		return r.s.Alphas
	}
	return []float64{0}
}

const wantBounds = `it is "above 0.5", "below 30m", "at least 3", "at most 0.8 of fifo", "between 0.3 and 0.4", "exactly 0", "above edf" or "below edf by 0.1"`

var (
	boundForm   = regexp.MustCompile(`^(above|below|at least|at most|exactly) (.+)$`)
	betweenForm = regexp.MustCompile(`^between (.+?) and (.+)$`)
	ofForm      = regexp.MustCompile(`^([^ ]+) of (.+)$`)
	byForm      = regexp.MustCompile(`^(.+) by ([^ ]+)$`)
)

// perForms find the unit in which a file says a share or a rate, by the figure's
// own.
var perForms = map[string]*regexp.Regexp{"1": regexp.MustCompile(`%`), "1/s": regexp.MustCompile(`/[mhd]`)}

// bounds reads is, and returns it in its own words.
func (r *reader) bounds(o *object, f Figure, e *Expectation) (string, bool) {
	n := o.Value("is")
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	text = strings.Join(strings.Fields(text), " ")
	if form := perForms[f.Unit]; form != nil {
		e.per = form.FindString(text)
	}
	if _, err := yamlfile.Number(text); err == nil {
		text = "exactly " + text
	}
	if m := betweenForm.FindStringSubmatch(text); m != nil {
		high := m[2]
		if of := ofForm.FindStringSubmatch(high); of != nil {
			if e.Than, ok = r.among(n, of[2]); !ok {
				return "", false
			}
			e.Ratio, high = true, of[1]
		}
		low, okLow := r.value(n, m[1], f, e.Ratio)
		top, okHigh := r.value(n, high, f, e.Ratio)
		if !okLow || !okHigh {
			return "", false
		}
		if top < low {
			r.errorf(n, "%s is less than %s: nothing lies between them", high, m[1])
			return "", false
		}
		e.Least, e.Most = low, top
		return text, true
	}
	m := boundForm.FindStringSubmatch(text)
	if m == nil {
		r.errorf(n, "%s is not understood: %s", yamlfile.Quote(text), wantBounds)
		return "", false
	}
	value, ok := r.operand(n, m[1], m[2], f, e)
	if !ok {
		return "", false
	}
	e.Open = m[1] == "above" || m[1] == "below"
	switch m[1] {
	case "above", "at least":
		e.Least = value
	case "below", "at most":
		e.Most = value
	default:
		e.Least, e.Most = value, value
	}
	return text, true
}

// operand reads what stands after "above" and its like: a value, a multiple of
// another policy's, or another policy with a distance.
func (r *reader) operand(n *node, relation, text string, f Figure, e *Expectation) (float64, bool) {
	var ok bool
	if m := ofForm.FindStringSubmatch(text); m != nil {
		if e.Than, ok = r.among(n, m[2]); !ok {
			return 0, false
		}
		e.Ratio = true
		return r.value(n, m[1], f, true)
	}
	if m := byForm.FindStringSubmatch(text); m != nil {
		if e.Than, ok = r.among(n, m[1]); !ok {
			return 0, false
		}
		by, ok := r.value(n, m[2], f, false)
		switch relation {
		case "above", "at least":
			return by, ok
		case "below", "at most":
			return -by, ok
		}
		r.errorf(n, "%q does not go with by", relation)
		return 0, false
	}
	if unicode.IsLetter([]rune(text)[0]) {
		e.Than, ok = r.among(n, text)
		return 0, ok
	}
	return r.value(n, text, f, false)
}

// value reads a figure in its unit, or, as a ratio, without one.
func (r *reader) value(n *node, text string, f Figure, ratio bool) (float64, bool) {
	var v float64
	var err error
	switch {
	case ratio:
		if v, err = yamlfile.Share(text); err == nil && v < 0 {
			err = fmt.Errorf("%s is not a multiple, like 0.8 or 80%%", yamlfile.Quote(text))
		}
	case f.Unit == "s":
		v, err = inSeconds(text)
	case f.Unit == "1/s":
		v, err = yamlfile.Rate(text)
	case f.Unit == "1":
		v, err = yamlfile.ShareIn(text)
	default:
		v, err = yamlfile.Number(text)
	}
	if err != nil {
		r.errorf(n, "%s (%s: %s)", err, f.Name, f.Words)
		return 0, false
	}
	return v, true
}

// words is the expectation as a sentence.
func (e *Expectation) words(is string, swept bool) string {
	var b strings.Builder
	b.WriteString(e.Metric)
	for _, c := range []struct{ field, name string }{
		{"batch", e.Batch}, {"flow", e.Flow}, {"tenant", e.Tenant}, {"kind", e.Kind}, {"class", e.Class},
	} {
		if c.name != "" {
			fmt.Fprintf(&b, " of %s %s", c.field, c.name)
		}
	}
	fmt.Fprintf(&b, " under %s", e.Policy)
	if swept {
		fmt.Fprintf(&b, " at α = %g", e.Alpha)
	}
	switch {
	case e.To > 0:
		fmt.Fprintf(&b, " from %s to %s", orZero(e.From), yamlfile.Words(e.To))
	case e.From > 0:
		fmt.Fprintf(&b, " from %s", yamlfile.Words(e.From))
	}
	return b.String() + " is " + is
}

func orZero(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return yamlfile.Words(d)
}
