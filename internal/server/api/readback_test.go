package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
)

// written is a request of which each field is read back.
type written struct {
	op   string // as in the document
	path string
	body string
	by   func(w *world) *client.Client // nil: the admin
	get  string                        // where it is read back; "": the answer to the request
	at   string                        // the part of what is got that the body became
	as   map[string]string             // where a field is found that is not where it was; "": see why in elsewhere; "?" and a code: what the request is refused with unless the field is there
}

func asAnn(w *world) *client.Client    { return w.ann }
func asWorker(w *world) *client.Client { return w.workers[0] }

const batchBody = `{"name": "cats", "tenant": "n1", "pool": "p2", "template": {"kind": "short_text", "question": "What?"}, "reward_micros": 70000, "budget_micros": 12500000,
	"priority": 2.5, "deadline": "2031-02-03T04:05:06Z", "ends_at": "2032-02-03T04:05:06Z", "lease_seconds": 90, "task_time_seconds": 8.2, "production": true, "training": true,
	"qualifications": [{"name": "french", "min": 70}], "redundancy": {"agree": 3, "of": 5}, "per_worker": 7, "checks": {"first": 0.25, "least": 0.05, "training": 3}, "quality": [{"when": "wrong > 2", "do": "pause"}], "grace_seconds": 45, "revise_seconds": 7200, "approval": {"within_seconds": 7200, "appeal_seconds": 172800}, "review": {"undecided": true, "confidence": 0.75, "share": 0.125, "new_workers": 5, "reward_micros": 20000, "budget_micros": 3000000, "priority": 1.5, "deadline": "2031-02-04T04:05:06Z", "qualifications": [{"name": "greek", "min": 50}], "blind": true}, "enough": {"labels": 6, "share": 0.75, "confidence": 0.6, "spent_micros": 9000000}}`

const otherBody = `{"name": "dogs", "pool": "p1", "template": {"kind": "number", "question": "How many?"}, "reward_micros": 80000, "budget_micros": 13500000,
	"priority": 3.5, "deadline": "2031-03-03T04:05:06Z", "ends_at": "2032-03-03T04:05:06Z", "lease_seconds": 100, "task_time_seconds": 4.1, "production": false, "training": false,
	"qualifications": [{"name": "latin", "min": 60}], "redundancy": {"count": 4}, "per_worker": 8, "checks": {"first": 0.125, "least": 0.025, "training": 4}, "quality": [{"when": "drift > 2", "do": "warn \"so\""}], "grace_seconds": 90, "revise_seconds": 3600, "approval": {"within_seconds": 3600, "appeal_seconds": 259200}, "review": {"undecided": false, "confidence": 0.5, "share": 0.25, "new_workers": 6, "reward_micros": 30000, "budget_micros": 4000000, "priority": 2.5, "deadline": "2031-03-04T04:05:06Z", "qualifications": [{"name": "arabic", "min": 40}], "blind": false}, "enough": {"labels": 5, "share": 0.5, "confidence": 0.7, "spent_micros": 8000000}}`

const sureBody = `{"name": "birds", "pool": "p1", "template": {"kind": "choose_one", "question": "Which?", "options": ["a", "b", "c"]}, "reward_micros": 10000, "redundancy": {"until": 0.9, "min": 3, "at_most": 7}}`

const poolBody = `{"name": "daytime", "policy": "wcfs(wfs,k=3)", "stopped": true,
	"retainer": {"called": true, "promise_seconds": 420, "rate_micros_per_minute": 50000, "silence_seconds": 65.1, "training": 4},
	"calling": {"answer_seconds": 90, "ask": 3.5, "life_seconds": 1200},
	"control": {"advise": true, "least_preference": 0.6, "balance": true, "balancer": "paper(omega=0.1,utility=max)", "cooldown_seconds": 75, "elasticity": "rules", "stability": "average-rate", "min": 2, "max": 9, "gate": true, "window_seconds": 1800,
		"expect": {"task_time_seconds": 12}, "target": {"eta": 0.25, "salary": 0.5, "wait_seconds": 33.3, "tail": 0.05},
		"rules": [{"when": "queue > 10", "do": "recruit 2"}]}}`

