package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/queueing"
)

// Queueing is "throng queueing".
type Queueing struct {
	Lambda  float64  `required:"" help:"λ: tasks that arrive per second." placeholder:"L"`
	Mu      float64  `required:"" help:"μ: tasks that one person does per second; 1 / (seconds a task)." placeholder:"M"`
	Servers *int     `help:"c: people; default: the best number." placeholder:"C"`
	Eta     float64  `default:"0.5" help:"η: how much a second of waiting counts against money, from 0 to 1."`
	Salary  float64  `default:"0.05" help:"s: pay for waiting, per person and minute." placeholder:"S"`
	Wait    *seconds `help:"Also say how few people give a mean wait of at most this, such as 30s, or 30 (seconds)." placeholder:"T"`
	Output
}

// seconds is a time on the command line: 30s, 10m, or a number of seconds.
type seconds float64

func (s *seconds) UnmarshalText(text []byte) error {
	n, err := yamlfile.Number(string(text))
	if err != nil {
		d, err := duration(string(text))
		if err != nil {
			return err
		}
		n = d.Seconds()
	}
	if !(n > 0) || math.IsInf(n, 1) {
		return crowd.Errorf(crowd.Invalid, "must be above 0, not %s", text)
	}
	*s = seconds(n)
	return nil
}

// queueingReport is what queueing prints.
type queueingReport struct {
	Lambda          float64 `json:"lambda"`
	Mu              float64 `json:"mu"`
	Servers         int     `json:"servers"`
	Utilisation     float64 `json:"utilisation"`
	WaitProbability float64 `json:"wait_probability"`
	MeanWait        float64 `json:"mean_wait"` // seconds
	MeanQueue       float64 `json:"mean_queue"`
	MeanIdle        float64 `json:"mean_idle"`
	WaitP50         float64 `json:"wait_p50"` // seconds
	WaitP95         float64 `json:"wait_p95"`
	WaitP99         float64 `json:"wait_p99"`
	Cost            float64 `json:"cost"`      // per minute
	IdleCost        float64 `json:"idle_cost"` // per minute
	CStar           int     `json:"c_star"`
	CStarWait       float64 `json:"c_star_wait"`
	CStarCost       float64 `json:"c_star_cost"`
	LeastStable     int     `json:"least_stable"`
	Eta             float64 `json:"eta"`
	Salary          float64 `json:"salary"`
	LeastForWait    *int    `json:"least_for_wait,omitempty"`

	wait float64
}

// Run computes and prints.
func (q *Queueing) Run(c *Context) error {
	for _, rate := range []struct {
		flag  string
		value float64
	}{{"lambda", q.Lambda}, {"mu", q.Mu}} {
		if !(rate.value > 0) || math.IsInf(rate.value, 1) {
			return wrong(rate.flag, "must be above 0%s, not %g", when(rate.value > 0, ", and finite"), rate.value)
		}
	}
	report, err := q.compute()
	if err != nil {
		return ofQueue(err)
	}
	return q.print(c, report, report.show)
}

func (q *Queueing) compute() (r queueingReport, err error) {
	r = queueingReport{Lambda: q.Lambda, Mu: q.Mu, Eta: q.Eta, Salary: q.Salary}
	if r.LeastStable, err = queueing.LeastStable(q.Lambda, q.Mu); err != nil {
		return r, err
	}
	if q.Servers != nil { // what is wrong with it comes first
		if _, err := queueing.New(q.Lambda, q.Mu, *q.Servers); err != nil {
			return r, err
		}
	}
	best, err := queueing.Optimum(q.Lambda, q.Mu, queueing.Weights{Eta: q.Eta, Salary: q.Salary})
	if err != nil {
		return r, err
	}
	r.CStar, r.CStarWait, r.CStarCost = best.Servers, best.Wait, best.Cost
	r.Servers = best.Servers
	if q.Servers != nil {
		r.Servers = *q.Servers
	}
	if q.Wait != nil {
		r.wait = float64(*q.Wait)
		n, err := queueing.LeastFor(q.Lambda, q.Mu, r.wait)
		if err != nil {
			return r, err
		}
		r.LeastForWait = &n
	}
	queue, err := queueing.New(q.Lambda, q.Mu, r.Servers)
	if err != nil {
		return r, err
	}
	r.Utilisation, r.WaitProbability = queue.Utilisation(), queue.WaitProbability()
	r.MeanWait, r.MeanQueue, r.MeanIdle = queue.MeanWait(), queue.MeanQueue(), queue.MeanIdle()
	r.WaitP50, r.WaitP95, r.WaitP99 = queue.WaitQuantile(0.5), queue.WaitQuantile(0.95), queue.WaitQuantile(0.99)
	r.Cost, r.IdleCost = queue.Cost(q.Salary), queue.IdleCost(q.Salary)
	return r, nil
}

// ofQueue turns an error of queueing into one about the flag.
func ofQueue(err error) error {
	var domain *queueing.DomainError
	var unstable *queueing.UnstableError
	var none *queueing.NoOptimumError
	switch {
	case errors.As(err, &domain):
		return wrong(domain.Name, "%s, not %g", domain.Want, domain.Value)
	case errors.As(err, &unstable):
		return wrong("servers", "%s", unstable)
	case errors.As(err, &none):
		flag := "salary"
		if none.Eta == 1 {
			flag = "eta"
		}
		return wrong(flag, "%s", none)
	}
	return err
}

// show prints the report for people.
func (r queueingReport) show(w io.Writer) {
	least := ""
	if r.LeastForWait != nil {
		least = fmt.Sprintf("%d for a mean wait of at most %s s", *r.LeastForWait, figure(r.wait))
	}
	pairs(w, "people", r.Servers, "busy", share100(r.Utilisation), "tasks that wait", share100(r.WaitProbability),
		"mean wait", figure(r.MeanWait)+" s",
		"wait of 50 / 95 / 99 %", fmt.Sprintf("%s / %s / %s s, or less", figure(r.WaitP50), figure(r.WaitP95), figure(r.WaitP99)),
		"tasks waiting", r.MeanQueue, "people idle", r.MeanIdle,
		"E[Cost]", figure(r.Cost)+" a minute", "cost of idle people", figure(r.IdleCost)+" a minute", "least stable", r.LeastStable,
		"c*", fmt.Sprintf("%d: mean wait %s s, E[Cost] %s a minute", r.CStar, figure(r.CStarWait), figure(r.CStarCost)),
		"least", least)
	verdict := fmt.Sprintf("%d are best", r.CStar)
	switch {
	case r.Servers < r.CStar:
		verdict = fmt.Sprintf("%d more would be best", r.CStar-r.Servers)
	case r.Servers > r.CStar:
		verdict = fmt.Sprintf("%d fewer would be best", r.Servers-r.CStar)
	}
	say(w, "\nWith %d a task waits %s s on average; at η = %s and %s a minute for waiting people, %s.\n",
		r.Servers, figure(r.MeanWait), figure(r.Eta), figure(r.Salary), verdict)
	if r.Eta < (1-r.Eta)*r.Salary*r.Lambda {
		say(w, "Mind that so much arrives here that E[Cost] counts a longer line as a greater saving than the wait is a loss, so c* is as few as can be; see docs/queueing.md, or take a greater η.\n")
	}
}

// share100 is a share in percent.
func share100(f float64) string { return strconv.FormatFloat(100*f, 'g', 4, 64) + " %" }
