package sched

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// Default is the policy that serves most: tenants share fairly; within a tenant what was
// promised goes first where delay costs most, and all else shares fairly by size and
// priority.
const Default = "tenant-fair(penalty(wfs))"

// A known policy is one that Parse reads.
type known struct {
	text  string                    // an example of its text form
	ranks func(*textform.Form) bool // whether it looks at the priorities of batches itself; nil: it does not
	build func(spec) (func() Policy, error)
}

// byPriority is for a policy that always looks at priorities.
func byPriority(*textform.Form) bool { return true }

// policies lists the policies of this package, then those of Register.
func policies() []known {
	return append([]known{
		{text: "fifo", build: plain(fifo{})},
		{text: "sjf", build: plain(sjf{})},
		{text: "edf", build: plain(edf{})},
		{text: "rr", build: plain(rr{})},
		{text: "fs", build: spec.fairShare},
		{text: "fs-ratio", build: spec.fairShare},
		{text: "wfs", ranks: byPriority, build: spec.fairShare},
		{text: "wfs-ratio", ranks: byPriority, build: spec.fairShare},
		{text: "dafs", ranks: byPriority, build: spec.dafs},
		{text: "sdafs", ranks: byPriority, build: func(s spec) (func() Policy, error) { return s.least(workforce{form: formDAFS, f: s.calibration()}) }},
		{text: "beta-fair(beta=-1)", build: spec.betaFair, ranks: func(f *textform.Form) bool {
			x, given := f.Value("x")
			return !given || x != "fs" && x != "fs-ratio"
		}},
		{text: "tenant-fair(dafs)", build: func(s spec) (func() Policy, error) { return s.within(NewTenantFair) }},
		{text: "strict-priority(wfs)", ranks: byPriority, build: func(s spec) (func() Policy, error) { return s.within(NewStrictPriority) }},
		{text: "by-reward(wfs)", build: func(s spec) (func() Policy, error) {
			return s.within(func(inner func() Policy) Policy { return NewByReward(inner()) })
		}},
		{text: "wcfs(wfs,k=3)", build: spec.wcfs},
		{text: "laxity", ranks: byPriority, build: spec.laxity},
		{text: "penalty", build: spec.penalty},
	}, registered...)
}

// Names lists a text form of every policy, as Parse reads it, with its options:
// for help texts and as a set to compare.
func Names() []string {
	return lists.Map(policies(), func(p known) string { return p.text })
}

// Parse makes the policy of a text form, without any batches. The grammar, in
// which spaces do not count:
//
//	policy = name [ "(" part { "," part } ")" ]
//	part   = policy | option "=" value
//
// The names and their parts:
//
//	fifo, sjf, edf, rr              none
//	fs, fs-ratio, wfs, wfs-ratio    none
//	dafs, sdafs                     f=log1p (default) or f=identity
//	beta-fair                       beta=number, inf or -inf; x=fs, fs-ratio, wfs,
//	                                wfs-ratio (default) or dafs; f as above for x=dafs
//	tenant-fair                     the policy within a tenant
//	strict-priority                 the policy within a priority
//	by-reward                       the policy to which the reward is the priority
//	wcfs                            the policy within; k=concessions, 0 to 1000000
//	laxity                          share=0 to 1 (default 0.2), what is guaranteed to
//	                                batches without a deadline that can still be met;
//	                                pace=1 to 1000 (default 8)
//	penalty                         the policy for what has nothing to lose, or none for
//	                                the longest wait first; form=rest (default), form=atc, form=event or
//	                                form=loop; look=0s to 24h, of rest (default:
//	                                Batch.Look) and atc (default 1m)
//
// Register adds names from outside this package.
//
// The error is Invalid, its field "policy". Parse(p.Name()) makes p's like.
func Parse(text string) (Policy, error) {
	fresh, err := parse(text)
	if err != nil {
		return nil, err
	}
	return fresh(), nil
}

// MustParse is Parse for a text form that is known to be right; it panics if it
// is not.
func MustParse(text string) Policy {
	p, err := Parse(text)
	if err != nil {
		panic("sched: " + err.Error())
	}
	return p
}

// The bounds of a text form keep what comes in over the network small.
const (
	maxText = 256
	maxK    = 1_000_000
)

// spec is a text form taken apart.
type spec struct{ *textform.Form }

func parse(text string) (func() Policy, error) {
	form, err := textform.Parse(text, maxText)
	if err != nil {
		return nil, refuse("%s", err)
	}
	return spec{form}.build()
}

