package scenario

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
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
	r := &poolsReader{reader: newReader(name, files), p: &Pools{}}
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
	*reader
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
	nodes := o.List("pools")
	for _, n := range nodes {
		name := ""
		if v := n.Field("name").Value; v != nil {
			name = strings.TrimSpace(v.Text)
		}
		r.names = append(r.names, name)
	}
	base := pool.Settings{Balance: true}
	if o.Has("control") {
		base = r.control(o.Value("control"), 0, base)
	}
	names := map[string]bool{}
	for _, n := range nodes {
		r.setup.Pools = append(r.setup.Pools, r.pool(n, names, base))
	}
	r.prefers(o)
	r.compare(o)
	r.validate(o)
}

// head reads what stands in no list.
func (r *poolsReader) head(o *object) {
	r.title(o)
	r.p.Name, r.p.About, r.p.Seed, r.p.Reps = r.s.Name, r.s.About, r.s.Seed, r.s.Reps
	set(o, "horizon", &r.setup.Horizon)
	set(o, "step", &r.setup.Step)
	if step := r.setup.Step; step > 0 && step > r.setup.Horizon && r.setup.Horizon > 0 {
		r.errorf(o.Value("step"), "the first step would come after the horizon, %s", yamlfile.Words(r.setup.Horizon))
	}
	set(o, "record", &r.p.Record)
	r.setup.Salary = 50_000
	set(o, "salary", &r.setup.Salary)
	r.setup.Balance = r.balance(o)
	r.lend(o, &r.setup)
}

// lend reads whether who moves is lent.
func (r *poolsReader) lend(o *object, s *pools.Setup) {
	lend := !s.ForGood
	set(o, "lend", &lend)
	s.ForGood = !lend
}

// balance reads a balancer; "" where none is said.
func (r *poolsReader) balance(o *object) string {
	text := o.text("balance")
	if text == "" {
		return ""
	}
	if _, err := pool.ParseBalance(text); err != nil {
		r.errorf(o.Value("balance"), "%s", yamlfile.Message(err))
		return ""
	}
	return text
}

func (r *poolsReader) people(o *object) {
	if !o.Has("people") {
		return
	}
	c, p := r.object("people", o.Value("people")), &r.setup.People
	if c == nil {
		return
	}
	set(c, "abandon", &p.Abandon)
	p.Stay, p.Recruitment = c.dist("stay", ofTime), c.dist("recruitment", ofPause)
	if c.Has("recruiting") {
		text, _ := r.text(c.Value("recruiting"))
		switch p.Recruiting = pools.Recruiting(text); p.Recruiting {
		case pools.Each:
		case pools.Process:
			if !c.Has("recruitment") && !c.Has("trace") {
				r.notes.Missing(c.Node, "recruitment", "the time between one person and the next, like recruitment: {exponential: 50s}")
			}
		default:
			r.errorf(c.Value("recruiting"), "%s is neither each (each recruit comes in a time of their own) nor process (one stream of people)", yamlfile.Quote(text))
		}
	}
	set(c, "outside", &p.Outside)
	if !c.Has("trace") {
		return
	}
	for _, f := range []string{"stay", "recruitment"} {
		if c.Has(f) {
			r.errorf(c.Value(f), "the trace says it already; leave one of them out")
		}
	}
	p.Trace = r.trace(c.Value("trace"))
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
	switch o.One("the trace", "file", "generated") {
	case "generated":
		if seed, ok := fields.Get[uint64](o.Part, "generated"); ok {
			return pools.Generate(seed)
		}
	case "file":
		n := o.Value("file")
		name, ok := r.text(n)
		if !ok {
			return nil
		}
		text, ok := r.contents(n, name)
		if !ok {
			return nil
		}
		t, err := pools.ReadTrace(bytes.NewReader(text))
		for _, e := range crowd.ErrorsOf(err) {
			r.badRow(name, e)
		}
		if err != nil {
			return nil
		}
		r.p.TraceFrom = name
		return t
	}
	return nil
}

