package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toTest(names accounts.Names, t store.Test) wire.Test {
	return wire.Test{ID: t.ID, Name: t.Name, Tenant: t.Tenant, Grants: names.Grants(t), Questions: t.Draw, PassMark: t.PassMark, Tries: t.Tries,
		WaitSeconds: int64(t.Wait / time.Second), TimeLimitSeconds: int64(t.TimeLimit / time.Second), Open: t.Open, Retired: t.Retired}
}

func toGivenTest(names accounts.Names, t store.Test) wire.GivenTest {
	return wire.GivenTest{Test: toTest(names, t), File: t.Questions, Template: wire.Template(t.Template), CreatedAt: t.CreatedAt}
}

func toTry(t accounts.TriedTest) wire.Try {
	return wire.Try{ID: t.ID, Worker: t.By.Pseudonym, WorkerID: t.By.ID, Name: t.By.Name, Try: t.N, StartedAt: t.StartedAt, SubmittedAt: t.SubmittedAt,
		Right: t.Right, Score: t.Score, Late: t.Late, Passed: t.Passed, Answers: t.Answers}
}

func (a *api) tests() {
	const tag = "Tests"
	add(a, op{method: http.MethodPost, path: "/v1/tests", summary: "Make a qualification test", tag: tag, access: access.TestsCreate, status: http.StatusCreated, maxBody: 8 << 20},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewTest }) (out wire.GivenTest, err error) {
			b := &in.Body
			format, err := table.ParseFormat(b.Format)
			if err != nil {
				return out, err
			}
			by, err := table.ParseDelimiter(b.Delimiter)
			if err != nil {
				return out, err
			}
			return named(ctx, a, toGivenTest)(a.app.Tests.Create(ctx, p, accounts.NewTest{
				Tenant: b.Tenant, Name: b.Name, Template: json.RawMessage(b.Template), Questions: strings.NewReader(b.Questions),
				Format: format, Delimiter: by, Draw: b.Draw, PassMark: b.PassMark, Tries: b.Tries, Wait: time.Duration(b.WaitSeconds) * time.Second,
				TimeLimit: time.Duration(b.TimeLimitSeconds) * time.Second, Grants: b.Grants, Open: b.Open,
			}))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tests", summary: "List tests", tag: tag, access: signedIn,
		text: "Admins see all; requesters those of a tenant of theirs and those of the whole installation. Templates are left out: each test shows its own."},
		func(ctx context.Context, p *access.Principal, in *OfTenant) ([]wire.GivenTest, error) {
			return eachNamed(ctx, a, toGivenTest)(a.app.Tests.List(ctx, p, in.tenant))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tests/{id}", summary: "Show a test", tag: tag, access: signedIn},
		ofNamed[TestPath](a, a.app.Tests.Get, toGivenTest))
	add(a, op{method: http.MethodPost, path: "/v1/tests/{id}/retire", summary: "Retire a test, or lift that", tag: tag, access: access.TestsRetire,
		text: "Nobody new is invited to it; who was invited before may go on."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TestPath
			Body wire.Retire
		}) (wire.GivenTest, error) {
			return named(ctx, a, toGivenTest)(a.app.Tests.Retire(ctx, p, in.id, in.Body.Retired))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tests/{id}/tries", summary: "List the tries at a test, with the answers", tag: tag, access: signedIn,
		text: "Newest first; go on with `before`, the last id seen. After the first 4 MiB of answers in a list, tries come without theirs: `before` a try's id + 1 and `limit` 1 give it with them. For whoever may change the test."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TestPath
			Before int64 `query:"before" minimum:"0"`
			Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) ([]wire.Try, error) {
			return each(toTry)(a.app.Tests.Tries(ctx, p, in.id, in.Before, in.Limit))
		})
	a.takeTests()
}

func toMyTest(v accounts.TestView) wire.MyTest {
	out := wire.MyTest{Test: toTest(accounts.Names{v.Tenant: v.For}, v.Test), Pool: v.Pool.Name, For: v.For, Left: v.Left, NextAt: v.NextAt, Passed: v.Passed, Holds: v.Holds}
	out.Results = lists.Map(v.Tries, func(t accounts.TestResult) wire.TryResult {
		return wire.TryResult{Try: t.N, StartedAt: t.StartedAt, EndedAt: t.EndedAt, Submitted: t.Submitted, Score: t.Score, Late: t.Late, Passed: t.Passed}
	})
	if c := v.Current; c != nil {
		out.Current = &wire.RunningTry{Try: c.N, StartedAt: c.StartedAt, EndsAt: c.EndsAt, Questions: lists.Map(c.Questions, func(q accounts.Asked) wire.Asked {
			return wire.Asked{Name: q.Name, Values: wire.Values{Values: q.Values}, View: q.View}
		})}
	}
	return out
}

// takeTests registers what somebody who qualifies does.
func (a *api) takeTests() {
	const tag = "Qualifying"
	add(a, op{method: http.MethodGet, path: "/v1/my-tests", summary: "List the tests that you may take", tag: tag, access: signedIn,
		text: "Those that you were invited to, and those open to every worker."},
		own(a.app.Tests.Mine, all(toMyTest)))
	add(a, op{method: http.MethodGet, path: "/v1/my-tests/{id}", summary: "Show a test, with the questions of the try that runs", tag: tag, access: signedIn},
		of[TestPath](a.app.Tests.Take, toMyTest))
	add(a, op{method: http.MethodPost, path: "/v1/my-tests/{id}/start", summary: "Begin a try, or get the one that runs", tag: tag, access: signedIn},
		of[TestPath](a.app.Tests.StartTry, toMyTest))
	add(a, op{method: http.MethodPost, path: "/v1/my-tests/{id}/submit", summary: "Submit the answers of a try", tag: tag, access: access.TestsSubmitTry, maxBody: 8 << 20,
		text: "An answer that does not fit, or is missing, is an error and uses up no try. Submitted again, a try stays as it was. Once you have passed, you have the qualification."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TestPath
			Body wire.TryAnswers
		}) (wire.MyTest, error) {
			return as(toMyTest)(a.app.Tests.SubmitTry(ctx, p, in.id, in.Body.Try, in.Body.Answers, in.Body.Unfinished))
		})
}
