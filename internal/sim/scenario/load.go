package scenario

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// load reads what there is to do.
func (r *reader) load(o *object) {
	for i, b := range o.objects("batches") {
		batch := sim.Batch{Name: b.name(r.batchNames, "batch", fmt.Sprintf("batch-%d", i+1))}
		r.common(b, &batch, nowhere)
		r.set(b, &batch, "tasks")
		r.set(b, &batch, "at")
		r.before(b, "at", batch.At)
		r.batches = append(r.batches, placed{index: len(r.s.Setup.Batches), node: b.Node})
		r.s.Setup.Batches = append(r.s.Setup.Batches, batch)
	}
	if t := r.section(o, "trace"); t != nil {
		r.trace(t)
	}
	for i, f := range o.objects("flows") {
		r.flow(f, fmt.Sprintf("flow-%d", i+1), o.Has("sweep"))
	}
}

// common reads what batches of all origins have in common. Tenant or kind may
// come from elsewhere.
func (r *reader) common(o *object, b *sim.Batch, elsewhere func(field string) bool) {
	b.Tenant = r.index(o, "tenant", r.tenantNames, "tenants", elsewhere)
	b.Kind = r.index(o, "kind", r.kindNames, "kinds", elsewhere)
	for _, f := range []string{"priority", "deadline", "production", "reward", "lease", "grace", "estimate", "lifetime", "per_worker", "enough", "known", "checks"} {
		r.set(o, b, f)
	}
	if least := cmp.Or(b.Reward, sim.DefaultReward); b.Enough != nil && b.Enough.Spent > 0 && b.Enough.Spent < least {
		r.errorf(o.Value("enough"), "%s cannot pay one answer (%s)", b.Enough.Spent, least)
	}
	switch {
	case b.Checks != nil && b.Known == 0 && !elsewhere("known"):
		r.errorf(o.Value("checks"), "say how many tasks have a known answer, like known: 20")
	case b.Known > 0 && b.Checks == nil && !elsewhere("checks"):
		r.errorf(o.Value("known"), "say how many of the tasks that people get are to be these, like checks: default")
	}
	if o.Has("redundancy") {
		b.Rule = r.redundancy(o.Value("redundancy"))
	}
	b.Requires = o.scores("requires")
	if len(b.Requires) > engine.MaxRules {
		r.errorf(o.Value("requires"), "%d qualifications are too many (at most %d)", len(b.Requires), engine.MaxRules)
	}
}

func nowhere(string) bool { return false }

// index reads the name of a tenant or kind. Where there is only one, it may be
// left out.
func (r *reader) index(o *object, field string, names []string, all string, elsewhere func(field string) bool) int {
	if !o.Has(field) {
		if len(names) > 1 && !elsewhere(field) {
			r.notes.Missing(o.Node, field, fmt.Sprintf("one of the %s, %s", all, yamlfile.Enumerate(names)))
		}
		return 0
	}
	name, ok := r.text(o.Value(field))
	if !ok {
		return 0
	}
	i, _ := r.find(o.Value(field), name, names, field)
	return i
}

// set reads a field of a batch that is one value.
func (r *reader) set(o *object, b *sim.Batch, field string) {
	if !o.Has(field) {
		return
	}
	_, _ = yamlfile.ReadScalar(&r.notes, o.Value(field), wants[field], func(text string) (struct{}, error) {
		return struct{}{}, setBatch(b, field, text, yamlfile.Duration)
	})
}

// wants says what a field of a batch is.
var wants = map[string]string{
	"at": yamlfile.WantDuration, "deadline": yamlfile.WantDuration, "lease": yamlfile.WantDuration, "grace": yamlfile.WantDuration, "estimate": yamlfile.WantDuration, "lifetime": yamlfile.WantDuration,
	"tasks": yamlfile.WantCount, "priority": "a priority is a number of more than 0, like 5", "reward": yamlfile.WantMoney,
	"production": "production is true or false", "per_worker": yamlfile.WantCount, "known": yamlfile.WantCount, "checks": "how many tasks are checks, like first=0.1,least=0.01, or default", "enough": "what is enough, like labels=500 or share=0.9,spent=20.00",
}