// requests are written in order: each on what those before it have left.
var requests = []written{
	{op: "POST /v1/tenants", path: "/v1/tenants", body: `{"name": "cows", "weight": 2.5, "max_priority": 7.5}`, get: "/v1/tenants", at: "2"},
	{op: "PATCH /v1/tenants/{id}", path: "/v1/tenants/n3", body: `{"name": "calves", "weight": 3.5, "max_priority": 8.5, "stopped": true}`, get: "/v1/tenants", at: "2"},
	{op: "PUT /v1/tenants/{id}/quotas", path: "/v1/tenants/n3/quotas", body: `{"values": {"stored-bytes": 12345}}`, get: "/v1/tenants/n3/quotas", as: map[string]string{"values.stored-bytes": "quotas.0.value"}},
	{op: "PUT /v1/tenants/{id}/retention", path: "/v1/tenants/n3/retention", body: `{"days": {"answers": 45}}`, get: "/v1/tenants/n3/retention", as: map[string]string{"days.answers": "rules.0.days"}},
	{op: "PATCH /v1/tenants/{id}", path: "/v1/tenants/n3", body: `{"stopped": false}`, get: "/v1/tenants", at: "2"},
	{op: "POST /v1/tenants/{id}/deposits", path: "/v1/tenants/n3/deposits", body: `{"amount_micros": 12340000, "note": "for March"}`, get: "/v1/tenants/n3/account", at: "entries.0"},
	{op: "POST /v1/tenants", path: "/v1/tenants", body: `{"name": "ducks", "deposit_micros": 5000000}`, get: "/v1/tenants/n4/account", as: map[string]string{"name": "", "deposit_micros": "balance_micros"}},
	{op: "POST /v1/pools", path: "/v1/pools", body: `{"name": "night", "policy": "edf"}`, get: "/v1/pools/p2"},
	{op: "PATCH /v1/pools/{id}", path: "/v1/pools/p2", body: poolBody, get: "/v1/pools/p2"},
	{op: "PATCH /v1/pools/{id}", path: "/v1/pools/p2", body: `{"stopped": false, "retainer": {"called": false, "training": 0, "silence_seconds": 60, "promise_seconds": 60}, "control": {"advise": false, "balance": false}}`, get: "/v1/pools/p2"},
	{op: "PUT /v1/pools/{id}/grants/{tenant}", path: "/v1/pools/p2/grants/n1", body: `{"invite": true}`, get: "/v1/pools/p2", at: "grants.0"},
	{op: "PUT /v1/pools/{id}/grants/{tenant}", path: "/v1/pools/p2/grants/all", body: `{"invite": false}`, get: "/v1/pools/p2", at: "grants.0"},
	{op: "POST /v1/pools/{id}/funds", path: "/v1/pools/p2/funds", body: `{"amount_micros": 7000000}`, as: map[string]string{"amount_micros": "funds_micros"}},
	{op: "POST /v1/stop", path: "/v1/stop", body: `{"stopped": true}`, get: "/v1/pools", at: "1"},
	{op: "POST /v1/stop", path: "/v1/stop", body: `{"stopped": false}`, get: "/v1/pools", at: "0"},
	{op: "POST /v1/users", path: "/v1/users", body: `{"name": "dora", "full_name": "Dora D", "email": "dora@example.org", "admin": true, "roles": ["finance", "n2/viewer"], "pool": "p2", "tenants": ["n1", "n3"], "qualifications": {"french": 80}, "prefers": {"p2": 0.25}}`, get: "/v1/users/u6"},
	{op: "PATCH /v1/users/{id}", path: "/v1/users/u6", body: `{"full_name": "Dora E", "email": "de@example.org", "email_verified": false, "admin": false, "roles": ["n1/reviewer"], "pool": "p1", "tenants": ["n2"], "qualifications": {"latin": 70, "ants/greek": 60}, "suspended": true, "serves": ["n1", "n3"]}`, get: "/v1/users/u6"},
	{op: "PATCH /v1/users/{id}", path: "/v1/users/u6", body: `{"suspended": false, "email_verified": true, "serves": []}`, get: "/v1/users/u6"},
	{op: "POST /v1/batches", path: "/v1/batches", body: batchBody, get: "/v1/batches/b1"},
	{op: "PUT /v1/batches/{id}", path: "/v1/batches/b1", body: otherBody, get: "/v1/batches/b1"},
	{op: "PUT /v1/batches/{id}", path: "/v1/batches/b1", body: strings.Replace(otherBody, `"count": 4`, `"agree": 2, "of": 6`, 1), get: "/v1/batches/b1"},
	{op: "PUT /v1/batches/{id}", path: "/v1/batches/b1", body: sureBody, get: "/v1/batches/b1"},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"priority": 4.5, "deadline": "2031-04-03T04:05:06Z", "stopped": true}`, get: "/v1/batches/b2"},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"clear_deadline": true, "stopped": false}`, get: "/v1/batches/b2", as: map[string]string{"clear_deadline": "!deadline"}},
	{op: "POST /v1/batches/{id}/top-up", path: "/v1/batches/b2/top-up", body: `{"amount_micros": 20000}`, get: "/v1/batches/b2", as: map[string]string{"amount_micros": "+budget_micros"}},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"reward_micros": 30000, "redundancy": {"agree": 5, "of": 6}, "production": true, "add_budget": true, "allow_small_crowd": true}`, get: "/v1/batches/b2",
		as: map[string]string{"add_budget": "?budget_too_small", "allow_small_crowd": "?invalid"}},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"enough": {"labels": 600, "share": 1, "confidence": 1, "spent_micros": 7000000}}`, get: "/v1/batches/b2"},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"redundancy": {"until": 0.95, "min": 3, "at_most": 4}}`, get: "/v1/batches/b2"},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"reward_micros": 20000, "redundancy": {"count": 3}, "production": false}`, get: "/v1/batches/b2"},
	{op: "PATCH /v1/batches/{id}", path: "/v1/batches/b2", body: `{"release_budget": true}`, get: "/v1/batches/b2", as: map[string]string{"release_budget": "!spare_micros"}},
	{op: "POST /v1/invitations", path: "/v1/invitations", body: `{"addresses": ["a@example.org"], "life_seconds": 7200, "note": "Do come.", "pool": "p2", "tenant": "n1", "test": 1}`, get: "/v1/invitations/1",
		as: map[string]string{"addresses": "[address]", "life_seconds": ""}},
	{op: "POST /v1/batches", path: "/v1/batches", body: strings.Replace(batchBody, `"agree": 3, "of": 5`, `"count": 7`, 1), get: "/v1/batches/b3"},
	{op: "PUT /v1/me/wishes", path: "/v1/me/wishes", by: asWorker, body: `{"away": true, "no_mail": true, "prefers": {"p1": 0.75}}`, get: "/v1/me/wishes"},
	{op: "PUT /v1/me/wishes", path: "/v1/me/wishes", by: asWorker, body: `{"away": false, "no_mail": false}`, get: "/v1/me/wishes"},
	{op: "POST /v1/runs", path: "/v1/runs", body: `{"name": "March", "tenant": "n1", "budget_micros": 9000000, "workflow": "workflow: x\ninputs: {t: {columns: [name]}}\nsteps: {s: {from: t, sql: select name from t}}\n"}`, get: "/v1/runs/r1",
		as: map[string]string{"workflow": ""}},
	{op: "PUT /v1/tenants/{id}/secrets/{name}", path: "/v1/tenants/n1/secrets/KEY", body: `{"value": "x", "hosts": ["a.example", "b.example"]}`, get: "/v1/tenants/n1/secrets", as: map[string]string{"value": "", "hosts": "0.hosts"}},
	{op: "POST /v1/services", path: "/v1/services", body: `{"name": "scores", "url": "https://scores.example/v1", "concurrency": 7, "rate": "30/m", "all_tenants": true}`, get: "/v1/services/scores"},
	{op: "POST /v1/services", path: "/v1/services", body: `{"name": "risks", "url": "https://risks.example/v1", "concurrency": 7, "tenants": ["n1"]}`, get: "/v1/services/risks"},
	{op: "PATCH /v1/services/{name}", path: "/v1/services/scores", body: `{"url": "https://scores.example/v2", "concurrency": 8, "rate": "40/h", "all_tenants": false, "tenants": ["n2", "n1"]}`, get: "/v1/services/scores"},
	{op: "POST /v1/roles", path: "/v1/roles", body: `{"name": "checker", "tenant": "n1", "text": "looks", "permissions": ["results.read", "review"]}`, get: "/v1/roles", at: "8"},
	{op: "PATCH /v1/roles/{role}", path: "/v1/roles/checker?tenant=n1", body: `{"text": "looks twice", "permissions": ["batches.read", "results.read"]}`, get: "/v1/roles", at: "8"},
	{op: "POST /v1/users/{id}/roles", path: "/v1/users/u2/roles", body: `{"role": "n1/checker"}`, get: "/v1/users/u2", as: map[string]string{"role": "roles.0"}},
	{op: "POST /v1/tests/{id}/retire", path: "/v1/tests/1/retire", body: `{"retired": true}`, get: "/v1/tests/1"},
	{op: "POST /v1/tests/{id}/retire", path: "/v1/tests/1/retire", body: `{"retired": false}`, get: "/v1/tests/1"},
	{op: "POST /v1/tokens", path: "/v1/tokens", by: asAnn, body: `{"name": "nightly", "tenant": "n1", "roles": ["requester"], "scopes": ["batches.read", "results.read"], "life_seconds": 7200}`, get: "/v1/tokens", at: "1", as: map[string]string{"life_seconds": ""}},
	{op: "POST /v1/tokens", path: "/v1/tokens", by: asAnn, body: `{"name": "here", "forever": true, "networks": ["127.0.0.0/8", "2001:db8::/32"]}`, get: "/v1/tokens", at: "2", as: map[string]string{"forever": "!expires_at"}},
	{op: "POST /v1/pools/{id}/transfers", path: "/v1/pools/p1/transfers", body: `{"worker": "u5", "to": "p2"}`, get: "/v1/users/u5", as: map[string]string{"worker": "id", "to": "pool"}},
	{op: "POST /v1/batches", path: "/v1/batches", body: strings.Replace(sureBody, `"name"`, `"tenant": "n1", "name"`, 1)},
}

