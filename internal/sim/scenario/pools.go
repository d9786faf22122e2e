package scenario

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/pool"
)

// Pools is a file of pools: applications with their people, how they are
// controlled, and which ways of control are compared. docs/pool-simulation.md is
// the reference of its fields.
type Pools struct {
	Name     string
	About    string // what it is there to show
	Reps     int    // repetitions, ≥ 1
	Seed     uint64
	Record   time.Duration // between samples; 0: not said
	Variants []pools.Variant
	// TraceFrom names the file of the trace; "": there is none, or it is generated.
	TraceFrom string
}

// LoadPools reads a file of pools, as Load reads a scenario.
func LoadPools(path string) (*Pools, []byte, error) { return load(path, ParsePools) }

// ReadPools is LoadPools for a file that comes from elsewhere, as Read is for a
// scenario.
func ReadPools(name string, in io.Reader) (*Pools, []byte, error) {
	return read(name, "", in, ParsePools)
}

// ParsePools reads the text of a file of pools; name is what errors call it, and
// files reads a file that it names. An error is Errors, with everything that is
// wrong.
func ParsePools(name string, text []byte, files func(path string) ([]byte, error)) (*Pools, error) {
	r := &poolsReader{
		reader: reader{notes: yamlfile.Notes{File: name}, files: files, tables: map[string]*table{}, s: &Scenario{Reps: 1, Seed: 1}},
		p:      &Pools{},
	}
	if top := poolsFile.Parse(text, &r.notes); top != nil {
		r.file(top)
	}
	if r.notes.Count() > 0 {
		return nil, r.notes.Problems()
	}
	return r.p, nil
}

// A poolsReader reads a file of pools.
type poolsReader struct {
	reader
	p     *Pools
	setup pools.Setup
	names []string
}

func (r *poolsReader) file(top *node) {
	o := r.object("pools file", top)
	if o == nil {
		return
	}
	r.head(o)
	r.people(o)
	// Rules name pools that may come later.
	nodes := o.list("pools")
	for _, n := range nodes {
		name := ""
		if v := n.Field("name").Value; v != nil {
			name = strings.TrimSpace(v.Text)
		}
		r.names = append(r.names, name)
	}
	o.need("pools", "the applications, each with a name, its arrivals and its service")
	base := pool.Settings{Balance: true}
	if o.has("control") {
		base = r.control(o.fields["control"], base)
	}
	names := map[string]bool{}
	for _, n := range nodes {
		r.setup.Pools = append(r.setup.Pools, r.pool(n, names, base))
	}
	r.prefers(o)
	r.compare(o)
	r.valid(o)
}

// head reads what stands in no list.
func (r *poolsReader) head(o *object) {
	r.title(o, poolsFile.Begin)
	r.p.Name, r.p.About, r.p.Seed, r.p.Reps = r.s.Name, r.s.About, r.s.Seed, r.s.Reps
	r.setup.Horizon, _ = o.duration("horizon", pools.MinStep, pools.MaxHorizon)
	o.need("horizon", "when a run ends, like horizon: 2h")
	r.setup.Step, _ = o.duration("step", pools.MinStep, pools.MaxHorizon)
	if step := r.setup.Step; step > 0 && step > r.setup.Horizon && r.setup.Horizon > 0 {
		r.errorf(o.fields["step"], "the first step would come after the horizon, %s", yamlfile.Words(r.setup.Horizon))
	}
	r.p.Record, _ = o.duration("record", pools.MinStep, pools.MaxHorizon)
	r.setup.Salary = 50_000
	if o.has("salary") {
		r.setup.Salary, _ = scalar(&r.reader, o.fields["salary"], yamlfile.WantMoney, parseSalary)
	}
	r.setup.Balance = r.balance(o)
}

// parseSalary reads a pay for a minute of waiting.
func parseSalary(text string) (crowd.Money, error) {
	m, err := yamlfile.Money(text)
	switch {
	case err != nil:
		return 0, errors.New(yamlfile.Quote(text) + " is not a pay for a minute of waiting: " + yamlfile.WantMoney)
	case m > 1000*crowd.Unit:
		return 0, errors.New(yamlfile.Quote(text) + " is too much for a minute of waiting (at most 1000)")
	}
	return m, nil
}

// balance reads a balancer; "" where none is said.
func (r *poolsReader) balance(o *object) string {
	text := o.text("balance")
	if text == "" {
		return ""
	}
	if _, err := pool.ParseBalance(text); err != nil {
		r.errorf(o.fields["balance"], "%s", yamlfile.Message(err))
		return ""
	}
	return text
}