// setBatch sets a field of a batch that is one value; moment reads durations.
func setBatch(b *sim.Batch, field, text string, moment func(string) (time.Duration, error)) error {
	switch field {
	case "tasks":
		n, err := yamlfile.Count(text, 1, maxAnswers)
		b.Tasks = int(n)
		return err
	case "priority":
		f, err := yamlfile.Number(text)
		if err == nil && !(f >= engine.MinPriority && f <= engine.MaxPriority) {
			err = fmt.Errorf("%s is not a priority (from %s to %s)", yamlfile.Quote(text), format.Number(engine.MinPriority), format.Number(engine.MaxPriority))
		}
		b.Priority = f
		return err
	case "per_worker":
		n, err := yamlfile.Count(text, 1, engine.MaxPerWorker)
		b.PerWorker = int(n)
		return err
	case "known":
		n, err := yamlfile.Count(text, 1, maxAnswers)
		b.Known = int(n)
		return err
	case "checks":
		x, err := engine.ParseChecks(text)
		b.Checks = &x
		return err
	case "enough":
		x, err := engine.ParseEnough(text)
		b.Enough = &x
		return err
	case "production":
		on, err := yamlfile.Bool(text)
		b.Production = on
		return err
	case "reward":
		m, err := parseReward(text)
		b.Reward = m
		return err
	}
	return setBatchTime(b, field, text, moment)
}

// setBatchTime sets a field of a batch that is a duration.
func setBatchTime(b *sim.Batch, field, text string, moment func(string) (time.Duration, error)) error {
	d, err := moment(text)
	if err != nil {
		return err
	}
	least, most, to := time.Nanosecond, time.Duration(maxDuration), &b.Deadline
	switch field {
	case "at":
		least, to = 0, &b.At
	case "lease":
		least, most, to = engine.MinLease, engine.MaxLease, &b.Lease
	case "grace":
		least, most, to = engine.MinGrace, engine.MaxGrace, &b.Grace
	case "estimate":
		most, to = engine.MaxLease, &b.TaskTime
	case "lifetime":
		to = &b.Lifetime
	}
	switch {
	case d < least && field == "deadline":
		return fmt.Errorf("%s: a deadline counts from the launch of its batch, and is after it", yamlfile.Quote(text))
	case d < least && least == time.Nanosecond:
		return fmt.Errorf("%s: this must be more than 0", yamlfile.Quote(text))
	case d < least || d > most:
		return fmt.Errorf("%s is not between %s and %s", yamlfile.Quote(text), yamlfile.Words(least), yamlfile.Words(most))
	}
	*to = d
	return nil
}

// mostTasks is how many tasks of a batch can be answered and paid for.
func mostTasks(b *sim.Batch) int {
	answers := int64(1)
	if b.Rule != (label.Rule{}) {
		answers = int64(b.Rule.Most())
	}
	return int(min(maxAnswers/answers, int64(crowd.MaxMoney)/(int64(reward(b))*answers)))
}

// reward is what an answer earns: the default where the file does not say it.
func reward(b *sim.Batch) crowd.Money { return cmp.Or(b.Reward, sim.DefaultReward) }

func tooMany(b *sim.Batch, tasks, most int) string {
	return fmt.Sprintf("%s is too much at %s an answer (at most %d, for at most %s)", format.Count(tasks, "task"), reward(b), most, crowd.MaxMoney)
}

func (r *reader) flow(o *object, otherwise string, swept bool) {
	f := sim.Flow{Batch: sim.Batch{Name: o.name(r.batchNames, "flow", otherwise)}}
	r.common(o, &f.Batch, nowhere)
	if a := r.section(o, "arrive"); a != nil {
		f.Arrive = r.arrivals(a, false)
	}
	r.size(o, &f)
	place := placed{index: len(r.s.Setup.Flows), node: o.Node}
	if d := r.section(o, "deadlines"); d != nil {
		f.Alpha = r.alpha(d, swept, &f)
		place.swept = !d.Has("alpha")
		if o.Has("deadline") {
			r.errorf(o.Value("deadline"), "deadlines give each of the largest batches its own; leave one of them out")
		}
	}
	r.flows = append(r.flows, place)
	r.s.Setup.Flows = append(r.s.Setup.Flows, f)
}

// size reads how many tasks a drawn batch has.
func (r *reader) size(o *object, f *sim.Flow) {
	if !o.Has("size") {
		f.Size = sim.Constant(1)
		return
	}
	most := mostTasks(&f.Batch)
	bound := float64(most)
	if most < 1 {
		r.errorf(o.Place("reward"), "%s", tooMany(&f.Batch, 1, most))
	}
	switch d := o.dist("size", ofSize).(type) {
	case nil:
		f.Size = sim.Constant(1)
		return
	case sim.Zipf:
		d.Max = max(min(d.Max, bound), 1)
		f.Size = d
		return
	case sim.Exponential, sim.LogNormal:
		f.Size = atMost{d, min(bound, maxSize)}
		return
	case sim.Constant:
		f.Size = d
		bound = float64(d)
	case sim.Uniform:
		f.Size = d
		bound = d.Max
	case *sim.Empirical:
		f.Size = d
		values := d.Values()
		bound = values[len(values)-1]
	}
	if bound > float64(most) {
		r.errorf(o.Value("size"), "%s", tooMany(&f.Batch, int(bound), most))
	}
}

