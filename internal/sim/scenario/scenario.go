// Package scenario reads scenario files: YAML that describes a crowd and a
// load, the policies to compare, and what is expected to come of it.
//
// Parse reports everything that is wrong with a file at once, each with its
// line, its column and what would be right; docs/scenarios.md is the reference
// of the fields. Once the scenario has run, Measure and Verdicts hold what came
// of it against what the file expects.
package scenario

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/sched"
)

// A Scenario is a scenario file.
type Scenario struct {
	Name     string
	About    string // what it is there to show
	Setup    *sim.Setup
	Policies []string // text forms as sim.Outcome has them, at least one, all different
	Reps     int      // repetitions, ≥ 1
	Seed     uint64
	// Alphas is the sweep of deadline strictness: nil, or the values of α at
	// which the flows' deadlines are drawn.
	Alphas []float64
	Expect []*Expectation
}

// The bounds of what is read: a scenario is written by hand, and what it names
// comes from measurements.
const (
	MaxFile  = 4 << 20   // bytes of a scenario file
	MaxTable = 256 << 20 // bytes of a CSV file that it names
)

// At returns the setup at one α of the sweep.
func (s *Scenario) At(alpha float64) *sim.Setup {
	setup := *s.Setup
	setup.Flows = slices.Clone(setup.Flows)
	for i := range setup.Flows {
		if rule := setup.Flows[i].Alpha; rule != nil {
			at := *rule
			at.Alpha = alpha
			setup.Flows[i].Alpha = &at
		}
	}
	return &setup
}

// Load reads a scenario file and the CSV files that it names, by paths from its
// folder, and returns the file's text as well: read once, it is what the scenario
// was made of. What is wrong with the contents comes as Errors.
func Load(path string) (*Scenario, []byte, error) { return load(path, Parse) }

// Read is Load for a scenario that comes from elsewhere: name is what errors
// call it, and the files that it names are found from the current folder.
func Read(name string, in io.Reader) (*Scenario, []byte, error) { return read(name, "", in, Parse) }

// A parser is Parse or ParsePools.
type parser[T any] func(name string, text []byte, files func(path string) ([]byte, error)) (*T, error)

func load[T any](path string, parse parser[T]) (*T, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	return read(path, filepath.Dir(path), f, parse)
}

// read reads a file and those that it names, which are in a folder.
func read[T any](name, dir string, in io.Reader, parse parser[T]) (*T, []byte, error) {
	text, err := readAll(name, in, MaxFile)
	if err != nil {
		return nil, nil, err
	}
	t, err := parse(name, text, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, filepath.FromSlash(name))
		}
		return readFile(name, MaxTable)
	})
	return t, text, err
}

func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readAll(path, f, most)
}

func readAll(path string, in io.Reader, most int64) ([]byte, error) {
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if n > most {
		return nil, crowd.Errorf(crowd.TooLarge, "%s has more than %s", path, format.Bytes(most))
	}
	return text.Bytes(), nil
}

// Parse reads the text of a scenario file; name is what errors call it, and
// files reads a file that it names. An error is Errors, with everything that is
// wrong.
func Parse(name string, text []byte, files func(path string) ([]byte, error)) (*Scenario, error) {
	r := newReader(name, files)
	if top := scenarioFile.Parse(text, &r.notes); top != nil {
		r.scenario(top)
	}
	if r.notes.Count() > 0 {
		return nil, r.notes.Problems()
	}
	return r.s, nil
}

func newReader(name string, files func(path string) ([]byte, error)) *reader {
	return &reader{
		notes: yamlfile.Notes{File: name}, files: files, tables: map[string]*table{}, s: &Scenario{Reps: 1, Seed: 1},
		batchNames: map[string]bool{}, groupNames: map[string]bool{},
	}
}

// What the files are, whatever they say.
var (
	scenarioFile = yamlfile.Language{Name: "scenario", Begin: "scenario: rush hour", Most: MaxFile}
	poolsFile    = yamlfile.Language{Name: "scenario", Begin: "scenario: three applications", Most: MaxFile}
)

// An Error is one thing that is wrong with a file, or with one that it names.
type Error = yamlfile.Problem

// Errors is everything that is wrong, in the order of the file. It is never
// empty, and its code is crowd.Invalid.
type Errors = yamlfile.Problems

