package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// laterEffects are effects that build on those of effects.
var laterEffects = []struct {
	pattern string
	do      func(t *testing.T, c *company)
}{
	{"POST /batches/{batch}/reports", func(t *testing.T, c *company) {
		reported := read(c.app.Work.OwnReports(t.Context(), c.workers[0].principal(), 1))(t)[0].Task
		path := "/batches/" + reported.Batch().String() + "/reports"
		c.req.get("/batches/b1/reports").want(200, "Nobody has reported a problem")
		c.req.post("/batches/b1/reports", url.Values{"task": {"t1.1"}, "text": {"x"}}).want(404)
		c.req.post(path, url.Values{"task": {"t9.1"}, "text": {"x"}}).want(422, "is not a task of this batch")
		c.req.get(path).form(path).set("text", "Here it is.").send().want(200, "Answered. Whoever gets the task", "Here it is.")
		c.workers[0].get("/work/reports").want(200, "Here it is.").without("Not answered yet")
		_, list, _, err := c.app.Work.Reports(t.Context(), c.req.principal(), reported.Batch(), 0, 9)
		equal(t, err, nil)
		equal(t, list[0].Reply.Text, "Here it is.")
	}},
	{"POST /batches/{batch}/results/{task}/label", func(t *testing.T, c *company) {
		id := c.ruled(t)
		path := "/batches/" + id.String() + "/results/3"
		c.req.get(path).want(200, "Task 3").without("Correct it")
		c.req.post(path+"/label", url.Values{"value": {"no"}}).want(http.StatusConflict, "has no label yet")
		read(c.app.Batches.End(t.Context(), c.boss.principal(), id))(t)
		c.req.get(path).want(200, "Correct it: yes no").without("Corrected by")
		c.req.post(path+"/label", url.Values{"value": {"perhaps"}}).want(422, "is no answer that a worker could give")
		c.req.post(path+"/label", url.Values{"value": {"no"}, "note": {"look at <b>it</b>"}}).want(200, "Corrected. It is the label from now on.", "Corrected by rita", "look at <b>it</b>", "100 % sure")
		c.req.get(path[:len(path)-2]).want(200, "corrected", "Corrected 1")
		c.req.get(path[:len(path)-2]+"?q=corrected:yes").want(200, "1 task")
	}},
	{"POST /batches/{batch}/results/{task}/withdraw", func(t *testing.T, c *company) {
		id := c.ruled(t)
		path := "/batches/" + id.String() + "/results/1"
		read(c.app.Batches.End(t.Context(), c.boss.principal(), id))(t)
		c.req.post(path+"/label", url.Values{"value": {"no"}}).want(200, "Corrected by rita")
		c.req.get(path).form(path+"/withdraw").send().want(200, "The correction is taken back.", "2 corrections", "taken back").without("Corrected by")
	}},
	{"POST /batches/{batch}/quality/undo", func(t *testing.T, c *company) {
		id := c.ruled(t)
		path := "/batches/" + id.String() + "/quality"
		c.req.get(path).want(200, "What the rules did", "answers > 0 => pause", "by rule 1", "1 answer", "answers count 0.3 by rule 2", "count 0.3 each")
		c.req.get("/batches/"+id.String()+"/results/1").want(200, "counts 0.3")
		c.req.get(path).form(path+"/undo").send().want(200, "Undone. Their figures begin at nothing.", "undone by")
		list, _, err := c.app.Batches.QualityActions(t.Context(), c.req.principal(), id, 0, 9)
		equal(t, err, nil)
		equal(t, list[0].UndoneAt.IsZero(), false)
	}},
	{"POST /batches/{batch}/workers/{worker}/disregard", func(t *testing.T, c *company) {
		id := c.ruled(t)
		path := "/batches/" + id.String() + "/workers/" + read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, c.workers[0].principal().User.ID.String()))(t).Pseudonym
		c.req.get(path).want(200, "Disregard their answers…", "1 answer to this batch", "A rule has lowered the weight of their answers to 0.3.", "answers count 0.3")
		c.req.get(path+"/disregard").want(200, "1 answer is disregarded, and what was earned stays paid.", "1 task is decided anew: 1 label is withdrawn, of which 0 are made again", "that is reserved from the account").form(path+"/disregard").send().want(
			200, "Their answers are disregarded. What they earned stays theirs.", "of which 0 count, 1 is disregarded", "yes – yes disregarded").without("Disregard their answers…")
		c.req.get("/batches/"+id.String()+"/results/1").want(200, "yes <1 s", " disregarded ")
	}},
	{"POST /batches/{batch}/results/{task}/send-back", func(t *testing.T, c *company) {
		id := c.ruled(t)
		path := "/batches/" + id.String() + "/results/1"
		c.req.get(path).want(200, "Send an answer back", "yes – w_").form(path+"/send-back").set("comment", "  ").send().want(422, "say what whoever gets the task next")
		c.req.get(path).form(path+"/send-back").set("comment", "Look at its <b>ears</b>.").send().want(http.StatusPaymentRequired, "is missing in the budget")
		c.req.get(path).form(path+"/send-back").set("comment", "Look at its <b>ears</b>.").set("add_budget", "1").send().want(200, "Sent back. The answer counts no more", " disregarded ").without("Send it back")
		c.told(t, "Batches.SendBack")
	}},
	{"POST /work/notes/seen", func(t *testing.T, c *company) {
		c.ruled(t)
		notes := func() int { return len(read(c.app.Work.Notes(t.Context(), c.workers[0].principal()))(t)) }
		before := notes()
		c.workers[0].get("/work").want(200, "you get no more of its tasks for now").form("/work/notes/seen").send().want(200)
		equal(t, notes(), before-1)
	}},
	{"POST /runs/{run}/do", func(t *testing.T, c *company) {
		c.boss.get("/runs/r1").form("/runs/r1/do").send().want(200)
		if state := read(c.app.Runs.Get(t.Context(), c.boss.principal(), 1))(t).Run.State; state == store.RunLoading {
			t.Errorf("it is %s", state)
		}
	}},
	{"POST /tenants/{tenant}/quotas", func(t *testing.T, c *company) {
		c.boss.get("/tenants/n1/quotas").form("/tenants/n1/quotas").set("open-runs", "7").send().want(200)
		for _, v := range read(c.app.Tenants.Quotas(t.Context(), c.boss.principal(), 1))(t) {
			equal(t, v.Set, v.Quota == store.OpenRuns)
			if v.Set {
				equal(t, v.Value, int64(7))
			}
		}
		c.boss.get("/tenants/n1/quotas").form("/tenants/n1/quotas").set("open-runs", "many").send().want(422)
		mine, theirs := c.boss.get("/tenants/n1/quotas").form("/tenants/n1/quotas"), c.boss.get("/tenants/n1/quotas").form("/tenants/n1/quotas")
		theirs.set("tokens", "9").send().want(200)
		mine.set("members", "3").send().want(http.StatusConflict, "changed elsewhere after you had opened the form")
		for _, v := range read(c.app.Tenants.Quotas(t.Context(), c.boss.principal(), 1))(t) {
			equal(t, v.Set, v.Quota == store.OpenRuns || v.Quota == store.APITokens)
		}
	}},
	{"POST /tenants/{tenant}/retention", func(t *testing.T, c *company) {
		path := "/tenants/n1/retention"
		c.boss.get(path).form(path).set("answers", "90").send().want(200).at(path)
		c.boss.get(path).form(path).set("files", "many").send().want(422)
		c.boss.get(path+"?preview=1&answers=90&files=7").want(200, "What would be deleted")
		for _, r := range read(c.app.Retention.Get(t.Context(), c.boss.principal(), 1))(t) {
			equal(t, r.Set, r.Kind == store.RetainedAnswers)
			equal(t, r.Keeps, map[bool]int{true: 90}[r.Set])
		}
	}},
	{"POST /people/{user}/erase", func(t *testing.T, c *company) {
		u, _, err := c.app.Accounts.CreateUser(t.Context(), c.boss.principal(), accounts.NewUser{Name: "goner", Pool: 1})
		equal(t, err, nil)
		path := "/people/" + u.ID.String() + "/erase"
		c.boss.get(path).form(path).set("confirm", "another").send().want(422)
		c.boss.get(path).form(path).set("confirm", "goner").send().want(200).at("/admin/people")
		equal(t, read(c.app.Accounts.User(t.Context(), c.boss.principal(), u.ID))(t).ErasedAt.IsZero(), false)
	}},
}