// refuse makes the error of a wrong text form.
func refuse(format string, args ...any) error {
	return crowd.Fieldf("policy", "%s (known: %s)", fmt.Sprintf(format, args...), strings.Join(Names(), ", "))
}

// finish returns what is wrong with the form, or else the maker of its policies.
func (s spec) finish(inner int, fresh func() Policy) (func() Policy, error) {
	if err := s.Finish(inner, "policy"); err != nil {
		return nil, refuse("%s", err)
	}
	return fresh, nil
}

// build returns what makes the policies of the spec.
func (s spec) build() (func() Policy, error) {
	for _, p := range policies() {
		if nameOf(p.text) == s.Name {
			return p.build(s)
		}
	}
	names := lists.Map(policies(), func(p known) string { return nameOf(p.text) })
	return nil, refuse("there is no policy %q%s", s.Name, cmp.Or(similarity.DidYouMean(s.Name, names), meant(s.Name)))
}

// meant says which policies look at what a name that is not known speaks of.
func meant(name string) string {
	for _, word := range []string{"strict", "priority", "reward", "price", "pay"} {
		if strings.Contains(strings.ToLower(name), word) {
			return "; strict-priority(P) hands out the highest priority first, and by-reward(P) takes the reward as the priority: P is the policy within, such as wfs; the priority itself is a setting of each batch"
		}
	}
	return ""
}

func plain(by ranking) func(spec) (func() Policy, error) {
	return func(s spec) (func() Policy, error) {
		return s.finish(0, func() Policy { return &ranked{name: s.Name, by: by} })
	}
}

var leastWords = map[form]string{
	formFS:       "least x = R first",
	formFSRatio:  "least x = R/T first",
	formWFS:      "least x = R/P first",
	formWFSRatio: "least x = R/(P T) first",
	formDAFS:     "least x first: x = 1/(P T) Σ_{i<R} f((L-i)/T) for production batches, R/(P T) for best-effort ones",
}

func (s spec) fairShare() (func() Policy, error) {
	return s.least(workforce{form: form(s.Name), f: log1p})
}

func (s spec) least(x workforce) (func() Policy, error) {
	return s.finish(0, func() Policy {
		return &ranked{name: s.String(), by: &least{x: x, words: leastWords[x.form]}}
	})
}

func (s spec) dafs() (func() Policy, error) {
	x := workforce{form: formDAFS, f: s.calibration()}
	return s.finish(0, func() Policy { return &maxmin{name: s.String(), x: x} })
}

// calibration takes the option f.
func (s spec) calibration() calibration {
	return calibration(s.Choice("f", string(log1p), string(identity)))
}

func (s spec) betaFair() (func() Policy, error) {
	beta := s.Number("beta", textform.Range[float64]{Least: math.Inf(-1), Most: math.Inf(1), Required: true, About: "a number, inf or -inf"})
	x := workforce{
		form: form(s.Choice("x", string(formWFSRatio), string(formFS), string(formFSRatio), string(formWFS), string(formDAFS))),
		f:    s.calibration(),
	}
	if _, given := s.Value("f"); given && x.form != formDAFS {
		s.Refuse("%s takes f only with x=dafs", s.Name)
	}
	return s.finish(0, func() Policy {
		if math.IsInf(beta, 1) {
			return &maxmin{name: s.String(), x: x}
		}
		return newBetaFair(s.String(), beta, x)
	})
}

func (s spec) wcfs() (func() Policy, error) {
	k := s.Uint("k", textform.Range[uint64]{Most: maxK, Required: true, About: "how often in a row a batch concedes its turn"})
	return s.within(func(inner func() Policy) Policy { return NewWCFS(inner(), int(k)) })
}

func (s spec) laxity() (func() Policy, error) {
	share := s.Number("share", textform.Range[float64]{Usual: laxityShare, Most: 1})
	pace := s.Number("pace", textform.Range[float64]{Usual: laxityPace, Least: 1, Most: 1000})
	return s.finish(0, func() Policy { return &laxity{name: s.String(), share: share, pace: pace} })
}

// within builds a policy around one other.
func (s spec) within(fresh func(inner func() Policy) Policy) (func() Policy, error) {
	if len(s.Inner) != 1 {
		return nil, refuse("%s takes one inner policy, not %d: write %s(wfs), or another policy in place of wfs", s.Name, len(s.Inner), s.Name)
	}
	if _, err := s.finish(1, nil); err != nil {
		return nil, err
	}
	inner, err := spec{s.Inner[0]}.build()
	return func() Policy { return fresh(inner) }, err
}
