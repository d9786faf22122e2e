package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// TestView is a test as it is shown to whoever takes it: without the right answers.
type TestView struct {
	store.Test
	Pool    store.Pool     // that opens with it; ID 0: none
	For     string         // the tenant for whose batches it counts; "": for all
	Tries   []TestResult   // so far, the one that runs too
	Left    int            // tries not begun
	NextAt  time.Time      // when the next try may begin; zero: now
	Passed  bool           // in one of the tries
	Holds   bool           // has the qualification, from this test or otherwise
	Current *RunningTry    // nil: none
	Result  *TestResult    // of the last try that is over; nil: none
	now     time.Time      // when it was looked at
	taken   []store.Try    // as kept
	offers  []crowd.PoolID // pools of accepted invitations with this test, the latest first
}

// FullGrants returns the full name of what the test grants.
func (v TestView) FullGrants() string { return Names{v.Tenant: v.For}.Grants(v.Test) }

// TestResult is how a try went.
type TestResult struct {
	N         int
	StartedAt time.Time
	EndedAt   time.Time // submitted, or its time over; zero: it still runs
	Submitted bool
	Score     int
	Late      bool // submitted after its time
	Passed    bool
}

// RunningTry is a try that was begun and is not over.
type RunningTry struct {
	N         int
	StartedAt time.Time
	EndsAt    time.Time // zero: never
	Questions []Asked
}

// Asked is a question of a try.
type Asked struct {
	Name   string // "q1", "q2" …: by which it is answered
	View   task.View
	Values task.Values
}

// ended reports whether a try is over, and since when.
func ended(t *store.Try, now time.Time) (time.Time, bool) {
	switch {
	case !t.SubmittedAt.IsZero():
		return t.SubmittedAt, true
	case !t.EndsAt.IsZero() && now.After(t.EndsAt.Add(submitGrace)):
		return t.EndsAt, true
	}
	return time.Time{}, false
}

// mayTake returns the pools that a test opens to p, if they may take it.
func (s *Tests) mayTake(ctx context.Context, p *access.Principal, t *store.Test) (offers []crowd.PoolID, err error) {
	accepted, err := s.store.AcceptedInvitations(ctx, p.User.ID)
	if err != nil {
		return nil, err
	}
	invited := false
	for _, i := range accepted {
		if i.Test != t.ID {
			continue
		}
		invited = true
		closed, err := s.accounts.closed(ctx, &i)
		if err != nil {
			return nil, err
		}
		if !closed {
			offers = append(offers, i.Pool)
		}
	}
	if !invited && !(t.Open && !t.Retired && p.May(access.TestsTakeOpen) == nil && p.User.IsFor(t.Tenant)) {
		return nil, errTest
	}
	return offers, nil
}

