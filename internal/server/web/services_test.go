package web

import (
	"net/http"
	"net/url"
	"testing"
)

// namesScores is a workflow that calls a service that is declared.
const namesScores = "workflow: Scores\ninputs: {things: {columns: [name], open: true}}\nsteps:\n  score:\n    from: {things: stream}\n" +
	"    service: {name: scores, response: {type: object, properties: {risk: {type: number}}}}\n"

// TestServicesOfAnAdmin: an admin declares, changes and removes services, and sees at the
// form what is wrong.
func TestServicesOfAnAdmin(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.boss.get("/admin").want(200, "Services")
	form := func() *sheet { return c.boss.get("/admin/services").want(200).form("/admin/services") }
	fine := func() *sheet {
		return form().set("name", "scores").set("url", "https://risk.example").set("concurrency", "2")
	}
	for field, wrong := range map[string][2]string{
		"name": {"a b", "is not the name of a service"}, "url": {"ftp://x", "is not an address like"},
		"concurrency": {"0", "from 1 to 1000"}, "rate": {"often", "is not a rate: a number from 1"},
	} {
		p := fine().set(field, wrong[0]).send().want(http.StatusUnprocessableEntity, wrong[1])
		if got := p.form("/admin/services").values.Get(field); got != wrong[0] {
			t.Errorf("%s has %q after it was refused", field, got)
		}
	}
	c.boss.get("/admin/services").without("risk.example")
	fine().set("rate", "30/m").set("tenants", "n1").send().want(200, "Saved.", "scores", "2 calls at a time, at most 30/m", "0 waiting")
	fine().send().want(http.StatusConflict, "there is a service named")

	// Who opened the form before it was changed elsewhere changes nothing.
	old := c.boss.get("/admin/services").form("/admin/services/scores").set("concurrency", "9")
	c.boss.get("/admin/services").form("/admin/services/scores").set("concurrency", "3").send().want(200, "Saved.", "3 calls at a time")
	old.send().want(http.StatusConflict, "This was changed elsewhere", "3 calls at a time")
	c.boss.post("/admin/services/scores", url.Values{"url": {"https://risk.example"}, "concurrency": {"3"}, "rate": {"30/w"}}).want(http.StatusUnprocessableEntity, "is not a rate")
	c.boss.get("/admin/services/nosuch/remove").want(404)
	c.boss.post("/admin/services", url.Values{"name": {"inside"}, "url": {"http://[fd00::1]/"}, "concurrency": {"1"}}).want(200, "Its calls are refused, as its address is not public; the operator allows it with throng serve --allow-service [fd00::1]:80.")
	c.boss.get("/admin/services/inside/remove").form("/admin/services/inside/remove").send().want(200).without("Its calls are refused")
	c.req.get("/admin/services").want(http.StatusForbidden)
	c.boss.get("/admin/services/scores/remove").form("/admin/services/scores/remove").send().want(200, "The service is removed.").without("risk.example")
}

// TestPoolsOfARequester: a new run that names a pool which is not granted is refused.
func TestPoolsOfARequester(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	for _, then := range []string{"make", "check"} {
		text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, crowd: {pool: nowhere, template: {kind: short_text, question: q}, reward: 0.01}}\n"
		c.req.post("/runs", url.Values{"tenant": {"n1"}, "then": {then}, "text": {text}}).want(http.StatusUnprocessableEntity, "nowhere", "that this tenant may use; there are main")
	}
}

// TestServicesOfARequester: the page of their tenant has those that it may use, a new run is
// refused that names another one, and the page of a run tells its load.
func TestServicesOfARequester(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.boss.get("/admin").form("/admin/tenants").set("name", "Rivals").send().want(200)
	c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://risk.example"}, "concurrency": {"2"}, "tenants": {"n2"}}).want(200)
	c.req.get("/tenants/n1").want(200).without("risk.example")
	made := url.Values{"tenant": {"n1"}, "then": {"make"}, "text": {namesScores}}
	c.req.post("/runs", made).want(http.StatusUnprocessableEntity, "scores", "that this tenant may use, nor any other")
	c.req.post("/runs", url.Values{"tenant": {"n1"}, "then": {"check"}, "text": {namesScores}}).want(http.StatusUnprocessableEntity, "that this tenant may use, nor any other")

	c.boss.post("/admin/services/scores", url.Values{"url": {"https://risk.example"}, "concurrency": {"2"}, "rate": {"30/m"}, "tenants": {"n1", "n2"}}).want(200)
	c.req.get("/tenants/n1").want(200, "scores", "https://risk.example", "30/m").without("Rivals")
	both := c.as(t, c.boss, "olga", func(f *sheet) { f.values["tenants"] = []string{"n1", "n2"} })
	both.get("/tenants/n1").want(200, "https://risk.example")
	c.boss.post("/admin/services", url.Values{"name": {"rivals"}, "url": {"https://rivals.example"}, "concurrency": {"2"}, "tenants": {"n2"}}).want(200)
	both.get("/tenants/n1").want(200, "https://risk.example").without("rivals.example")
	both.get("/tenants/n2").want(200, "https://risk.example", "https://rivals.example")
	c.req.post("/runs", made).want(200).at("/runs/r1")
	c.req.post("/runs/r1/do", url.Values{"do": {"start"}}).want(200)
	c.req.get("/runs/r1").want(200, "Service scores: 0 of 2 calls under way, 0 of them this tenant's; at most 30/m.").without("Rivals")
	c.boss.post("/admin/services/scores", url.Values{"url": {"https://risk.example"}, "concurrency": {"2"}, "tenants": {"n2"}}).want(200)
	c.req.get("/runs/r1").want(200, "There is no service", "that this tenant may use")
	c.req.get("/runs").want(200, "score: there is no service")
}