// testBody is before the requests, since they name it.
var testBody = written{
	op: "POST /v1/tests", path: "/v1/tests", get: "/v1/tests/1",
	body: `{"name": "birds", "tenant": "n1", "grants": "ants/ornithology", "draw": 2, "pass_mark": 60, "tries": 4, "wait_seconds": 5400, "time_limit_seconds": 420, "open": true,
		"template": {"kind": "choose_one", "question": "A bird?", "options": ["yes", "no"]}, "questions": "x|_gold\na|yes\nb|no\nc|no\n", "format": "csv", "delimiter": "|"}`,
	as: map[string]string{"draw": "questions", "questions": "", "format": "", "delimiter": ""}, // that it reads three
}

// elsewhere are fields that other tests read back, which it names, or that
// are used up at once.
var elsewhere = map[string]string{
	"PUT /v1/tenants/{id}/quotas values":  "TestQuotasAreSeenAndSet sets and reads some",
	"PUT /v1/tenants/{id}/retention days": "TestRetentionIsSeenAndSet sets and reads some",
	"POST /v1/runs parent":                "scripts of the command line: workflow run --from-run", "POST /v1/runs from": "scripts of the command line: workflow run --from-run",
	"POST /v1/runs/{id}/top-up amount_micros":       "TestARunFromItsFileToItsResults",
	"POST /v1/runs open":                            "TestRowsOfOpenInputs",
	"POST /v1/runs ask_again":                       "scripts of the command line: workflow run --ask-again",
	"POST /v1/batches/{id}/pay/approve assignments": "TestPayOverHTTP", "POST /v1/batches/{id}/pay/approve worker": "scripts of the command line: pay",
	"POST /v1/batches/{id}/pay/refuse assignments": "TestPayOverHTTP", "POST /v1/batches/{id}/pay/refuse reason": "TestPayOverHTTP", "POST /v1/batches/{id}/pay/refuse worker": "app.TestPayIsApproved",
	"POST /v1/appeals/{assignment} pay": "TestPayOverHTTP", "POST /v1/appeals/{assignment} text": "TestPayOverHTTP", "POST /v1/work/pay/{assignment}/appeal text": "TestPayOverHTTP",
	"POST /v1/runs renew_ages":                  "scripts of the command line: workflow run --renew-ages",
	"POST /v1/tokens for":                       "newWorld, for everybody",
	"POST /v1/providers/{provider}/tokens name": "scripts of the command line: scim", "POST /v1/providers/{provider}/tokens networks": "scim.TestTokensOfProviders",
	"POST /v1/providers/{provider}/tokens forever": "as for /v1/tokens, by lifeOf", "POST /v1/providers/{provider}/tokens life_seconds": "as for /v1/tokens, by lifeOf",
	"POST /v1/session name":                 "TestTheWholeWay",
	"POST /v1/session password":             "TestTheWholeWay",
	"POST /v1/session code":                 "TestSecondFactorsByTheAPI",
	"PUT /v1/me/address address":            "TestAddressesByTheAPI",
	"PUT /v1/me/address password":           "TestAddressesByTheAPI",
	"PUT /v1/me/address code":               "web.TestWhoHasNoPasswordChangesTheirAddress, by the same call",
	"POST /v1/me/address/confirm token":     "TestAddressesByTheAPI",
	"PUT /v1/me/password old":               "TestSessionsByTheAPI",
	"PUT /v1/me/password password":          "TestSessionsByTheAPI",
	"POST /v1/setup password":               "TestTheWholeWay",
	"POST /v1/users/{id}/erasure confirm":   "app.TestWhoCannotBeErased",
	"POST /v1/users/{id}/erasure free_text": "app.TestTextsThatStay",
	"POST /v1/users/{id}/erasure but":       "app.TestTextsThatStay",
	"POST /v1/users/{id}/erasure settled":   "app.TestWhoCannotBeErased",
	"POST /v1/setup token":                  "TestTheWholeWay",

	"POST /v1/invitation/join name":      "TestInvitedByTheAPI",
	"POST /v1/invitation/join prefers":   "TestPreferencesOnJoining",
	"POST /v1/invitation/accept prefers": "TestPreferencesOnJoining",
	"POST /v1/invitation/join full_name": "TestWhoJoinsIsReadBack",
	"POST /v1/invitation/join password":  "TestInvitedByTheAPI",
	"POST /v1/invitation/join token":     "TestInvitedByTheAPI",
	"POST /v1/invitation/accept token":   "TestInvitedByTheAPI",
	"POST /v1/invitation/decline token":  "TestInvitedByTheAPI",

	"POST /v1/pools/{id}/rules/test rules":                                  "TestRulesOnThePast",
	"POST /v1/push-subscriptions endpoint":                                  "TestWishesAndPush",
	"POST /v1/push-subscriptions expirationTime":                            "nowhere: browsers send it, and it is not kept",
	"POST /v1/push-subscriptions keys.auth":                                 "TestWishesAndPush",
	"POST /v1/push-subscriptions keys.p256dh":                               "TestWishesAndPush",
	"POST /v1/my-tests/{id}/submit answers":                                 "TestInvitedByTheAPI",
	"POST /v1/my-tests/{id}/submit try":                                     "TestInvitedByTheAPI",
	"POST /v1/my-tests/{id}/submit unfinished":                              "TestInvitedByTheAPI",
	"POST /v1/work/{assignment}/report next":                                "TestReports",
	"POST /v1/work/{assignment}/report text":                                "TestReports",
	"POST /v1/batches/{id}/tasks/{n}/answers/{worker}/send-back comment":    "TestSendBackOverHTTP",
	"POST /v1/batches/{id}/tasks/{n}/answers/{worker}/send-back add_budget": "TestSendBackOverHTTP",
	"PUT /v1/batches/{id}/tasks/{n}/reply text":                             "TestReports",
	"PUT /v1/batches/{id}/tasks/{n}/label value":                            "TestCorrectionsOverHTTP",
	"PUT /v1/batches/{id}/tasks/{n}/label note":                             "TestCorrectionsOverHTTP",
	"POST /v1/work/{assignment}/submit answer":                              "TestTheWholeWay",
	"POST /v1/work/{assignment}/revise answer":                              "TestRevise",
	"POST /v1/work/{assignment}/submit next":                                "TestTheWholeWay",
	"POST /v1/work/{assignment}/submit accept":                              "internal/cli/testdata/script/reviews.txt",
	"POST /v1/work/{assignment}/submit send_back":                           "internal/cli/testdata/script/sendlabelback.txt",
}