// Mine lists the tests that p may take, without their questions: those that they
// were invited to, and those open to every worker.
func (s *Tests) Mine(ctx context.Context, p *access.Principal) ([]TestView, error) {
	if err := p.May(access.TestsMine); err != nil {
		return nil, err
	}
	all, err := s.store.ListTests(ctx, 0)
	if err != nil {
		return nil, err
	}
	var list []TestView
	for _, t := range all {
		v, err := s.viewOf(ctx, p, t)
		if crowd.CodeOf(err) == crowd.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Take returns a test that p may take, with the questions of the try that they
// have begun.
func (s *Tests) Take(ctx context.Context, p *access.Principal, id int64) (TestView, error) {
	if err := p.May(access.TestsTake); err != nil {
		return TestView{}, err
	}
	v, err := s.testView(ctx, p, id)
	if err == nil && v.Current != nil {
		_, v.Current.Questions, err = s.drawn(ctx, &v.Test, p.User.ID, v.Current.N)
	}
	return v, err
}

// testView is all of a view but the questions.
func (s *Tests) testView(ctx context.Context, p *access.Principal, id int64) (TestView, error) {
	t, err := s.store.Test(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound {
		err = errTest
	}
	if err != nil {
		return TestView{}, err
	}
	return s.viewOf(ctx, p, t)
}

func (s *Tests) viewOf(ctx context.Context, p *access.Principal, t store.Test) (TestView, error) {
	offers, err := s.mayTake(ctx, p, &t)
	if err != nil {
		return TestView{}, err
	}
	v := TestView{Test: t, now: s.clock.Time(), offers: offers}
	if v.taken, err = s.store.Tries(ctx, t.ID, p.User.ID); err != nil {
		return v, err
	}
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return v, err
	}
	v.Holds = qualified(&u, &t)
	if t.Tenant != 0 {
		tenant, err := s.store.Tenant(ctx, t.Tenant)
		if err != nil {
			return v, err
		}
		v.For = tenant.Name
	}
	if len(offers) > 0 {
		v.Pool, _ = s.live.Settings(offers[0])
	}
	for i := range v.taken {
		x := &v.taken[i]
		end, over := ended(x, v.now)
		result := TestResult{N: x.N, StartedAt: x.StartedAt, EndedAt: end, Submitted: !x.SubmittedAt.IsZero(), Score: x.Score, Late: x.Late, Passed: x.Passed}
		v.Tries = append(v.Tries, result)
		v.Passed = v.Passed || x.Passed
		if !over {
			v.Current = &RunningTry{N: x.N, StartedAt: x.StartedAt, EndsAt: x.EndsAt}
			continue
		}
		v.Result = &result
		if next := end.Add(t.Wait); next.After(v.now) {
			v.NextAt = next
		}
	}
	v.Left = max(0, t.Tries-len(v.Tries))
	return v, nil
}

// draw picks the questions of a try out of all, in the order in which they are
// asked, as indexes. The same try always gets the same ones.
func draw(test int64, worker crowd.WorkerID, try, of, n int) []int {
	seed := sha256.Sum256(fmt.Appendf(nil, "test %d worker %d try %d", test, int64(worker), try))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:8]), binary.BigEndian.Uint64(seed[8:16])))
	return r.Perm(of)[:n]
}

// drawn returns the questions of a try, as kept and as they are shown.
func (s *Tests) drawn(ctx context.Context, t *store.Test, worker crowd.WorkerID, try int) ([]store.Question, []Asked, error) {
	all, err := s.store.Questions(ctx, t.ID)
	if err != nil {
		return nil, nil, err
	}
	c, err := input.Compile(t.Template)
	if err != nil {
		return nil, nil, err
	}
	picked := draw(t.ID, worker, try, len(all), t.Draw)
	questions, shown := make([]store.Question, len(picked)), make([]Asked, len(picked))
	for i, n := range picked {
		values := c.Fit(task.Values{Columns: t.Columns, Cells: all[n].Values}, maxTryBytes/len(picked))
		questions[i], shown[i] = all[n], Asked{Name: questionName(i), View: c.Render(values), Values: values.Values()}
	}
	return questions, shown, nil
}

// questionName is what the i-th question of a try is answered by.
func questionName(i int) string { return fmt.Sprintf("q%d", i+1) }

// StartTry begins a try, or returns the one that runs. Two windows share one
// try.
func (s *Tests) StartTry(ctx context.Context, p *access.Principal, id int64) (TestView, error) {
	if err := p.May(access.TestsStartTry); err != nil {
		return TestView{}, err
	}
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	v, err := s.testView(ctx, p, id)
	if err != nil {
		return v, err
	}
	switch {
	case v.Current != nil:
		return s.Take(ctx, p, id)
	case v.Passed:
		return v, crowd.Errorf(crowd.Conflict, "you have passed this test already")
	case v.Left == 0:
		return v, crowd.Errorf(crowd.Conflict, "you have used up your %s", format.Count(v.Test.Tries, "try"))
	case !v.NextAt.IsZero():
		return v, crowd.Errorf(crowd.TooMany, "the next try is possible from %s UTC on", format.Clock(v.now, v.NextAt)).After(v.NextAt.Sub(v.now))
	}
	try := store.Try{Test: id, Worker: p.User.ID, N: len(v.taken) + 1, StartedAt: v.now}
	if v.TimeLimit > 0 {
		try.EndsAt = v.now.Add(v.TimeLimit)
	}
	if _, err := s.store.StartTry(ctx, try); err != nil && crowd.CodeOf(err) != crowd.Conflict {
		return v, err // a Conflict: it was begun elsewhere, and is this one
	}
	return s.Take(ctx, p, id)
}