// elsewhere are the forms whose fields other tests read back.
var elsewhere = map[string]string{
	"POST /factor":                                           "TestTOTP",
	"POST /work/pay":                                         "TestPayOnThePages",
	"POST /batches/{batch}/pay":                              "TestPayOnThePages",
	"POST /appeals":                                          "TestPayOnThePages",
	"POST /account/totp":                                     "TestTOTP",
	"POST /signin/passkey":                                   "TestPasskeys",
	"POST /account/passkey":                                  "TestPasskeys",
	"POST /account/passkey/confirm":                          "TestPasskeys",
	"POST /account/totp/confirm":                             "TestTOTP",
	"POST /account/recovery":                                 "TestRemoveAFactor",
	"POST /account/factors/{factor}/remove":                  "TestRemoveAFactor",
	"POST /account/address":                                  "TestAddressesOnThePages",
	"POST /account/address/ask":                              "TestAddressesOnThePages",
	"POST /verify":                                           "TestAddressesOnThePages",
	"POST /admin/people/{user}/address/ask":                  "TestAdminsSeeWhichAddressesAreAsked",
	"POST /admin/people/{user}/factors/reset":                "TestResetOfFactors",
	"POST /runs/{run}/topup":                                 "TestRunFromFileToResults",
	"POST /work/decline":                                     "TestCalledWithoutJavaScript",
	"POST /work/push":                                        "TestPushOfABrowser",
	"POST /batches/{batch}/launch":                           "TestALauncherLaunches",
	"POST /admin/roles":                                      "TestRolesOfTheInstallation",
	"POST /admin/roles/{role}":                               "TestRolesOfTheInstallation",
	"POST /admin/roles/{role}/remove":                        "TestRolesOfTheInstallation",
	"POST /admin/people/{user}/give":                         "TestRolesOfTheInstallation",
	"POST /admin/tokens/{token}/revoke":                      "TestTokensOfEverybody",
	"POST /admin/providers/{provider}/tokens":                "TestProvidersOnThePages",
	"POST /admin/providers/{provider}/tokens/{token}/revoke": "TestProvidersOnThePages",
	"POST /tenants/{tenant}/roles":                           "TestRolesOfATenant",
	"POST /tenants/{tenant}/roles/{role}":                    "TestRolesOfATenant",
	"POST /tenants/{tenant}/roles/{role}/remove":             "TestRolesOfATenant",
	"POST /tenants/{tenant}/people":                          "TestRolesOfATenant",
	"POST /tenants/{tenant}/give":                            "TestRolesOfATenant",
	"POST /work/push/{subscription}/forget":                  "TestPushOfABrowser",
}
