package pages

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Reports that take no time are held against the page that has them, row by row; what
// takes longer is compared between pages.
func TestThePageIsAsTheCommandPrintsIt(t *testing.T) {
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	const page = "docs/papers/cymphony.md"
	made := strings.Fields("throng paper run cymphony-events --reps 300")
	list := tableAfter(t, page, "Made by `"+strings.Join(made, " ")+"`")[1:]
	out, err := exec.Command(filepath.Join(bin, "throng"), append(made[1:], "--json")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name, Verdict string
		Ours          float64
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(list) || len(rows) < 30 {
		t.Fatalf("%d rows are printed, %s has %d", len(rows), page, len(list))
	}
	for i, cells := range list {
		ours, _ := number(t, strings.TrimSuffix(cells[3], " s"))
		if verdict, _, _ := strings.Cut(cells[5], " "); cells[0] != rows[i].Name || ours != rows[i].Ours || verdict != rows[i].Verdict {
			t.Errorf("%s has %v; printed is %+v", page, cells, rows[i])
		}
	}
}
