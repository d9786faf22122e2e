package workflow

import (
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// tooManyEdges reports whether steps read more sources in all than a workflow may
// have, which has been noted at the step that is one too many: each edge brings
// columns that are compared with all others.
func (r *reader) tooManyEdges() bool {
	edges := 0
	for _, m := range r.nodes {
		from := m.value.Get("from")
		if m.step == nil || from == nil {
			continue
		}
		if edges += max(len(from.Node.Items)+len(from.Node.Fields), 1); edges > maxEdges {
			r.problem(from.At(), "with %s the steps read %d sources in all, at most %d are possible: read the few that a step needs", m.name, edges, maxEdges)
			return true
		}
	}
	return false
}

// tooManyColumns reports whether the nodes have more columns in all than a workflow
// may have, which has been noted at the one that is one too many: a small file can
// hand a wide input on from step to step.
func (r *reader) tooManyColumns(m *made) bool {
	r.columns += len(m.columns)
	if r.now.IsZero() || r.columns <= maxAllColumns {
		return false
	}
	r.problem(m.value.Start(), "with %s the inputs and steps have %d columns in all, at most %d are possible: select the few that later steps need", m.name, r.columns, maxAllColumns)
	return true
}

// tooManyPatterns notes the response whose patterns are more than a workflow may have with
// those before: a few characters of a pattern can take megabytes.
func (r *reader) tooManyPatterns(m *made, response *fields.Part, s *jsonschema.Schema) {
	if r.patterns = min(r.patterns+s.Patterns(), maxPatterns+1); r.patterns > maxPatterns && !r.now.IsZero() {
		r.problem(response.At(), "with %s the patterns of the responses are too large together: use fewer and shorter ones, with lower counts in braces; for how long a text is there are minLength and maxLength", m.name)
	}
}
