package results

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// CourseWindow is of how many answers the moving share of right ones is.
const CourseWindow = 20

// MaxCourse is how many points a course has at most. Of more answers each point stands for several.
const MaxCourse = 200

// CoursePoint is how somebody did up to an answer.
type CoursePoint struct {
	Answers int       // that could be right or wrong, up to this one
	At      time.Time // of this one
	Right   Share     // of all of them
	Recent  Share     // of the last CourseWindow of them, or of all if they are fewer
	Checks  int       // of them, to tasks with a known answer, since the figures began at nothing
	Drift   float64   // the highest since the point before: see engine.Figures
}

// Share is a share with its bounds, 0 to 1.
type Share struct{ Of, Low, High float64 }

// shareOf is the share of some answers that are right, with its bounds (Wilson, 95 %).
func shareOf(right, all int) Share {
	x := float64(right) / float64(all)
	low, high := label.Wilson(x, all)
	return Share{x, low, high}
}

// follow sums up the figures as the rules of the batch do, answer by answer, and how they went. Where an
// action on the person was undone, they begin at nothing.
func (v *WorkerView) follow(f *fit, records []record) {
	var t engine.QualityCounts
	var last []bool // of the last answers, whether they are right
	begins := beginnings(v.Actions)
	from, right, n := uint32(0), 0, 0
	every := max(1, (v.Compared+MaxCourse-1)/MaxCourse)
	drift := 0.0
	for i := range records {
		r := &records[i]
		for len(begins) > 0 && r.assignment.N() >= begins[0] {
			t, from, begins = engine.QualityCounts{}, begins[0], begins[1:]
		}
		if (r.counted || !r.disregarded.IsZero()) && r.assignment.N() >= from {
			f.enter(&t, r)
		}
		figures := t.Figures()
		drift = max(drift, figures.Drift)
		if r.right == nil {
			continue
		}
		n++
		if *r.right {
			right++
		}
		if last = append(last, *r.right); len(last) > CourseWindow {
			last = last[1:]
		}
		if n%every == 0 || n == v.Compared {
			recent := lists.Count(last, func(right bool) bool { return right })
			v.Course = append(v.Course, CoursePoint{Answers: n, At: r.ended, Right: shareOf(right, n), Recent: shareOf(recent, len(last)), Checks: figures.Checks, Drift: drift})
			drift = 0
		}
	}
	if len(begins) > 0 {
		t = engine.QualityCounts{}
	}
	v.Figures = t.Figures()
}

// enter enters an answer that counts, or did, as the engine does. Of a batch without checks, answers to tasks with a known
// answer are entered as checks, too: no rule of such a batch goes by them.
func (f *fit) enter(t *engine.QualityCounts, r *record) {
	if r.line >= 0 && f.data.lines[r.line].lesson {
		return
	}
	t.Answer(r.given, r.ended, f.batch.Spec.Lease)
	if !f.batch.AnswersDeletedAt.IsZero() || r.line < 0 {
		return
	}
	x := &f.data.lines[r.line]
	if x.gold != "" {
		t.Check(r.said == x.gold)
	}
	if x.given&hasLabel != 0 && (x.gold == "" || f.batch.Spec.Checks == nil) {
		t.Label(r.said == x.live.value, 1)
	}
}

// beginnings are the numbers of the assignments from which on the figures of who was acted on began at
// nothing, ascending.
func beginnings(actions []store.QualityAction) []uint32 {
	var list []uint32
	for _, a := range actions {
		if !a.UndoneAt.IsZero() {
			list = append(list, a.From)
		}
	}
	slices.Sort(list)
	return list
}
