package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
)

// into reads the body of an answer that must be a success.
func into[T any](t testing.TB, a answer) (out T) {
	t.Helper()
	if a.StatusCode >= 300 {
		t.Fatalf("status %d: %s", a.StatusCode, a.body)
	}
	ok(t, json.Unmarshal(a.body, &out))
	return out
}

type invitedBody struct {
	Mail    bool
	Invited []struct {
		ID      int64
		Address string
		Stage   string
		Token   string
	}
	Skipped []struct {
		Address string
		Line    int
		Why     string
	}
}

// invite invites addresses as somebody, with more fields if wanted.
func (w *world) invite(c *client.Client, addresses string, more ...string) invitedBody {
	w.t.Helper()
	list, err := json.Marshal(strings.Fields(addresses))
	ok(w.t, err)
	body := fmt.Sprintf(`{"pool": "p1", "addresses": %s%s}`, list, strings.Join(more, ""))
	return into[invitedBody](w.t, w.send(c, http.MethodPost, "/v1/invitations", body))
}

// test makes a test of ann's tenant.
func (w *world) test() {
	w.t.Helper()
	file := "thing,_gold\na dog,goldyes\na stone,goldno\na cat,goldyes\n"
	body := must(json.Marshal(map[string]any{
		"name": "alive", "pass_mark": 60, "tries": 2, "questions": file, "time_limit_seconds": 600,
		"template": json.RawMessage(`{"kind": "short_text", "question": "Is ${thing} alive?"}`),
	}))(w.t)
	into[map[string]any](w.t, w.send(w.ann, http.MethodPost, "/v1/tests", string(body)))
}

type takenBody struct {
	ID      int64
	Pool    string
	Left    int `json:"tries_left"`
	Passed  bool
	Results []struct{ Score int }
	Current *struct {
		Try       int
		Questions []struct {
			Name   string
			Values map[string]string
		}
	}
}

