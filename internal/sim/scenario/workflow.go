package scenario

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/textform"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/sim"
)

// WorkflowModel is a file that says under which load a workflow is tried, and what
// stands in the place of its people and services. docs/workflow-simulation.md is the
// reference of its fields.
type WorkflowModel struct {
	Name     string
	About    string
	Arrive   *sim.Arrivals // nil: not said
	For      time.Duration // 0: not said
	Each     string        // row or run; "": not said
	Rows     int           // of each run; 0: not said
	Workers  []Workers     // the crowds that are compared; nil: not said
	Policies []string      // nil: not said
	Reps     int
	Seed     uint64
	Steps    map[string]StepModel
	Inputs   map[string]map[string]Values // by input and column
	Services map[string]SharedService     // that steps name, which a server declares
}

// SharedService is how much a service takes that steps name.
type SharedService struct {
	Concurrency int        // calls at a time; 0: not said
	Rate        crowd.Rate // of calls that are begun; zero: no limit
}

// Workers is how many people there are in each pool.
type Workers struct {
	Each  int            // in pools that Pools does not name
	Pools map[string]int // by name
}

// In is how many people there are in a pool: at least one.
func (w Workers) In(pool string) int {
	if n, ok := w.Pools[pool]; ok {
		return n
	}
	return max(w.Each, 1)
}

// String is the form that SplitWorkers reads.
func (w Workers) String() string {
	if w.Pools == nil {
		return strconv.Itoa(w.Each)
	}
	parts := make([]string, 0, len(w.Pools))
	for _, name := range slices.Sorted(maps.Keys(w.Pools)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, w.Pools[name]))
	}
	return strings.Join(parts, ",")
}

// StepModel is what stands in the place of the people or the service of a step.
type StepModel struct {
	Time     sim.Dist          // seconds of an answer or a call; nil: as the workflow says
	Accuracy *float64          // of people; nil: as the workflow says
	Failure  float64           // share of the tries of a call that fail
	Truth    *Values           // of people: the true answers, where the data has none; nil: not said
	Answer   map[string]Values // of a service: its properties
}

// Values are what cells are drawn from: texts with their weights, or a distribution of
// numbers.
type Values struct {
	Texts   []string
	Weights []float64 // of Texts
	Dist    sim.Dist
}

// Draw returns a cell. It takes one random figure for texts.
func (v *Values) Draw(r *sim.Rand) string {
	if v.Dist != nil {
		return format.Number(v.Dist.Draw(r))
	}
	sum := 0.0
	for _, w := range v.Weights {
		sum += w
	}
	at := r.Float64() * sum
	for i, w := range v.Weights {
		if at -= w; at < 0 {
			return v.Texts[i]
		}
	}
	return v.Texts[len(v.Texts)-1]
}

// modelFile is what a model file is, whatever it says.
var modelFile = yamlfile.Language{Name: "model", Begin: "model: a busy day", Most: MaxFile}

// modelSections are the kinds of mappings that only model files have.
var modelSections = map[string]fields.Fields{
	"model file": fields.Of(
		text.As("model").Needed("a name, like "+modelFile.Begin), text.As("about"), fields.Any.As("arrive"),
		fields.Duration(time.Millisecond, maxDuration).As("for"), fields.Choice("row", "run").As("each"), fields.Count(1, maxModelRows).As("rows"),
		fields.Any.As("workers"), listOf(50).As("policies"), seed.As("seed"), fields.Count(1, maxReps).As("repetitions"), fields.Any.As("steps", "inputs", "services"),
	),
	"service": fields.Of(
		fields.Count(1, maxModelCalls).As("concurrency"), fields.Scalar("a rate is a number of calls for each s, m, h or d, like 60/m", crowd.ParseRate).As("rate")),
	"step": fields.Of(fields.Any.As("time"), fields.Share.As("accuracy", "failure"), fields.Any.As("truth", "answer")),
}

// Bounds of a model file.
const (
	maxModelRows    = 1_000_000
	maxModelWorkers = 100_000
	maxWeight       = 1e9
	maxModelCalls   = 1000
)