func (r *reader) scenario(top *node) {
	o := r.object("scenario", top)
	if o == nil {
		return
	}
	r.s.Setup = &sim.Setup{}
	r.head(o)
	r.tenants(o)
	r.kinds(o)
	r.classes(o)
	r.crowd(o)
	r.load(o)
	r.faults(o)
	r.sweep(o)
	r.check(o)
	r.expectations(o)
}

// gate reads the gate of the pool.
func (r *reader) gate(o *object) {
	g := r.section(o, "gate")
	if g == nil {
		return
	}
	gate := &r.s.Setup.Gate
	gate.On = true
	set(g, "min", &gate.Min)
	if set(g, "max", &gate.Max); gate.Max > 0 && gate.Max < gate.Min {
		r.errorf(g.Value("max"), "max (%d) is less than min (%d)", gate.Max, gate.Min)
	}
	if !g.Has("min") && !g.Has("max") {
		r.errorf(o.Value("gate"), "a gate needs min, how many people open it, or max, how many are served, or both")
	}
}

// head reads what stands in no list.
func (r *reader) head(o *object) {
	s := r.s
	r.title(o)
	set(o, "horizon", &s.Setup.Horizon)
	if o.Has("gate") {
		r.gate(o)
	}
	if !o.Has("policies") {
		s.Policies = []string{sched.Default}
		return
	}
	for _, n := range o.List("policies") {
		text, ok := r.text(n)
		if !ok {
			continue
		}
		if name, ok := r.policy(n, text, ParsePolicy); ok {
			if slices.Contains(s.Policies, name) {
				r.errorf(n, "the policy %s stands there twice", name)
				continue
			}
			s.Policies = append(s.Policies, name)
		}
	}
}

// title reads what files of all languages begin with.
func (r *reader) title(o *object) {
	s := r.s
	s.Name = o.text("scenario")
	if len([]rune(s.Name)) > maxTitle || strings.ContainsFunc(s.Name, unicode.IsControl) {
		r.errorf(o.Value("scenario"), "a name has 1 to %d characters, in one line", maxTitle)
	}
	s.About = o.text("about")
	set(o, "seed", &s.Seed)
	set(o, "repetitions", &s.Reps)
}

// policy returns the name of a policy's text form, as outcomes have it. parse knows the policies
// that may stand there.
func (r *reader) policy(n *node, text string, parse func(string) (sched.Policy, error)) (string, bool) {
	p, err := parse(text)
	if err == nil {
		return p.Name(), true
	}
	if strings.Count(text, "(") != strings.Count(text, ")") {
		r.errorf(n, "%q is not a whole policy: within [ ] a comma separates policies, so one with commas is put in quotes, like %q", text, "wcfs(dafs,k=3)")
	} else {
		r.errorf(n, "%s", yamlfile.Message(err))
	}
	return "", false
}

func (r *reader) sweep(o *object) {
	sweep := r.section(o, "sweep")
	if sweep == nil {
		return
	}
	for _, n := range sweep.List("alpha") {
		alpha, ok := scalar[float64](r, n, fields.Number(0, maxAlpha))
		if !ok {
			continue
		}
		if slices.Contains(r.s.Alphas, alpha) {
			r.errorf(n, "α = %g stands there twice", alpha)
			continue
		}
		r.s.Alphas = append(r.s.Alphas, alpha)
	}
	if !slices.ContainsFunc(r.s.Setup.Flows, func(f sim.Flow) bool { return f.Alpha != nil }) {
		r.errorf(sweep.Node, "a sweep over α needs a flow with deadlines: {share: 0.1, …}")
	}
}

func (r *reader) classes(o *object) {
	last := 0
	names := map[string]bool{}
	list := o.List("classes")
	for i, n := range list {
		c := r.object("classes", n)
		if c == nil {
			continue
		}
		class := sim.Class{Name: c.name(names, "class", "")}
		switch ok := set(c, "most", &class.Most); {
		case ok && class.Most <= last:
			r.errorf(c.Place("most"), "classes go from small to large: %d is not more than %d", class.Most, last)
		case !c.Has("most") && i < len(list)-1:
			r.notes.Missing(n, "most", fmt.Sprintf("the greatest number of tasks in %q (only the last class has no bound)", class.Name))
		}
		last = max(last, class.Most)
		r.s.Setup.Classes = append(r.s.Setup.Classes, class)
	}
}
