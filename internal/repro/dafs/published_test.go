package dafs

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
)

// read returns the rows of a file of the reference data, by column name.
func read(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(sharedtest.Dir(t, "crowd", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		list = append(list, m)
	}
	return list
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %g here, %g in the reference data", what, got, want)
	}
}

func TestResultFilesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	names := map[string]string{"deadline": "EDF", "fair": "FS", "saware": "SDAFS", "aware": "DAFS"}
	looked := 0
	for _, row := range read(t, "crowdscheduler_published_summary.csv") {
		f := fileOf(row["file"], names[row["scheduler"]])
		if f == nil {
			continue
		}
		looked++
		what := f.file + " " + f.policy
		same(t, what, float64(f.scenarios), number(t, row["seeds"]))
		same(t, what, f.window, number(t, row["total_time"]))
		inTime := success(at(number(t, row["strictness"])))
		for name, m := range map[string]moment{"mean_deadline": f.figures[meanDead.place], "std_deadline": f.figures[stdDead.place], "mean_best_effort": f.figures[meanBest.place],
			"std_best_effort": f.figures[stdBest.place], "execution_time": f.seconds, "deadline_success_ratio": f.figures[inTime.place]} {
			same(t, what+" "+name, m.mean, number(t, row[name+"_mean"]))
			same(t, what+" "+name+" sd", m.sd, number(t, row[name+"_sd"]))
		}
	}
	if looked != 6*len(resultFiles) {
		t.Errorf("%d rows were found for %d files", looked, len(resultFiles))
	}
}

func TestBoxesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, row := range read(t, "crowdscheduler_2400agg_boxplots.csv") {
		m := map[string]metric{"deadline_success_ratio": success(at(number(t, row["strictness"]))), "std_deadline": stdDead,
			"mean_best_effort": meanBest, "std_best_effort": stdBest}[row["panel"]]
		got := boxes[row["scheduler"]].figures[m.place]
		looked++
		what := row["strictness"] + " " + row["panel"] + " " + row["scheduler"]
		same(t, what, got.median, number(t, row["median"]))
		same(t, what+" q1", got.q1, number(t, row["q1"]))
		same(t, what+" q3", got.q3, number(t, row["q3"]))
	}
	if looked != 96 {
		t.Errorf("%d boxes were found", looked)
	}
}

func TestFigures11And12AreThePublishedOnes(t *testing.T) {
	t.Parallel()
	place := map[string]int{"ALL": 5}
	for i, name := range batchNames[:5] {
		place[name] = i
	}
	looked := 0
	for _, row := range read(t, "fig11_des.csv") {
		for _, f := range figure11 {
			if f.policy == row["policy"] && float64(f.workers) == number(t, row["workers"]) {
				looked++
				m := f.took[place[row["batch"]]]
				same(t, "figure 11", m.mean, number(t, row["completion_mean"]))
				same(t, "figure 11 sd", m.sd, number(t, row["completion_sd"]))
			}
		}
	}
	for _, row := range read(t, "fig12_priority.csv") {
		for _, f := range figure12 {
			if f.priority == number(t, row["priority_B2"]) {
				looked++
				m := f.took[place[row["batch"]]]
				same(t, "figure 12", m.mean, number(t, row["completion_mean"]))
				same(t, "figure 12 sd", m.sd, number(t, row["completion_sd"]))
			}
		}
	}
	if looked != 150 {
		t.Errorf("%d figures were found", looked)
	}
}

func TestCalibrationIsOfTheLogs(t *testing.T) {
	t.Parallel()
	// What the bases were made from: ln seconds, the practice and the switches.
	type sum struct{ n, ln float64 }
	seen, sums := map[string]int{}, map[string]sum{}
	for _, row := range read(t, "task_durations.csv") {
		key := row["run"] + " " + row["worker"] + " " + row["batch"]
		seen[key]++
		ln := math.Log(number(t, row["seconds"])) + learning*math.Log(float64(seen[key]))
		if row["previous_task_type_same"] == "0" {
			ln -= math.Log(switchFactor)
		}
		s := sums[row["batch"][:2]]
		sums[row["batch"][:2]] = sum{s.n + 1, s.ln + ln}
	}
	for _, k := range kindFits[:5] {
		if s := sums[k.name]; s.n < 200 || math.Abs(s.ln/s.n-k.ln) > 0.001 {
			t.Errorf("%s: ln seconds %.4f of %g answers, %.3f here", k.name, s.ln/s.n, s.n, k.ln)
		}
	}
	looked := 0
	for _, row := range read(t, "batch_runs.csv") {
		for _, run := range realRuns {
			for b, name := range batchNames[:5] {
				if row["run"] != run.log || row["batch"][:2] != name {
					continue
				}
				if want := run.took[b]; !math.IsNaN(want) {
					looked++
					same(t, run.log+" "+name, want, number(t, row["completion_s"]))
				}
				same(t, run.log+" tasks of "+name, float64(realTasks[b]), number(t, row["tasks"]))
			}
		}
	}
	if looked != 26 {
		t.Errorf("%d completions were found", looked)
	}
	for i, row := range read(t, "trace28.csv") {
		same(t, "tasks of the trace", float64(trace28[i].tasks), number(t, row["numtask"]))
		kind := map[string]string{"classify": "B6", "tag": "B2", "data": "B5", "sentiment": "B3", "er_multi": "B7"}[row["type"]]
		if trace28[i].kind != kind {
			t.Errorf("batch %d of the trace is %s, not %s", i+1, kind, trace28[i].kind)
		}
	}
}
