package jsonschema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// problem is one thing that is wrong at one place.
type problem struct {
	at   string // JSON pointer, "" for the whole
	what string
}

func (p problem) String() string { return place(p.at) + ": " + p.what }

func place(at string) string {
	if at == "" {
		return "the value"
	}
	return format.Clip(at, 100)
}

// problems gathers what is wrong, in the order of the places. Where one of
// several alternatives should fit, they are one problem.
func problems(e *jsonschema.ValidationError) []problem {
	list := gather(e)
	slices.SortStableFunc(list, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	return slices.Compact(list)
}

func gather(e *jsonschema.ValidationError) []problem {
	at := pointer(e.InstanceLocation)
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) == 0 {
			return []problem{{at, "it fits more than one of the alternatives, it should fit one"}}
		}
		var why []string
		for _, c := range e.Causes {
			if list := problems(c); len(list) > 0 {
				p := list[0]
				if rest := strings.TrimPrefix(p.at, at); rest != "" {
					p.what = rest + ": " + p.what
				}
				if !slices.Contains(why, p.what) {
					why = append(why, p.what)
				}
			}
		}
		return []problem{{at, format.Clip("it fits none of the alternatives: "+strings.Join(why, ", or "), 200)}}
	}
	if len(e.Causes) == 0 {
		return []problem{{at, format.Clip(explainKind(e), 200)}}
	}
	var list []problem
	for _, c := range e.Causes {
		list = append(list, gather(c)...)
	}
	return list
}

// explainKind says what is wrong and what would be right.
func explainKind(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("it is %s, it should be %s", article(k.Got), strings.Join(lists.Map(k.Want, article), " or "))
	case *kind.Required:
		if len(k.Missing) == 1 {
			return fmt.Sprintf("the property %q is missing", k.Missing[0])
		}
		return fmt.Sprintf("the properties %s are missing", strings.Join(lists.Map(k.Missing, quoted), ", "))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("%s should not be here", strings.Join(lists.Map(k.Properties, quoted), ", "))
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Not:
		return "it is one of the values that are not allowed"
	case *kind.Minimum:
		return fmt.Sprintf("it should be at least %s", k.Want.RatString())
	case *kind.Maximum:
		return fmt.Sprintf("it should be at most %s", k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("it should be more than %s", k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("it should be less than %s", k.Want.RatString())
	case *kind.MinLength:
		return fmt.Sprintf("it has %d characters, it should have at least %d", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("it has %d characters, it should have at most %d", k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("it has %d items, it should have at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("it has %d items, it should have at most %d", k.Got, k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("it should match the pattern %s", k.Want)
	case *kind.Format:
		return fmt.Sprintf("it should be a valid %s", k.Want)
	case *kind.RefCycle:
		return "the schema refers to itself in a circle"
	}
	return e.BasicOutput().Error.String()
}

func article(typ string) string {
	switch typ {
	case "null":
		return typ
	case "array", "object", "integer":
		return "an " + typ
	}
	return "a " + typ
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// explain turns an error of compilation into one that names the place.
func explain(err error) error {
	var (
		invalid *jsonschema.SchemaValidationError
		load    *jsonschema.LoadURLError
		pattern *jsonschema.InvalidRegexError
		missing *jsonschema.JSONPointerNotFoundError
		anchor  *jsonschema.AnchorNotFoundError
		wrong   *jsonschema.ValidationError
	)
	switch {
	case errors.As(err, &load):
		return crowd.Errorf(crowd.Invalid, "%s: %v", format.Clip(strings.TrimPrefix(load.URL, base), 200), load.Err)
	case errors.As(err, &invalid) && errors.As(invalid.Err, &wrong):
		list := problems(wrong)
		if len(list) == 0 {
			break
		}
		return crowd.Fieldf("#"+format.Clip(list[0].at, 200), "%s", list[0].what)
	case errors.As(err, &pattern):
		return crowd.Fieldf(fragment(pattern.URL), "%s is not a regular expression that can be used: %v", quoted(format.Clip(pattern.Regex, 100)), pattern.Err)
	case errors.As(err, &missing):
		return crowd.Fieldf(fragment(missing.URL), "the schema has no such place to refer to")
	case errors.As(err, &anchor):
		return crowd.Fieldf(fragment(anchor.Reference), "the schema has no such anchor to refer to")
	}
	return crowd.Errorf(crowd.Invalid, "the schema cannot be used: %s", format.Clip(strings.ReplaceAll(err.Error(), base, ""), 300))
}

// fragment returns the part of an address from # on.
func fragment(url string) string {
	if i := strings.IndexByte(url, '#'); i >= 0 {
		return format.Clip(url[i:], 200)
	}
	return "#"
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + escape(t))
	}
	return b.String()
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