func (r *poolsReader) people(o *object) {
	if !o.has("people") {
		return
	}
	c, p := r.object("people", o.fields["people"]), &r.setup.People
	if c == nil {
		return
	}
	p.Abandon, _ = c.share("abandon")
	p.Stay, p.Recruitment = c.dist("stay", ofTime), c.dist("recruitment", ofPause)
	if c.has("recruiting") {
		text, _ := r.text(c.fields["recruiting"])
		switch p.Recruiting = pools.Recruiting(text); p.Recruiting {
		case pools.Each:
		case pools.Process:
			if !c.has("recruitment") && !c.has("trace") {
				r.missing(c.node, "recruitment", "the time between one person and the next, like recruitment: {exponential: 50s}")
			}
		default:
			r.errorf(c.fields["recruiting"], "%s is neither each (every recruit comes in his own time) nor process (one stream of people)", yamlfile.Quote(text))
		}
	}
	if n, ok := c.count("outside", 1, maxPeople); ok {
		p.Outside = int(n)
	}
	if !c.has("trace") {
		return
	}
	for _, f := range []string{"stay", "recruitment"} {
		if c.has(f) {
			r.errorf(c.fields[f], "the trace says it already; leave one of them out")
		}
	}
	p.Trace = r.trace(c.fields["trace"])
	if p.Trace == nil {
		p.Trace = &pools.Trace{} // it is there, and wrong
	}
}

// trace reads {file: …} or {generated: SEED}; nil where it is wrong, which has
// been noted.
func (r *poolsReader) trace(n *node) *pools.Trace {
	o := r.object("its trace", n)
	if o == nil {
		return nil
	}
	switch o.one("the trace", "file", "generated") {
	case "generated":
		if seed, ok := o.count("generated", 0, maxSeed); ok {
			return pools.Generate(seed)
		}
	case "file":
		n := o.fields["file"]
		name, ok := r.text(n)
		switch {
		case !ok:
			return nil
		case r.files == nil:
			r.errorf(n, "files cannot be read here")
			return nil
		}
		text, err := r.files(name)
		if err != nil {
			r.errorf(n, "%s cannot be read: %s", yamlfile.Quote(name), cause(err))
			return nil
		}
		t, err := pools.ReadTrace(strings.NewReader(string(text)))
		var bad pools.TraceErrors
		switch {
		case errors.As(err, &bad):
			for _, e := range bad {
				r.notes.AddIn(name, e.Line, "%s", e.Message)
			}
			return nil
		case err != nil:
			r.errorf(n, "%s", yamlfile.Message(err))
			return nil
		}
		r.p.TraceFrom = name
		return t
	}
	return nil
}

// prefers reads what everybody prefers, by pool.
func (r *poolsReader) prefers(o *object) {
	n := o.fields["people"].Field("prefers").Value
	if n == nil || n.Kind == yamlfile.Nothing {
		return
	}
	list := make([]float64, len(r.names))
	said := make([]bool, len(r.names))
	r.mapping(n, "prefers is a mapping of pools to preferences from 0 to 1, like labels: 0.3", func(name string, k, v *node) {
		i, ok := r.find(k, name, r.names, "pool")
		f, okShare := r.share(v)
		if ok && okShare {
			list[i], said[i] = f, true
		}
	})
	if i := slices.Index(said, false); i >= 0 && r.notes.Count() == 0 {
		r.missing(n, r.names[i], "everybody's preference for it, from 0 to 1")
	}
	r.setup.People.Prefers = list
}

func (r *poolsReader) pool(n *node, names map[string]bool, base pool.Settings) pools.Pool {
	p := pools.Pool{Settings: base}
	o := r.object("a pool", n)
	if o == nil {
		return p
	}
	p.Name = o.name(names, "pool", "")
	p.Arrivals = r.phases(o)
	if o.has("times") {
		p.Times = r.times(o.fields["times"])
	}
	for i, c := range o.objects("bursts") {
		var x pools.Burst
		x.At, _ = c.duration("at", 0, pools.MaxHorizon)
		count, _ := c.count("tasks", 1, pools.MaxBurst)
		x.Tasks = int(count)
		c.need("tasks", "how many come at once, like tasks: 200")
		if i > 0 && len(p.Bursts) > 0 && x.At < p.Bursts[len(p.Bursts)-1].At {
			r.errorf(c.field("at"), "bursts stand in the order of their times: %s is before the one above", yamlfile.Words(x.At))
		}
		p.Bursts = append(p.Bursts, x)
	}
	if !o.has("arrivals") && !o.has("times") && !o.has("bursts") && !o.strange {
		r.missing(n, "arrivals", "when its tasks come: arrivals (like 2/s), times or bursts")
	}
	p.Service = o.dist("service", ofTime)
	switch traced := r.setup.People.Trace != nil; {
	case traced && o.has("service"):
		r.errorf(o.fields["service"], "the trace says it already; leave one of them out")
	case !traced && !o.has("service"):
		r.missing(n, "service", "how long a task takes, like service: {exponential: 30s}")
	}
	r.meanOf(o, "service", p.Service)
	p.Training = o.dist("training", ofPause)
	r.meanOf(o, "training", p.Training)
	p.Start = pools.StartOptimal
	if o.has("start") {
		p.Start = r.start(o)
	}
	if o.has("control") {
		p.Settings = r.control(o.fields["control"], base)
	}
	return p
}

