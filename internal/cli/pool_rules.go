package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
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
	aPool
	Remote
}

// Run shows the rules.
func (x *PoolRulesShow) Run(c *Context, r *remote, id crowd.PoolID) error {
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
	aPool
	File string `arg:"" help:"The rules, in YAML; - for standard input."`
	Use  bool   `default:"true" negatable:"" help:"Let the rules decide from now on (elasticity rules)."`
	Remote
}

// Run sets the rules.
func (x *PoolRulesSet) Run(c *Context, r *remote, id crowd.PoolID) error {
	file, err := c.readRules(x.File)
	if err != nil {
		return err
	}
	if err := file.wrong(c.Ctx, r, id); err != nil {
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
		say(w, "%s %s: %s, elasticity %s\n", p.ID, clean(p.Name), format.Count(len(val(p.Control.Rules)), "rule"), cmp.Or(val(p.Control.Elasticity), "static"))
		say(w, "%s", poolNotes(&p.Pool))
	})
}

// PoolRulesTest is "throng pool rules test".
type PoolRulesTest struct {
	aPool
	File string `arg:"" optional:"" help:"The rules, in YAML; - for standard input; default: those that the pool has."`
	All  bool   `help:"Print every time that a rule would have fired, not the first few."`
	Remote
}

// firedShown is how many times are printed if not all are.
const firedShown = 10

// Run tries the rules.
func (x *PoolRulesTest) Run(c *Context, r *remote, id crowd.PoolID) error {
	file := &ruleFile{}
	if x.File != "" {
		var err error
		if file, err = c.readRules(x.File); err != nil {
			return err
		}
		if err := file.wrong(c.Ctx, r, id); err != nil {
			return err
		}
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

// What a file of rules is.
var (
	rulesFile  = yamlfile.Language{Name: "file of rules", Begin: "- when: queue > 10", Most: 1 << 20}
	ruleFields = fields.Fields{fields.Must("when", fields.Text(1, rulesFile.Most)), fields.Must("do", fields.Text(1, rulesFile.Most))}
	rulesType  = fields.List(0, pool.MaxRules, fields.Object("", ruleFields...))
)

// ruleFile is a file of rules that has been read.
type ruleFile struct {
	notes yamlfile.Notes
	nodes []map[string]*yamlfile.Node // of each rule, its parts that are there
	rules []pool.Rule
}

// readRules reads a file of rules, with notes of what is wrong with its form.
func (c *Context) readRules(name string) (*ruleFile, error) {
	text, err := c.read(name, rulesFile.Most)
	if err != nil {
		return nil, err
	}
	file := &ruleFile{notes: yamlfile.Notes{File: name}, rules: []pool.Rule{}}
	if top := rulesFile.Parse(text, &file.notes); top != nil {
		for _, p := range rulesType.Read(&file.notes, top).Parts() {
			file.add(p)
		}
	}
	return file, nil
}

// add adds a rule. A part that is missing is taken from the field that was probably meant,
// and else is one without an error, so that the rest of the rules can be checked.
func (f *ruleFile) add(p *fields.Part) {
	rule, nodes := pool.Rule{When: "queue > 0", Do: "recruit 1"}, make(map[string]*yamlfile.Node)
	for key, to := range map[string]*string{"when": &rule.When, "do": &rule.Do} {
		node := meant(p, key)
		if node != nil {
			*to, nodes[key] = node.Text, node
		}
	}
	f.rules, f.nodes = append(f.rules, rule), append(f.nodes, nodes)
}

// meant returns the node of a part of a rule, or nil.
func meant(p *fields.Part, key string) *yamlfile.Node {
	if part := p.Get(key); part != nil {
		return part.Node
	}
	if p == nil || p.Has(key) {
		return nil
	}
	known := ruleFields.Keys()
	for _, x := range p.Node.Fields {
		if x.Value.Kind == yamlfile.Scalar && !slices.Contains(known, x.Key.Text) && similarity.Nearest(x.Key.Text, known) == key {
			return x.Value
		}
	}
	return nil
}

// wrong is everything that is wrong with a file with errors of form, also with the
// conditions and actions, which the server checks; nil: its form is right.
func (f *ruleFile) wrong(ctx context.Context, r *remote, id crowd.PoolID) error {
	if f.notes.Count() == 0 {
		return nil
	}
	if len(f.rules) > 0 { // without rules the server would try those of the pool
		_, err := r.TestRules(ctx, id, f.rules)
		_ = f.place(err) // another error, such as of the network, does not hide those of form
	}
	return f.notes.Problems()
}

// place finds the place in the file of what the server says is wrong.
func (f *ruleFile) place(err error) error {
	list := crowd.ErrorsOf(err)
	if len(list) == 0 {
		return err
	}
	for _, e := range list {
		var r *pool.RuleError
		if !errors.As(e, &r) || r.Rule < 1 || r.Rule > len(f.nodes) || f.nodes[r.Rule-1][r.Part] == nil {
			return err
		}
		message := r.Message
		if _, rest, found := strings.Cut(message, fmt.Sprintf("column %d: ", r.Column)); found {
			message = rest // the place in the rule is said by that in the file
		}
		f.notes.Add(f.nodes[r.Rule-1][r.Part].At(r.Line, r.Column), "%s: %s", r.Part, message)
	}
	return f.notes.Problems()
}
