package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/wire"
)

// namingFlow names a pool and a service.
const namingFlow = `workflow: x
inputs: {things: {columns: [{id: number}, thing]}}
steps:
  asked: {from: things, crowd: {template: {kind: choose_one, question: "Alive?", options: ["yes", "no"], show: [thing]}, pool: THIS, reward: 0.01, output: said}}
  scored: {from: things, service: {name: THIS, path: v1, response: {type: object, required: [score], properties: {score: {type: number}}}}}
outputs: {scores: {from: scored, format: jsonl}}
`

// mentions has, for each thing that a body or a query may name, what names it: THIS is the
// id, of each of the kind's pairs. What stands in for own things is Bob's.
var mentions = map[string]string{
	"GET /v1/audit tenant":                      "",
	"GET /v1/audit/export tenant":               "",
	"GET /v1/batches tenant":                    "",
	"GET /v1/invitations tenant":                "",
	"GET /v1/runs tenant":                       "",
	"GET /v1/tests tenant":                      "",
	"GET /v1/users tenant":                      "",
	"DELETE /v1/users/{id}/roles/{role} tenant": "",
	"POST /v1/workflows/check tenant":           "workflow: x",
	"POST /v1/workflows/check parent":           "workflow: x",
	"DELETE /v1/roles/{role} tenant":            "",
	"PATCH /v1/roles/{role} tenant":             `{"text": "x"}`,
	"GET /v1/appeals tenant":                    "", "GET /v1/batches/{id}/pay worker": "",
	"POST /v1/batches/{id}/pay/approve assignments": `{"assignments": ["THIS"]}`, "POST /v1/batches/{id}/pay/refuse assignments": `{"assignments": ["THIS"], "reason": "no"}`,
	"POST /v1/batches/{id}/pay/approve worker": `{"worker": "THIS"}`, "POST /v1/batches/{id}/pay/refuse worker": `{"worker": "THIS", "reason": "no"}`,
	"GET /v1/audit actor":        "",
	"GET /v1/audit/export actor": "",

	"POST /v1/batches tenant":              `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1, "tenant": "THIS"}`,
	"POST /v1/batches pool":                `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1, "pool": "THIS"}`,
	"PUT /v1/batches/{id} pool":            `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1, "pool": "THIS"}`,
	"POST /v1/invitations pool":            `{"pool": "THIS", "addresses": ["x@example.org"]}`,
	"POST /v1/invitations tenant":          `{"pool": "p1", "tenant": "THIS", "addresses": ["x@example.org"]}`,
	"POST /v1/invitations test":            `{"pool": "p1", "test": THIS, "addresses": ["x@example.org"]}`,
	"POST /v1/roles tenant":                `{"name": "spy", "tenant": "THIS", "permissions": ["batches.read"]}`,
	"POST /v1/runs tenant":                 `{"workflow": "workflow: x", "tenant": "THIS"}`,
	"POST /v1/runs parent":                 `{"workflow": "workflow: x", "parent": "THIS"}`,
	"POST /v1/tests tenant":                `{"name": "x", "template": ` + yesOrNo + `, "questions": "thing,_gold\na dog,yes\n", "pass_mark": 50, "tenant": "THIS"}`,
	"POST /v1/tokens tenant":               `{"name": "x", "tenant": "THIS"}`,
	"POST /v1/tokens for":                  `{"name": "x", "for": "THIS"}`,
	"POST /v1/services tenants":            `{"name": "x", "url": "https://x.example", "concurrency": 1, "tenants": ["THIS"]}`,
	"PATCH /v1/services/{name} tenants":    `{"tenants": ["THIS"]}`,
	"POST /v1/users tenants":               `{"name": "spy", "tenants": ["THIS"]}`,
	"POST /v1/users pool":                  `{"name": "spy", "pool": "THIS"}`,
	"PATCH /v1/users/{id} tenants":         `{"tenants": ["THIS"]}`,
	"PATCH /v1/users/{id} pool":            `{"pool": "THIS"}`,
	"GET /v1/audit object":                 "",
	"GET /v1/audit/export object":          "",
	"POST /v1/users/{id}/roles role":       `{"role": "THIS"}`,
	"POST /v1/tokens roles":                `{"name": "x", "roles": ["THIS"]}`,
	"POST /v1/users roles":                 `{"name": "spy", "roles": ["THIS"]}`,
	"PATCH /v1/users/{id} roles":           `{"roles": ["THIS"]}`,
	"PATCH /v1/users/{id} serves":          `{"serves": ["THIS"]}`,
	"POST /v1/tests grants":                `{"name": "x", "template": ` + yesOrNo + `, "questions": "thing,_gold\na dog,yes\n", "pass_mark": 50, "grants": "THIS"}`,
	"POST /v1/batches qualifications":      `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1, "qualifications": {"THIS": 1}}`,
	"PUT /v1/batches/{id} qualifications":  `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1, "qualifications": {"THIS": 1}}`,
	"POST /v1/users qualifications":        `{"name": "spy", "qualifications": {"THIS": 1}}`,
	"PATCH /v1/users/{id} qualifications":  `{"qualifications": {"THIS": 1}}`,
	"PUT /v1/me/wishes prefers":            `{"prefers": {"THIS": 0.5}}`,
	"POST /v1/users prefers":               `{"name": "spy", "prefers": {"THIS": 0.5}}`,
	"POST /v1/invitation/accept prefers":   `{"token": "x", "prefers": {"THIS": 0.5}}`,
	"POST /v1/invitation/join prefers":     `{"token": "x", "name": "spy", "password": "correct horse battery", "prefers": {"THIS": 0.5}}`,
	"POST /v1/runs workflow":               `{"workflow": ` + strconv.Quote(namingFlow) + `}`,
	"POST /v1/pools/{id}/transfers worker": `{"worker": "THIS", "to": "p1"}`,
	"POST /v1/pools/{id}/transfers to":     `{"worker": "u5", "to": "THIS"}`,
}

