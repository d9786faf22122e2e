package results

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// RowsAre says what a row of a download is.
type RowsAre string

// What rows are.
const (
	Tasks   RowsAre = "tasks"   // a task with its labels
	Answers RowsAre = "answers" // an answer that counts, with its task
)

// InputColumns names the columns of the upload in an export, as MTurk does.
func InputColumns(b *store.Batch) []string {
	return lists.Map(b.Columns, func(c string) string { return "Input." + c })
}

// questionsOf lists the fields of a batch's answers.
func questionsOf(b *store.Batch) ([]task.Question, error) {
	c, err := input.Compile(b.Template)
	if err != nil {
		return nil, err
	}
	return c.Questions(), nil
}

// The columns of an answer, before those of its task and its fields; those of answerJSON hold
// JSON.
var (
	answerColumns = []string{"assignment", "task", "worker", "state", "assigned_at", "ended_at", "seconds", "label", "answer", "counted", "late", "paid_micros"}
	answerJSON    = []string{"seconds", "answer", "counted", "late", "paid_micros", "training", "weight", "revised"}
)

// answerRows makes rows of answers.
type answerRows struct {
	batch     *store.Batch
	questions []task.Question
	named     bool // it is told who the workers are, next to their pseudonyms
}

// columns names the columns; more are those of the task, next to its input.
func (x *answerRows) columns(more ...string) []string {
	list := slices.Concat(withRevised(withWeight(withTraining(slices.Clone(answerColumns), x.batch, "training"), x.batch, "weight"), x.batch, "revised", "revised_at"), more, InputColumns(x.batch),
		lists.Map(x.questions, func(q task.Question) string { return "Answer." + q.Name }))
	if x.named {
		list = append(list, "worker_id", "worker_name")
	}
	return withDeleted(list, x.batch, deletedColumn)
}

// append appends the cells of an answer to a task with these values.
func (x *answerRows) append(row []string, a *Answer, values []string, more ...string) []string {
	row = append(row, a.Assignment.String(), a.Task.String(), a.By.Pseudonym, string(a.State),
		stamp(a.AssignedAt), stamp(a.EndedAt), seconds(a.AssignedAt, a.EndedAt), a.Key, string(a.Body),
		strconv.FormatBool(a.Counted), strconv.FormatBool(a.Late), strconv.FormatInt(int64(a.Paid), 10))
	row = withRevised(withWeight(withTraining(row, x.batch, strconv.FormatBool(a.Training)), x.batch, a.Weight.String()), x.batch, strconv.Itoa(a.Revised), stamp(a.RevisedAt))
	row = append(append(row, more...), padded(values, len(x.batch.Columns))...)
	fields := Values(a)
	for i := range x.questions {
		row = append(row, task.Text(fields[x.questions[i].Name]))
	}
	if x.named {
		row = append(row, a.By.ID.String(), a.By.Name)
	}
	return withDeleted(row, x.batch, Deleted(x.batch))
}

// deletedColumn is the column that the files have of batches of which something was deleted,
// so that nobody takes what is empty for what was given.
const deletedColumn = "deleted"

// Deleted says what of a batch was deleted after it had been kept for long enough, and when;
// "": nothing.
func Deleted(b *store.Batch) string {
	var parts []string
	if !b.AnswersDeletedAt.IsZero() {
		parts = append(parts, "answers on "+b.AnswersDeletedAt.UTC().Format(time.DateOnly))
	}
	if !b.FilesDeletedAt.IsZero() {
		parts = append(parts, "tasks' data on "+b.FilesDeletedAt.UTC().Format(time.DateOnly))
	}
	return strings.Join(parts, ", ")
}

// withDeleted appends a cell to a row, or to the columns, of a batch of which something was
// deleted.
func withDeleted(row []string, b *store.Batch, cell string) []string {
	if Deleted(b) != "" {
		row = append(row, cell)
	}
	return row
}

// withTraining appends a cell to a row, or to the columns, of a batch that trains people: whether the task is for that.
func withTraining(row []string, b *store.Batch, cell string) []string {
	if b.Spec.Trains() {
		row = append(row, cell)
	}
	return row
}

// withRevised appends cells to a row, or to the columns, of a batch whose answers are revised: how often an answer
// was, and when last.
func withRevised(row []string, b *store.Batch, cells ...string) []string {
	if b.Spec.Revise > 0 {
		row = append(row, cells...)
	}
	return row
}

// withWeight appends a cell to a row of an answer, or to the columns, of a batch with a rule that lowers weights: what
// the answer counts.
func withWeight(row []string, b *store.Batch, cell string) []string {
	if b.Spec.LowersWeights() {
		row = append(row, cell)
	}
	return row
}

// LabelTable makes a table of a batch's tasks with a label each.
func LabelTable(b *store.Batch, list iter.Seq2[store.LabelledTask, error]) Table {
	columns := append(withReview(withTraining([]string{"task", "label", "confidence", "answers", "tie", "undecided", "gold", "corrected"}, b, "training"), b, "review"), InputColumns(b)...)
	var row []string
	return Table{withDeleted(columns, b, deletedColumn), []string{"confidence", "answers", "tie", "undecided", "corrected", "training"}, lists.MapRead(list, func(t store.LabelledTask) []string {
		right := strconv.FormatBool(t.Corrected != nil)
		if l := t.Label; l == nil {
			row = append(row[:0], t.Task.String(), "", "", "", "", "", t.Gold, right)
		} else {
			row = append(row[:0], t.Task.String(), l.Value, confidence(l), strconv.Itoa(l.Answers),
				strconv.FormatBool(l.Tie), strconv.FormatBool(l.Undecided), t.Gold, right)
		}
		row = withReview(withTraining(row, b, strconv.FormatBool(t.Lesson)), b, stateOf(t.Review))
		return withDeleted(append(row, padded(t.Values, len(b.Columns))...), b, Deleted(b))
	})}
}

