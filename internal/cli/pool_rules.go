package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// PoolRules is "throng pool rules".
type PoolRules struct {
	Show PoolRulesShow `cmd:"" help:"Show the rules of a pool."`
	Test PoolRulesTest `cmd:"" help:"Say when rules would have fired within the last hour."`
	Set  PoolRulesSet  `cmd:"" help:"Give a pool other rules."`
}

func ruleNames() string {
	var b strings.Builder
	for _, n := range pool.Names() {
		unit := ""
		if n.Unit != "" {
			unit = " (" + n.Unit + ")"
		}
		_, _ = fmt.Fprintf(&b, "  %s%s: %s\n", n.Name, unit, n.Doc) // into memory
	}
	return b.String()
}

// PoolRulesShow is "throng pool rules show".
type PoolRulesShow struct {
	Pool string `arg:"" help:"The pool."`
	Remote
}

// Run shows the rules.
func (x *PoolRulesShow) Run(c *Context, r *remote) error {
	id, err := r.pool(x.Pool)
	if err != nil {
		return err
	}
	p, err := r.PoolDetail(c.Ctx, id)
	if err != nil {
		return err
	}
	return x.print(c, val(p.Control.Rules), func(w io.Writer) { writeRules(w, p) })
}

// writeRules writes the rules of a pool in YAML.
func writeRules(w io.Writer, p wire.PoolDetail) {
	rules := val(p.Control.Rules)
	if len(rules) == 0 {
		say(w, "# %s has no rules\n[]\n", clean(p.Name))
	}
	if name, _, _ := strings.Cut(val(p.Control.Elasticity), "("); name != "rules" && len(rules) > 0 {
		say(w, "# not in use: throng pool set %s --elasticity rules\n", p.ID)
	}
	for _, r := range rules {
		data, err := yaml.Marshal([]struct{ When, Do string }{{r.When, r.Do}})
		if err != nil {
			data = fmt.Appendf(nil, "# %v\n", err)
		}
		say(w, "%s", data)
	}
}

// PoolRulesSet is "throng pool rules set".
type PoolRulesSet struct {
	Pool string `arg:"" help:"The pool."`
	File string `arg:"" help:"The rules, in YAML; - for standard input."`
	Use  bool   `default:"true" negatable:"" help:"Let the rules decide from now on (elasticity rules)."`
	Remote
}

// Run sets the rules.
func (x *PoolRulesSet) Run(c *Context, r *remote) error {
	file, err := c.readRules(x.File)
	if err != nil {
		return err
	}
	id, err := r.pool(x.Pool)
	if err != nil {
		return err
	}
	control := &wire.Control{Rules: &file.rules}
	if x.Use {
		rules := "rules"
		control.Elasticity = &rules
	}
	p, err := r.EditPool(c.Ctx, id, wire.PoolEdit{PoolSettings: wire.PoolSettings{Control: control}})
	if err != nil {
		return file.place(asFlag(err))
	}
	return x.print(c, p, func(w io.Writer) {
		say(w, "%s %s: %s, elasticity %s\n", p.ID, clean(p.Name), format.Count(len(val(p.Control.Rules)), "rule"), val(p.Control.Elasticity))
	})
}

// PoolRulesTest is "throng pool rules test".
type PoolRulesTest struct {
	Pool string `arg:"" help:"The pool."`
	File string `arg:"" optional:"" help:"The rules, in YAML; - for standard input; default: those that the pool has."`
	All  bool   `help:"Print every time that a rule would have fired, not the first few."`
	Remote
}

// firedShown is how many times are printed if not all are.
const firedShown = 10