// TestInvitedByTheAPI goes the whole way: invited to a test, joined, tested, at
// work. Nothing that the taker is sent has a right answer in it.
func TestInvitedByTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.test()
	r := w.invite(w.ann, "Eva@example.org bad@example.org eva@Example.org", `, "test": 1, "note": "Come!", "life_seconds": 7200`)
	if r.Mail || len(r.Invited) != 2 || r.Invited[0].Stage != "to hand out" || r.Invited[0].Token == "" || len(r.Skipped) != 1 || r.Skipped[0].Line != 3 {
		t.Fatalf("%+v", r)
	}
	token := r.Invited[0].Token
	var sent strings.Builder // to whom is invited
	as := func(c *client.Client, method, path, body string) answer {
		t.Helper()
		a := w.send(c, method, path, body)
		sent.Write(a.body)
		return a
	}
	offer := into[map[string]any](t, as(w.nobody, http.MethodGet, "/v1/invitation?token="+token, ""))
	if offer["pool"] != "main" || offer["by"] != "ann" || offer["tenant"] != "ants" || offer["note"] != "Come!" || offer["test"].(map[string]any)["pass_mark"] != 60.0 {
		t.Errorf("%v", offer)
	}
	join := fmt.Sprintf(`{"token": %q, "name": "eva", "password": "correct horse battery"}`, token)
	session := into[map[string]string](t, as(w.nobody, http.MethodPost, "/v1/invitation/join", join))["token"]
	eva := w.nobody.As(session)
	if _, _, err := eva.Next(w.ctx, 0); crowd.CodeOf(err) != crowd.Forbidden {
		t.Errorf("before the test: %v", err)
	}
	list := into[[]takenBody](t, as(eva, http.MethodGet, "/v1/my-tests", ""))
	if len(list) != 1 || list[0].Pool != "main" || list[0].Left != 2 {
		t.Fatalf("%+v", list)
	}
	v := into[takenBody](t, as(eva, http.MethodPost, "/v1/my-tests/1/start", ""))
	if v.Current == nil || len(v.Current.Questions) != 3 {
		t.Fatalf("%+v", v)
	}
	if again := into[takenBody](t, as(eva, http.MethodGet, "/v1/my-tests/1", "")); fmt.Sprint(again.Current.Questions) != fmt.Sprint(v.Current.Questions) {
		t.Error("seen again, the questions are others")
	}
	a := as(eva, http.MethodPost, "/v1/my-tests/1/submit", `{"try": 1, "answers": {"q1": "x", "q2": 7}}`)
	if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) != 2 || p.Errors[0].Field != "q2.label" || p.Errors[1].Field != "q3.label" {
		t.Errorf("%s", a.body)
	}
	if strings.Contains(sent.String(), "gold") {
		t.Errorf("the answers are given away:\n%s", sent.String())
	}
	answers := map[string]string{}
	for _, q := range v.Current.Questions {
		answers[q.Name] = map[string]string{"a dog": "goldyes", "a stone": "goldno", "a cat": "I do not know"}[q.Values["thing"]]
	}
	body := must(json.Marshal(map[string]any{"try": 1, "answers": answers}))(t)
	for range 2 {
		v = into[takenBody](t, w.send(eva, http.MethodPost, "/v1/my-tests/1/submit", string(body)))
		if !v.Passed || v.Results[0].Score != 66 || v.Left != 1 {
			t.Errorf("%+v", v)
		}
	}
	w.launch("thing\na dog\n")
	w.next(eva)

	tried := into[[]map[string]any](t, w.send(w.ann, http.MethodGet, "/v1/tests/1/tries", ""))
	if len(tried) != 1 || tried[0]["name"] != nil || !strings.HasPrefix(tried[0]["worker"].(string), "w_") || tried[0]["right"] != 2.0 || len(tried[0]["answers"].(map[string]any)) != 3 {
		t.Errorf("%v", tried)
	}
	if got := into[[]map[string]any](t, w.send(w.ann, http.MethodGet, "/v1/invitations", "")); len(got) != 2 || got[1]["stage"] != "accepted" || got[1]["token"] != nil {
		t.Errorf("%v", got)
	}
	if a := w.send(w.nobody, http.MethodPost, "/v1/invitation/join", join); a.StatusCode != http.StatusConflict {
		t.Errorf("joined again: %d", a.StatusCode)
	}
	other := r.Invited[1]
	if a := w.send(w.nobody, http.MethodPost, "/v1/invitation/decline", fmt.Sprintf(`{"token": %q}`, other.Token)); a.StatusCode != http.StatusNoContent {
		t.Errorf("declined: %d %s", a.StatusCode, a.body)
	}
	if a := w.send(w.ann, http.MethodPost, fmt.Sprintf("/v1/invitations/%d/resend", other.ID), ""); a.StatusCode != http.StatusConflict {
		t.Errorf("declined, and sent again: %d", a.StatusCode)
	}
	third := w.invite(w.ann, "c@example.org").Invited[0]
	path := fmt.Sprintf("/v1/invitations/%d/", third.ID)
	if got := into[map[string]any](t, w.send(w.ann, http.MethodPost, path+"resend", "")); got["token"] == "" {
		t.Errorf("%v", got)
	}
	accept := fmt.Sprintf(`{"token": %q}`, third.Token)
	if a := w.send(w.bob, http.MethodPost, "/v1/invitation/accept", accept); a.StatusCode != http.StatusConflict || !strings.Contains(string(a.body), "requester") {
		t.Errorf("a requester accepts: %d %s", a.StatusCode, a.body)
	}
	into[map[string]any](t, w.send(w.workers[0], http.MethodPost, "/v1/invitation/accept", accept))
	if a := w.send(w.ann, http.MethodPost, path+"withdraw", ""); a.StatusCode != http.StatusConflict {
		t.Errorf("accepted, and withdrawn: %d", a.StatusCode)
	}
	if got := into[map[string]any](t, w.send(w.ann, http.MethodGet, strings.TrimSuffix(path, "/"), "")); got["stage"] != "accepted" {
		t.Errorf("%v", got)
	}
}

// TestBadInvitationsByTheAPI: what is wrong is named.
func TestBadInvitationsByTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.send(w.ann, http.MethodPost, "/v1/invitations", `{"pool": "p1", "addresses": ["a@x.org", "b", "c@"]}`)
	if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) != 2 || p.Errors[0].Line != 2 || p.Errors[1].Line != 3 || p.Errors[0].Field != "addresses" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	a = w.send(w.ann, http.MethodPost, "/v1/invitations", `{"pool": "p1", "addresses": ["a@x.org"], "life_seconds": 60}`)
	if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "life_seconds" {
		t.Errorf("%s", a.body)
	}
	if a := w.send(w.nobody, http.MethodGet, "/v1/invitation?token=inv.1.2.3", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("a forged link: %d %s", a.StatusCode, a.body)
	}
	a = w.send(w.ann, http.MethodPost, "/v1/tests", `{"name": "x", "pass_mark": 101, "tries": 101, "questions": "", "template": `+yesOrNo+`}`)
	if p := a.problem(t); len(p.Errors) != 2 || p.Errors[0].Field != "pass_mark" || p.Errors[1].Field != "tries" {
		t.Errorf("%s", a.body)
	}
	a = w.send(w.ann, http.MethodPost, "/v1/tests", `{"name": "x", "pass_mark": 50, "questions": "thing,_gold\na,yes\nb,maybe\n", "template": `+yesOrNo+`}`)
	if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Line != 3 || p.Errors[0].Field != "_gold" {
		t.Errorf("%s", a.body)
	}
	w.test()
	if a := w.send(w.bob, http.MethodPost, "/v1/invitations", `{"pool": "p1", "addresses": ["a@x.org"], "test": 1}`); a.problem(t).Errors[0].Field != "test" {
		t.Errorf("another tenant's test: %s", a.body)
	}
	if got := into[map[string]any](t, w.send(w.ann, http.MethodPost, "/v1/tests/1/retire", `{"retired": true}`)); got["retired"] != true || got["file_questions"] != 3.0 {
		t.Errorf("%v", got)
	}
	if got := into[[]map[string]any](t, w.send(w.ann, http.MethodGet, "/v1/tests", "")); len(got) != 1 || got[0]["retired"] != true {
		t.Errorf("%v", got)
	}
	if got := into[[]map[string]any](t, w.send(w.bob, http.MethodGet, "/v1/tests", "")); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestPreferencesOnJoining: who joins by an invitation is asked which work they like