// leaves are the fields of a JSON object, those of objects within too, each with
// its path. Maps by id and templates count as one field.
func leaves(at string, v map[string]any, out map[string]any) {
	for name, x := range v {
		path := strings.TrimPrefix(at+"."+name, ".")
		inner, object := x.(map[string]any)
		if object && name != "template" && name != "qualifications" && name != "prefers" {
			leaves(path, inner, out)
		} else {
			out[path] = x
		}
	}
}

// part is what lies at a path of a JSON value.
func part(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			if path != "" {
				return nil
			}
		}
	}
	return v
}

func decoded(t *testing.T, body []byte) (v any) {
	t.Helper()
	ok(t, json.Unmarshal(body, &v))
	return v
}

// read sends a request, and compares what is read back.
func (x written) read(t *testing.T, w *world, seen map[string]bool) {
	t.Helper()
	by := w.admin
	if x.by != nil {
		by = x.by(w)
	}
	method, _, _ := strings.Cut(x.op, " ")
	for _, field := range slices.Sorted(maps.Keys(x.as)) {
		if code, needed := strings.CutPrefix(x.as[field], "?"); needed {
			x.refusedWithout(t, w, by, field, crowd.Code(code))
		}
	}
	a := w.send(by, method, x.path, x.body)
	if a.StatusCode >= 300 {
		t.Fatalf("%s: status %d: %s", x.op, a.StatusCode, a.body)
	}
	if x.get != "" {
		a = w.send(by, http.MethodGet, x.get, "")
	}
	got := decoded(t, a.body)
	if x.at != "" {
		got = part(got, x.at)
	}
	sent := make(map[string]any)
	leaves("", decoded(t, []byte(x.body)).(map[string]any), sent)
	for _, path := range slices.Sorted(maps.Keys(sent)) {
		seen[x.op+" "+path] = true
		where, moved := x.as[path]
		want := sent[path]
		switch {
		case moved && (where == "" || strings.HasPrefix(where, "?")):
			continue
		case !moved:
			where = path
		case strings.HasPrefix(where, "!"): // it is to be gone
			where, want = where[1:], nil
		case strings.HasPrefix(where, "+"): // it is added to as much
			where, want = where[1:], 2*want.(float64)
		case strings.HasPrefix(where, "["): // of which there is one
			where, want = strings.Trim(where, "[]"), want.([]any)[0]
		}
		have := part(got, where)
		if off, isBool := want.(bool); isBool && !off && have == nil {
			have = false
		}
		if want, isObject := want.(map[string]any); isObject {
			for name, v := range want { // a template may have got its defaults
				if !reflect.DeepEqual(part(have, name), v) {
					t.Errorf("%s: %s.%s is %v, was sent as %v", x.op, where, name, part(have, name), v)
				}
			}
			continue
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %s is %v, was sent as %v, in\n%s", x.op, where, have, want, a.body)
		}
	}
}

