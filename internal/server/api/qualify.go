package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

type TestOut struct {
	ID               int64           `json:"id"`
	Name             string          `json:"name"`
	Tenant           *crowd.TenantID `json:"tenant,omitempty" doc:"left out: of the whole installation"`
	Grants           string          `json:"grants" doc:"the qualification, with the score"`
	Questions        int             `json:"questions" doc:"in a try"`
	PassMark         int             `json:"pass_mark" doc:"the score from which on it is passed, 1 to 100"`
	Tries            int             `json:"tries"`
	WaitSeconds      int64           `json:"wait_seconds" doc:"between the end of a try and the next"`
	TimeLimitSeconds int64           `json:"time_limit_seconds,omitempty" doc:"of a try"`
	Open             bool            `json:"open" doc:"every worker may take it"`
	Retired          bool            `json:"retired"`
}

func toTestOut(t store.Test) TestOut {
	return TestOut{ID: t.ID, Name: t.Name, Tenant: ptr(t.Tenant), Grants: t.Grants, Questions: t.Draw, PassMark: t.PassMark, Tries: t.Tries,
		WaitSeconds: int64(t.Wait / time.Second), TimeLimitSeconds: int64(t.TimeLimit / time.Second), Open: t.Open, Retired: t.Retired}
}

// givenTest is a test as who gives it sees it.
type givenTest struct {
	TestOut
	File      int          `json:"file_questions" doc:"of which those of a try are drawn"`
	Template  templateJSON `json:"template"`
	CreatedAt time.Time    `json:"created_at"`
}

func toGivenTest(t store.Test) givenTest {
	return givenTest{TestOut: toTestOut(t), File: t.Questions, Template: templateJSON(t.Template), CreatedAt: t.CreatedAt}
}

type TestPath struct {
	ID string `path:"id" example:"3"`
}

func (t TestPath) test() (int64, error) { return number(t.ID, "test") }

type givenOut struct{ Body givenTest }

func given(t store.Test, err error) (*givenOut, error) {
	return &givenOut{toGivenTest(t)}, err
}

func (a *api) tests() {
	const tag = "Tests"
	add(a, op{method: http.MethodPost, path: "/v1/tests", summary: "Make a qualification test", tag: tag, access: signedIn, status: http.StatusCreated, maxBody: 8 << 20},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Name             string         `json:"name"`
				Tenant           crowd.TenantID `json:"tenant,omitempty" doc:"requesters of one tenant may leave it out; an admin's without is of the whole installation"`
				Template         templateJSON   `json:"template" doc:"as for a batch, but not of kind html"`
				Questions        string         `json:"questions" doc:"a file as for a batch, as text, with the right answers in the column _gold"`
				Format           string         `json:"format,omitempty" enum:"csv,tsv,jsonl" doc:"of the file; default: from the content"`
				Draw             int            `json:"draw,omitempty" minimum:"0" maximum:"100" doc:"how many questions make a try; default: all"`
				PassMark         int            `json:"pass_mark" doc:"the score from which on it is passed, 1 to 100"`
				Tries            int            `json:"tries,omitempty" doc:"at most; default: 1"`
				WaitSeconds      int64          `json:"wait_seconds,omitempty" minimum:"0" maximum:"31536000" doc:"between the end of a try and the next"`
				TimeLimitSeconds int64          `json:"time_limit_seconds,omitempty" minimum:"0" maximum:"86400" doc:"of a try; default: none"`
				Grants           string         `json:"grants,omitempty" doc:"the qualification; default: the test's name"`
				Open             bool           `json:"open,omitempty" doc:"every worker may take it, not only those invited to it"`
			}
		}) (*givenOut, error) {
			b := in.Body
			format, err := table.ParseFormat(b.Format)
			if err != nil {
				return nil, err
			}
			return given(a.app.Tests.Create(ctx, p, app.NewTest{Tenant: ownTenant(p, b.Tenant), Name: b.Name, Template: json.RawMessage(b.Template), Questions: strings.NewReader(b.Questions),
				Format: format, Draw: b.Draw, PassMark: b.PassMark, Tries: b.Tries, Wait: time.Duration(b.WaitSeconds) * time.Second,
				TimeLimit: time.Duration(b.TimeLimitSeconds) * time.Second, Grants: b.Grants, Open: b.Open}))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tests", summary: "List tests", tag: tag, access: signedIn,
		text: "Admins see all; requesters those of a tenant of theirs and those of the whole installation."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Tenant string `query:"tenant"`
		}) (*struct{ Body []givenTest }, error) {
			tenant, err := optional(in.Tenant, crowd.ParseTenantID)
			if err != nil {
				return nil, err
			}
			list, err := a.app.Tests.List(ctx, p, ownTenant(p, tenant))
			return &struct{ Body []givenTest }{mapped(list, toGivenTest)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/tests/{id}", summary: "Show a test", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *TestPath) (*givenOut, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			return given(a.app.Tests.Get(ctx, p, id))
		})
	add(a, op{method: http.MethodPost, path: "/v1/tests/{id}/retire", summary: "Retire a test, or lift that", tag: tag, access: signedIn,
		text: "Nobody new is invited to it; who was invited before may go on."},
		func(ctx context.Context, p *app.Principal, in *struct {
			TestPath
			Body struct {
				Retired bool `json:"retired"`
			}
		}) (*givenOut, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			return given(a.app.Tests.Retire(ctx, p, id, in.Body.Retired))
		})
	type triedOut struct {
		ID          int64           `json:"id"`
		Worker      crowd.WorkerID  `json:"worker"`
		Name        string          `json:"name"`
		Try         int             `json:"try"`
		StartedAt   time.Time       `json:"started_at"`
		SubmittedAt *time.Time      `json:"submitted_at,omitempty"`
		Right       int             `json:"right"`
		Score       int             `json:"score"`
		Late        bool            `json:"late" doc:"it came after its time, and cannot pass"`
		Passed      bool            `json:"passed"`
		Answers     json.RawMessage `json:"answers,omitempty" doc:"by number of the question in the file: the answer, its key, and whether it is right"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/tests/{id}/tries", summary: "List the tries at a test, with the answers", tag: tag, access: signedIn,
		text: "Newest first; go on with `before`, the last id seen. For whoever may change the test."},
		func(ctx context.Context, p *app.Principal, in *struct {
			TestPath
			Before int64 `query:"before" minimum:"0"`
			Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*struct{ Body []triedOut }, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Tests.Tries(ctx, p, id, in.Before, in.Limit)
			return &struct{ Body []triedOut }{mapped(list, func(t app.TriedTest) triedOut {
				return triedOut{ID: t.ID, Worker: t.Worker, Name: t.Name, Try: t.N, StartedAt: t.StartedAt, SubmittedAt: ptr(t.SubmittedAt),
					Right: t.Right, Score: t.Score, Late: t.Late, Passed: t.Passed, Answers: t.Answers}
			})}, err
		})
	a.takeTests()
}

// resultOut is how a try went. It does not say which answers were right.
type resultOut struct {
	Try       int        `json:"try"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty" doc:"left out: it still runs"`
	Submitted bool       `json:"submitted"`
	Score     int        `json:"score"`
	Late      bool       `json:"late" doc:"it came after its time, and cannot pass"`
	Passed    bool       `json:"passed"`
}