// Run tries the rules.
func (x *PoolRulesTest) Run(c *Context, r *remote) error {
	file := &ruleFile{}
	if x.File != "" {
		var err error
		if file, err = c.readRules(x.File); err != nil {
			return err
		}
	}
	id, err := r.pool(x.Pool)
	if err != nil {
		return err
	}
	out, err := r.TestRules(c.Ctx, id, file.rules)
	if err != nil {
		return file.place(asFlag(err))
	}
	return x.print(c, out, func(w io.Writer) {
		if out.Samples == 0 {
			say(w, "there is nothing to try them on yet: the pool is sampled every ten seconds\n")
			return
		}
		say(w, "tried on %s since %s\n", format.Count(out.Samples, "sample"), stamp(out.From))
		for _, r := range out.Rules {
			say(w, "rule %d, when %s: %s: ", r.Rule, clean(r.When), clean(r.Do))
			if r.Fired == 0 {
				say(w, "never\n")
			} else {
				say(w, "%s, first %s, last %s\n", format.Count(r.Fired, "time"), clock(r.FirstAt), clock(r.LastAt))
			}
		}
		for i, f := range out.Fired {
			if i == firedShown && !x.All {
				say(w, "… and %d more (--all)\n", len(out.Fired)-i)
				break
			}
			say(w, "%s  %s\n", clock(f.At), clean(f.Why))
		}
	})
}

// ruleFile is a file of rules, with the places of their parts.
type ruleFile struct {
	name   string
	rules  []pool.Rule
	places []map[string]*yaml.Node // by part
}

// readRules reads a file of rules.
func (c *Context) readRules(name string) (*ruleFile, error) {
	f, _, err := c.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, ofFile(name, crowd.Errorf(crowd.TooLarge, "more than %d bytes are no rules", most))
	}
	return parseRules(name, text)
}

func parseRules(name string, text []byte) (*ruleFile, error) {
	file := &ruleFile{name: name, rules: []pool.Rule{}}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil {
		return nil, ofFile(name, crowd.Errorf(crowd.Invalid, "this is not YAML: %v", err))
	}
	list := &doc
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		list = doc.Content[0]
	}
	if list.Kind != yaml.SequenceNode {
		return nil, file.at(list, "", "a list of rules is wanted, each with when and do")
	}
	for _, item := range list.Content {
		parts := make(map[string]*yaml.Node)
		if item.Kind != yaml.MappingNode {
			return nil, file.at(item, "", "a rule has when and do")
		}
		for i := 0; i+1 < len(item.Content); i += 2 {
			key, value := item.Content[i], item.Content[i+1]
			switch {
			case key.Value != "when" && key.Value != "do":
				return nil, file.at(key, "", "a rule has when and do, no %q", key.Value)
			case parts[key.Value] != nil:
				return nil, file.at(key, "", "%q twice", key.Value)
			case value.Kind != yaml.ScalarNode:
				return nil, file.at(value, key.Value, "a text is wanted")
			}
			parts[key.Value] = value
		}
		for _, part := range []string{"when", "do"} {
			if parts[part] == nil {
				return nil, file.at(item, "", "the rule has no %q", part)
			}
		}
		file.rules = append(file.rules, pool.Rule{When: parts["when"].Value, Do: parts["do"].Value})
		file.places = append(file.places, parts)
	}
	return file, nil
}

// at is an error at a place of the file.
func (f *ruleFile) at(n *yaml.Node, part, format string, args ...any) error {
	return f.wrong(max(n.Line, 1), max(n.Column, 1), part, fmt.Sprintf(format, args...))
}

// wrong is an error like those of scenario files.
func (f *ruleFile) wrong(line, column int, part, message string) error {
	if part != "" {
		message = part + ": " + message
	}
	return scenario.Errors{{File: f.name, Line: line, Column: column, Message: message}}
}

// place finds the place in the file of what the server says is wrong.
func (f *ruleFile) place(err error) error {
	var r *pool.RuleError
	if !errors.As(err, &r) || r.Rule < 1 || r.Rule > len(f.places) || f.places[r.Rule-1][r.Part] == nil {
		return err
	}
	n := f.places[r.Rule-1][r.Part]
	line, column := n.Line, n.Column
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0: // begins below; how it is indented is not known
		line, column = line+r.Line, r.Column
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		line, column = line+r.Line-1, column+r.Column
	default:
		line, column = line+r.Line-1, column+r.Column-1
	}
	message := r.Message
	if _, rest, found := strings.Cut(message, fmt.Sprintf("column %d: ", r.Column)); found {
		message = rest // the place in the rule is said by that in the file
	}
	return f.wrong(line, column, r.Part, message)
}
