package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/sim"
)

func (r *reader) tenants(o *object) {
	names := map[string]bool{}
	for _, t := range o.objects("tenants") {
		tenant := sim.Tenant{Name: t.name(names, "tenant", ""), Weight: 1}
		if w, ok := t.number("weight", engine.MinPriority, engine.MaxPriority); ok {
			tenant.Weight = w
		}
		r.s.Setup.Tenants = append(r.s.Setup.Tenants, tenant)
		r.tenantNames = append(r.tenantNames, tenant.Name)
	}
	if !o.has("tenants") {
		r.s.Setup.Tenants = []sim.Tenant{{Name: "all", Weight: 1}}
		r.tenantNames = []string{"all"}
	}
}

func (r *reader) kinds(o *object) {
	if !o.need("kinds", "what people do, like kinds: [{name: tag, service: 11s}]") {
		return
	}
	names := map[string]bool{}
	for _, k := range o.objects("kinds") {
		kind := r.kind(k, names)
		r.s.Setup.Kinds = append(r.s.Setup.Kinds, kind)
		r.kindNames = append(r.kindNames, kind.Name)
	}
}

func (r *reader) kind(k *object, names map[string]bool) sim.Kind {
	kind := sim.Kind{Name: k.name(names, "kind", ""), Service: k.dist("service", ofTime), GiveUpAfter: k.dist("give_up_after", ofPause)}
	switch {
	case !k.has("service"):
		r.missing(k.node, "service", "how long an answer takes, like service: 11s or service: {exponential: 11s}")
	case kind.Service != nil && kind.Service.Mean() > engine.MaxLease.Seconds():
		r.errorf(k.fields["service"], "an answer takes %s on average (at most %s)", yamlfile.Words(r.capped(kind.Service.Mean())), yamlfile.Words(engine.MaxLease))
	}
	if s := r.section(k, "switch"); s != nil {
		if f, ok := s.number("factor", 0.001, 1000); ok {
			kind.SwitchFactor = f
		}
		kind.SwitchTime = s.dist("time", ofPause)
		if len(s.fields) == 0 {
			r.errorf(s.node, "a switch costs a factor or a time, like switch: {factor: 1.3}")
		}
	}
	kind.Learning, _ = k.number("learning", 0, 5)
	kind.Skip, _ = k.share("skip")
	kind.Return, _ = k.share("return")
	kind.Vanish, _ = k.share("vanish")
	kind.Silent, _ = k.share("silent")
	if sum := kind.Skip + kind.Return + kind.Vanish; sum >= 1 {
		r.errorf(k.node, "skip, return and vanish are %.6g together, so nobody ever answers; they must be less than 1", sum)
	}
	r.quality(k, &kind)
	return kind
}

func (r *reader) capped(seconds float64) time.Duration {
	return time.Duration(min(seconds, maxDuration.Seconds()) * float64(time.Second))
}

// quality reads how well people answer.
func (r *reader) quality(k *object, kind *sim.Kind) {
	seen := map[string]bool{}
	for _, n := range k.list("answers") {
		text, ok := r.text(n)
		switch {
		case !ok:
			continue
		case validName(text) != nil:
			r.errorf(n, "%s is not an answer (1 to %d characters, in one line)", yamlfile.Quote(text), maxName)
		case seen[text]:
			r.errorf(n, "the answer %s stands there twice", yamlfile.Quote(text))
		}
		seen[text] = true
		kind.Answers = append(kind.Answers, text)
	}
	for _, f := range []string{"accuracy", "confusion"} {
		switch {
		case k.has(f) && !k.has("answers"):
			r.errorf(k.fields[f], "%s needs answers: [yes, no]; without options there is nothing right or wrong", f)
		case k.has(f) && len(k.fields["answers"].Items) == 1:
			r.errorf(k.fields[f], "%s needs two answers or more; where there is only one, none is wrong", f)
		}
	}
	if k.has("accuracy") && k.has("confusion") {
		r.errorf(k.fields["confusion"], "accuracy and confusion say the same thing; leave one of them out")
	}
	if f, ok := k.share("accuracy"); ok {
		kind.Accuracy = max(f, math.SmallestNonzeroFloat64) // to sim, 0 is not given
	}
	rows := k.list("confusion")
	if len(rows) > 0 && len(kind.Answers) > 0 && len(rows) != len(kind.Answers) {
		r.errorf(k.fields["confusion"], "confusion has %d rows for %d answers; it has one for each, in their order", len(rows), len(kind.Answers))
		return
	}
	for i, n := range rows {
		if row := r.confusionRow(n, len(rows)); row != nil {
			kind.Confusion = append(kind.Confusion, row)
		} else if i == len(kind.Confusion) {
			kind.Confusion = append(kind.Confusion, make([]float64, len(rows)))
		}
	}
}