// atMost is a distribution whose long tail ends somewhere.
type atMost struct {
	sim.Dist
	most float64
}

func (a atMost) Draw(r *sim.Rand) float64 { return min(a.Dist.Draw(r), a.most) }
func (a atMost) String() string           { return fmt.Sprintf("%s, at most %g", a.Dist, a.most) }

func (r *reader) alpha(o *object, swept bool, f *sim.Flow) *sim.AlphaRule {
	rule := &sim.AlphaRule{Share: 0.1, Form: sim.AlphaPaper}
	set(o, "share", &rule.Share)
	set(o, "alpha", &rule.Alpha)
	if !o.Has("alpha") && !swept {
		r.notes.Missing(o.Node, "alpha", "from 0 (as fast as the whole crowd can) to 1 (one after the other), or a sweep: {alpha: […]}")
	}
	set(o, "workers", &rule.Workers)
	if o.Has("service") {
		rule.Service, _ = r.figure(o.Value("service"), ofTime)
	} else if k := f.Kind; k < len(r.s.Setup.Kinds) && r.s.Setup.Kinds[k].Service != nil {
		rule.Service = r.s.Setup.Kinds[k].Service.Mean()
	}
	if o.Has("form") {
		switch form := o.text("form"); form {
		case string(sim.AlphaPaper), string(sim.AlphaCode):
			rule.Form = sim.AlphaForm(form)
		default:
			r.errorf(o.Value("form"), "the form is paper or code, not %s", yamlfile.Quote(form))
		}
	}
	return rule
}

func (r *reader) faults(o *object) {
	for i, f := range o.objects("faults") {
		var at time.Duration
		set(f, "at", &at)
		r.before(f, "at", at)
		if f.Len() == 0 || f.Len() == 1 && f.Has("at") {
			r.errorf(f.Node, "what happens is missing: one of vanish, policy, stop, burst, workers")
			continue
		}
		r.fault(f, at)
		if b := r.section(f, "burst"); b != nil {
			r.burst(b, at, fmt.Sprintf("burst-%d", i+1))
		}
		if w := r.section(f, "workers"); w != nil {
			group := sim.Group{Name: w.name(r.groupNames, "group", fmt.Sprintf("workers-%d", i+1))}
			group.Arrive.From = at
			set(w, "count", &group.Arrive.Count)
			r.habits(w, &group)
			r.s.Setup.Groups = append(r.s.Setup.Groups, group)
			r.people = append(r.people, w.Node)
		}
	}
}

// fault reads what goes wrong at once.
func (r *reader) fault(f *object, at time.Duration) {
	fault := sim.Fault{At: at}
	if set(f, "vanish", &fault.Vanish) && fault.Vanish == 0 {
		r.errorf(f.Value("vanish"), "nobody vanishes; a share of more than 0 is wanted, like 30%%")
	}
	if f.Has("policy") {
		if text, ok := r.text(f.Value("policy")); ok {
			fault.Policy, _ = r.policy(f.Value("policy"), text, ParsePolicy)
		}
	}
	set(f, "stop", &fault.Stop)
	if fault.Vanish > 0 || fault.Policy != "" || fault.Stop > 0 {
		r.s.Setup.Faults = append(r.s.Setup.Faults, fault)
	}
}

// burst reads many batches at once: a flow that comes at one time.
func (r *reader) burst(o *object, at time.Duration, otherwise string) {
	f := sim.Flow{Batch: sim.Batch{Name: o.name(r.batchNames, "flow", otherwise)}}
	r.common(o, &f.Batch, nowhere)
	f.Arrive.From = at
	set(o, "batches", &f.Arrive.Count)
	r.size(o, &f)
	r.flows = append(r.flows, placed{index: len(r.s.Setup.Flows), node: o.Node})
	r.s.Setup.Flows = append(r.s.Setup.Flows, f)
}

