package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// The limits of a qualification test.
const (
	MaxQuestions = 1000
	MaxDrawn     = 100 // in a try: they are all on one page
	MaxTries     = 100
	MaxTestWait  = 365 * 24 * time.Hour
	submitGrace  = 5 * time.Second // for the way that answers take
)

// NewTest is what is needed to make a qualification test.
type NewTest struct {
	Tenant    crowd.TenantID // 0: of the whole installation, which admins make
	Name      string
	Template  json.RawMessage
	Questions io.Reader // a file as for a batch, with the right answers in the column _gold
	Format    table.Format
	Draw      int           // questions in a try; 0: all, at most MaxDrawn
	PassMark  int           // score from which on it is passed, 1 to 100
	Tries     int           // at most; 0: 1
	Wait      time.Duration // between the end of a try and the next
	TimeLimit time.Duration // of a try; 0: none
	Grants    string        // the qualification; "": the test's name
	Open      bool          // every worker may take it, not only those invited to it
}

// Create keeps a qualification test with its questions.
func (s *Tests) Create(ctx context.Context, p *Principal, n NewTest) (store.Test, error) {
	var err error
	if n.Tenant == 0 {
		err = p.need(Admin)
	} else if err = p.forTenant(n.Tenant); err == nil {
		_, err = s.store.Tenant(ctx, n.Tenant)
	}
	if err != nil {
		return store.Test{}, err
	}
	t := store.Test{
		Tenant: n.Tenant, Name: strings.TrimSpace(n.Name), Template: n.Template, Draw: n.Draw, PassMark: n.PassMark, Tries: cmp.Or(n.Tries, 1),
		Wait: n.Wait, TimeLimit: n.TimeLimit, Grants: strings.TrimSpace(n.Grants), Open: n.Open, CreatedBy: p.User.ID, CreatedAt: s.time(),
	}
	t.Grants = cmp.Or(t.Grants, t.Name)
	if err := validTest(&t); err != nil {
		return t, err
	}
	questions, err := readQuestions(&t, n.Questions, n.Format)
	if err != nil {
		return t, err
	}
	t.Questions = len(questions)
	switch {
	case t.Draw > t.Questions:
		return t, crowd.Fieldf("draw", "%d questions cannot be drawn: the file has %d", t.Draw, t.Questions)
	case t.Draw == 0 && t.Questions > MaxDrawn:
		return t, crowd.Fieldf("draw", "the file has %d questions: say how many of them make a try (at most %d)", t.Questions, MaxDrawn)
	}
	t.Draw = cmp.Or(t.Draw, t.Questions)
	t.ID, err = s.store.CreateTest(ctx, t, questions)
	return t, err
}

