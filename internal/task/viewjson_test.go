package task_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/task"
)

// TestViewJSONIsTheStandardOne compares the fast encoder with encoding/json on
// generated views.
func TestViewJSONIsTheStandardOne(t *testing.T) {
	text := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-z <>&"\\]{0,12}`), rapid.String())
	cell := rapid.Custom(func(t *rapid.T) task.Cell {
		return task.Cell{Column: text.Draw(t, "column"), Label: text.Draw(t, "label"), As: task.As(text.Draw(t, "as")), Text: text.Draw(t, "text"), URL: text.Draw(t, "url")}
	})
	bound := rapid.Ptr(rapid.Float64Range(-math.MaxFloat32, math.MaxFloat32), true)
	option := rapid.Custom(func(t *rapid.T) task.ViewOption {
		return task.ViewOption{Value: text.Draw(t, "value"), Label: text.Draw(t, "label"), Key: text.Draw(t, "key")}
	})
	control := rapid.Custom(func(t *rapid.T) task.Control {
		small := rapid.IntRange(0, 5)
		return task.Control{Name: text.Draw(t, "name"), Type: task.ControlType(text.Draw(t, "type")), Label: text.Draw(t, "label"), Help: text.Draw(t, "help"),
			Required: rapid.Bool().Draw(t, "required"), Options: rapid.SliceOfN(option, 0, 3).Draw(t, "options"), Least: small.Draw(t, "least"), Most: small.Draw(t, "most"),
			Min: bound.Draw(t, "min"), Max: bound.Draw(t, "max"), Integer: rapid.Bool().Draw(t, "integer"), Unit: text.Draw(t, "unit"),
			MaxLength: small.Draw(t, "max length"), Pattern: text.Draw(t, "pattern")}
	})
	rapid.Check(t, func(t *rapid.T) {
		v := task.View{Kind: task.Kind(text.Draw(t, "kind")), Title: text.Draw(t, "title"), Instructions: text.Draw(t, "instructions"), Question: text.Draw(t, "question"),
			Cells: rapid.SliceOfN(cell, 0, 3).Draw(t, "cells"), Left: rapid.Ptr(cell, true).Draw(t, "left"), Right: rapid.Ptr(cell, true).Draw(t, "right"),
			Controls: rapid.SliceOfN(control, 0, 3).Draw(t, "controls")}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got := v.AppendJSON(nil); string(got)+"\n" != want.String() {
			t.Errorf("got  %s\nwant %s", got, &want)
		}
	})
}