// check compares what stands in different places.
func (r *reader) check(o *object) {
	s := r.s.Setup
	if !o.Has("batches") && !o.Has("flows") && !o.Has("trace") && len(r.flows) == 0 {
		r.notes.Missing(o.Node, "batches", "there is nothing to do: say batches, flows or trace")
	}
	if !o.Has("crowd") && len(r.people) == 0 {
		r.notes.Missing(o.Node, "crowd", "there is nobody to work, like crowd: [{arrive: {count: 20}}]")
	}
	if r.notes.Count() > 0 && (len(s.Kinds) == 0 || len(s.Groups) == 0) {
		return // what follows would be about things that are wrong already
	}
	people := mostPresent(s.Groups)
	for _, p := range r.batches {
		b := &s.Batches[p.index]
		if most := mostTasks(b); b.Tasks > most {
			r.errorf(p.node, "%s", tooMany(b, b.Tasks, most))
		}
		r.checkWorkers(p.node, b)
	}
	for _, p := range r.flows {
		f := &s.Flows[p.index]
		r.checkWorkers(p.node, &f.Batch)
		if f.Alpha != nil && f.Alpha.Workers == 0 {
			if f.Alpha.Workers = people; people < 0 {
				r.errorf(p.node, "deadlines need workers, the greatest size of the crowd: here nothing bounds it")
			}
		}
	}
	r.checkNames()
	for _, w := range r.windows {
		r.within(w.node, w.what, w.until)
	}
	for _, p := range r.flows {
		if p.swept && len(r.s.Alphas) > 0 {
			s.Flows[p.index].Alpha.Alpha = r.s.Alphas[0]
		}
	}
}

// within checks that a time is not after the end of a run, which is bounded even
// where the file has no horizon: what is later would silently never happen.
func (r *reader) within(n *node, what string, at time.Duration) bool {
	if h := r.s.Setup.Horizon; h > 0 && at > h {
		r.errorf(n, "%s is %s, after the end of the run (horizon: %s)", what, yamlfile.Words(at), yamlfile.Words(h))
		return false
	} else if h == 0 && at > sim.DefaultHorizon {
		r.errorf(n, "%s is %s, after the end of the run: without a horizon it ends at %s at the latest, so say a later one, like horizon: %s",
			what, yamlfile.Words(at), yamlfile.Words(sim.DefaultHorizon), yamlfile.Words(min(at+24*time.Hour, maxDuration)))
		return false
	}
	return true
}

// checkWorkers checks that there are enough people who may do a batch, and that their answers
// can tell anything.
func (r *reader) checkWorkers(n *node, b *sim.Batch) {
	if kind := &r.s.Setup.Kinds[b.Kind]; b.Rule.FollowsAnswers() && len(kind.Answers) < 2 {
		r.errorf(n, "%s asks until it is sure of an answer, but its kind %s has no answers that can differ: give it some, like answers: [yes, no]", yamlfile.Quote(b.Name), yamlfile.Quote(kind.Name))
	}
	if len(b.Requires) == 0 && b.Rule.Fewest() <= 1 {
		return
	}
	able, come := 0, 0
	for i := range r.s.Setup.Groups {
		g := &r.s.Setup.Groups[i]
		if !qualified(g, b) {
			continue
		}
		able++
		if most := mostArrivals(g); most < 0 || come < 0 {
			come = -1
		} else {
			come += most
		}
	}
	switch {
	case able == 0:
		r.errorf(n, "nobody in the crowd has what %s requires", yamlfile.Quote(b.Name))
	case come >= 0 && b.Rule.Fewest() > come:
		r.errorf(n, "a task of %s wants %d answers from different people; only %d may ever come who can do it", yamlfile.Quote(b.Name), b.Rule.Fewest(), come)
	}
}

func qualified(g *sim.Group, b *sim.Batch) bool {
	for name, least := range b.Requires {
		if score, has := g.Qualifications[name]; !has || score < least {
			return false
		}
	}
	return true
}

// mostArrivals is how many people of a group come at most; -1: not known.
func mostArrivals(g *sim.Group) int {
	a := &g.Arrive
	switch {
	case a.Max > 0: // as some leave, others come
		return -1
	case a.Times != nil:
		return len(a.Times)
	case a.Count > 0:
		return a.Count
	}
	return -1
}

// mostPresent is how many people there are at a time, at most; -1: not known.
func mostPresent(groups []sim.Group) int {
	sum := 0
	for i := range groups {
		most := mostArrivals(&groups[i])
		if band := groups[i].Arrive.Max; band > 0 {
			most = band
		}
		if most < 0 {
			return -1
		}
		sum += most
	}
	return sum
}

// checkNames checks that no batch has the name of one that a flow draws.
func (r *reader) checkNames() {
	flows := map[string]*node{}
	for _, p := range r.flows {
		flows[r.s.Setup.Flows[p.index].Name] = p.node
	}
	for i := range r.s.Setup.Batches {
		name := r.s.Setup.Batches[i].Name
		flow := name[:max(strings.LastIndexByte(name, '-'), 0)]
		if n := flows[flow]; n != nil && drawnFrom(name, flow) {
			r.errorf(n, "its batches are called %s-1, %s-2, …, and there is a batch %s already", flow, flow, yamlfile.Quote(name))
		}
	}
}
