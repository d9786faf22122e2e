// Package pattern compiles regular expressions (RE2) that users write. A few
// characters of one, such as (a{1,1000}){1,900}, can stand for a program of many
// megabytes, and a text is matched in time proportional to both. So it says how
// large the program is before there is one: the caller bounds it.
package pattern

import (
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"sync"
)

// Pattern is a regular expression. Several goroutines may use it at a time.
type Pattern struct {
	text    string
	size    int
	compile func() *regexp.Regexp
}

// Parse reads a regular expression. It takes time and memory in proportion to the
// text only: the program is made when something is first matched.
func Parse(text string) (*Pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			return nil, errors.New(string(wrong.Code) + ": `" + wrong.Expr + "`")
		}
		return nil, err
	}
	return &Pattern{text, min(size(tree)+2, math.MaxInt32), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}, nil
}

// String returns the text that was parsed.
func (p *Pattern) String() string { return p.text }

// Size is at least the number of instructions of the program, or math.MaxInt32 if it
// is larger than that. Each takes about 300 bytes, and each byte of a text at most about
// 30 ns an instruction.
func (p *Pattern) Size() int { return p.size }

// MatchString reports whether a text contains a match.
func (p *Pattern) MatchString(text string) bool { return p.compile().MatchString(text) }

// size counts the instructions that a tree compiles to, as package syntax would expand it.
func size(x *syntax.Regexp) int {
	n := int64(0)
	for _, part := range x.Sub {
		n += int64(size(part))
	}
	switch x.Op {
	case syntax.OpLiteral:
		n += int64(len(x.Rune))
	case syntax.OpAlternate:
		n += int64(len(x.Sub))
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpCapture:
		n += 2
	case syntax.OpRepeat:
		n = n*int64(max(x.Min, x.Max, 1)) + int64(max(x.Max-x.Min, 2))
	}
	return int(min(max(n, 1), math.MaxInt32))
}