// refusedWithout sends a request without a field that lets it be done, and reads that
// nothing of it was done.
func (x written) refusedWithout(t *testing.T, w *world, by *client.Client, field string, code crowd.Code) {
	t.Helper()
	body := decoded(t, []byte(x.body)).(map[string]any)
	delete(body, field)
	was := w.send(by, http.MethodGet, x.get, "")
	method, _, _ := strings.Cut(x.op, " ")
	a := w.send(by, method, x.path, string(must(json.Marshal(body))(t)))
	if a.StatusCode < 400 || a.problem(t).Code != code {
		t.Errorf("%s without %s: status %d, want it refused as %s: %s", x.op, field, a.StatusCode, code, a.body)
	}
	if is := w.send(by, http.MethodGet, x.get, ""); !reflect.DeepEqual(decoded(t, is.body), decoded(t, was.body)) {
		t.Errorf("%s without %s is refused, and yet\n%s\nbecame\n%s", x.op, field, was.body, is.body)
	}
}

// TestEveryFieldIsReadBack writes each field of each request with something
// that is not its default, and reads it.
func TestEveryFieldIsReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := make(map[string]bool)
	testBody.read(t, w, seen)
	if x := decoded(t, w.send(w.admin, http.MethodGet, "/v1/tests/1", "").body); part(x, "file_questions") != 3.0 {
		t.Errorf("the test has %v questions", part(x, "file_questions"))
	}
	launched := false
	for _, x := range requests {
		if x.path == "/v1/batches/b2" && !launched {
			w.launch("thing\na\nb\n")
			launched = true
		}
		x.read(t, w, seen)
	}
	var doc map[string]any
	ok(t, json.Unmarshal(w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, &doc))
	for path, methods := range doc["paths"].(map[string]any) {
		for method, o := range methods.(map[string]any) {
			body := part(o, "requestBody.content")
			if body == nil {
				continue
			}
			schema := body.(map[string]any)["application/json"]
			for _, field := range fieldsOf(doc, part(schema, "schema"), "") {
				name := strings.ToUpper(method) + " " + path + " " + field
				if !seen[name] && elsewhere[name] == "" {
					t.Errorf("%s is read back by nothing", name)
				}
			}
		}
	}
}

