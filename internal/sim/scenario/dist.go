package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/sim"
)

// A quantity says what the figures of a distribution are.
type quantity struct {
	want  string
	parse func(text string) (float64, error) // of the file
	cell  func(text string) (float64, error) // of a table
	least float64                            // of each figure
	most  float64
	zipf  bool // whole numbers that may have long tails
	zeros bool // single figures may be 0 where not all are
}

// seconds makes a parser of durations one of seconds.
func seconds(parse func(string) (time.Duration, error)) func(string) (float64, error) {
	return func(text string) (float64, error) {
		d, err := parse(text)
		return d.Seconds(), err
	}
}

var (
	inSeconds, cellSeconds = seconds(yamlfile.Duration), seconds(parseSeconds)

	// ofTime: seconds, more than 0.
	ofTime = quantity{want: yamlfile.WantDuration, parse: inSeconds, cell: cellSeconds, least: 1e-6, most: maxDuration.Seconds(), zeros: true}
	// ofPause: seconds.
	ofPause = quantity{want: yamlfile.WantDuration, parse: inSeconds, cell: cellSeconds, least: 0, most: maxDuration.Seconds(), zeros: true}
	// ofSize: tasks.
	ofSize = quantity{want: "a number of tasks is wanted, like 50", parse: yamlfile.Number, cell: yamlfile.Number, least: 1, most: maxSize, zipf: true}
	// ofSpeed: how many times as fast as others.
	ofSpeed = quantity{want: "a speed is a number, like 1.5 (half as fast again as others)", parse: yamlfile.Number, cell: yamlfile.Number, least: 0.001, most: 1000}
)

const wantDist = "a distribution is one of: a figure, exponential, uniform, lognormal, empirical"

// dist reads the field of a distribution, or nil.
func (o *object) dist(field string, q quantity) sim.Dist {
	if !o.Has(field) {
		return nil
	}
	return o.r.dist(o.Value(field), q)
}

// dist reads a distribution; nil if it is none.
func (r *reader) dist(n *node, q quantity) sim.Dist {
	if n.Kind == yamlfile.Scalar {
		if f, ok := r.figure(n, q); ok {
			return sim.Constant(f)
		}
		return nil
	}
	if n.Kind == yamlfile.List {
		r.errorf(n, "observed figures are written {empirical: […]}")
		return nil
	}
	o := r.object("distribution", n)
	if o == nil {
		return nil
	}
	forms := []string{"exponential", "uniform", "lognormal", "empirical"}
	if q.zipf {
		forms = append(forms, "zipf")
	} else if o.Has("zipf") {
		r.errorf(o.Value("zipf"), "zipf is for sizes of batches; %s", wantDist)
		return nil
	}
	form := o.One("the distribution", forms...)
	if o.Has("max") && form != "zipf" {
		r.errorf(o.Value("max"), "max belongs to zipf")
	}
	v := o.Value(form)
	switch form {
	case "exponential":
		if mean, ok := r.figure(v, q.positive()); ok {
			return sim.Exponential(mean)
		}
	case "uniform":
		return r.uniform(v, q)
	case "lognormal":
		return r.lognormal(v, q)
	case "empirical":
		return r.empirical(v, q)
	case "zipf":
		return r.zipf(o)
	}
	return nil
}

// positive is the quantity with figures of more than 0.
func (q quantity) positive() quantity {
	q.least = max(q.least, 1e-6)
	return q
}

// unbound is the quantity without a least figure: a deviation may be small.
func (q quantity) unbound() quantity {
	q.least = 0
	return q
}

// single is the quantity of one figure among others.
func (q quantity) single() quantity {
	if q.zeros {
		return q.unbound()
	}
	return q
}

// figure reads one figure of a quantity.
func (r *reader) figure(n *node, q quantity) (float64, bool) {
	return yamlfile.ReadScalar(&r.notes, n, q.want, func(text string) (float64, error) { return q.check(text, q.parse) })
}

func (q quantity) check(text string, parse func(string) (float64, error)) (float64, error) {
	f, err := parse(text)
	switch {
	case err != nil:
		return 0, err
	case f < q.least && f <= 0:
		return 0, fmt.Errorf("%s: this must be more than 0", yamlfile.Quote(text))
	case f < q.least:
		return 0, fmt.Errorf("%s is too little (at least %g)", yamlfile.Quote(text), q.least)
	case f > q.most:
		return 0, fmt.Errorf("%s is too much (at most %g)", yamlfile.Quote(text), q.most)
	}
	return f, nil
}

