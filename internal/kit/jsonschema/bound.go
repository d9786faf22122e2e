package jsonschema

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/pattern"
)

// bounded refuses a schema that refers to itself in a circle, or that unfolds
// to more than maxSteps. Without that, a few lines that each refer twice to
// the line before would keep a processor busy for years. It returns Patterns.
func bounded(root *jsonschema.Schema) (patterns int, err error) {
	w := walker{known: map[*jsonschema.Schema]extent{}, open: map[*jsonschema.Schema]bool{}}
	x, err := w.count(root)
	switch {
	case err != nil:
		return 0, err
	case x.steps > maxSteps:
		return 0, crowd.Errorf(crowd.TooLarge, "the schema unfolds to more than %d schemas: refer to fewer", maxSteps)
	}
	return x.patterns, nil
}

// extent is what a schema unfolds to when each reference is replaced by what it refers to.
type extent struct {
	steps    int // schemas, itself included, or something above maxSteps
	patterns int // instructions of patterns
}

type walker struct {
	known map[*jsonschema.Schema]extent
	open  map[*jsonschema.Schema]bool
}

func (w *walker) count(s *jsonschema.Schema) (extent, error) {
	if x, known := w.known[s]; known {
		return x, nil
	}
	if w.open[s] {
		return extent{}, crowd.Fieldf(fragment(s.Location), "the schema refers to itself in a circle: write out as many levels as there may be")
	}
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return extent{}, crowd.Fieldf(fragment(s.Location), "$dynamicRef and $recursiveRef cannot be used here: use $ref")
	}
	w.open[s] = true
	total := extent{1, sizeOf(s.Pattern)}
	for p := range s.PatternProperties {
		total.patterns = min(total.patterns+sizeOf(p), math.MaxInt32)
	}
	for _, part := range parts(s) {
		x, err := w.count(part)
		if err != nil {
			return extent{}, err
		}
		total = extent{min(total.steps+x.steps, maxSteps+1), min(total.patterns+x.patterns, math.MaxInt32)}
	}
	w.open[s] = false
	w.known[s] = total
	return total, nil
}

// sizeOf is the size of a pattern, or 0 of none.
func sizeOf(p jsonschema.Regexp) int {
	if p, is := p.(*pattern.Pattern); is {
		return p.Size()
	}
	return 0
}

// parts returns the schemas that s applies, in a fixed order.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{
		s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	for _, some := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		list = append(list, some...)
	}
	for _, one := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch one := one.(type) {
		case *jsonschema.Schema:
			list = append(list, one)
		case []*jsonschema.Schema:
			list = append(list, one...)
		}
	}
	named := slices.Collect(maps.Values(s.Properties))
	named = slices.AppendSeq(named, maps.Values(s.PatternProperties))
	named = slices.AppendSeq(named, maps.Values(s.DependentSchemas))
	for _, p := range s.Dependencies {
		if p, is := p.(*jsonschema.Schema); is {
			named = append(named, p)
		}
	}
	slices.SortFunc(named, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) })
	return slices.DeleteFunc(append(list, named...), func(s *jsonschema.Schema) bool { return s == nil })
}
