package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
)

// workersShown is how many workers the quality page lists.
const workersShown = 200

// workerQuality is one worker's part in a batch.
type workerQuality struct {
	ID, Name  string
	Answers   int
	Agreement float64 // with the labels
	Right     int     // of the gold tasks
	Gold      int
	Blocked   bool
}

// quality shows how good a batch's answers are.
func (s *server) quality(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	method := cmp.Or(r.URL.Query().Get("method"), batches.Methods()[0].Name())
	q, err := s.App.Batches.Quality(r.Context(), p, id, method)
	if err != nil {
		return err
	}
	list := workersOf(q)
	more := max(0, len(list)-workersShown)
	return s.render(w, r, p, "quality", page{Title: "Quality of " + q.Batch.Name, Section: "batches", Data: map[string]any{
		"Q": q, "B": q.Batch, "Method": method, "Methods": methodNames(), "Workers": list[:len(list)-more], "More": more,
	}})
}

// workersOf says how each worker did, those who agree least first.
func workersOf(q *batches.Quality) []workerQuality {
	if q.Result == nil {
		return nil
	}
	d := q.Result.Data
	agreement, answered := q.Result.Agreement(), d.Answered()
	list := make([]workerQuality, len(answered))
	for j := range list {
		id := d.Workers()[j]
		list[j] = workerQuality{ID: id, Name: q.Names[id], Answers: answered[j], Agreement: agreement[j]}
	}
	for i := range q.Result.Labels {
		gold, ok := q.Gold[d.Tasks()[i]]
		if !ok {
			continue
		}
		workers, labels := d.Answers(i)
		for n, j := range workers {
			list[j].Gold++
			if d.Classes()[labels[n]] == gold {
				list[j].Right++
			}
		}
	}
	slices.SortFunc(list, func(a, b workerQuality) int {
		return cmp.Or(cmp.Compare(a.Agreement, b.Agreement), cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Name, b.Name))
	})
	return list
}
