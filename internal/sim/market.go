package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
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
	random            Rand
	batches           []sched.Batch // open ones
	place             map[crowd.BatchID]int
	left              []int // scratch of Next
}

const (
	defaultSize  = 1
	defaultPrice = 1
	defaultStay  = 0.95
)

// parseMarket reads "market" or "market(size=,price=,stay=,seed=)"; ok says
// whether it is one.
func parseMarket(text string) (p sched.Policy, ok bool, err error) {
	text = strings.ReplaceAll(text, " ", "")
	rest, ok := strings.CutPrefix(text, "market")
	if !ok {
		return nil, false, nil
	}
	m := &market{size: defaultSize, price: defaultPrice, stay: defaultStay, seed: 1, place: map[crowd.BatchID]int{}}
	if rest != "" {
		inner, opened := strings.CutPrefix(rest, "(")
		inner, closed := strings.CutSuffix(inner, ")")
		if !opened || !closed {
			return nil, true, crowd.Fieldf("policy", "%q is not market(size=…,price=…,stay=…,seed=…)", text)
		}
		for _, option := range strings.Split(inner, ",") {
			if err := m.set(option); err != nil {
				return nil, true, err
			}
		}
	}
	m.random = NewStream(m.seed, 0, "market").At(0)
	return m, true, nil
}

func (m *market) set(option string) error {
	name, value, _ := strings.Cut(option, "=")
	f, err := strconv.ParseFloat(value, 64)
	switch {
	case name == "size" && err == nil && f >= 0 && f <= 10:
		m.size = f
	case name == "price" && err == nil && f >= 0 && f <= 10:
		m.price = f
	case name == "stay" && err == nil && f >= 0 && f <= 1:
		m.stay = f
	case name == "seed" && err == nil && f >= 0 && f <= 1<<53 && f == math.Trunc(f):
		m.seed = uint64(f)
	default:
		return crowd.Fieldf("policy", "market takes size=0 to 10, price=0 to 10, stay=0 to 1 and seed=N, not %q", option)
	}
	return nil
}

func (m *market) Name() string {
	var options []string
	for _, o := range []struct {
		name             string
		value, otherwise float64
	}{{"size", m.size, defaultSize}, {"price", m.price, defaultPrice}, {"stay", m.stay, defaultStay}, {"seed", float64(m.seed), 1}} {
		if o.value != o.otherwise {
			options = append(options, o.name+"="+strconv.FormatFloat(o.value, 'g', -1, 64))
		}
	}
	if options == nil {
		return "market"
	}
	return "market(" + strings.Join(options, ",") + ")"
}

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
