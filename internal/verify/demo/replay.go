package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	tables "github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// answers is what real people once answered.
type answers struct {
	tasks   []string // in the order of the file
	workers []string
	by      map[string]map[string]string // worker, task: label
	given   map[string][]string          // task: workers
	truth   map[string]string            // may be empty
	classes []string                     // of labels and truth, sorted
	most    int                          // labels of one task
	total   int
	dropped int // repeated (task, worker) pairs; the first stands
}

// replayed is a row of labels.csv or truth.csv.
type replayed struct{ task, worker, label string }

// The columns of labels.csv and truth.csv.
var (
	taskColumn   = tables.Column[replayed]{Name: "task", Required: true, Filled: true, Read: tables.Text(func(r *replayed) *string { return &r.task })}
	workerColumn = tables.Column[replayed]{Name: "worker", Required: true, Filled: true, Read: tables.Text(func(r *replayed) *string { return &r.worker })}
	labelColumn  = tables.Column[replayed]{Name: "label", Required: true, Filled: true, Read: tables.Text(func(r *replayed) *string { return &r.label })}
)

// readAnswers reads labels.csv (task,worker,label) and, if it is there,
// truth.csv (task,label) of a folder.
func readAnswers(dir string) (*answers, error) {
	a := &answers{by: make(map[string]map[string]string), given: make(map[string][]string), truth: make(map[string]string)}
	if err := readCSV(filepath.Join(dir, "labels.csv"), a.add, taskColumn, workerColumn, labelColumn); err != nil {
		return nil, err
	}
	if a.total == 0 {
		return nil, crowd.Fieldf("replay", "labels.csv has no rows")
	}
	err := readCSV(filepath.Join(dir, "truth.csv"), func(r *replayed) {
		a.truth[r.task] = r.label
		a.classes = append(a.classes, r.label)
	}, taskColumn, labelColumn)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	slices.Sort(a.classes)
	a.classes = slices.Compact(a.classes)
	return a, nil
}

// add takes an answer, unless the worker answered the task before.
func (a *answers) add(r *replayed) {
	if a.by[r.worker] == nil {
		a.by[r.worker] = make(map[string]string)
		a.workers = append(a.workers, r.worker)
	}
	if _, twice := a.by[r.worker][r.task]; twice {
		a.dropped++
		return
	}
	if a.given[r.task] == nil {
		a.tasks = append(a.tasks, r.task)
	}
	a.by[r.worker][r.task] = r.label
	a.given[r.task] = append(a.given[r.task], r.worker)
	a.most = max(a.most, len(a.given[r.task]))
	a.classes = append(a.classes, r.label)
	a.total++
}

// readCSV passes the rows of a file with these columns to add.
func readCSV(path string, add func(*replayed), columns ...tables.Column[replayed]) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer f.Close()
	rows, err := tables.NewReader(f, tables.Options{Format: tables.CSV})
	if err == nil {
		layout := tables.Layout[replayed]{Columns: columns}
		err = layout.Each(rows, func(r *tables.Record[replayed]) error {
			add(&r.Value)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("replay: %s: %w", path, err)
	}
	return nil
}

// template shows the task's id and asks for one of the classes, or for text
// where they are too many, too few or too long to choose from.
func (a *answers) template() json.RawMessage {
	t := task.Template{Kind: task.ChooseOne, Title: "Replay", Question: "What did you answer to ${task}?"}
	for _, c := range a.classes {
		t.Options = append(t.Options, task.Option{Value: c})
	}
	tooLong := slices.ContainsFunc(a.classes, func(c string) bool { return len(c) > task.MaxNameBytes })
	if len(t.Options) < 2 || len(t.Options) > task.MaxOptions || tooLong {
		t.Kind, t.Options = task.ShortText, nil
	}
	text, _ := json.Marshal(t) // it has no values that could fail
	return text
}

// file is the upload: every task with those who did it.
func (a *answers) file(names map[string]string) io.Reader {
	header := []string{"task", "_workers"}
	if len(a.truth) > 0 {
		header = append(header, "_gold")
	}
	return load.CSV(header, len(a.tasks), func(i int) []string {
		task := a.tasks[i]
		who := lists.Map(a.given[task], func(w string) string { return names[w] })
		row := []string{task, strings.Join(who, ";")}
		if len(a.truth) > 0 {
			row = append(row, a.truth[task])
		}
		return row
	})
}

// goodName matches the names that a worker can have here.
var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// names gives each worker their name in the file, unless that is no name here or is
// taken.
func (a *answers) names() map[string]string {
	names := make(map[string]string, len(a.workers))
	taken := map[string]bool{"admin": true, "you": true}
	for i, w := range a.workers {
		name := w
		for n := i + 1; !goodName.MatchString(name) || taken[strings.ToLower(name)]; n += len(a.workers) {
			name = "worker-" + strconv.Itoa(n)
		}
		names[w] = name
		taken[strings.ToLower(name)] = true
	}
	return names
}

// Prices of a replay: nobody is paid, but nothing is free either.
const (
	replayReward = crowd.Money(10_000)
	replayTenant = "Replay"
)

// replay sets a replay up.
func (s *server) replay(ctx context.Context, a *answers) error {
	budget, ok := replayReward.Times(int64(a.most) * int64(len(a.tasks)))
	if !ok || budget > crowd.MaxMoney {
		return crowd.Fieldf("replay", "%d tasks are too many", len(a.tasks))
	}
	tenant, err := s.AddTenant(ctx, replayTenant, 1, budget, depositNote)
	if err != nil {
		return err
	}
	s.say("%d answers of %d workers to %d tasks", a.total, len(a.workers), len(a.tasks))
	if a.dropped > 0 {
		s.say("left out: %d answers of somebody who had answered the task before", a.dropped)
	}
	names := a.names()
	if err = s.addPeople(ctx, len(a.workers), func(i int) (string, crowd.PoolID) { return names[a.workers[i]], s.Pool }); err != nil {
		return err
	}
	for i, w := range a.workers {
		s.people[i].tasks = len(a.by[w])
	}
	rule := label.Count(a.most)
	d := wire.NewBatch{
		Tenant: tenant, BatchTerms: wire.BatchTerms{
			Pool: s.Pool, Name: filepath.Base(filepath.Clean(s.Replay)), Template: wire.Template(a.template()), Redundancy: &rule,
			RewardMicros: replayReward, BudgetMicros: budget, LeaseSeconds: 600, TaskTimeSeconds: 1,
		},
	}
	if d.Name == "." || d.Name == ".." || d.Name == string(filepath.Separator) {
		d.Name = replayTenant
	}
	id, err := s.AddBatch(ctx, d, a.file(names), len(a.tasks))
	if err != nil {
		return err
	}
	original := make(map[string]string, len(names))
	for w, name := range names {
		original[name] = w
	}
	b := &batch{id: id, tenant: replayTenant, name: d.Name, answer: func(p *person, w *wire.Work) string {
		return string(task.AppendString(nil, a.by[original[p.name]][w.Values.Get("task")]))
	}}
	s.batches = append(s.batches, b)
	return s.launch(ctx, b)
}
