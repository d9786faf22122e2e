package scenario

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// ModelOf is the workflow that a model file is of: what the file names has to be there.
type ModelOf struct {
	Flow    *workflow.Workflow
	Columns map[string][]string // of inputs whose rows come from a file; Flow has those of others
}

func (of ModelOf) parse(name string, text []byte, files func(path string) ([]byte, error)) (*WorkflowModel, error) {
	return ParseWorkflowModel(name, text, files, of)
}

// fit notes what the file names and the workflow has not. It is told together with what
// else is wrong with the file.
func (r *modelReader) fit(of ModelOf, top *node) {
	steps := make(map[string]*workflow.Step)
	var names, pools, services []string
	for i := range of.Flow.Steps {
		s := &of.Flow.Steps[i]
		steps[s.Name], names = s, append(names, s.Name)
		if c := s.Crowd(); c != nil {
			pools = append(pools, cmp.Or(c.Pool, "main"))
		}
		if h := s.HTTP(); h != nil && h.Name != "" {
			services = append(services, h.Name)
		}
	}
	if pools == nil {
		pools = []string{"main"} // nobody works there
	}
	pairs(top.Field("steps").Value, func(k, v *node) {
		if r.has(k, names, "the workflow has no step") {
			r.fitStep(steps[k.Text], k, v)
		}
	})
	pairs(top.Field("services").Value, func(k, _ *node) { r.has(k, unique(services), "no step of the workflow names a service") })
	inputs := lists.Map(of.Flow.Inputs, func(in workflow.Input) string { return in.Name })
	pairs(top.Field("inputs").Value, func(k, v *node) {
		if !r.has(k, inputs, "the workflow has no input") {
			return
		}
		in := &of.Flow.Inputs[slices.Index(inputs, k.Text)]
		columns, ok := of.Columns[k.Text]
		switch {
		case !ok && in.Open():
			return // a file is wanted, which is told later
		case !ok:
			columns = lists.Map(in.Columns, func(c workflow.Column) string { return c.Name })
		}
		pairs(v, func(column, _ *node) { r.has(column, columns, "the input "+k.Text+" has no column") })
	})
	if crowds := top.Field("workers").Value; crowds != nil {
		for _, n := range append([]*node{crowds}, crowds.Items...) {
			pairs(n, func(k, _ *node) { r.has(k, unique(pools), "no step asks people of a pool") })
		}
	}
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// fitStep notes what the model of a step says that a step of its kind has not.
func (r *modelReader) fitStep(s *workflow.Step, key, v *node) {
	pairs(v, func(k, v *node) {
		switch k.Text {
		case "failure", "answer":
			if s.Crowd() != nil {
				r.errorf(k, "%s is done by people, who have time, accuracy and truth; %s is of services", s.Name, k.Text)
			}
		case "accuracy", "truth":
			if s.HTTP() != nil {
				r.errorf(k, "%s is a service, which has time, failure and answer; %s is of people", s.Name, k.Text)
			}
		}
		switch {
		case k.Text == "answer" && s.HTTP() != nil:
			known := lists.Map(s.HTTP().Response.Properties(), func(p jsonschema.Property) string { return p.Name })
			pairs(v, func(property, _ *node) { r.has(property, known, "the answer of "+s.Name+" has no property") })
		case k.Text == "truth" && s.Crowd() != nil:
			r.fitTruth(s, v)
		}
	})
	if s.Crowd() == nil && s.HTTP() == nil {
		r.errorf(key, "%s is a query: it is run as it is, so there is nothing to model", s.Name)
	}
}

// fitTruth notes true answers that nobody could give.
func (r *modelReader) fitTruth(s *workflow.Step, v *node) {
	t, err := task.Parse(s.Crowd().Template)
	if err != nil {
		return // the workflow was read, so it can be
	}
	shape, err := t.Compile()
	if err != nil {
		return
	}
	values := r.values(v)
	if values == nil {
		return // noted, once
	}
	at := map[string]*node{}
	pairs(v, func(k, _ *node) { at[k.Text] = k })
	for _, item := range v.Items {
		at[item.Text] = item
	}
	for _, text := range values.Texts {
		if _, err := shape.Known(text); err != nil {
			where := v
			if n := at[text]; n != nil {
				where = n
			}
			r.errorf(where, "%s is no answer that a worker could give at %s: %s", yamlfile.Quote(text), s.Name, yamlfile.Message(err))
		}
	}
}

// has reports whether a name is known, and notes that it is not.
func (r *modelReader) has(at *node, known []string, unknown string) bool {
	if slices.Contains(known, at.Text) {
		return true
	}
	r.errorf(at, "%s %s: %s", unknown, yamlfile.Quote(at.Text), r.notes.Hint(at.Text, known))
	return false
}

// pairs calls do with the fields of a node that is a mapping; what is wrong with another
// is noted where it is read.
func pairs(n *node, do func(k, v *node)) {
	if n == nil || n.Kind != yamlfile.Mapping {
		return
	}
	for _, f := range n.Fields {
		do(f.Key, f.Value)
	}
}
