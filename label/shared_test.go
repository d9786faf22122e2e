package label

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
)

// pool is one public data set of shared/data/labels.
type pool struct {
	*Dataset
	truth, gold Truth // nil where the set has none
}

func readPool(t testing.TB, name string) pool {
	t.Helper()
	var b Builder
	b.KeepRepeats = name == "ds1979"
	for _, row := range readCSV(t, name, "labels.csv") {
		b.Add(Answer{Task: row[0], Worker: row[1], Label: row[2]})
	}
	truth, gold := readKnown(t, name, "truth.csv"), readKnown(t, name, "gold.csv")
	for _, class := range truth { // "classes: all that occur in labels.csv or truth.csv"
		b.Class(class)
	}
	p := pool{Dataset: b.Build()}
	p.truth, p.gold = p.known(t, truth), p.known(t, gold)
	return p
}

func (p pool) known(t testing.TB, labels map[string]string) Truth {
	t.Helper()
	if labels == nil {
		return nil
	}
	truth, err := p.Truth(labels)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

// readKnown reads a file of task,label, or nil where the set has no such file.
func readKnown(t testing.TB, pool, file string) map[string]string {
	t.Helper()
	if _, err := os.Stat(sharedtest.Dir(t, "labels", pool) + "/" + file); err != nil {
		return nil
	}
	known := map[string]string{}
	for _, row := range readCSV(t, pool, file) {
		known[row[0]] = row[1]
	}
	return known
}

// readCSV returns the rows below the header; a file without rows fails.
func readCSV(t testing.TB, pool, file string) [][]string {
	t.Helper()
	rows := readTable(t, pool, file)[1:]
	if len(rows) == 0 {
		t.Fatalf("%s/%s has no rows", pool, file)
	}
	return rows
}

func readTable(t testing.TB, pool, file string) [][]string {
	t.Helper()
	f, err := os.Open(sharedtest.Dir(t, "labels", pool, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s/%s: %v", pool, file, err)
	}
	return rows
}

// readPosteriors reads a file of task,p_<class>,...: the rows by task, in the
// order of d.Classes.
func readPosteriors(t testing.TB, d *Dataset, pool, file string) map[string][]float64 {
	t.Helper()
	table := readTable(t, pool, file)
	var column []int // of each class
	for _, class := range d.Classes() {
		for c, title := range table[0] {
			if strings.TrimPrefix(strings.TrimPrefix(title, "p"), "_") == class {
				column = append(column, c)
			}
		}
	}
	if len(column) != len(d.Classes()) || len(table) != len(d.Tasks())+1 {
		t.Fatalf("%s/%s: %d classes and %d tasks, want %d and %d", pool, file, len(column), len(table)-1, len(d.Classes()), len(d.Tasks()))
	}
	rows := map[string][]float64{}
	for _, row := range table[1:] {
		for _, c := range column {
			rows[row[0]] = append(rows[row[0]], number(t, row[c]))
		}
	}
	return rows
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