// where people move, and says it at once, with a new account or their own; an
// administrator says it of those whom they add.
func TestPreferencesOnJoining(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(address string) (string, []any) {
		token := w.invite(w.admin, address).Invited[0].Token // for no tenant
		offer := into[map[string]any](t, w.send(w.nobody, http.MethodGet, "/v1/invitation?token="+token, ""))
		list, _ := offer["asks"].([]any)
		return token, list
	}
	if _, asks := ask("nobody@example.org"); asks != nil {
		t.Errorf("nobody moves, and they are asked %v", asks)
	}
	into[map[string]any](t, w.send(w.admin, http.MethodPost, "/v1/pools", `{"name": "night", "policy": "fifo"}`))
	for _, p := range []string{"p1", "p2"} {
		into[map[string]any](t, w.send(w.admin, http.MethodPatch, "/v1/pools/"+p, `{"control": {"balance": true}}`))
	}
	token, asks := ask("eva@example.org")
	if fmt.Sprint(asks) != "[map[id:p1 name:main] map[id:p2 name:night]]" {
		t.Errorf("they are asked %v", asks)
	}
	join := func(prefers string) answer {
		return w.send(w.nobody, http.MethodPost, "/v1/invitation/join", fmt.Sprintf(`{"token": %q, "name": "eva", "password": "correct horse battery", "prefers": %s}`, token, prefers))
	}
	for prefers, field := range map[string]string{`{"p2": 1.5}`: "prefers", `{"p9": 0.5}`: "prefers", `{"night": 0.5}`: "prefers"} {
		a := join(prefers)
		if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %s", prefers, a.body)
		}
	}
	eva := w.nobody.As(into[map[string]string](t, join(`{"p2": 0.9, "p1": 0.2}`))["token"])
	likes := func(c *client.Client) string {
		return fmt.Sprint(must(c.Wishes(w.ctx))(t).Prefers)
	}
	if got := likes(eva); got != "map[p1:0.2 p2:0.9]" {
		t.Errorf("eva likes %s", got)
	}
	people := into[[]map[string]any](t, w.send(w.admin, http.MethodGet, "/v1/pools/p1/people", ""))
	if i := slices.IndexFunc(people, func(p map[string]any) bool { return p["name"] == "eva" }); i < 0 || people[i]["preference"] != 0.2 {
		t.Errorf("the pool knows %v", people)
	}

	token, _ = ask("worker@example.org") // with their own account: what was said of others stays
	old := w.workers[0]
	into[map[string]any](t, w.send(old, http.MethodPut, "/v1/me/wishes", `{"prefers": {"p1": 0.7}}`))
	a := w.send(old, http.MethodPost, "/v1/invitation/accept", fmt.Sprintf(`{"token": %q, "prefers": {"p2": 7}}`, token))
	if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "prefers" {
		t.Errorf("%s", a.body)
	}
	into[map[string]any](t, w.send(old, http.MethodPost, "/v1/invitation/accept", fmt.Sprintf(`{"token": %q, "prefers": {"p2": 0.1}}`, token)))
	if got := likes(old); got != "map[p1:0.7 p2:0.1]" {
		t.Errorf("they like %s", got)
	}

	a = w.send(w.admin, http.MethodPost, "/v1/users", `{"name": "rita", "tenants": ["n1"], "prefers": {"p1": 1}}`)
	if p := a.problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "prefers" || !strings.Contains(string(a.body), "in which pool they work") {
		t.Errorf("%s", a.body)
	}
}
