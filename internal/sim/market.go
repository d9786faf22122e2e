package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
	"github.com/throng-dev/throng/sched"
)

// market is a pull market, as the large crowd platforms were: nobody decides,
// each worker picks a batch from a list. It exists only in simulation, to
// compare with.
//
// A worker stays with a batch while it has tasks for them, with probability
// stay. Otherwise they pick one of the open batches with probability
// proportional to (tasks waiting)^size × priority^price: people prefer large
// batches, which spare them the search (Difallah et al. 2019, §1.1).
//
// Its choices are random, from a sequence of its own.
type market struct {
	size, price, stay float64
	seed              uint64
	name              string
	random            Rand
	batches           []sched.Batch // open ones
	place             map[crowd.BatchID]int
	left              []int // scratch of Next
}

const maxMarketText = 256

// parseMarket reads "market" or "market(size=,price=,stay=,seed=)"; ok reports
// whether it is one.
func parseMarket(text string) (p sched.Policy, ok bool, err error) {
	f, err := textform.Parse(text, maxMarketText)
	if f.Name != "market" {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, crowd.Fieldf("policy", "%s", err)
	}
	m := &market{
		size:  f.Number("size", textform.Range[float64]{Usual: 1, Most: 10}),
		price: f.Number("price", textform.Range[float64]{Usual: 1, Most: 10}),
		stay:  f.Number("stay", textform.Range[float64]{Usual: 0.95, Most: 1}),
		seed:  f.Uint("seed", textform.Range[uint64]{Usual: 1, Most: 1 << 53}),
		place: map[crowd.BatchID]int{},
	}
	m.random = NewStream(m.seed, 0, "market").At(0)
	m.name = f.String()
	if err := f.Finish(0, ""); err != nil {
		return nil, true, crowd.Fieldf("policy", "%s", err)
	}
	return m, true, nil
}

func (m *market) Name() string { return m.name }

func (m *market) Set(b *sched.Batch) {
	if !b.Open() {
		m.Remove(b.ID)
		return
	}
	if i, known := m.place[b.ID]; known {
		m.batches[i] = *b
		return
	}
	m.place[b.ID] = len(m.batches)
	m.batches = append(m.batches, *b)
}

func (m *market) Remove(id crowd.BatchID) {
	i, known := m.place[id]
	if !known {
		return
	}
	last := len(m.batches) - 1
	m.batches[i] = m.batches[last]
	m.place[m.batches[i].ID] = i
	m.batches = m.batches[:last]
	delete(m.place, id)
}

// appeal is the weight of a batch in a worker's choice.
func (m *market) appeal(b *sched.Batch) float64 {
	if !b.Assignable {
		return 0
	}
	return math.Pow(float64(max(b.Planned-b.Completed-b.Running, 1)), m.size) * math.Pow(b.Priority, m.price)
}

func (m *market) Next(_ time.Time, w sched.Worker) crowd.BatchID {
	last, stays := w.LastBatch(), m.random.Float64() < m.stay
	if i, open := m.place[last]; open && stays && m.suits(&m.batches[i], w) {
		return last
	}
	m.left = m.left[:0]
	sum := 0.0
	for i := range m.batches {
		if b := &m.batches[i]; b.Assignable && w.MayClass(b.Class) {
			m.left = append(m.left, i)
			sum += m.appeal(b)
		}
	}
	for len(m.left) > 0 {
		u, k := m.random.Float64()*sum, len(m.left)-1
		for j, i := range m.left {
			if u -= m.appeal(&m.batches[i]); u < 0 {
				k = j
				break
			}
		}
		b := &m.batches[m.left[k]]
		if w.MayBatch(b.ID) {
			return b.ID
		}
		sum -= m.appeal(b)
		m.left = append(m.left[:k], m.left[k+1:]...)
	}
	return 0
}

func (m *market) suits(b *sched.Batch, w sched.Worker) bool {
	return b.Assignable && w.MayClass(b.Class) && w.MayBatch(b.ID)
}

func (m *market) Key(id crowd.BatchID) (sched.Key, bool) {
	i, known := m.place[id]
	if !known {
		return sched.Key{}, false
	}
	b := &m.batches[i]
	return sched.Key{
		Policy: m.Name(), Batch: id, Candidate: b.Assignable,
		Words:   fmt.Sprintf("workers pick a batch with probability proportional to %g", m.appeal(b)),
		Figures: []sched.Figure{{Name: "appeal", Value: sched.Number(m.appeal(b))}},
		Rank:    []sched.Number{sched.Number(-m.appeal(b))},
		Turn:    b.Turn,
	}, true
}
