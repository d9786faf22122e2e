package condition_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/kit/condition"
)

// TestCells: a cell is a value of its column's type for conditions, queries and
// services alike.
func TestCells(t *testing.T) {
	t.Parallel()
	const number, boolean, text = condition.Number, condition.Bool, condition.Text
	for _, tc := range []struct {
		kind  condition.Type
		cell  string
		value any
		json  string
	}{
		{number, "", nil, "null"},
		{number, " ", nil, "null"},
		{number, "12", int64(12), "12"},
		{number, " 12\t", int64(12), "12"},
		{number, "007", int64(7), "7"},
		{number, "+5", int64(5), "5"},
		{number, "-0.50", -0.5, "-0.50"},
		{number, ".5", 0.5, "0.5"},
		{number, "1e3", 1000.0, "1e3"},
		{number, "1E3", 1000.0, "1E3"},
		{number, "12345678901234567890", 12345678901234567890.0, "12345678901234567890"},
		{boolean, "", nil, "null"},
		{boolean, "TRUE", true, "true"},
		{boolean, "yes", true, "true"},
		{boolean, " 1", true, "true"},
		{boolean, "false", false, "false"},
		{boolean, "No", false, "false"},
		{boolean, "0", false, "false"},
		{text, " 1 ", " 1 ", " 1 "},
	} {
		if v, ok := tc.kind.Value(tc.cell); !ok || v != tc.value {
			t.Errorf("%s %q is %#v %v, want %#v", tc.kind, tc.cell, v, ok, tc.value)
		}
		if tc.kind == text {
			continue
		}
		if s, ok := tc.kind.JSON(tc.cell); !ok || s != tc.json {
			t.Errorf("%s %q is %s %v in JSON, want %s", tc.kind, tc.cell, s, ok, tc.json)
		}
	}
	for kind, cells := range map[condition.Type][]string{
		number:  {"x", "0x10", "NaN", "inf", "1_000", "1e999", "1,5", "true", "--1", "1 2"},
		boolean: {"x", "2", "y", "t", "on", "01", "yes no"},
	} {
		for _, cell := range cells {
			if v, ok := kind.Value(cell); ok {
				t.Errorf("%s %q is %#v", kind, cell, v)
			}
			if s, ok := kind.JSON(cell); ok {
				t.Errorf("%s %q is %s in JSON", kind, cell, s)
			}
		}
	}
}