// meanOf refuses what takes longer on average than anybody may hold a task.
func (r *poolsReader) meanOf(o *object, field string, d sim.Dist) {
	if d != nil && d.Mean() > longest.Seconds() {
		r.errorf(o.fields[field], "this takes more than %s on average", yamlfile.Words(longest))
	}
}

const longest = 30 * 24 * time.Hour

// phases reads a rate, or a list of phases.
func (r *poolsReader) phases(o *object) []pools.Phase {
	n := o.fields["arrivals"]
	if n == nil {
		return nil
	}
	if n.Kind == yamlfile.Scalar {
		if rate, ok := r.perSecond(n); ok {
			return []pools.Phase{{Rate: rate}}
		}
		return nil
	}
	var list []pools.Phase
	for _, item := range o.list("arrivals") {
		c := r.object("phase", item)
		if c == nil {
			continue
		}
		var p pools.Phase
		if c.has("rate") {
			p.Rate, _ = r.perSecond(c.fields["rate"])
		} else if !c.strange {
			r.missing(item, "rate", "how fast tasks come from then on, like rate: 2/s")
		}
		p.From, _ = c.duration("from", 0, pools.MaxHorizon)
		if k := len(list); k > 0 && p.From <= list[k-1].From {
			r.errorf(c.field("from"), "phases stand in order: this one begins at %s, and the one above at %s", words(p.From), words(list[k-1].From))
		}
		list = append(list, p)
	}
	return list
}

func words(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return yamlfile.Words(d)
}

// perSecond reads a rate, which may be 0.
func (r *poolsReader) perSecond(n *node) (float64, bool) {
	return scalar(&r.reader, n, yamlfile.WantRate, func(text string) (float64, error) {
		f, err := yamlfile.Rate(text)
		switch {
		case strings.TrimSpace(text) == "0":
			return 0, nil
		case err != nil:
		case f < 0:
			err = errors.New(yamlfile.Quote(text) + ": a rate is not less than 0")
		case f > pools.MaxRate:
			err = errors.New(yamlfile.Quote(text) + " is too fast (at most 100000/s)")
		}
		return f, err
	})
}

// start reads a number of people, optimal or mean.
func (r *poolsReader) start(o *object) int {
	n, _ := scalar(&r.reader, o.fields["start"], "start is a number of people, optimal or mean", func(text string) (int, error) {
		switch strings.TrimSpace(text) {
		case "optimal":
			return pools.StartOptimal, nil
		case "mean":
			return pools.StartMean, nil
		}
		n, err := yamlfile.Count(text, 0, pools.MaxStart)
		if err != nil {
			err = errors.New(err.Error() + "; or optimal (c* of the first phase), or mean (c* of the mean load)")
		}
		return int(n), err
	})
	return n
}

// compare reads the variants; without any there is one, the file as it is.
func (r *poolsReader) compare(o *object) {
	if !o.has("compare") {
		r.p.Variants = []pools.Variant{{Name: "as it is", Setup: r.setup}}
		return
	}
	names := map[string]bool{}
	for _, c := range o.objects("compare") {
		v := pools.Variant{Name: c.name(names, "variant", ""), Setup: r.setup}
		v.Setup.Pools = slices.Clone(r.setup.Pools)
		if c.has("balance") {
			v.Setup.Balance = r.balance(c)
		}
		for i := range v.Setup.Pools {
			p := &v.Setup.Pools[i]
			if c.has("start") {
				p.Start = r.start(c)
			}
			if c.has("control") {
				p.Settings = r.control(c.fields["control"], p.Settings)
			}
		}
		if c.has("pools") {
			r.mapping(c.fields["pools"], "pools is a mapping of names to what is different, like labels: {start: 20}", func(name string, k, d *node) {
				i, ok := r.find(k, name, r.names, "pool")
				own := r.object("its pool", d)
				if !ok || own == nil || i >= len(v.Setup.Pools) {
					return
				}
				if own.has("start") {
					v.Setup.Pools[i].Start = r.start(own)
				}
				if own.has("control") {
					v.Setup.Pools[i].Settings = r.control(own.fields["control"], v.Setup.Pools[i].Settings)
				}
			})
		}
		r.p.Variants = append(r.p.Variants, v)
	}
}

// valid lets the variants themselves say what is wrong with the whole, where
// nothing else is.
func (r *poolsReader) valid(o *object) {
	if r.notes.Count() > 0 {
		return
	}
	at := func(k int) *node {
		if o.has("compare") {
			return o.fields["compare"].Items[k]
		}
		return o.field("pools")
	}
	for k := range r.p.Variants {
		if err := r.p.Variants[k].Setup.Validate(); err != nil {
			r.errorf(at(k), "%s", yamlfile.Message(err))
		}
	}
}
