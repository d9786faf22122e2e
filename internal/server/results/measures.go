package results

import (
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/label"
)

// WorkerQuality is one worker's part in a batch.
type WorkerQuality struct {
	By          pseudonym.Worker
	Blocked     bool    // by the batch's tenant
	Answers     int     // that count
	Agreement   float64 // share of the answers that equal the task's label
	Reliability label.Reliability
	Right       int          // of the answers to tasks with a known answer
	Gold        int          // answers to tasks with a known answer
	Taught      Taught       // in none of the other figures
	Weight      label.Weight // that their answers count
	Accuracy    *float64     // by the method's model; nil: it has none
	Information *float64     // likewise; nil also where it is not defined
}

// LessWeight reports whether a rule has lowered the weight of their answers.
func (w *WorkerQuality) LessWeight() bool { return w.Weight < label.Full }

// Measures tell how the workers of a batch do, by what a method makes of their answers.
type Measures struct {
	result       *label.Result
	agreement    []float64
	answered     []int
	reliable     []label.Reliability
	right, known []int
}

// Measure compares the answers with a result, and with what is known.
func Measure(r *label.Result, truth label.Truth) *Measures {
	m := &Measures{result: r, agreement: r.Agreement(), answered: r.Data.Answered(), reliable: r.Reliabilities()}
	m.right, m.known = r.Data.Right(truth)
	return m
}

// Of returns the part of the worker at a place in the data, without who they are.
func (m *Measures) Of(j int) WorkerQuality {
	w := WorkerQuality{Answers: m.answered[j], Agreement: m.agreement[j], Reliability: m.reliable[j], Right: m.right[j], Gold: m.known[j]}
	if model := m.result.Model; model != nil {
		accuracy := model.Accuracy(j)
		w.Accuracy = &accuracy
		if score, ok := model.SpammerScore(j); ok {
			w.Information = &score
		}
	}
	return w
}