// prefers reads what everybody prefers, by pool.
func (r *poolsReader) prefers(o *object) {
	n := o.Value("people").Field("prefers").Value
	if n == nil || n.Kind == yamlfile.Nothing {
		return
	}
	list := make([]float64, len(r.names))
	said := make([]bool, len(r.names))
	r.notes.Mapping(n, "prefers is a mapping of pools to preferences from 0 to 1, like labels: 0.3", func(name string, k, v *node) {
		i, ok := r.find(k, name, r.names, "pool")
		f, okShare := r.share(v)
		if ok && okShare {
			list[i], said[i] = f, true
		}
	})
	if i := slices.Index(said, false); i >= 0 && r.notes.Count() == 0 {
		r.notes.Missing(n, r.names[i], "everybody's preference for it, from 0 to 1")
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
	if o.Has("times") {
		p.Times = r.times(o.Value("times"))
	}
	for i, c := range o.objects("bursts") {
		var x pools.Burst
		set(c, "at", &x.At)
		set(c, "tasks", &x.Tasks)
		if i > 0 && len(p.Bursts) > 0 && x.At < p.Bursts[len(p.Bursts)-1].At {
			r.errorf(c.Place("at"), "bursts stand in the order of their times: %s is before the one above", yamlfile.Words(x.At))
		}
		p.Bursts = append(p.Bursts, x)
	}
	if !o.Has("arrivals") && !o.Has("times") && !o.Has("bursts") && !o.Strange {
		r.notes.Missing(n, "arrivals", "when its tasks come: arrivals (like 2/s), times or bursts")
	}
	p.Service = o.dist("service", ofTime)
	switch traced := r.setup.People.Trace != nil; {
	case traced && o.Has("service"):
		r.errorf(o.Value("service"), "the trace says it already; leave one of them out")
	case !traced && !o.Has("service"):
		r.notes.Missing(n, "service", "how long a task takes, like service: {exponential: 30s}")
	}
	r.meanOf(o, "service", p.Service)
	p.Training = o.dist("training", ofPause)
	r.meanOf(o, "training", p.Training)
	p.Start = pools.StartOptimal
	set(o, "start", &p.Start)
	if o.Has("control") {
		p.Settings = r.control(o.Value("control"), crowd.PoolID(len(r.setup.Pools)+1), base)
	}
	return p
}

// meanOf refuses what takes longer on average than anybody may hold a task.
func (r *poolsReader) meanOf(o *object, field string, d sim.Dist) {
	if d != nil && d.Mean() > longest.Seconds() {
		r.errorf(o.Value(field), "this takes more than %s on average", yamlfile.Words(longest))
	}
}

const longest = 30 * 24 * time.Hour

// phases reads a rate, or a list of phases.
func (r *poolsReader) phases(o *object) []pools.Phase {
	if part := o.Get("arrivals"); part != nil && part.Node.Kind == yamlfile.Scalar {
		rate, _ := fields.Get[float64](o.Part, "arrivals")
		return []pools.Phase{{Rate: rate}}
	}
	var list []pools.Phase
	for _, item := range o.List("arrivals") {
		c := r.object("phase", item)
		if c == nil {
			continue
		}
		var p pools.Phase
		set(c, "rate", &p.Rate)
		if !c.Has("rate") && !c.Strange {
			r.notes.Missing(item, "rate", "how fast tasks come from then on, like rate: 2/s")
		}
		set(c, "from", &p.From)
		if k := len(list); k > 0 && p.From <= list[k-1].From {
			r.errorf(c.Place("from"), "phases stand in order: this one begins at %s, and the one above at %s", orZero(p.From), orZero(list[k-1].From))
		}
		list = append(list, p)
	}
	return list
}

// compare reads the variants; without any there is one, the file as it is.
func (r *poolsReader) compare(o *object) {
	if !o.Has("compare") {
		r.p.Variants = []pools.Variant{{Name: "as it is", Setup: r.setup}}
		return
	}
	names := map[string]bool{}
	for _, c := range o.objects("compare") {
		v := pools.Variant{Name: c.name(names, "variant", ""), Setup: r.setup}
		v.Setup.Pools = slices.Clone(r.setup.Pools)
		if c.Has("balance") {
			v.Setup.Balance = r.balance(c)
		}
		r.lend(c, &v.Setup)
		for i := range v.Setup.Pools {
			p := &v.Setup.Pools[i]
			set(c, "start", &p.Start)
			if c.Has("control") {
				p.Settings = r.control(c.Value("control"), 0, p.Settings)
			}
		}
		if c.Has("pools") {
			r.notes.Mapping(c.Value("pools"), "pools is a mapping of names to what is different, like labels: {start: 20}", func(name string, k, d *node) {
				i, ok := r.find(k, name, r.names, "pool")
				own := r.object("its pool", d)
				if !ok || own == nil || i >= len(v.Setup.Pools) {
					return
				}
				set(own, "start", &v.Setup.Pools[i].Start)
				if own.Has("control") {
					v.Setup.Pools[i].Settings = r.control(own.Value("control"), crowd.PoolID(i+1), v.Setup.Pools[i].Settings)
				}
			})
		}
		r.p.Variants = append(r.p.Variants, v)
	}
}

// validate validates the variants, where nothing else is wrong.
func (r *poolsReader) validate(o *object) {
	if r.notes.Count() > 0 {
		return
	}
	at := func(k int) *node {
		if o.Has("compare") {
			return o.Value("compare").Items[k]
		}
		return o.Place("pools")
	}
	for k := range r.p.Variants {
		if err := r.p.Variants[k].Setup.Validate(); err != nil {
			r.errorf(at(k), "%s", yamlfile.Message(err))
		}
	}
}
