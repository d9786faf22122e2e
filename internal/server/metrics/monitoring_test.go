package metrics_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/runs"
)

// The files for those who watch a server.
const (
	alertFile     = "../../../deploy/monitoring/alerts.yaml"
	dashboardFile = "../../../deploy/monitoring/dashboard.json"
)

// alerts is a file of rules, in which nothing else may stand.
type alerts struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// expressions are those of the alerts and of the dashboard, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	f, err := os.Open(alertFile)
	ok(t, err)
	defer f.Close()
	var a alerts
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	ok(t, d.Decode(&a))
	for _, g := range a.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r.Expr
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s does not say how bad it is, what is wrong and what to do", r.Alert)
			}
		}
	}
	n := len(all)
	var board struct {
		Templating struct {
			List []struct{ Name, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	ok(t, json.Unmarshal(must(os.ReadFile(dashboardFile))(t), &board))
	for _, v := range board.Templating.List {
		if query, is := strings.CutPrefix(v.Query, "label_values("); is {
			all["variable "+v.Name], _, _ = strings.Cut(query, ", ")
		}
	}
	for _, p := range board.Panels {
		for _, x := range p.Targets {
			all["panel "+p.Title+": "+x.Expr] = x.Expr
		}
	}
	if n < 10 || len(all) < n+20 {
		t.Fatalf("%d alerts, %d expressions", n, len(all))
	}
	return all
}

// selector is a metric with what is asked of its labels.
var (
	selector = regexp.MustCompile(`\b((?:throng|process|go)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	grouping = regexp.MustCompile(`\bby \([^)]*\)`)
)

// ofPrometheus are the metric and the labels that the scraper itself adds.
var ofPrometheus = map[string]bool{"up": true, "job": true, "instance": true}

// checkMonitoring holds the alerts and the dashboard against what a server that has done
// some work tells: each metric that they name is there, with the labels that they name.
func checkMonitoring(t *testing.T, w *world) {
	t.Helper()
	url, concurrency := "https://scores.example.org/v1", 2
	must(w.Services.Declare(w.ctx, w.admin, "scores", runs.ServiceEdit{URL: &url, Concurrency: &concurrency, Tenants: &[]crowd.TenantID{w.tenant}}))(t)
	w.metrics.Count(time.Now, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	got := httptest.NewRecorder()
	w.metrics.Open().ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	told := got.Body.String()
	if !strings.Contains(told, "\nthrong_ready 1\n") {
		t.Error("it does not tell that it is ready")
	}
	for place, text := range expressions(t) {
		named := selector.FindAllStringSubmatch(grouping.ReplaceAllString(text, ""), -1)
		if len(named) == 0 {
			t.Errorf("%s names no metric: %s", place, text)
		}
		for _, m := range named {
			if ofPrometheus[m[1]] {
				continue
			}
			sample := regexp.MustCompile(`(?m)^` + m[1] + `(?:\{(.*)\})? `).FindStringSubmatch(told)
			if sample == nil {
				t.Errorf("%s names %s, which is not told", place, m[1])
				continue
			}
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				if !ofPrometheus[l[1]] && !strings.Contains(","+sample[1], ","+l[1]+"=") {
					t.Errorf("%s names the label %s of %s, which has %s", place, l[1], m[1], sample[1])
				}
			}
		}
	}
}

// TestPrometheusTakesTheAlerts, where its tool is at hand.
func TestPrometheusTakesTheAlerts(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("left out: promtool is not here")
	}
	if out, err := exec.Command(tool, "check", "rules", alertFile).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