type askedOut struct {
	Name   string    `json:"name" doc:"by which it is answered"`
	Values values    `json:"values" doc:"the question's data, by column"`
	View   task.View `json:"view" doc:"what to show and ask"`
}

type runningOut struct {
	Try       int        `json:"try"`
	StartedAt time.Time  `json:"started_at"`
	EndsAt    *time.Time `json:"ends_at,omitempty" doc:"submit before"`
	Questions []askedOut `json:"questions,omitempty"`
}

// myTest is a test as who takes it sees it.
type myTest struct {
	TestOut
	Pool    string      `json:"pool,omitempty" doc:"the name of the pool in which you work once you have passed"`
	Results []resultOut `json:"results"`
	Left    int         `json:"tries_left"`
	NextAt  *time.Time  `json:"next_at,omitempty" doc:"when the next try is possible; left out: now"`
	Passed  bool        `json:"passed"`
	Holds   bool        `json:"holds" doc:"you have the qualification"`
	Current *runningOut `json:"current,omitempty" doc:"the try that runs"`
}

func toMyTest(v app.TestView) myTest {
	out := myTest{TestOut: toTestOut(v.Test), Pool: v.Pool.Name, Left: v.Left, NextAt: ptr(v.NextAt), Passed: v.Passed, Holds: v.Holds}
	out.Results = mapped(v.Tries, func(t app.TestResult) resultOut {
		return resultOut{Try: t.N, StartedAt: t.StartedAt, EndedAt: ptr(t.EndedAt), Submitted: t.Submitted, Score: t.Score, Late: t.Late, Passed: t.Passed}
	})
	if c := v.Current; c != nil {
		out.Current = &runningOut{Try: c.N, StartedAt: c.StartedAt, EndsAt: ptr(c.EndsAt), Questions: mapped(c.Questions, func(q app.Asked) askedOut {
			return askedOut{Name: q.Name, Values: values(q.Values), View: q.View}
		})}
	}
	return out
}

type myTestOut struct{ Body myTest }

func mine(v app.TestView, err error) (*myTestOut, error) {
	if err != nil {
		return nil, err
	}
	return &myTestOut{toMyTest(v)}, nil
}

// takeTests is what somebody who qualifies does.
func (a *api) takeTests() {
	const tag = "Qualifying"
	add(a, op{method: http.MethodGet, path: "/v1/my-tests", summary: "List the tests that you may take", tag: tag, access: signedIn,
		text: "Those that you were invited to, and those open to every worker."},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*struct{ Body []myTest }, error) {
			list, err := a.app.Tests.Mine(ctx, p)
			return &struct{ Body []myTest }{mapped(list, toMyTest)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/my-tests/{id}", summary: "Show a test, with the questions of the try that runs", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *TestPath) (*myTestOut, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			return mine(a.app.Tests.Take(ctx, p, id))
		})
	add(a, op{method: http.MethodPost, path: "/v1/my-tests/{id}/start", summary: "Begin a try, or get the one that runs", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *TestPath) (*myTestOut, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			return mine(a.app.Tests.StartTry(ctx, p, id))
		})
	add(a, op{method: http.MethodPost, path: "/v1/my-tests/{id}/submit", summary: "Submit the answers of a try", tag: tag, access: signedIn, maxBody: 8 << 20,
		text: "An answer that does not fit, or is missing, is an error and uses up no try. Submitted again, a try stays as it was. Once you have passed, you have the qualification."},
		func(ctx context.Context, p *app.Principal, in *struct {
			TestPath
			Body struct {
				Try        int                        `json:"try" doc:"which one"`
				Answers    map[string]json.RawMessage `json:"answers" doc:"by name of the question; each as for a task"`
				Unfinished bool                       `json:"unfinished,omitempty" doc:"what is missing counts as wrong"`
			}
		}) (*myTestOut, error) {
			id, err := in.test()
			if err != nil {
				return nil, err
			}
			return mine(a.app.Tests.SubmitTry(ctx, p, id, in.Body.Try, in.Body.Answers, in.Body.Unfinished))
		})
}
