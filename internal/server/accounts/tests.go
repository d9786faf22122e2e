package accounts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// The limits of a qualification test.
const (
	MaxQuestions = 1000
	maxTestText  = 8 << 20                // bytes of all questions: they are kept in one transaction
	maxTryBytes  = 4 * task.MaxShownBytes // of the questions of one try, which stand on one page
	MaxDrawn     = 100                    // in a try: they are all on one page
	MaxTries     = 100
	MaxTestWait  = 365 * 24 * time.Hour
	submitGrace  = 5 * time.Second // for the way that answers take
)

// Tests is the qualification tests and the tries at them.
type Tests struct {
	store    store.Store
	live     *live.Pools
	clock    live.Clock
	accounts *Accounts
	quotas   *limits.Quotas
	uploads  *limits.Slots

	retiring sync.Mutex // held while a test is retired, or that is lifted
}

// OpenTests makes the use case.
func OpenTests(accounts *Accounts, quotas *limits.Quotas, uploads *limits.Slots) *Tests {
	return &Tests{store: accounts.store, live: accounts.live, clock: accounts.clock, accounts: accounts, quotas: quotas, uploads: uploads}
}

// NewTest is what is needed to make a qualification test.
type NewTest struct {
	Tenant    crowd.TenantID // 0: of the whole installation, which admins make
	Name      string
	Template  json.RawMessage
	Questions io.Reader // a file as for a batch, with the right answers in the column _gold
	Format    table.Format
	Delimiter table.Delimiter
	Draw      int           // questions in a try; 0: all, at most MaxDrawn
	PassMark  int           // score from which on it is passed, 1 to 100
	Tries     int           // at most; 0: 1
	Wait      time.Duration // between the end of a try and the next
	TimeLimit time.Duration // of a try; 0: none
	Grants    string        // the full name of the qualification; "": the test's name, of its owner
	Open      bool          // every worker may take it, not only those invited to it
}

// Create keeps a qualification test with its questions.
func (s *Tests) Create(ctx context.Context, p *access.Principal, n NewTest) (store.Test, error) {
	tenant, err := s.accounts.owner(ctx, p, access.TestsCreate, n.Tenant)
	if err != nil {
		return store.Test{}, err
	}
	t := store.Test{
		Tenant: tenant, Name: strings.TrimSpace(n.Name), Template: n.Template, Draw: n.Draw, PassMark: n.PassMark, Tries: cmp.Or(n.Tries, 1),
		Wait: n.Wait, TimeLimit: n.TimeLimit, Grants: strings.TrimSpace(n.Grants), Open: n.Open, CreatedBy: p.User.ID, CreatedAt: s.clock.Time(),
	}
	var of engine.Owner
	if tenant != 0 {
		owner, err := s.store.Tenant(ctx, tenant)
		if err != nil {
			return t, err
		}
		of = engine.Owner{ID: tenant, Name: owner.Name}
	}
	if err := validTest(of, &t); err != nil {
		return t, err
	}
	end, err := s.uploads.Start(ctx, p.User.ID, tenant, 1)
	if err != nil {
		return t, err
	}
	defer end()
	s.quotas.Uploads(ctx, tenant)
	questions, err := readQuestions(&t, n.Questions, table.Options{Format: n.Format, Delimiter: n.Delimiter})
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
	ctx, act := p.Acting(ctx, access.TestsCreate, store.AuditEntry{At: t.CreatedAt, Tenant: tenant, Kind: "test"})
	act.After = t
	t.ID, err = s.store.CreateTest(ctx, t, questions)
	return t, err
}