// validTest checks everything but the template and the questions.
func validTest(t *store.Test) error {
	var wrong Problems
	bad := func(field, format string, args ...any) {
		wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if t.Name == "" || len(t.Name) > 100 || strings.ContainsAny(t.Name, "\x00\n") {
		bad("name", "give the test a name (at most 100 bytes)")
	} else if err := engine.ValidRequirements([]engine.Requirement{{Name: t.Grants}}); err != nil {
		bad("grants", "%q is not the name of a qualification (1 to 100 characters)", t.Grants)
	}
	if t.PassMark < 1 || t.PassMark > 100 {
		bad("pass_mark", "%d is not a pass mark (from 1 to 100)", t.PassMark)
	}
	if t.Tries < 1 || t.Tries > MaxTries {
		bad("tries", "%d tries cannot be given (1 to %d)", t.Tries, MaxTries)
	}
	if t.Draw < 0 || t.Draw > MaxDrawn {
		bad("draw", "%d questions cannot be drawn (1 to %d)", t.Draw, MaxDrawn)
	}
	if t.Wait < 0 || t.Wait > MaxTestWait {
		bad("wait", "%s cannot be between tries (at most a year)", t.Wait)
	}
	if t.TimeLimit != 0 && (t.TimeLimit < 10*time.Second || t.TimeLimit > 24*time.Hour) {
		bad("time_limit", "%s is not a time for a try (10 seconds to a day)", t.TimeLimit)
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// readQuestions reads the file of a test, sets t.Columns, and checks that the
// template fits it and each right answer the template.
func readQuestions(t *store.Test, file io.Reader, format table.Format) ([]store.Question, error) {
	parsed, err := task.Parse(t.Template)
	if err != nil {
		return nil, err
	}
	kind := parsed.Kind.Describe()
	if kind.Framed {
		return nil, crowd.Fieldf("template", "a test cannot be of the kind %s: use one of the built-in kinds", kind.Kind)
	}
	if kind.Composite && parsed.LabelField == "" {
		return nil, crowd.Fieldf("template", "a form in a test needs a label_field: the field that _gold is the right answer of")
	}
	rows, err := table.NewReader(file, table.Options{Format: format})
	if err != nil {
		return nil, err
	}
	header := rows.Columns()
	gold := slices.Index(header, GoldColumn)
	if gold < 0 {
		return nil, &crowd.Error{Code: crowd.Invalid, Field: GoldColumn, Row: 1, Message: "is missing: a test needs a column with the right answers"}
	}
	t.Columns = slices.Delete(slices.Clone(header), gold, gold+1)
	if problems := parsed.Validate(t.Columns); len(problems) > 0 {
		return nil, Problems(problems)
	}
	compiled, err := parsed.Compile()
	if err != nil {
		return nil, err
	}
	t.Template, err = json.Marshal(parsed)
	if err != nil {
		return nil, err
	}
	var questions []store.Question
	var wrong Problems
	for {
		row, line, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var key string
		if err == nil {
			key, err = rightAnswer(compiled, row[gold], line)
		}
		if problem := badRow(err); problem != nil {
			if wrong = append(wrong, problem); len(wrong) == maxProblems {
				break
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(questions) == MaxQuestions {
			return nil, &crowd.Error{Code: crowd.TooLarge, Field: "questions", Message: fmt.Sprintf("the file has more than %d questions", MaxQuestions)}
		}
		questions = append(questions, store.Question{Values: slices.Delete(slices.Clone(row), gold, gold+1), Gold: key})
	}
	switch {
	case len(wrong) > 0:
		return nil, wrong
	case len(questions) == 0:
		return nil, crowd.Fieldf("questions", "the file has no questions")
	}
	return questions, nil
}

// rightAnswer returns the key of the right answer to a question.
func rightAnswer(c *task.Compiled, cell string, line int) (string, error) {
	bad := func(format string, args ...any) error {
		return &crowd.Error{Code: crowd.Invalid, Row: line, Field: GoldColumn, Message: fmt.Sprintf(format, args...)}
	}
	if cell == "" {
		return "", bad("is empty: every question of a test needs its right answer")
	}
	if options := c.LabelOptions(); options != nil && !slices.Contains(options, cell) { // Known takes what stands there as it is
		return "", bad("is no answer that a worker could give: %q is not one of the options of %s", cell, c.Template().LabelField)
	}
	key, err := c.Known(cell)
	if err == nil {
		return key, nil
	}
	var wrong *crowd.Error
	if errors.As(err, &wrong) {
		return "", bad("is no answer that a worker could give: %s", wrong.Message)
	}
	return "", err
}

var errTest = &crowd.Error{Code: crowd.NotFound, Field: "test", Message: "no such test"}

// managedTest returns a test that p may look at as who gives tests: an admin
// any, a requester those of his tenants and of the installation.
func (s *service) managedTest(ctx context.Context, p *Principal, id int64, change bool) (store.Test, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return store.Test{}, err
		}
	}
	t, err := s.store.Test(ctx, 0, id)
	hidden := t.Tenant != 0 && p.forTenant(t.Tenant) != nil || t.Tenant == 0 && change && !p.Is(Admin)
	if crowd.CodeOf(err) == crowd.NotFound || err == nil && hidden {
		return store.Test{}, errTest
	}
	return t, err
}

// List lists the tests of a tenant and of the installation, in order of id; of
// no tenant, for an admin, all.
func (s *Tests) List(ctx context.Context, p *Principal, tenant crowd.TenantID) ([]store.Test, error) {
	if tenant == 0 {
		if err := p.need(Admin); err != nil {
			return nil, err
		}
	} else if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	list, err := s.store.ListTests(ctx, 0)
	return slices.DeleteFunc(list, func(t store.Test) bool { return tenant != 0 && t.Tenant != 0 && t.Tenant != tenant }), err
}

// Get returns a test, for who gives tests.
func (s *Tests) Get(ctx context.Context, p *Principal, id int64) (store.Test, error) {
	return s.managedTest(ctx, p, id, false)
}

// Retire says that nobody new is asked to take a test, or lifts that. Who
// was invited to it before may go on.
func (s *Tests) Retire(ctx context.Context, p *Principal, id int64, retired bool) (store.Test, error) {
	t, err := s.managedTest(ctx, p, id, true)
	if err != nil {
		return t, err
	}
	t.Retired = retired
	return t, s.store.RetireTest(ctx, t.Tenant, t.ID, retired)
}

// TriedTest is a try with who made it.
type TriedTest struct {
	store.Try
	Name string // the person's
}

// Tries lists up to limit tries at a test with ids below before (0: all),
// newest first, with the answers that were given. Of the installation's tests
// only admins see them.
func (s *Tests) Tries(ctx context.Context, p *Principal, id, before int64, limit int) ([]TriedTest, error) {
	t, err := s.managedTest(ctx, p, id, true)
	if err != nil {
		return nil, err
	}
	list, err := s.store.TestTries(ctx, t.Tenant, id, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]TriedTest, len(list))
	for i, try := range list {
		u, err := s.store.User(ctx, try.Worker)
		if err != nil {
			return nil, err
		}
		out[i] = TriedTest{try, u.Name}
	}
	return out, nil
}

// TestView is a test as who takes it sees it: without the right answers.
type TestView struct {
	store.Test
	Pool    store.Pool     // that opens with it; ID 0: none
	Tries   []TestResult   // so far, the one that runs too
	Left    int            // tries not begun
	NextAt  time.Time      // when the next try may begin; zero: now
	Passed  bool           // in one of the tries
	Holds   bool           // has the qualification, however he came by it
	Current *RunningTry    // nil: none
	Result  *TestResult    // of the last try that is over; nil: none
	now     time.Time      // when it was looked at
	taken   []store.Try    // as kept
	offers  []crowd.PoolID // pools of his accepted invitations with this test, the latest first
}

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

// ended says whether a try is over, and when that was.
func ended(t *store.Try, now time.Time) (time.Time, bool) {
	switch {
	case !t.SubmittedAt.IsZero():
		return t.SubmittedAt, true
	case !t.EndsAt.IsZero() && now.After(t.EndsAt.Add(submitGrace)):
		return t.EndsAt, true
	}
	return time.Time{}, false
}

// mayTake returns the test if p may take it, with the pools that it opens to
// him.
func (s *service) mayTake(ctx context.Context, p *Principal, id int64) (t store.Test, offers []crowd.PoolID, err error) {
	t, err = s.store.Test(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound {
		return t, nil, errTest
	}
	if err != nil {
		return t, nil, err
	}
	accepted, err := s.store.AcceptedInvitations(ctx, p.User.ID)
	if err != nil {
		return t, nil, err
	}
	for _, i := range accepted {
		if i.Test == id {
			offers = append(offers, i.Pool)
		}
	}
	if len(offers) == 0 && !(t.Open && !t.Retired && p.Is(Worker)) {
		return store.Test{}, nil, errTest
	}
	return t, offers, nil
}

// Mine lists the tests that p may take, without their questions: those that
// he was invited to, and those open to every worker.
func (s *Tests) Mine(ctx context.Context, p *Principal) ([]TestView, error) {
	all, err := s.store.ListTests(ctx, 0)
	if err != nil {
		return nil, err
	}
	var list []TestView
	for _, t := range all {
		v, err := s.testView(ctx, p, t.ID)
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

// Take returns a test that p may take, with the questions of the try that
// he has begun.
func (s *Tests) Take(ctx context.Context, p *Principal, id int64) (TestView, error) {
	v, err := s.testView(ctx, p, id)
	if err == nil && v.Current != nil {
		_, v.Current.Questions, err = s.drawn(ctx, &v.Test, p.User.ID, v.Current.N)
	}
	return v, err
}

// testView is all of a view but the questions.
func (s *service) testView(ctx context.Context, p *Principal, id int64) (TestView, error) {
	t, offers, err := s.mayTake(ctx, p, id)
	if err != nil {
		return TestView{}, err
	}
	v := TestView{Test: t, now: s.time(), offers: offers}
	if v.taken, err = s.store.Tries(ctx, id, p.User.ID); err != nil {
		return v, err
	}
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return v, err
	}
	v.Holds = qualified(&u, &t)
	if len(offers) > 0 {
		v.Pool, _ = s.pool(offers[0])
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
func (s *service) drawn(ctx context.Context, t *store.Test, worker crowd.WorkerID, try int) ([]store.Question, []Asked, error) {
	all, err := s.store.Questions(ctx, t.ID)
	if err != nil {
		return nil, nil, err
	}
	c, err := compiled(t.Template)
	if err != nil {
		return nil, nil, err
	}
	picked := draw(t.ID, worker, try, len(all), t.Draw)
	questions, shown := make([]store.Question, len(picked)), make([]Asked, len(picked))
	for i, n := range picked {
		values := task.Values{Columns: t.Columns, Cells: all[n].Values}
		questions[i], shown[i] = all[n], Asked{Name: questionName(i), View: c.Render(values), Values: values}
	}
	return questions, shown, nil
}

// questionName is what the i-th question of a try is answered by.
func questionName(i int) string { return fmt.Sprintf("q%d", i+1) }

func compiled(raw json.RawMessage) (*task.Compiled, error) {
	t, err := task.Parse(raw)
	if err != nil {
		return nil, err
	}
	return t.Compile()
}

// StartTry begins a try, or returns the one that runs. Two windows share one
// try.
func (s *Tests) StartTry(ctx context.Context, p *Principal, id int64) (TestView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
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
		return v, crowd.Errorf(crowd.Conflict, "you have used up your %s", tries(v.Test.Tries))
	case !v.NextAt.IsZero():
		return v, crowd.Errorf(crowd.TooMany, "the next try is possible from %s on", clockTime(v.now, v.NextAt))
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

func tries(n int) string {
	if n == 1 {
		return "one try"
	}
	return fmt.Sprintf("%d tries", n)
}

// keptAnswer is the answer to a question as it is kept.
type keptAnswer struct {
	Answer json.RawMessage `json:"answer,omitempty"`
	Key    string          `json:"key,omitempty"`
	Right  bool            `json:"right"`
}

// SubmitTry takes the answers to the n-th try, by name of the question, scores
// them, and grants the qualification if that is enough. A missing answer is an
// error unless unfinished says that it counts as wrong. What comes after the
// time is kept and cannot pass. Submitted again, a try is as it was.
func (s *Tests) SubmitTry(ctx context.Context, p *Principal, id int64, n int, answers map[string]json.RawMessage, unfinished bool) (TestView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
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
	c, err := compiled(v.Template)
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
	var wrong Problems
	kept := make(map[string]keptAnswer, len(questions))
	strange := maps.Clone(answers)
	for i, q := range questions {
		name := questionName(i)
		raw, given := answers[name]
		delete(strange, name)
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
	for _, name := range sortedKeys(strange) {
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
// qualification, and works from now on in the pool that he was invited to; his
// pool's engine learns of it at once.
func (s *service) finish(ctx context.Context, id crowd.WorkerID, v *TestView, try store.Try) error {
	if !try.Passed {
		return s.store.FinishTry(ctx, try, nil)
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return err
	}
	held := maps.Clone(u.Qualifications)
	if held == nil {
		held = make(map[string]int)
	}
	held[v.Grants] = max(held[v.Grants], try.Score)
	u.Qualifications = held
	newcomer := u.Pool == 0 && len(v.offers) > 0
	if newcomer {
		u.Pool = v.offers[0]
	}
	if err := validQualifications(held); err != nil {
		return err
	}
	if err := s.store.FinishTry(ctx, try, &u); err != nil {
		return err
	}
	s.sessions.clear()
	return s.tellPool(u, newcomer)
}
