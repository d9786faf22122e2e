package sched

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Names lists a text form of every policy, as Parse reads it, with its options:
// for help texts and as a set to compare.
func Names() []string {
	names := []string{
		"fifo", "sjf", "edf", "rr",
		"fs", "fs-ratio", "wfs", "wfs-ratio",
		"dafs", "sdafs", "beta-fair(beta=-1)",
		"tenant-fair(dafs)", "wcfs(wfs,k=3)",
		"laxity", "penalty",
	}
	for _, e := range extensions {
		names = append(names, e.Name)
	}
	return names
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
//	wcfs                            the policy within; k=concessions, 0 to 1000000
//	laxity                          share=0 to 1 (default 0.2), what is guaranteed to
//	                                batches without a deadline that can still be met;
//	                                pace=1 to 1000 (default 8)
//	penalty                         form=atc (default), form=event or form=loop: see
//	                                PenaltyForm; look=0s to 24h (default 1m), of atc
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

func parse(text string) (func() Policy, error) {
	s, err := take(text)
	if err != nil {
		return nil, err
	}
	return s.build()
}

// take takes a text form apart.
func take(text string) (spec, error) {
	if len(text) > maxText {
		return spec{}, refuse("a policy has at most %d characters, not %d", maxText, len(text))
	}
	r := &reader{text: strings.Map(dropSpace, text)}
	s, err := r.spec()
	if err == nil && r.text != "" {
		err = refuse("%q is left over at the end", r.text)
	}
	return s, err
}

func dropSpace(c rune) rune {
	if c == ' ' || c == '\t' || c == '\n' {
		return -1
	}
	return c
}

// refuse makes the error of a wrong text form.
func refuse(format string, args ...any) error {
	return crowd.Fieldf("policy", "%s (known: %s)", fmt.Sprintf(format, args...), strings.Join(Names(), ", "))
}

// A spec is a text form taken apart.
type spec struct {
	name    string
	inner   []spec
	options map[string]string
}

// A reader takes a text form apart from the left.
type reader struct{ text string }

func (r *reader) spec() (spec, error) {
	s := spec{name: r.word(), options: map[string]string{}}
	if s.name == "" {
		return s, refuse("the name of a policy is missing before %q", r.text)
	}
	if !r.skip("(") {
		return s, nil
	}
	for {
		if err := r.part(&s); err != nil {
			return s, err
		}
		if r.skip(")") {
			return s, nil
		}
		if !r.skip(",") {
			return s, refuse("%s( lacks its ) before %q", s.name, r.text)
		}
	}
}

// part reads one option or inner policy of s.
func (r *reader) part(s *spec) error {
	rest := *r
	name := rest.word()
	if !rest.skip("=") {
		inner, err := r.spec()
		s.inner = append(s.inner, inner)
		return err
	}
	if _, twice := s.options[name]; twice {
		return refuse("%s has %s twice", s.name, name)
	}
	s.options[name] = rest.word()
	*r = rest
	return nil
}

// word reads up to the next delimiter.
func (r *reader) word() string {
	end := strings.IndexAny(r.text, "(),=")
	if end < 0 {
		end = len(r.text)
	}
	var word string
	word, r.text = r.text[:end], r.text[end:]
	return word
}

func (r *reader) skip(token string) (found bool) {
	r.text, found = strings.CutPrefix(r.text, token)
	return found
}

// build returns what makes the policies of the spec.
func (s *spec) build() (func() Policy, error) {
	switch s.name {
	case "fifo":
		return s.plain(fifo{})
	case "sjf":
		return s.plain(sjf{})
	case "edf":
		return s.plain(edf{})
	case "rr":
		return s.plain(rr{})
	case "fs", "fs-ratio", "wfs", "wfs-ratio":
		return s.least(form(s.name))
	case "sdafs":
		return s.least(formDAFS)
	case "dafs":
		return s.dafs()
	case "beta-fair":
		return s.betaFair()
	case "tenant-fair":
		return s.tenantFair()
	case "wcfs":
		return s.wcfs()
	case "laxity":
		return s.laxity()
	case "penalty":
		return s.penalty()
	}
	return s.extension()
}

func (s *spec) plain(by ranking) (func() Policy, error) {
	if err := s.allow(0); err != nil {
		return nil, err
	}
	return func() Policy { return &ranked{name: s.name, by: by} }, nil
}

var leastWords = map[form]string{
	formFS:       "least x = R first",
	formFSRatio:  "least x = R/T first",
	formWFS:      "least x = R/P first",
	formWFSRatio: "least x = R/(P T) first",
	formDAFS:     "least x first: x = 1/(P T) Σ_{i<R} f((L-i)/T) for production batches, R/(P T) for best-effort ones",
}

func (s *spec) least(x form) (func() Policy, error) {
	f, name := log1p, s.name
	var err error
	if x == formDAFS {
		if err = s.allow(0, "f"); err == nil {
			f, name, err = s.calibration()
		}
	} else {
		err = s.allow(0)
	}
	if err != nil {
		return nil, err
	}
	return func() Policy {
		return &ranked{name: name, by: &least{x: workforce{form: x, f: f}, words: leastWords[x]}}
	}, nil
}

func (s *spec) dafs() (func() Policy, error) {
	if err := s.allow(0, "f"); err != nil {
		return nil, err
	}
	f, name, err := s.calibration()
	if err != nil {
		return nil, err
	}
	return func() Policy { return &maxmin{name: name, x: workforce{form: formDAFS, f: f}} }, nil
}

// calibration reads the option f and returns the name of s with it.
func (s *spec) calibration() (f calibration, name string, err error) {
	switch f = calibration(s.option("f", string(log1p))); f {
	case log1p:
		return f, s.name, nil
	case identity:
		return f, fmt.Sprintf("%s(f=%s)", s.name, f), nil
	}
	return f, "", refuse("%s takes f=%s or f=%s, not f=%s", s.name, log1p, identity, f)
}

func (s *spec) betaFair() (func() Policy, error) {
	if err := s.allow(0, "beta", "x", "f"); err != nil {
		return nil, err
	}
	beta, err := strconv.ParseFloat(s.option("beta", ""), 64)
	if err != nil || math.IsNaN(beta) {
		return nil, refuse("%s takes beta=number, inf or -inf, not beta=%s", s.name, s.options["beta"])
	}
	beta += 0 // -0 is 0
	x := form(s.option("x", string(formWFSRatio)))
	forms := []form{formFS, formFSRatio, formWFS, formWFSRatio, formDAFS}
	if !slices.Contains(forms, x) {
		return nil, refuse("%s takes x=fs, fs-ratio, wfs, wfs-ratio or dafs, not x=%s", s.name, x)
	}
	f, _, err := s.calibration()
	if err != nil {
		return nil, err
	}
	if _, given := s.options["f"]; given && x != formDAFS {
		return nil, refuse("%s takes f only with x=dafs", s.name)
	}
	parts := []string{"beta=" + formatBeta(beta)}
	if x != formWFSRatio {
		parts = append(parts, "x="+string(x))
	}
	if f != log1p {
		parts = append(parts, "f="+string(f))
	}
	name := fmt.Sprintf("%s(%s)", s.name, strings.Join(parts, ","))
	return func() Policy {
		w := workforce{form: x, f: f}
		if math.IsInf(beta, 1) {
			return &maxmin{name: name, x: w}
		}
		return &betaFair{name: name, beta: beta, x: w}
	}, nil
}

func formatBeta(beta float64) string {
	return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(beta, 'g', -1, 64)), "+")
}