// LoadWorkflowModel reads a model file, as Load reads a scenario.
func LoadWorkflowModel(path string, of ModelOf) (*WorkflowModel, []byte, error) {
	return load(path, of.parse)
}

// ReadWorkflowModel is LoadWorkflowModel for a file that comes from elsewhere, as Read is
// for a scenario.
func ReadWorkflowModel(name string, in io.Reader, of ModelOf) (*WorkflowModel, []byte, error) {
	return read(name, "", in, of.parse)
}

// ParseWorkflowModel reads the text of a model file; name is what errors call it, and
// files reads a file that it names. An error is Errors, with everything that is wrong,
// also with what it says of the workflow; without a Flow that is not looked at.
func ParseWorkflowModel(name string, text []byte, files func(path string) ([]byte, error), of ModelOf) (*WorkflowModel, error) {
	r := &modelReader{reader: newReader(name, files), m: &WorkflowModel{}}
	r.s.Setup = &sim.Setup{}
	if top := modelFile.Parse(text, &r.notes); top != nil {
		r.file(top)
		if of.Flow != nil {
			r.fit(of, top)
		}
	}
	if r.notes.Count() > 0 {
		return nil, r.notes.Problems()
	}
	return r.m, nil
}

// A modelReader reads a model file.
type modelReader struct {
	*reader
	m *WorkflowModel
}

func (r *modelReader) file(top *node) {
	o := r.object("model file", top)
	if o == nil {
		return
	}
	m := r.m
	m.Name, m.About = o.text("model"), o.text("about")
	set(o, "for", &m.For)
	set(o, "each", &m.Each)
	set(o, "rows", &m.Rows)
	set(o, "seed", &m.Seed)
	set(o, "repetitions", &m.Reps)
	if o.Has("arrive") {
		r.s.Setup.Horizon = max(m.For, time.Nanosecond) // the stream ends with For, at the latest
		a := r.arrive(o.Value("arrive"))
		m.Arrive = &a
	}
	if o.Has("workers") {
		r.workers(o.Value("workers"))
	}
	for _, n := range o.List("policies") {
		if text, ok := r.text(n); ok {
			if name, ok := r.policy(n, text, ParseHandsOut); ok {
				m.Policies = append(m.Policies, name)
			}
		}
	}
	if o.Has("steps") {
		m.Steps = map[string]StepModel{}
		r.notes.Mapping(o.Value("steps"), "steps is a mapping of the names of steps to their models", func(name string, _, v *node) {
			m.Steps[name] = r.step(v)
		})
	}
	if o.Has("services") {
		m.Services = map[string]SharedService{}
		r.notes.Mapping(o.Value("services"), "services is a mapping of the names of declared services to what they take", func(name string, _, v *node) {
			if o := r.object("service", v); o != nil {
				x := SharedService{}
				set(o, "concurrency", &x.Concurrency)
				set(o, "rate", &x.Rate)
				m.Services[name] = x
			}
		})
	}
	if o.Has("inputs") {
		m.Inputs = map[string]map[string]Values{}
		r.notes.Mapping(o.Value("inputs"), "inputs is a mapping of the names of inputs to their columns", func(name string, _, v *node) {
			m.Inputs[name] = r.columns(v, "the columns of an input are a mapping, like {plan: {basic: 0.7, premium: 0.3}}")
		})
	}
}

// arrive reads when items come: a rate, a distribution of the time between two, or what
// a scenario says of its arrivals.
func (r *reader) arrive(n *node) sim.Arrivals {
	if n.Kind == yamlfile.Scalar {
		rate, err := parsePerHour(n.Text)
		switch {
		case err == nil:
			return sim.Arrivals{Rate: rate}
		case strings.Contains(n.Text, "/"):
			r.errorf(n, "%s", err)
			return sim.Arrivals{}
		}
		if _, err := yamlfile.Duration(n.Text); err != nil {
			r.errorf(n, "%s does not say when items come: take a rate like 30/h (at random), the time between two like 2m or "+gapInYAML+", {rate: 30/h, until: 2h} or {times: [0s, 90s]}", yamlfile.Quote(n.Text))
			return sim.Arrivals{}
		}
		return sim.Arrivals{Gap: r.dist(n, ofTime)}
	}
	if n.Kind == yamlfile.Mapping && slices.ContainsFunc(fieldsOf("distribution").Keys(), func(form string) bool { return n.Field(form).Key != nil }) {
		return sim.Arrivals{Gap: r.dist(n, ofTime)}
	}
	if o := r.object("arrive", n); o != nil {
		return r.arrivals(o, false)
	}
	return sim.Arrivals{}
}

