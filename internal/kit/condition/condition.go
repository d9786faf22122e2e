// Package condition is a small language of conditions over named values, such
// as `queue > 10 || c_star - workers > 5`: for the rules of pools and for the
// "when" of workflows. It knows neither: whoever compiles a condition says which
// names there are.
//
// A condition has names, numbers, texts in quotes, true and false;
//
//   - -  *  /                                arithmetic of numbers
//     <  <=  >  >=  ==  !=                      comparison of numbers; of texts only == and !=, and so of
//     names of bools, true and false
//     x in [a, b]     x not in [a, b]           one of a list of numbers or texts
//     contains  startsWith  endsWith            of texts
//     &&  and  ||  or  !  not  ( )
//
// and nothing else: no calls, no loops, no ranges, no assignment, no clock. So
// its time and memory are bounded by its length, and the same values give the
// same result. All numbers are float64. Division by zero gives an infinity, or
// NaN for 0/0.
//
// NaN stands for a number that is not known. A comparison with it does not hold,
// neither <, nor >=, nor ==, nor !=, and `not` does not change that: `not (x > 5)`
// is `x <= 5`. So nothing holds because of what is not known.
//
// The parser and the machine that runs the programs are those of
// github.com/expr-lang/expr; the language above is a part of its language.
package condition

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// The limits of a condition.
const (
	MaxText  = 1000 // characters
	maxNodes = 500  // parts, as the parser counts them
	maxDepth = 60   // of parentheses and of `!` and `-` in a row
	memory   = 10_000
)

// Type is the type of a value.
type Type string

// The types.
const (
	Number Type = "number" // any integer or float; NaN: not known
	Bool   Type = "bool"   // true or false
	Text   Type = "text"
)

// Name is one value that a condition may use. Its Name is letters, digits and
// underscores, not a digit first, and no word of the language.
type Name struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	Unit string `json:"unit,omitempty"` // of a number, for people
	Doc  string `json:"doc"`            // one sentence, for people
}

// Error says what is wrong with a condition, and where.
type Error struct {
	Text    string // the whole condition
	Line    int    // from 1
	Column  int    // in characters, from 1
	Message string
}

