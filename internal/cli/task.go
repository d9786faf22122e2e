package cli

import (
	"encoding/json"
	"io"

	"github.com/throng-dev/throng/internal/task"
)

// Task is "throng task".
type Task struct {
	Kinds TaskKinds `cmd:"" help:"List the kinds of question, with their settings or an example of each."`
}

// TaskKinds is "throng task kinds".
type TaskKinds struct{ Output }

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
	for _, d := range task.Descriptors() {
		row := make(map[string]string, len(d.Example.Row.Columns))
		for i, column := range d.Example.Row.Columns {
			row[column] = d.Example.Row.Cells[i]
		}
		list = append(list, kindExample{Kind: d.Kind, Example: d.Example.Template, Row: row, Answer: d.Example.Answer})
	}
	return x.print(c, list, func(w io.Writer) {
		writeTable(w, task.Descriptors(), "KIND|SETTINGS|LABELS BY|FOR", func(d *task.Descriptor) []any {
			return []any{d.Kind, settingNames(d), d.Methods()[0].Name(), d.Hint}
		})
	})
}

func settingNames(d *task.Descriptor) string {
	return joined(d.Settings, func(s *task.Setting) string { return s.Name })
}