// A distribution of the time between two, for messages about a file and about a text.
const gapInYAML, gapInText = "{lognormal: {mean: 2m, sd: 1m}}", "lognormal(mean=2m,sd=1m)"

// textDist is a distribution as a text form, such as lognormal(mean=2m,sd=1m).
var textDist = regexp.MustCompile(`^([a-z]+)\s*\((.*)\)$`)

// ParseArrivals reads when items come from one text: a rate such as 30/h (Poisson); the
// time from one to the next, as a duration or a distribution, such as exponential(2m) or
// {lognormal: {mean: 2m, sd: 1m}}; or what a scenario says of arrivals, such as
// {rate: 30/h, until: 2h}. It is of code Invalid if it is none of these.
func ParseArrivals(text string, horizon time.Duration) (sim.Arrivals, error) {
	text = strings.TrimSpace(text)
	if part := textDist.FindStringSubmatch(text); part != nil {
		switch within := strings.TrimSpace(part[2]); {
		case part[1] == "exponential" && strings.HasPrefix(within, "mean="): // which is all that it has
			text = "{exponential: " + strings.TrimPrefix(within, "mean=") + "}"
		case strings.Contains(within, "="):
			text = "{" + part[1] + ": {" + strings.ReplaceAll(within, "=", ": ") + "}}"
		case part[1] == "poisson":
			text = within
		case strings.Contains(within, ","):
			return sim.Arrivals{}, crowd.Fieldf("arrivals", "%s: say which figure is which, like lognormal(mean=2m,sd=1m) or uniform(min=1m,max=3m)", text)
		default:
			text = "{" + part[1] + ": " + within + "}"
		}
	} else if name, _, ok := strings.Cut(text, ":"); ok && !strings.HasPrefix(text, "{") && name != "" {
		text = "{" + text + "}"
	}
	r := newReader("arrivals", func(path string) ([]byte, error) { return readFile(path, MaxTable) })
	r.s.Setup = &sim.Setup{Horizon: horizon}
	var a sim.Arrivals
	if top := modelFile.Parse([]byte("arrive: "+text), &r.notes); top != nil {
		if v := top.Field("arrive").Value; v != nil {
			a = r.arrive(v)
		}
	}
	if r.notes.Count() > 0 {
		var wrong Errors
		if errors.As(r.notes.Problems(), &wrong) {
			return a, crowd.Fieldf("arrivals", "%s", strings.Replace(wrong[0].Message, gapInYAML, gapInText, 1))
		}
	}
	return a, nil
}

// workers reads a number of people, a number for each pool, or a list of either.
func (r *modelReader) workers(n *node) {
	list := []*node{n}
	if n.Kind == yamlfile.List {
		if list = n.Items; len(list) == 0 {
			r.errorf(n, "there is no crowd: take a number of people, like 5, one for each pool, like {main: 5, experts: 2}, or a list of these")
		}
	}
	for _, n := range list {
		w := Workers{}
		if n.Kind != yamlfile.Mapping {
			if count, ok := r.count(n, 1, maxModelWorkers); ok {
				r.m.Workers = append(r.m.Workers, Workers{Each: count})
			}
			continue
		}
		w.Pools = map[string]int{}
		r.notes.Mapping(n, "workers is a number, or one for each pool, like {main: 5, experts: 2}", func(name string, _, v *node) {
			if count, ok := r.count(v, 1, maxModelWorkers); ok {
				w.Pools[name] = count
			}
		})
		if len(n.Fields) == 0 {
			r.errorf(n, "there is no pool: workers is a number, or one for each pool, like {main: 5, experts: 2}")
		}
		r.m.Workers = append(r.m.Workers, w)
	}
}