func (r *reader) confusionRow(n *node, width int) []float64 {
	if n.Kind != yamlfile.List || len(n.Items) != width {
		r.errorf(n, "a row of confusion is a list of %d shares, one for each answer; here is %s of %d", width, n.What(), len(n.Items))
		return nil
	}
	row, sum := make([]float64, width), 0.0
	for i, c := range n.Items {
		f, ok := r.share(c)
		if !ok {
			return nil
		}
		row[i] = f
		sum += f
	}
	if math.Abs(sum-1) > 1e-6 {
		r.errorf(n, "the row sums to %.6g; the answers that may be given where one is true sum to 1", sum)
		return nil
	}
	return row
}

func (r *reader) crowd(o *object) {
	if !o.has("crowd") {
		return // the last check says so, if no fault brings people
	}
	names := map[string]bool{}
	for i, g := range o.objects("crowd") {
		group := sim.Group{Name: g.name(names, "group", fmt.Sprintf("crowd-%d", i+1))}
		if a := r.section(g, "arrive"); g.need("arrive", "how people come, like arrive: {count: 20} or arrive: {rate: 30/h}") && a != nil {
			group.Arrive = r.arrivals(a, true)
		}
		r.habits(g, &group)
		r.s.Setup.Groups = append(r.s.Setup.Groups, group)
		r.people = append(r.people, g.node)
	}
}

// habits reads what a group's people have in common.
func (r *reader) habits(g *object, group *sim.Group) {
	group.Session = g.dist("session", ofTime)
	group.Patience = g.dist("patience", ofPause)
	group.Pause = g.dist("pause", ofPause)
	group.Speed = g.dist("speed", ofSpeed)
	group.Qualifications = g.scores("qualifications")
	if !g.has("accuracy") {
		return
	}
	group.Accuracy = map[string]float64{}
	r.mapping(g.fields["accuracy"], "accuracy is a mapping of kinds to shares, like tag: 0.9", func(name string, k, v *node) {
		i, ok := r.find(k, name, r.kindNames, "kind")
		if ok && i < len(r.s.Setup.Kinds) {
			switch len(r.s.Setup.Kinds[i].Answers) {
			case 0:
				r.errorf(k, "the kind %s has no answers: nothing in it is right or wrong", yamlfile.Quote(name))
			case 1:
				r.errorf(k, "the kind %s has only one answer: none is wrong", yamlfile.Quote(name))
			}
		}
		if f, ok := r.share(v); ok {
			group.Accuracy[name] = f
		}
	})
}