func (r *reader) uniform(n *node, q quantity) sim.Dist {
	o := r.object("uniform", n)
	if o == nil || !o.Complete {
		return nil
	}
	low, okLow := r.figure(o.Value("min"), q.single())
	high, okHigh := r.figure(o.Value("max"), q)
	if !okLow || !okHigh {
		return nil
	}
	if high <= low {
		r.errorf(o.Value("max"), "max must be more than min")
		return nil
	}
	return sim.Uniform{Min: low, Max: high}
}

func (r *reader) lognormal(n *node, q quantity) sim.Dist {
	const example = "lognormal: {mean: 11s, sd: 6s}"
	o := r.object("lognormal", n)
	if o == nil {
		return nil
	}
	const widest = 1000 // standard deviations by mean or mode: beyond it, the figures say nothing
	switch o.One("the middle", "mean", "median", "mode") {
	case "median":
		if o.Has("sd") {
			r.errorf(o.Value("sd"), "with a median goes sigma, the standard deviation of the logarithm")
			return nil
		}
		if !o.NeedAll("lognormal: {median: 9s, sigma: 0.6}", "median", "sigma") {
			return nil
		}
		median, ok1 := r.figure(o.Value("median"), q.positive())
		sigma, ok2 := fields.Get[float64](o.Part, "sigma")
		if ok1 && ok2 {
			return sim.LogNormal{Mu: math.Log(median), Sigma: sigma}
		}
	case "mean":
		if mean, sd, ok := r.middle(o, "mean", q, widest, example); ok {
			return sim.LogNormalByMean(mean, sd)
		}
	case "mode":
		if mode, sd, ok := r.middle(o, "mode", q, widest, "lognormal: {mode: 9s, sd: 5s}"); ok {
			return sim.LogNormalByMode(mode, sd)
		}
	}
	return nil
}

// middle reads a mean or mode with its standard deviation.
func (r *reader) middle(o *object, field string, q quantity, widest float64, example string) (middle, sd float64, ok bool) {
	if o.Has("sigma") {
		r.errorf(o.Value("sigma"), "sigma goes with a median; with a %s goes sd", field)
		return 0, 0, false
	}
	if !o.NeedAll(example, field, "sd") {
		return 0, 0, false
	}
	middle, ok = r.figure(o.Value(field), q.positive())
	sd, okSD := r.figure(o.Value("sd"), q.unbound())
	if ok && okSD && sd > widest*middle {
		r.errorf(o.Value("sd"), "this is more than %g times the %s", widest, field)
		return 0, 0, false
	}
	return middle, sd, ok && okSD
}

func (r *reader) zipf(o *object) sim.Dist {
	a, most := 0.0, maxSize
	if ok := set(o, "zipf", &a); o.Has("max") && !set(o, "max", &most) || !ok {
		return nil
	}
	return sim.Zipf{A: a, Max: float64(most)}
}

func (r *reader) empirical(n *node, q quantity) sim.Dist {
	var values []float64
	switch {
	case n.Kind == yamlfile.List:
		if len(n.Items) == 0 {
			r.errorf(n, "empirical is empty; it needs at least one figure")
			return nil
		}
		for _, item := range n.Items {
			f, ok := r.figure(item, q.single())
			if !ok {
				return nil
			}
			values = append(values, f)
		}
	case n.Kind == yamlfile.Mapping:
		cells := r.cells("empirical", n)
		if cells == nil {
			return nil
		}
		for _, c := range cells {
			f, err := q.single().check(c.text, q.cell)
			if err != nil {
				r.notes.AddIn(c.file, c.line, "column %s: %s", yamlfile.Quote(c.column), err)
				continue
			}
			values = append(values, f)
		}
		if len(values) < len(cells) {
			return nil
		}
	default:
		r.errorf(n, "empirical is a list of figures or {file: …, column: …}; here is %s", n.What())
		return nil
	}
	if q.least > 0 && slices.Max(values) <= 0 {
		r.errorf(n, "all figures are 0; some must be more")
		return nil
	}
	d, err := sim.NewEmpirical(values)
	if err != nil {
		r.errorf(n, "%s", yamlfile.Message(err))
		return nil
	}
	return d
}