func (r *modelReader) step(n *node) StepModel {
	m := StepModel{}
	o := r.object("step", n)
	if o == nil {
		return m
	}
	m.Time = o.dist("time", ofTime)
	if share := 0.0; set(o, "accuracy", &share) {
		m.Accuracy = &share
	}
	set(o, "failure", &m.Failure)
	if o.Has("truth") {
		m.Truth = r.values(o.Value("truth"))
	}
	if o.Has("answer") {
		m.Answer = r.columns(o.Value("answer"), "an answer is a mapping of the properties of the response, like {risk: {high: 0.2, low: 0.8}}")
	}
	return m
}

// columns reads values by name.
func (r *modelReader) columns(n *node, want string) map[string]Values {
	columns := map[string]Values{}
	r.notes.Mapping(n, want, func(name string, _, v *node) {
		if x := r.values(v); x != nil {
			columns[name] = *x
		}
	})
	return columns
}

// ofNumber: any number.
var ofNumber = quantity{want: "a number is wanted, like 0.5", parse: yamlfile.Number, cell: yamlfile.Number, least: -1e15, most: 1e15}

// values reads what a cell is drawn from; nil if it is wrong.
func (r *modelReader) values(n *node) *Values {
	switch n.Kind {
	case yamlfile.Scalar:
		return &Values{Texts: []string{n.Text}, Weights: []float64{1}}
	case yamlfile.List:
		v := &Values{}
		for _, item := range n.Items {
			if text, ok := r.text(item); ok {
				v.Texts, v.Weights = append(v.Texts, text), append(v.Weights, 1)
			}
		}
		if len(v.Texts) == 0 {
			r.errorf(n, "there is no value to draw")
			return nil
		}
		return v
	}
	forms := []string{"uniform", "lognormal", "exponential", "empirical"}
	if slices.ContainsFunc(forms, func(form string) bool {
		f := n.Field(form)
		return f.Key != nil && f.Value != nil && (f.Value.Kind != yamlfile.Scalar || form == "exponential")
	}) {
		d := r.dist(n, ofNumber)
		if d == nil {
			return nil
		}
		return &Values{Dist: d}
	}
	v, sum := &Values{}, 0.0
	r.notes.Mapping(n, "values are a mapping to their weights, like {high: 0.2, low: 0.8}", func(name string, _, w *node) {
		if weight, ok := scalar[float64](r.reader, w, fields.Number(0, maxWeight)); ok {
			v.Texts, v.Weights = append(v.Texts, name), append(v.Weights, weight)
			sum += weight
		}
	})
	if len(v.Texts) == 0 || sum <= 0 {
		r.errorf(n, "values need a weight of more than 0, like {high: 0.2, low: 0.8}")
		return nil
	}
	return v
}

// SplitWorkers takes the text of crowds apart: 5,9 are two crowds, and main=5,experts=2
// is one.
func SplitWorkers(text string) (list []Workers, err error) {
	for _, part := range textform.Split(text) {
		name, count, named := strings.Cut(part, "=")
		if !named {
			count = name
		}
		n, err := yamlfile.Count(strings.TrimSpace(count), 1, maxModelWorkers)
		if err != nil {
			return nil, crowd.Fieldf("workers", "%s: how many people, like 5, or for each pool, like main=5,experts=2", yamlfile.Message(err))
		}
		switch {
		case !named:
			list = append(list, Workers{Each: int(n)})
		case len(list) > 0 && list[len(list)-1].Pools != nil:
			last := list[len(list)-1].Pools
			if _, twice := last[strings.TrimSpace(name)]; twice {
				return nil, crowd.Fieldf("workers", "%s is there twice in one crowd: %s is a second crowd if --workers is given once more with it", strings.TrimSpace(name), part)
			}
			last[strings.TrimSpace(name)] = int(n)
		default:
			list = append(list, Workers{Pools: map[string]int{strings.TrimSpace(name): int(n)}})
		}
	}
	return list, nil
}
