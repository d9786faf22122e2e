package workflow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// findTruths collects the columns that a step names as the known answer, or as why it is right.
func (r *reader) findTruths() {
	for _, m := range r.nodes {
		for _, what := range []string{"truth", "explain"} {
			if t := m.value.Get("crowd").Get(what); m.input == nil && t != nil && !slices.Contains(r.truths, t.Text()) {
				r.truths = append(r.truths, t.Text())
			}
		}
	}
}

// tells says what a column is that tells known answers.
func (r *reader) tells(column string) string {
	truth := func(m *made) bool { t := m.value.Get("crowd").Get("truth"); return t != nil && t.Text() == column }
	if slices.ContainsFunc(r.nodes, func(m *made) bool { return m.input == nil && truth(m) }) {
		return "the known answer (truth)"
	}
	return "why the known answer is right (explain)"
}

// doubled is how SQLite renames a column of a subquery that has the name of one before it.
var doubled = regexp.MustCompile(`^(.+):[0-9]+$`)

// Hides reports whether a column is one of the hidden ones. A name counts in whatever case,
// as in SQL: a query could select a known answer under the same name in capitals. So does
// the name that SQLite gives to a second column of that name in a subquery, such as known:1,
// which nobody has written.
func Hides(hidden []string, column string) bool {
	second := doubled.FindStringSubmatch(column)
	return slices.ContainsFunc(hidden, func(h string) bool {
		if strings.EqualFold(h, column) {
			return true
		}
		if second == nil {
			return false
		}
		if own := doubled.FindStringSubmatch(h); own != nil {
			h = own[1] // SQLite counts on from it: a:1 becomes a:2
		}
		return strings.EqualFold(h, second[1])
	})
}

// hidden returns the columns that a step hands to nobody: its own known answer, and without
// reveal those of all other steps, and what steps with checks before it add. Those of checks
// with its own known answer are not revealed either. A column that it names all the same, at
// these places, is noted; a run that was started before this was refused goes on.
func (r *reader) hidden(m *made, v *fields.Part, own []string, named func(column string) []Place) (list []string) {
	const unlessRevealed = ", which is handed to nobody: leave it out, or say reveal: true"
	reveal := fields.Or(v, "reveal", false)
	hide := func(column, what string) {
		list = append(list, column)
		for _, at := range named(column) {
			if r.now.IsZero() {
				break // it may be doubled, which earlier versions took: it is shown as an empty text
			}
			r.problem(at, "%s is %s", yamlfile.Quote(column), what)
		}
	}
	isOwn := func(column string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(column, o) })
	}
	begun := func(column string) bool { return r.now.IsZero() && len(named(column)) > 0 }
	for _, truth := range r.truths {
		switch {
		case isOwn(truth):
			hide(truth, r.tells(truth)+", which no worker is shown: leave it out")
		case !reveal && !begun(truth):
			hide(truth, r.tells(truth)+" of another step"+unlessRevealed)
		}
	}
	for _, x := range r.checkedBefore(m) {
		same := isOwn(x.step.Crowd().Truth)
		for _, c := range x.step.Own {
			switch what := "a column of the step " + x.name + ", and tells the answers of its checks"; {
			case Hides(list, c.Name) || Hides(r.truths, c.Name) || begun(c.Name):
			case same:
				hide(c.Name, what+", which are the known answers (truth) of this step, too: leave it out")
			case !reveal:
				hide(c.Name, what+unlessRevealed)
			}
		}
	}
	return list
}

// checkedBefore returns the steps with checks whose rows come to m, directly or through
// others. The label of a row that is a check is its known answer, and that it has 0 answers
// tells that it is one. Who was shown that could answer it there without having looked at it.
func (r *reader) checkedBefore(m *made) []*made {
	seen := map[*made]bool{m: true}
	walked := []*made{m}
	for i := 0; i < len(walked); i++ {
		for _, s := range walked[i].sources {
			if s.from != nil && !seen[s.from] {
				seen[s.from] = true
				walked = append(walked, s.from)
			}
		}
	}
	return lists.Filter(r.nodes, func(x *made) bool {
		return x != m && seen[x] && x.step != nil && x.step.Crowd() != nil && x.step.Crowd().Checks != nil
	})
}