// validTest checks everything but the template and the questions. What the test of an owner
// grants, by its full name, is kept without them.
func validTest(of engine.Owner, t *store.Test) error {
	var wrong crowd.Errors
	bad := func(field, format string, args ...any) {
		wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if e, ok := errors.AsType[*crowd.Error](format.ValidLine("name", t.Name, 100)); ok {
		wrong = append(wrong, e)
	}
	if t.Name == "" {
		bad("name", "give the test a name (at most 100 bytes)")
	} else if name, err := granted(of, cmp.Or(t.Grants, crowd.JoinQualification(of.Name, t.Name))); err != nil {
		wrong = append(wrong, crowd.ErrorsOf(err)...)
	} else {
		t.Grants = name
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

// errTooLarge ends the reading of a file: the rest is not looked at.
var errTooLarge = errors.New("the file is too large")

// readQuestions reads the file of a test, sets t.Columns, and checks that the
// template fits it and each right answer the template.
func readQuestions(t *store.Test, file io.Reader, how table.Options) ([]store.Question, error) {
	if err := questionTemplate(t.Template); err != nil {
		return nil, err
	}
	rows, err := table.NewReader(file, how)
	if err == nil {
		err = input.CheckColumns(rows)
	}
	if err != nil {
		return nil, err
	}
	var compiled *task.Compiled
	layout := table.Layout[store.Question]{Exact: true, Columns: []table.Column[store.Question]{{
		Name: input.GoldColumn, Required: true, Filled: true, Advice: ": a test needs one with the right answers",
		Read: func(q *store.Question, cell string) (err error) {
			q.Gold, err = rightAnswer(compiled, cell)
			return err
		},
	}}}
	records, err := layout.Bind(rows)
	if err != nil {
		for _, e := range crowd.ErrorsOf(err) {
			e.Row = 1 // of the header
		}
		return nil, err
	}
	header := rows.Columns()
	if slices.Contains(header, input.ExplainColumn) {
		return nil, crowd.Fieldf("questions", "the column %s would be shown to whoever takes the test: leave it out", input.ExplainColumn)
	}
	gold := slices.Index(header, input.GoldColumn)
	t.Columns = slices.Delete(slices.Clone(header), gold, gold+1)
	if compiled, err = input.NewTemplate(t.Template, t.Columns); err != nil {
		return nil, err
	}
	if t.Template, err = json.Marshal(compiled.Template()); err != nil {
		return nil, err
	}
	var questions []store.Question
	var lines []int
	var tooLarge *crowd.Error
	n, bytes := 0, 0
	err = records.Each(func(r *table.Record[store.Question]) error {
		if bytes += store.TextBytes(r.Cells); bytes > maxTestText {
			tooLarge = &crowd.Error{Code: crowd.TooLarge, Field: "questions", Row: r.Line, Message: fmt.Sprintf("the questions up to here have more than %d MiB of text together, which is the most", maxTestText>>20)}
			return errTooLarge
		}
		if n++; n <= MaxQuestions {
			r.Value.Values = slices.Delete(slices.Clone(r.Cells), gold, gold+1)
			questions, lines = append(questions, r.Value), append(lines, r.Line)
		}
		return nil
	})
	switch {
	case tooLarge != nil:
		return nil, tooLarge
	case err != nil:
		return nil, err
	case n > MaxQuestions:
		return nil, &crowd.Error{Code: crowd.TooLarge, Field: "questions", Message: fmt.Sprintf("the file has more than %d questions", MaxQuestions)}
	case n == 0:
		return nil, crowd.Fieldf("questions", "the file has no questions")
	}
	return questions, fitTry(compiled, t, questions, lines)
}

// fitTry checks that no question takes more of a try's bytes than its share. The
// questions stand in these lines of their file.
func fitTry(c *task.Compiled, t *store.Test, questions []store.Question, lines []int) error {
	most := min(maxTryBytes/min(cmp.Or(t.Draw, len(questions)), MaxDrawn), task.MaxShownBytes)
	for i, q := range questions {
		if err := c.Fits(task.Values{Columns: t.Columns, Cells: q.Values}, most); err != nil {
			err.Row = lines[i]
			return err
		}
	}
	return nil
}

// questionTemplate checks that the answers of a template can be told right from wrong.
func questionTemplate(raw json.RawMessage) error {
	parsed, err := task.Parse(raw)
	if err != nil {
		return err
	}
	kind := parsed.Kind.Describe()
	if kind.Framed {
		return crowd.Fieldf("template", "a test cannot be of the kind %s: use one of the built-in kinds", kind.Kind)
	}
	if kind.Composite && parsed.LabelField == "" {
		return crowd.Fieldf("template", "a form in a test needs a label_field: the field that _gold is the right answer of")
	}
	return nil
}

// rightAnswer returns the key of the right answer to a question.
func rightAnswer(c *task.Compiled, cell string) (string, error) {
	if options := c.LabelOptions(); options != nil && !slices.Contains(options, cell) { // Known takes what stands there as it is
		return "", fmt.Errorf("is no answer that a worker could give: %q is not one of the options of %s", cell, c.Template().LabelField)
	}
	key, err := c.Known(cell)
	var wrong *crowd.Error
	if errors.As(err, &wrong) {
		err = fmt.Errorf("is no answer that a worker could give: %s", wrong.Message)
	}
	return key, err
}

var errTest = &crowd.Error{Code: crowd.NotFound, Field: "test", Message: "no such test"}

// managed returns a test that p may see as somebody who gives tests: an admin
// any, a requester those of their tenants and of the installation. Only admins
// may change those of the installation.
func (s *Tests) managed(ctx context.Context, p *access.Principal, o access.Operation, id int64, change bool) (store.Test, error) {
	if err := p.May(o); err != nil {
		return store.Test{}, err
	}
	t, err := s.store.Test(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = errTest
	case err != nil || t.Tenant == 0 && !change:
	case t.Tenant == 0 && p.May(access.TestsGet) == nil: // which they see as well
		err = p.MayFor(o, 0)
	default:
		err = p.MayOn(o, t.Tenant, errTest, access.TestsGet)
	}
	if err != nil {
		return store.Test{}, err
	}
	return t, nil
}

// List lists the tests of a tenant and of the installation, in order of id; of
// no tenant, for an admin, all.
func (s *Tests) List(ctx context.Context, p *access.Principal, tenant crowd.TenantID) ([]store.Test, error) {
	tenant, err := p.TenantFor(access.TestsList, tenant)
	if err != nil {
		return nil, err
	}
	list, err := s.store.ListTests(ctx, 0)
	return slices.DeleteFunc(list, func(t store.Test) bool { return tenant != 0 && t.Tenant != 0 && t.Tenant != tenant }), err
}

// Get returns a test, for who gives tests.
func (s *Tests) Get(ctx context.Context, p *access.Principal, id int64) (store.Test, error) {
	return s.managed(ctx, p, access.TestsGet, id, false)
}

// Retire keeps new people from taking a test, or lifts that. Who was invited to
// it before may go on.
func (s *Tests) Retire(ctx context.Context, p *access.Principal, id int64, retired bool) (store.Test, error) {
	s.retiring.Lock() // what the audit log says was before is what this changes
	defer s.retiring.Unlock()
	t, err := s.managed(ctx, p, access.TestsRetire, id, true)
	if err != nil {
		return t, err
	}
	ctx, act := p.Acting(ctx, access.TestsRetire, store.AuditEntry{At: s.clock.Time(), Tenant: t.Tenant, Kind: "test", Object: strconv.FormatInt(id, 10)})
	act.Before = t
	t.Retired = retired
	act.After = t
	return t, s.store.RetireTest(ctx, t.Tenant, t.ID, retired)
}

// TriedTest is a try with who made it.
type TriedTest struct {
	store.Try // Worker is left out

	By  pseudonym.Worker
	Out bool // it was their last one, and they have not passed
}

// Tries lists up to limit tries at a test with ids below before (0: all),
// newest first, with the answers that were given. Of the installation's tests
// only admins see them.
func (s *Tests) Tries(ctx context.Context, p *access.Principal, id, before int64, limit int) ([]TriedTest, error) {
	t, err := s.managed(ctx, p, access.TestsTries, id, true)
	if err != nil {
		return nil, err
	}
	list, err := s.store.TestTries(ctx, t.Tenant, id, before, limit)
	if err != nil {
		return nil, err
	}
	seen, out := s.accounts.names.For(p, t.Tenant), make([]TriedTest, len(list))
	for i, try := range list {
		u, err := s.store.User(ctx, try.Worker)
		if err != nil {
			return nil, err
		}
		_, over := ended(&try, s.clock.Time())
		by := seen.Show(try.Worker, u.Name)
		try.Worker = 0
		out[i] = TriedTest{try, by, over && !try.Passed && try.N >= t.Tries}
	}
	return out, nil
}
