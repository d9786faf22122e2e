package sqlstep

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/throng-dev/throng/internal/kit/similarity"
)

// sinkName is the aggregate that takes the rows of a result, and resultName the
// name of the result in the statement around the query.
const (
	sinkName   = "throng_row"
	resultName = "rows of the step"
)

// functions are those that a query may call: what gives the same result for the
// same inputs, in time that does not grow faster than they do. Names of operators
// count: SQLite calls -> a function.
var functions = set(`
	jaro_winkler levenshtein jaccard cosine jaccard_qgrams tokens
	abs ceil ceiling floor trunc round sign mod pow power sqrt exp ln log log10 log2 pi
	sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh degrees radians
	char concat concat_ws format printf like hex instr length octet_length lower upper
	ltrim rtrim trim replace substr substring unicode quote soundex
	coalesce ifnull iif if nullif max min typeof likely unlikely likelihood zeroblob subtype
	date time datetime julianday unixepoch strftime timediff
	avg count group_concat string_agg sum total
	row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
	json json_array json_array_length json_error_position json_extract -> ->> json_insert json_object
	json_pretty json_remove json_replace json_set json_type json_valid json_quote
	json_group_array json_group_object json_array_insert
`)

// aggregates are those of the functions that need all rows.
var aggregates = set(`avg count group_concat string_agg sum total json_group_array json_group_object row_number rank dense_rank percent_rank cume_dist
	ntile lag lead first_value last_value nth_value`)

// clocks are the functions of date and time: they may not ask what time it is.
var clocks = set("date time datetime julianday unixepoch strftime timediff")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

func refusedFunction(name string) string {
	switch fold(name) {
	case "random", "randomblob":
		return fmt.Sprintf("%s is refused: the same inputs must give the same result; use a column of the inputs instead", name)
	case "current_timestamp", "current_date", "current_time":
		return fmt.Sprintf("%s is refused: the same inputs must give the same result; hand the date in as a column", name)
	}
	return fmt.Sprintf("the function %s is not one that a query may call", name)
}

// ourDriver is the driver with our functions. It is made once: the driver keeps
// functions for the life of the process.
var ourDriver = sync.OnceValue(func() *sqlite.Driver {
	d := &sqlite.Driver{}
	scalar := func(name string, args int32, f func(args []driver.Value) (driver.Value, error)) {
		d.MustRegisterFunction(name, &sqlite.FunctionImpl{
			NArgs: args, Deterministic: true, VolatileArgs: true,
			Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
				for _, a := range args {
					if a == nil {
						return nil, nil
					}
				}
				return f(args)
			},
		})
	}
	alike := func(name string, f func(a, b string) float64) {
		scalar(name, 2, func(args []driver.Value) (driver.Value, error) { return f(text(args[0]), text(args[1])), nil })
	}
	alike("jaro_winkler", similarity.JaroWinkler)
	alike("levenshtein", similarity.Levenshtein)
	alike("jaccard", similarity.Jaccard)
	alike("cosine", similarity.Cosine)
	scalar("jaccard_qgrams", 3, func(args []driver.Value) (driver.Value, error) {
		q, ok := args[2].(int64)
		if !ok || q < 1 || q > similarity.MaxQ {
			return nil, fmt.Errorf("jaccard_qgrams(a, b, q) needs a whole number from 1 to %d as q, not %q", similarity.MaxQ, text(args[2]))
		}
		return similarity.JaccardQGrams(text(args[0]), text(args[1]), int(q)), nil
	})
	scalar("tokens", 1, func(args []driver.Value) (driver.Value, error) { return tokenList(text(args[0])) })

	// SQLite's own take time or memory in proportion to the product of the lengths, in
	// one step that nothing interrupts; these only to their sum.
	scalar("instr", 2, func(args []driver.Value) (driver.Value, error) {
		return instr(text(args[0]), text(args[1])), nil
	})
	scalar("replace", 3, func(args []driver.Value) (driver.Value, error) {
		return replace(text(args[0]), text(args[1]), text(args[2]))
	})
	scalar("like", 2, func(args []driver.Value) (driver.Value, error) {
		return like(text(args[0]), text(args[1]), noEscape)
	})
	// The driver takes a name once; SQLite does not tell apart these two.
	scalar("LIKE", 3, func(args []driver.Value) (driver.Value, error) {
		escape := []rune(fold(text(args[2])))
		if len(escape) != 1 {
			return nil, errors.New("the escape of like is one character")
		}
		return like(text(args[0]), text(args[1]), escape[0])
	})
	scalar("json_pretty", 1, func(args []driver.Value) (driver.Value, error) {
		return pretty(text(args[0]), defaultIndent)
	})
	scalar("JSON_PRETTY", 2, func(args []driver.Value) (driver.Value, error) {
		return pretty(text(args[0]), text(args[1]))
	})
	for name, trim := range map[string]func(string, func(rune) bool) string{
		"trim": strings.TrimFunc, "ltrim": strings.TrimLeftFunc, "rtrim": strings.TrimRightFunc,
	} {
		scalar(name, 2, func(args []driver.Value) (driver.Value, error) {
			return trim(text(args[0]), oneOf(text(args[1]))), nil
		})
	}
	d.MustRegisterFunction(sinkName, &sqlite.FunctionImpl{
		NArgs: -1, VolatileArgs: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &taker{}, nil },
	})
	return d
})

// text is a value as SQL makes a text of it.
func text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return numberText(v)
	}
	return ""
}

// tokenList is the JSON array of the different tokens of s, in order of their first place.
func tokenList(s string) (driver.Value, error) {
	list := []string{}
	seen := map[string]bool{}
	for _, t := range similarity.Tokens(s) {
		if !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	out, err := json.Marshal(list)
	return string(out), err
}

// instr is the place, in characters from 1, where part begins in s; 0: nowhere.
func instr(s, part string) int64 {
	i := strings.Index(s, part)
	if i < 0 {
		return 0
	}
	return int64(1 + len([]rune(s[:i])))
}

// errTooBig is what SQLite says too of a value that is too long.
var errTooBig = errors.New("string or blob too big")

// maxMade bounds what one of our functions makes before SQLite can bound it, in bytes.
const maxMade = DefaultValue

func replace(s, old, with string) (driver.Value, error) {
	if old == "" {
		return strings.Clone(s), nil
	}
	if n := strings.Count(s, old); len(s)+n*(len(with)-len(old)) > maxMade {
		return nil, errTooBig
	}
	return strings.ReplaceAll(s, old, with), nil
}

func oneOf(set string) func(rune) bool {
	in := map[rune]bool{}
	for _, r := range set {
		in[r] = true
	}
	return func(r rune) bool { return in[r] }
}