// namesNothing are the parameters and fields that name nothing that can be somebody's own: amounts,
// texts, choices, moments, and places in lists that only who may read them has.
var namesNothing = strings.Fields(`
	accept add_budget address addresses admin after all all_tenants allow_small_crowd also amount_micros answer answers
	approval ask_again away before budget_micros but calling checks clear_deadline code comment concurrency confirm
	control cursor days deadline delimiter deposit_micros draw duplicates email email_verified endpoint ends_at enough
	expirationTime failed feed filter forever format free_text from full_name grace_seconds hosts invite key keys kind
	lease_seconds life_seconds limit max_priority method name names networks next no_mail note old open operation
	pass_mark password pay per_worker permissions policy priority production quality questions rate reason redundancy
	release_budget renew_ages retainer retired review revise_seconds reward_micros rows rules scopes seen settled since since_seconds
	send_back skip_bad spreadsheet state step stopped suspended task_time_seconds template text time_limit_seconds token training
	tries try unfinished unless_left until url value values wait_seconds weight wrong
`)

// TestWhatIsNamedInRequests: what is another's is not told from what is not there either by
// what a query or a body names, to whomever has whatever role in a tenant of their own.
func TestWhatIsNamedInRequests(t *testing.T) {
	t.Parallel()
	w := newStrangers(t)
	must(w.admin.CreatePool(w.ctx, "hushed", ""))(t) // p3, granted to nobody
	held := [][2]string{{"n1/viewer", "n999/viewer"}, {"n1/checker", "n999/checker"}, {"n1/checker", "n1/nosuch"}, {"checker", "nosuch"}}
	granted := [][2]string{{"ants/alive", "nosuch/alive"}, {"ants/alive", "ants/nosuch"}}
	kinds := map[string][][2]string{
		"tenant": {{w.a.String(), "n999"}}, "tenants": {{w.a.String(), "n999"}}, "pool": {{"p3", "p999"}}, "to": {{"p3", "p999"}}, "test": {{"1", "999"}},
		"parent": {{w.loading, "r999"}, {w.going, "r999"}}, "for": {{w.annID, "u999"}, {"u1", "u999"}}, "actor": {{w.annID, "u999"}}, "worker": {{w.annID, "u999"}},
		"role": held, "roles": held, "serves": {{w.a.String(), "n999"}}, "grants": granted, "qualifications": granted, "prefers": {{"p3", "p999"}}, "object": {{w.running, "b999"}, {w.annID, "u999"}},
		"assignments": {{w.held, "a999.1"}}, "workflow": {{"hushed", "nosuch"}, {"annas", "nosch"}}, // a pool, and a service
	}
	doc, mine := w.document(), must(w.bob.CreateBatch(w.ctx, definition()))(t).ID.String()
	bob := must(w.bob.Me(w.ctx))(t).ID.String()
	people := map[string]*client.Client{"a worker": w.workers[0], "nobody": w.nobody}
	for _, b := range access.BuiltIns() {
		if b.Tenant {
			people[string(b.Role)] = w.person(wire.NewUser{Name: "a-" + string(b.Role), Roles: []string{w.b.String() + "/" + string(b.Role)}})
		}
	}
	told, there := map[string]bool{}, map[string]bool{}
	for _, o := range w.operations() {
		for _, named := range w.named(&doc, o) {
			pairs, known := kinds[named.name]
			body, how := mentions[o.name()+" "+named.name]
			if nothing := slices.Contains(namesNothing, named.name); nothing == known {
				t.Errorf("%s has %s, of which must be known here either that it names nothing, or what there is of others", o.name(), named.name)
			}
			if there[named.name] = true; !known {
				continue
			}
			if told[o.name()+" "+named.name] = true; !how {
				t.Errorf("%s names a %s: how is not known here", o.name(), named.name)
			}
			path := strings.NewReplacer("/batches/{id}", "/batches/"+mine, "/users/{id}", "/users/"+bob, "/pools/{id}", "/pools/p2", "{role}", "checker", "{name}", "theirs").Replace(o.path)
			for who, c := range people {
				for _, p := range pairs {
					ask := func(id string) answer {
						to := path
						if named.query {
							to += "?" + named.name + "=" + id
						}
						return w.send(c, o.method, to, strings.ReplaceAll(body, "THIS", id))
					}
					theirs, none := ask(p[0]), ask(p[1])
					if got, want := theirs.signature(), none.signature(append([]string{p[1], p[0]}, ownNames(p)...)...); got != want {
						t.Errorf("%s tells %s by its %s what is another's from what is not there:\n%s\n%s", o.name(), who, named.name, got, want)
					}
				}
			}
		}
	}
	for key := range mentions {
		if !told[key] {
			t.Errorf("%s is not there", key)
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(kinds)), namesNothing...) {
		if !there[name] {
			t.Errorf("nothing has %s", name)
		}
	}
}

// mention is a parameter of a query or a field of a body.
type mention struct {
	name  string
	query bool
}

// ownNames returns what the absent one of a pair is called by its owner, and what the other one is.
func ownNames(pair [2]string) []string {
	_, theirs, owned := strings.Cut(pair[0], "/")
	_, none, both := strings.Cut(pair[1], "/")
	if !owned || !both {
		return nil
	}
	return []string{none, theirs}
}

// named returns what the query and the body of an operation have.
func (w *strangers) named(doc *document, o operation) (list []mention) {
	w.t.Helper()
	for _, p := range o.Parameters {
		if p.In == "query" {
			list = append(list, mention{p.Name, true})
		}
	}
	if o.RequestBody == nil {
		return list
	}
	for _, content := range o.RequestBody.Content {
		var media struct {
			Schema struct {
				Ref        string `json:"$ref"`
				Properties map[string]any
			}
		}
		ok(w.t, json.Unmarshal(must(json.Marshal(content))(w.t), &media))
		if name, is := strings.CutPrefix(media.Schema.Ref, "#/components/schemas/"); is {
			media.Schema.Properties = doc.Components.Schemas[name].Properties
		}
		for name := range media.Schema.Properties {
			list = append(list, mention{name, false})
		}
	}
	return list
}