// AnnotationTable makes a table of a batch's assignments. If it is named, it says who the
// workers are.
func AnnotationTable(b *store.Batch, list iter.Seq2[Answer, error], named bool) (Table, error) {
	questions, err := questionsOf(b)
	if err != nil {
		return Table{}, err
	}
	rows := answerRows{b, questions, named}
	var row []string
	return Table{rows.columns(), answerJSON, lists.MapRead(list, func(a Answer) []string {
		row = rows.append(row[:0], &a, a.Values)
		return row
	})}, nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func seconds(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return strconv.FormatFloat(to.Sub(from).Seconds(), 'f', 3, 64)
}

// Table is a download as a table.
type Table struct {
	Columns []string
	JSON    []string // of Columns, those whose cells are JSON
	Rows    iter.Seq2[[]string, error]
}

// Table makes a table of a download. If it is named, it says who gave each answer.
func (d *Download) Table(rows RowsAre, named bool) (Table, error) {
	if rows == Answers {
		return d.answers(named), nil
	}
	if named {
		return Table{}, crowd.Fieldf("names", "goes with rows of answers: a task is of no single worker")
	}
	t := Table{Columns: []string{"task"}, JSON: []string{"answers", "agree", "wrong", "corrected", "training"}}
	labels := false // one field labels the task
	for i := range d.Questions {
		labels = labels || d.Questions[i].Labels
	}
	if labels {
		t.Columns = append(t.Columns, "label", "confidence", "tie", "undecided")
		t.JSON = append(t.JSON, "confidence", "tie", "undecided")
	}
	t.Columns = append(withReview(withTraining(append(t.Columns, "answers", "agree", "known", "wrong", "corrected"), &d.Batch, "training"), &d.Batch, "review"), InputColumns(&d.Batch)...)
	for i := range d.Questions {
		name := "Answer." + d.Questions[i].Name
		t.Columns = append(t.Columns, name)
		if !d.Questions[i].Labels {
			t.Columns = append(t.Columns, name+".confidence")
			t.JSON = append(t.JSON, name+".confidence")
		}
	}
	t.Columns = withDeleted(t.Columns, &d.Batch, deletedColumn)
	t.Rows = lists.MapRead(d.Rows, func(r Row) []string { return d.taskCells(&r, labels) })
	return t, nil
}

func (d *Download) taskCells(r *Row, labels bool) []string {
	cells := []string{r.Task.String()}
	if labels {
		if l := r.Label; l == nil {
			cells = append(cells, "", "", "", "")
		} else {
			cells = append(cells, l.Value, confidence(l), strconv.FormatBool(l.Tie), strconv.FormatBool(l.Undecided))
		}
	}
	agree := ""
	if len(r.Answers) > 1 {
		agree = strconv.FormatBool(!r.Differ)
	}
	cells = append(cells, strconv.Itoa(len(r.Answers)), agree, r.Gold, strconv.FormatBool(r.Wrong), strconv.FormatBool(r.Corrected != nil))
	cells = append(withReview(withTraining(cells, &d.Batch, strconv.FormatBool(r.Lesson)), &d.Batch, stateOf(r.Review)), padded(r.Values, len(d.Batch.Columns))...)
	of := make(map[string]*engine.Label, len(r.Fields))
	for _, f := range r.Fields {
		of[f.Name] = f.Label
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		l := of[q.Name]
		if q.Labels {
			l = r.Label
		}
		value, sure := "", ""
		if l != nil {
			value, sure = l.Value, confidence(l)
		}
		if cells = append(cells, value); !q.Labels {
			cells = append(cells, sure)
		}
	}
	return withDeleted(cells, &d.Batch, Deleted(&d.Batch))
}

func confidence(l *engine.Label) string { return strconv.FormatFloat(l.Confidence, 'g', 6, 64) }

// padded are the cells of a task, as many as there are columns.
func padded(cells []string, n int) []string {
	out := make([]string, n)
	copy(out, cells)
	return out
}

func (d *Download) answers(named bool) Table {
	rows := answerRows{&d.Batch, d.Questions, named}
	t := Table{Columns: rows.columns("task_label", "confidence"), JSON: append([]string{"confidence"}, answerJSON...)}
	t.Rows = func(yield func([]string, error) bool) {
		for r, err := range d.Rows {
			if err != nil {
				yield(nil, err)
				return
			}
			value, sure := "", ""
			if r.Label != nil {
				value, sure = r.Label.Value, confidence(r.Label)
			}
			for i := range r.Answers {
				r.Answers[i].Training = r.Lesson
				if !yield(rows.append(nil, &r.Answers[i], r.Values, value, sure), nil) {
					return
				}
			}
		}
	}
	return t
}

// FileName tells a download from others: by the batch, its name, what its rows are, by which
// filter, and the day. Its format is for who writes it to add.
func (d *Download) FileName(rows RowsAre, f Filter, at time.Time) string {
	parts := []string{d.Batch.Spec.ID.String(), slug(d.Batch.Name, 40), string(rows), slug(f.String(), 40), at.UTC().Format(time.DateOnly)}
	return strings.Join(lists.Filter(parts, func(p string) bool { return p != "" }), "_")
}

// slug is a text in letters, digits and dashes that every file system takes.
func slug(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, text)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '-' }), "-")
	return strings.TrimRight(text[:min(len(text), most)], "-")
}