// fieldsOf are the fields of a schema, those of objects within too.
func fieldsOf(doc, schema any, at string) (list []string) {
	if ref, is := part(schema, "$ref").(string); is {
		schema = part(doc, strings.ReplaceAll(strings.TrimPrefix(ref, "#/"), "/", "."))
	}
	properties, _ := part(schema, "properties").(map[string]any)
	for name, x := range properties {
		path := strings.TrimPrefix(at+"."+name, ".")
		inner := fieldsOf(doc, x, path)
		if len(inner) == 0 || name == "template" {
			inner = []string{path}
		}
		list = append(list, inner...)
	}
	return list
}

// TestWhoJoinsIsReadBack: the account that somebody makes, and a try that is
// submitted unfinished.
func TestWhoJoinsIsReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testBody.read(t, w, map[string]bool{})
	report := decoded(t, w.send(w.admin, http.MethodPost, "/v1/invitations", `{"addresses": ["joe@example.org"], "pool": "p1", "tenant": "n1", "test": 1}`).body)
	token := part(report, "invited.0.token").(string)
	a := w.send(w.nobody, http.MethodPost, "/v1/invitation/join", `{"token": "`+token+`", "name": "joe", "full_name": "Joe J", "password": "correct horse battery"}`)
	joe := w.nobody.As(part(decoded(t, a.body), "token").(string))
	me := decoded(t, w.send(w.admin, http.MethodGet, "/v1/users/u6", "").body)
	for field, want := range map[string]any{"name": "joe", "full_name": "Joe J", "email": "joe@example.org"} {
		if got := part(me, field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	w.send(joe, http.MethodPost, "/v1/my-tests/1/start", "")
	if a := w.send(joe, http.MethodPost, "/v1/my-tests/1/submit", `{"try": 1, "answers": {"q1": "yes"}}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a try with an answer too few: %d, %s", a.StatusCode, a.body)
	}
	if a := w.send(joe, http.MethodPost, "/v1/my-tests/1/submit", `{"try": 1, "answers": {"q1": "yes"}, "unfinished": true}`); a.StatusCode != http.StatusOK {
		t.Errorf("submitted unfinished: %d, %s", a.StatusCode, a.body)
	}
}