func (e *Error) Error() string {
	if strings.Contains(e.Text, "\n") {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// Condition is a compiled condition. It does not change: many may use it at once.
type Condition struct {
	text    string
	program *vm.Program
	uses    []Name

	undefined *Error
}

// Compile checks a condition and makes it ready to use. The error is an *Error.
func Compile(text string, names []Name) (*Condition, error) {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return nil, &Error{Text: text, Line: 1, Column: 1, Message: `the condition is empty: write one such as "x > 1"`}
	case n > MaxText:
		return nil, &Error{Text: text, Line: 1, Column: 1, Message: fmt.Sprintf("a condition has at most %d characters, not %d", MaxText, n)}
	case !utf8.ValidString(text):
		return nil, &Error{Text: text, Line: 1, Column: 1, Message: "the condition is not valid UTF-8"}
	}
	if err := tooDeep(text); err != nil {
		return nil, err
	}
	config := languageConfig()
	env := types.Map{}
	for _, n := range names {
		env[n.Name] = n.Type.expr()
	}
	config.WithEnv(env)

	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	t := &typer{text: text, names: names}
	node, kind, err := t.node(tree.Node)
	if err != nil {
		return nil, err
	}
	if kind != Bool {
		return nil, t.errorf(tree.Node, "a condition is true or false, but this is a %s%s", kind, compareHint(kind))
	}
	// What follows cannot fail for what typer has let through.
	tree.Node = node
	if _, err := checker.Check(tree, config); err != nil {
		return nil, syntaxError(text, err)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	return &Condition{text: text, program: program, uses: t.uses, undefined: t.undefined}, nil
}

// Defined returns an *Error where a part of the condition has no value whatever the
// names are, such as 1/0. Compile takes it, as earlier versions have kept such
// conditions; who takes new ones in refuses it.
func (c *Condition) Defined() error {
	if c.undefined == nil {
		return nil
	}
	return c.undefined
}

// languageConfig is what the parser takes: no calls, and a bounded size.
func languageConfig() *conf.Config {
	config := conf.CreateNew()
	clear(config.Builtins)
	config.Optimize = false
	config.MaxNodes = maxNodes
	config.DisableIfOperator = true
	return config
}

// Syntax returns the syntax tree of a condition, whatever its names are; nil if it
// has none.
func Syntax(text string) ast.Node {
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > MaxText || tooDeep(text) != nil {
		return nil
	}
	tree, err := parser.ParseWithConfig(text, languageConfig())
	if err != nil {
		return nil
	}
	return tree.Node
}

func compareHint(kind Type) string {
	if kind == Number {
		return `; compare it, as in "... > 0"`
	}
	return ""
}

func (t Type) expr() types.Type {
	switch t {
	case Number:
		return types.Float64
	case Bool:
		return types.Bool
	case Text:
		return types.String
	}
	panic(fmt.Sprintf("condition: there is no type %q", string(t)))
}

// Text returns what was compiled.
func (c *Condition) Text() string { return c.text }

// Uses returns the names that the condition has, in order of their first use.
func (c *Condition) Uses() []Name { return append([]Name(nil), c.uses...) }

// Eval reports whether the condition holds. A number may be any of Go's integer and
// float types. Values that the condition does not use are not read. An
// error says that a value is missing or has another type than its name.
func (c *Condition) Eval(values map[string]any) (bool, error) {
	env := make(map[string]any, len(c.uses))
	for _, n := range c.uses {
		v, ok := values[n.Name]
		if !ok {
			return false, fmt.Errorf("evaluate condition: there is no value of %s", n.Name)
		}
		if v, ok = convert(v, n.Type); !ok {
			return false, fmt.Errorf("evaluate condition: %s must be a %s, not %T", n.Name, n.Type, values[n.Name])
		}
		env[n.Name] = v
	}
	machine := vm.VM{MemoryBudget: memory}
	out, err := machine.Run(c.program, env)
	if err != nil {
		return false, fmt.Errorf("evaluate condition: %w", err)
	}
	holds, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("evaluate condition: it gave %T", out)
	}
	return holds, nil
}

// convert makes v a value of type t: a number becomes a float64.
func convert(v any, t Type) (any, bool) {
	switch t {
	case Number:
		switch n := reflect.ValueOf(v); {
		case n.CanFloat():
			return n.Float(), true
		case n.CanInt():
			return float64(n.Int()), true
		case n.CanUint():
			return float64(n.Uint()), true
		}
	case Bool:
		b, ok := v.(bool)
		return b, ok
	case Text:
		s, ok := v.(string)
		return s, ok
	}
	return nil, false
}

// NotKnown is the number that is not known.
func NotKnown() float64 { return math.NaN() }

// tooDeep refuses what would nest too deeply, before the parser, which is
// recursive, sees it.
func tooDeep(text string) error {
	depth, run := 0, 0
	for i, r := range []rune(text) {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		switch r {
		case '!', '-', '+':
			run++
		case ' ', '\t', '\n', '\r':
		default:
			run = 0
		}
		if depth > maxDepth || run > maxDepth {
			return at(text, i, "a condition nests at most %d deep", maxDepth)
		}
	}
	return nil
}

// at makes the error of the place that is n characters from the start.
func at(text string, n int, format string, args ...any) *Error {
	e := &Error{Text: text, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
	for i, r := range []rune(text) {
		if i >= n {
			break
		}
		if e.Column++; r == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

// syntaxError turns an error of the parser into ours.
func syntaxError(text string, err error) error {
	e, ok := err.(*file.Error)
	if !ok {
		return at(text, 0, "%v", err)
	}
	message := e.Message
	if wrong := lexicalError(text, message, e.From); wrong != nil {
		return wrong
	}
	if place, sign := single(text); place >= 0 {
		word := map[rune]string{'|': "or", '&': "and"}[sign]
		return at(text, place, `a single %c has no meaning: write %c%c or %q`, sign, sign, sign, word)
	}
	switch {
	case strings.Contains(message, "EOF") || strings.Contains(message, "unexpected end"):
		return at(text, utf8.RuneCountInString(text), "the condition ends where more is expected")
	case strings.Contains(message, `Operator("=")`):
		message = `a single = is no comparison: write ==`
	case strings.Contains(message, "value out of range"):
		message = "a number is too great: at most about 1.8e308, and 9.2e18 without a point"
	case strings.Contains(message, "maximum allowed nodes"):
		message = fmt.Sprintf("a condition has at most %d parts", maxNodes)
	case strings.Contains(message, `Identifier("AND")`), strings.Contains(message, `Identifier("OR")`),
		strings.Contains(message, `Identifier("NOT")`), strings.Contains(message, `Identifier("IN")`):
		message = `the words "and", "or", "not" and "in" are written small`
	default:
		message = plain(message)
	}
	return at(text, e.From, "%s", message)
}

// single finds the first | or & outside quotes that is not doubled; -1: none.
func single(text string) (place int, sign rune) {
	runes := []rune(text)
	quote := rune(0)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == '\\' && quote != '`':
			i++
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' || r == '`':
			quote = r
		case r == '|' || r == '&':
			if i+1 < len(runes) && runes[i+1] == r {
				i++
				continue
			}
			return i, r
		}
	}
	return -1, 0
}

// plain turns `unexpected token Operator("*")` into `"*" is not expected here`.
func plain(message string) string {
	rest, found := strings.CutPrefix(message, "unexpected token ")
	_, token, quoted := strings.Cut(rest, "(")
	token, closed := strings.CutSuffix(token, ")")
	if !found || !quoted || !closed {
		return message
	}
	return token + " is not expected here"
}
