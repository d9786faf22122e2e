package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/sim"
)

func (r *reader) tenants(o *object) {
	names := map[string]bool{}
	for _, t := range o.objects("tenants") {
		tenant := sim.Tenant{Name: t.name(names, "tenant", ""), Weight: 1}
		set(t, "weight", &tenant.Weight)
		r.s.Setup.Tenants = append(r.s.Setup.Tenants, tenant)
		r.tenantNames = append(r.tenantNames, tenant.Name)
	}
	if !o.Has("tenants") {
		r.s.Setup.Tenants = []sim.Tenant{{Name: "all", Weight: 1}}
		r.tenantNames = []string{"all"}
	}
}

func (r *reader) kinds(o *object) {
	names := map[string]bool{}
	for _, k := range o.objects("kinds") {
		kind := r.kind(k, names)
		r.s.Setup.Kinds = append(r.s.Setup.Kinds, kind)
		r.kindNames = append(r.kindNames, kind.Name)
	}
}

func (r *reader) kind(k *object, names map[string]bool) sim.Kind {
	kind := sim.Kind{Name: k.name(names, "kind", ""), Service: k.dist("service", ofTime), GiveUpAfter: k.dist("give_up_after", ofPause)}
	if kind.Service != nil && kind.Service.Mean() > engine.MaxLease.Seconds() {
		r.errorf(k.Value("service"), "an answer takes %s on average (at most %s)", yamlfile.Words(r.capped(kind.Service.Mean())), yamlfile.Words(engine.MaxLease))
	}
	if s := r.section(k, "switch"); s != nil {
		set(s, "factor", &kind.SwitchFactor)
		kind.SwitchTime = s.dist("time", ofPause)
		if s.Len() == 0 {
			r.errorf(s.Node, "a switch costs a factor or a time, like switch: {factor: 1.3}")
		}
	}
	set(k, "learning", &kind.Learning)
	set(k, "skip", &kind.Skip)
	set(k, "return", &kind.Return)
	set(k, "vanish", &kind.Vanish)
	set(k, "silent", &kind.Silent)
	if sum := kind.Skip + kind.Return + kind.Vanish; sum >= 1 {
		r.errorf(k.Node, "skip, return and vanish are %.6g together, so nobody ever answers; they must be less than 1", sum)
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
	for _, n := range k.List("answers") {
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
		case k.Has(f) && !k.Has("answers"):
			r.errorf(k.Value(f), "%s needs answers: [yes, no]; without options there is nothing right or wrong", f)
		case k.Has(f) && len(k.Value("answers").Items) == 1:
			r.errorf(k.Value(f), "%s needs two answers or more; where there is only one, none is wrong", f)
		}
	}
	if k.Has("accuracy") && k.Has("confusion") {
		r.errorf(k.Value("confusion"), "accuracy and confusion say the same thing; leave one of them out")
	}
	if set(k, "accuracy", &kind.Accuracy) {
		kind.Accuracy = max(kind.Accuracy, math.SmallestNonzeroFloat64) // to sim, 0 is not given
	}
	rows := k.List("confusion")
	if len(rows) > 0 && len(kind.Answers) > 0 && len(rows) != len(kind.Answers) {
		r.errorf(k.Value("confusion"), "confusion has %d rows for %d answers; it has one for each, in their order", len(rows), len(kind.Answers))
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
	if !o.Has("crowd") {
		return // the last check says so, if no fault brings people
	}
	for i, g := range o.objects("crowd") {
		group := sim.Group{Name: g.name(r.groupNames, "group", fmt.Sprintf("crowd-%d", i+1))}
		if a := r.section(g, "arrive"); a != nil {
			group.Arrive = r.arrivals(a, true)
		}
		r.habits(g, &group)
		r.s.Setup.Groups = append(r.s.Setup.Groups, group)
		r.people = append(r.people, g.Node)
	}
}

// habits reads what a group's people have in common.
func (r *reader) habits(g *object, group *sim.Group) {
	group.Session = g.dist("session", ofTime)
	group.Patience = g.dist("patience", ofPause)
	group.Pause = g.dist("pause", ofPause)
	group.Speed = g.dist("speed", ofSpeed)
	group.Qualifications = g.scores("qualifications")
	if !g.Has("accuracy") {
		return
	}
	group.Accuracy = map[string]float64{}
	r.notes.Mapping(g.Value("accuracy"), "accuracy is a mapping of kinds to shares, like tag: 0.9", func(name string, k, v *node) {
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
	for _, f := range []string{"band", "times", "rate", "every", "count"} {
		if o.Has(f) {
			form = f
			break
		}
	}
	allowed := map[string][]string{
		"": {"count"}, "count": {"count", "at"}, "rate": {"rate", "from", "until", "count"}, "every": {"every", "from", "until", "count"},
		"times": {"times"}, "band": {"band"},
	}[form]
	if form == "" {
		r.errorf(o.Node, "when they come is missing: one of count, rate, every, times%s", map[bool]string{true: ", band"}[people])
	}
	for _, f := range sections["arrive"].Keys() {
		if o.Has(f) && form != "" && !slices.Contains(allowed, f) {
			r.errorf(o.Value(f), "%s does not go with %s (with it go only: %s)", f, form, yamlfile.Enumerate(allowed))
		}
	}
	switch form {
	case "band":
		if !people {
			r.errorf(o.Value("band"), "a band is for people; batches come by count, rate, every or times")
			return a
		}
		return r.band(o)
	case "times":
		a.Times = r.times(o.Value("times"))
	case "rate", "every":
		set(o, "rate", &a.Rate)
		a.Gap = o.dist("every", ofTime)
		set(o, "from", &a.From)
		set(o, "until", &a.Until)
		if a.Until > 0 && a.Until <= a.From {
			r.errorf(o.Value("until"), "until must be after from (%s)", yamlfile.Words(a.From))
		}
		a.Count = r.howMany(o, people)
		r.bounded(o, &a, people)
		r.before(o, "from", a.From)
	case "count":
		a.Count = r.howMany(o, people)
		set(o, "at", &a.From)
		r.before(o, "at", a.From)
	}
	return a
}

// howMany reads the number of people, or of batches.
func (r *reader) howMany(o *object, people bool) int {
	if !o.Has("count") {
		return 0
	}
	n, _ := r.count(o.Value("count"), 1, bound(people))
	return n
}

func bound(people bool) uint64 {
	if people {
		return maxPeople
	}
	return maxBatches
}

// bounded checks that a stream of arrivals ends, and does not bring too much.
func (r *reader) bounded(o *object, a *sim.Arrivals, people bool) {
	until := a.Until
	if until == 0 {
		until = r.s.Setup.Horizon
	}
	if until == 0 && a.Count == 0 && !people {
		r.errorf(o.Node, "the batches never end: say until, count, or the scenario's horizon")
	}
	if a.Count == 0 && until > a.From {
		perHour, said := a.Rate, "rate"
		if a.Gap != nil {
			perHour, said = 3600/a.Gap.Mean(), "every"
		}
		if n := perHour * (until - a.From).Hours(); n > float64(bound(people))*0.9 {
			r.errorf(o.Value(said), "this brings some %.3g until %s (at most %d)", n, yamlfile.Words(until), bound(people))
		}
	}
}

// before notes a time that must lie before the horizon.
func (r *reader) before(o *object, field string, at time.Duration) {
	if o.Has(field) {
		r.windows = append(r.windows, window{o.Value(field), at, field})
	}
}

func (r *reader) band(o *object) sim.Arrivals {
	var a sim.Arrivals
	b := r.section(o, "band")
	if b == nil {
		return a
	}
	set(b, "rate", &a.Rate)
	if set(b, "min", &a.Min) && set(b, "max", &a.Max) && a.Max < a.Min {
		r.errorf(b.Value("max"), "max (%d) is less than min (%d)", a.Max, a.Min)
	}
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
			if d, ok := scalar[time.Duration](r, item, fields.Duration(0, maxDuration)); ok {
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
