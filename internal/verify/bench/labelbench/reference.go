package labelbench

import (
	"math"

	"github.com/throng-dev/throng/label"
)

// reference is label.DawidSkene written as its definition reads, without gold: nothing is
// laid out for the memory, and no logarithm is kept. It is what a fit is compared with, in
// time and in what comes out.
func reference(d *label.Dataset, m label.DawidSkene) [][]float64 {
	classes, tasks := len(d.Classes()), len(d.Tasks())
	q := make([][]float64, tasks)
	for i := range q {
		q[i] = make([]float64, classes)
		_, labels := d.Answers(i)
		for _, l := range labels {
			q[i][l] += 1 / float64(len(labels))
		}
	}
	for range m.Iterations {
		p := make([]float64, classes)
		for k := range p {
			p[k] = m.ClassMass
			for i := range q {
				p[k] += q[i][k]
			}
			p[k] /= m.ClassMass*float64(classes) + float64(tasks)
		}
		pi := make([][][]float64, len(d.Workers()))
		for j := range pi {
			pi[j] = make([][]float64, classes)
			for k := range pi[j] {
				pi[j][k] = make([]float64, classes)
				for l := range pi[j][k] {
					pi[j][k][l] = m.Strength * (1 - m.Diagonal) / float64(classes-1)
				}
				pi[j][k][k] = m.Strength * m.Diagonal
			}
		}
		for i := range q {
			workers, labels := d.Answers(i)
			for n, j := range workers {
				for k := range classes {
					pi[j][k][labels[n]] += q[i][k]
				}
			}
		}
		for j := range pi {
			for _, row := range pi[j] {
				sum := 0.0
				for _, x := range row {
					sum += x
				}
				for l := range row {
					row[l] /= sum
				}
			}
		}
		for i := range q {
			workers, labels := d.Answers(i)
			sum := 0.0
			for k := range classes {
				log := math.Log(p[k])
				for n, j := range workers {
					log += math.Log(pi[j][k][labels[n]])
				}
				q[i][k] = math.Exp(log)
				sum += q[i][k]
			}
			for k := range q[i] {
				q[i][k] /= sum
			}
		}
	}
	return q
}