// keptAnswer is the answer to a question as it is kept.
type keptAnswer struct {
	Answer json.RawMessage `json:"answer,omitempty"`
	Key    string          `json:"key,omitempty"`
	Right  bool            `json:"right"`
}

// SubmitTry takes the answers to the n-th try, by name of the question, scores
// them, and grants the qualification if that is enough. A missing answer is an
// error, unless with unfinished, where it counts as wrong. What comes after the
// time is kept and cannot pass. Submitted again, a try stays as it was.
func (s *Tests) SubmitTry(ctx context.Context, p *access.Principal, id int64, n int, answers map[string]json.RawMessage, unfinished bool) (TestView, error) {
	if err := p.May(access.TestsSubmitTry); err != nil {
		return TestView{}, err
	}
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	v, err := s.testView(ctx, p, id)
	if err != nil {
		return v, err
	}
	i := slices.IndexFunc(v.taken, func(t store.Try) bool { return t.N == n })
	if i < 0 {
		return v, &crowd.Error{Code: crowd.NotFound, Field: "try", Message: "you have not begun such a try"}
	}
	try := v.taken[i]
	if !try.SubmittedAt.IsZero() {
		return v, nil
	}
	questions, _, err := s.drawn(ctx, &v.Test, p.User.ID, n)
	if err != nil {
		return v, err
	}
	c, err := input.Compile(v.Template)
	if err != nil {
		return v, err
	}
	try.SubmittedAt = v.now
	_, try.Late = ended(&v.taken[i], v.now)
	if err := score(&try, c, questions, answers, unfinished || try.Late); err != nil {
		return v, err
	}
	try.Passed = try.Score >= v.PassMark && !try.Late
	if err := s.finish(ctx, p.User.ID, &v, try); err != nil {
		return v, err
	}
	return s.testView(ctx, p, id)
}

// score checks the answers to a try and fills in what they are worth. With
// lenient, what is missing or does not fit is wrong and no error.
func score(try *store.Try, c *task.Compiled, questions []store.Question, answers map[string]json.RawMessage, lenient bool) (err error) {
	var wrong crowd.Errors
	kept := make(map[string]keptAnswer, len(questions))
	unknown := maps.Clone(answers)
	for i, q := range questions {
		name := questionName(i)
		raw, given := answers[name]
		delete(unknown, name)
		var a keptAnswer
		if given {
			canonical, key, err := c.Check(raw)
			var e *crowd.Error
			switch {
			case err == nil:
				a = keptAnswer{Answer: json.RawMessage(canonical), Key: key, Right: key == q.Gold}
			case errors.As(err, &e):
				wrong = append(wrong, &crowd.Error{Code: e.Code, Field: name + "." + e.Field, Message: e.Message})
			default:
				return err
			}
		} else {
			wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: name + "." + task.LabelField, Message: "has no answer"})
		}
		if a.Right {
			try.Right++
		}
		kept[fmt.Sprint(q.N)] = a
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: name, Message: "is not a question of this try"})
	}
	if len(wrong) > 0 && !lenient {
		return wrong
	}
	try.Score = 100 * try.Right / len(questions)
	try.Answers, err = json.Marshal(kept)
	return err
}

// finish keeps a try that was submitted. Who has passed is granted the
// qualification, and works from now on in the pool that they were invited to;
// that pool's engine is told.
func (s *Tests) finish(ctx context.Context, id crowd.WorkerID, v *TestView, try store.Try) error {
	if !try.Passed {
		return s.store.FinishTry(ctx, try, nil)
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return err
	}
	before := u
	grant(&u, &v.Test, try.Score)
	newcomer := u.Pool == 0 && len(v.offers) > 0 && !u.IsStaff()
	if newcomer {
		u.Pool = v.offers[0]
	}
	if err := s.accounts.validQualifications(ctx, &before, &u); err != nil {
		return err
	}
	if err := s.store.FinishTry(ctx, try, &u); err != nil {
		return err
	}
	s.accounts.sessions.clear()
	return s.accounts.tellPool(u, newcomer)
}