// arrivals reads when people, or batches, come.
func (r *reader) arrivals(o *object, people bool) sim.Arrivals {
	var a sim.Arrivals
	form := ""
	for _, f := range []string{"band", "times", "rate", "count"} {
		if o.has(f) {
			form = f
			break
		}
	}
	allowed := map[string][]string{
		"": {"count"}, "count": {"count", "at"}, "rate": {"rate", "from", "until", "count"}, "times": {"times"}, "band": {"band"},
	}[form]
	if form == "" {
		r.errorf(o.node, "when they come is missing: one of count, rate, times%s", map[bool]string{true: ", band"}[people])
	}
	for _, f := range sections["arrive"] {
		if o.has(f) && form != "" && !slices.Contains(allowed, f) {
			r.errorf(o.fields[f], "%s does not go with %s (with it go only: %s)", f, form, yamlfile.Enumerate(allowed))
		}
	}
	switch form {
	case "band":
		if !people {
			r.errorf(o.fields["band"], "a band is for people; batches come by count, rate or times")
			return a
		}
		return r.band(o)
	case "times":
		a.Times = r.times(o.fields["times"])
	case "rate":
		a.Rate, _ = r.rate(o.fields["rate"])
		a.From, _ = o.duration("from", 0, maxDuration)
		a.Until, _ = o.duration("until", oneNanosecond, maxDuration)
		if a.Until > 0 && a.Until <= a.From {
			r.errorf(o.fields["until"], "until must be after from (%s)", yamlfile.Words(a.From))
		}
		n, _ := o.count("count", 1, bound(people))
		a.Count = int(n)
		r.bounded(o, &a, people)
		r.before(o, "from", a.From)
	case "count":
		n, _ := o.count("count", 1, bound(people))
		a.Count = int(n)
		a.From, _ = o.duration("at", 0, maxDuration)
		r.before(o, "at", a.From)
	}
	return a
}

func bound(people bool) uint64 {
	if people {
		return maxPeople
	}
	return maxBatches
}

// bounded checks that a Poisson stream ends, and does not bring too much.
func (r *reader) bounded(o *object, a *sim.Arrivals, people bool) {
	until := a.Until
	if until == 0 {
		until = r.s.Setup.Horizon
	}
	if until == 0 && a.Count == 0 && !people {
		r.errorf(o.node, "the batches never end: say until, count, or the scenario's horizon")
	}
	if a.Count == 0 && until > a.From {
		if n := a.Rate * (until - a.From).Hours(); n > float64(bound(people))*0.9 {
			r.errorf(o.fields["rate"], "this brings some %.3g until %s (at most %d)", n, yamlfile.Words(until), bound(people))
		}
	}
}

// before notes a time that must lie before the horizon.
func (r *reader) before(o *object, field string, at time.Duration) {
	if o.has(field) {
		r.windows = append(r.windows, window{o.fields[field], at, field})
	}
}

func (r *reader) band(o *object) sim.Arrivals {
	var a sim.Arrivals
	b := r.section(o, "band")
	if b == nil {
		return a
	}
	low, okLow := b.count("min", 1, maxPeople)
	high, okHigh := b.count("max", 1, maxPeople)
	if b.has("rate") {
		a.Rate, _ = r.rate(b.fields["rate"])
	}
	for _, f := range []string{"min", "max", "rate"} {
		if !b.has(f) {
			r.missing(b.node, f, "like band: {min: 20, max: 25, rate: 2/m}")
		}
	}
	if okLow && okHigh && high < low {
		r.errorf(b.fields["max"], "max (%d) is less than min (%d)", high, low)
	}
	a.Min, a.Max = int(low), int(high)
	return a
}

// times reads moments, from a list or from the column of a file.
func (r *reader) times(n *node) []time.Duration {
	var list []time.Duration
	switch n.Kind {
	case yamlfile.List:
		if len(n.Items) == 0 {
			r.errorf(n, "times is empty; it needs at least one")
		}
		for _, item := range n.Items {
			if d, ok := r.duration(item, 0, maxDuration); ok {
				list = append(list, d)
			}
		}
	case yamlfile.Mapping:
		for _, c := range r.cells("times", n) {
			d, err := parseSeconds(c.text)
			if err != nil {
				r.notes.AddIn(c.file, c.line, "column %s: %s", yamlfile.Quote(c.column), err)
				continue
			}
			list = append(list, d)
		}
	default:
		r.errorf(n, "times is a list, like [0s, 90s], or {file: …, column: …}; here is %s", n.What())
	}
	slices.Sort(list)
	return list
}
