package cli

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/throng-dev/throng/internal/task"
)

// Task is "throng task".
type Task struct {
	Kinds TaskKinds `cmd:"" help:"List the kinds of question, with their settings or an example of each."`
}

// Help is the long help.
func (*Task) Help() string {
	return `A task asks a question of some kind: to choose, to compare, to rate, to type. What a kind is shown like and which answers fit it is said by a template; docs/templates.md explains them.`
}

// TaskKinds is "throng task kinds".
type TaskKinds struct{ Output }

// Help is the long help.
func (*TaskKinds) Help() string {
	return `Lists every kind of question: what it is for, the settings that a template of the kind may have next to title, instructions and question, and how the answers to a task become its label while they come in. It needs no server.

With --json, for each kind: kind; example, a template; row, a row of data that fits it; answer, an answer to it. The example is what "throng batch create --template" takes, the row a line of its --file as JSON Lines, the answer what a worker's program submits.

Examples:
  throng task kinds
  throng task kinds --json
  throng batch create --kind rating --set points=7 --set high=excellent --question 'How good is it?' --name r --file answers.csv --reward 0.02`
}

// kindExample is a kind as the command prints it for programs.
type kindExample struct {
	Kind    task.Kind         `json:"kind"`
	Example task.Template     `json:"example"`
	Row     map[string]string `json:"row"`
	Answer  json.RawMessage   `json:"answer"`
}

// Run lists the kinds.
func (x *TaskKinds) Run(c *Context) error {
	list := make([]kindExample, 0, len(task.Descriptors()))
	rows := [][]string{{"KIND", "SETTINGS", "LABEL", "FOR"}}
	for _, d := range task.Descriptors() {
		row := make(map[string]string, len(d.Example.Row.Columns))
		for i, column := range d.Example.Row.Columns {
			row[column] = d.Example.Row.Cells[i]
		}
		list = append(list, kindExample{Kind: d.Kind, Example: d.Example.Template, Row: row, Answer: d.Example.Answer})
		label := "majority"
		if d.Ordinal {
			label = "median"
		}
		rows = append(rows, []string{string(d.Kind), strings.Join(settingNames(d), ", "), label, d.Hint})
	}
	return x.print(c, list, func(w io.Writer) { columns(w, rows) })
}

func settingNames(d *task.Descriptor) []string {
	names := make([]string, len(d.Settings))
	for i, s := range d.Settings {
		names[i] = s.Name
	}
	return names
}