func (s *spec) tenantFair() (func() Policy, error) {
	if err := s.allow(1); err != nil {
		return nil, err
	}
	inner, err := s.inner[0].build()
	if err != nil {
		return nil, err
	}
	return func() Policy { return NewTenantFair(inner) }, nil
}

func (s *spec) wcfs() (func() Policy, error) {
	if err := s.allow(1, "k"); err != nil {
		return nil, err
	}
	k, err := strconv.ParseUint(s.option("k", ""), 10, 32)
	if err != nil || k > maxK {
		return nil, refuse("%s takes k=0 to k=%d, how often in a row a batch concedes its turn, not k=%s", s.name, maxK, s.options["k"])
	}
	inner, err := s.inner[0].build()
	if err != nil {
		return nil, err
	}
	return func() Policy { return NewWCFS(inner(), int(k)) }, nil
}

func (s *spec) laxity() (func() Policy, error) {
	if err := s.allow(0, "share", "pace"); err != nil {
		return nil, err
	}
	var parts []string
	number := func(name string, otherwise, least, most float64) (float64, error) {
		text, given := s.options[name]
		if !given {
			return otherwise, nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= least && f <= most) {
			return 0, refuse("%s takes %s=%g to %g, not %s=%s", s.name, name, least, most, name, text)
		}
		if f += 0; f != otherwise {
			parts = append(parts, name+"="+strconv.FormatFloat(f, 'g', -1, 64))
		}
		return f, nil
	}
	share, err := number("share", laxityShare, 0, 1)
	if err != nil {
		return nil, err
	}
	pace, err := number("pace", laxityPace, 1, 1000)
	if err != nil {
		return nil, err
	}
	name := s.name
	if len(parts) > 0 {
		name = fmt.Sprintf("%s(%s)", name, strings.Join(parts, ","))
	}
	return func() Policy { return &laxity{name: name, share: share, pace: pace} }, nil
}

func (s *spec) option(name, otherwise string) string {
	if value, given := s.options[name]; given {
		return value
	}
	return otherwise
}

// allow checks the number of inner policies and the names of the options.
func (s *spec) allow(inner int, options ...string) error {
	given := make([]string, 0, len(s.options))
	for name := range s.options {
		given = append(given, name)
	}
	slices.Sort(given)
	for _, name := range given {
		if !slices.Contains(options, name) {
			return refuse("%s has no option %q", s.name, name)
		}
	}
	switch {
	case len(s.inner) == inner:
		return nil
	case inner == 0:
		return refuse("%s takes no inner policy, but has %s", s.name, s.inner[0].name)
	}
	return refuse("%s takes one inner policy, not %d", s.name, len(s.inner))
}
