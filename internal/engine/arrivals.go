package engine

import (
	"time"

	"github.com/throng-dev/throng/pool"
)

// wanted counts answers that came to be wanted, or with n below 0 those that are wanted no more.
func (e *Engine) wanted(now time.Time, b *batch, n int) {
	switch {
	case n == 0 || b.spec.Training:
	case n > 0:
		e.counters.Arrived += int64(n)
		b.arrivals.add(now.UnixNano(), int64(n))
	default:
		e.counters.Withdrawn -= int64(n)
		e.withdrawn.add(now, &b.arrivals, int64(-n))
	}
}

// arrivals remembers when the answers to a batch came to be wanted, for when they are withdrawn.
// The longer ago, the less exactly. Its zero value is that none have come.
type arrivals struct {
	list [8]arrival // in order of time
	n    int
}

type arrival struct {
	from, to int64 // ns since 1970
	answers  int64
}

// add enters answers. Those of a second are entered together.
func (a *arrivals) add(now, answers int64) {
	if a.n > 0 {
		if last := &a.list[a.n-1]; now-last.from < int64(time.Second) {
			last.to = max(last.to, now)
			last.answers += answers
			return
		}
	}
	if a.n == len(a.list) {
		a.merge(now)
	}
	a.list[a.n] = arrival{now, now, answers}
	a.n++
}

// merge makes room: of two neighbours it makes one, which lasts the least compared with how
// long ago it was.
func (a *arrivals) merge(now int64) {
	lasts := func(i int) float64 {
		return float64(a.list[i+1].to-a.list[i].from) / float64(now-a.list[i].from)
	}
	at := 0
	for i := 1; i < a.n-1; i++ {
		if lasts(i) < lasts(at) {
			at = i
		}
	}
	a.list[at].to = a.list[at+1].to
	a.list[at].answers += a.list[at+1].answers
	copy(a.list[at+1:a.n-1], a.list[at+2:a.n])
	a.n--
}

// restoreArrivals says when the answers came that are wanted of a batch that goes on after a
// restart. Of an open one it is not kept.
func (b *batch) restoreArrivals(now time.Time) {
	from := b.launchedAt.UnixNano()
	to := from
	if b.spec.Open {
		to = max(from, now.UnixNano())
	}
	b.arrivals = arrivals{n: 1}
	b.arrivals.list[0] = arrival{from, to, int64(b.planned)}
}

// withdrawals remembers which answers were withdrawn lately.
type withdrawals struct {
	list []withdrawal // in order of time
}

type withdrawal struct {
	at   int64 // ns since 1970
	what arrival
}

// mostWithdrawals is how many are remembered at least.
const mostWithdrawals = 512

// add withdraws answers to a batch, those first that came last: the others are likely to
// have been given.
func (w *withdrawals) add(now time.Time, from *arrivals, answers int64) {
	at := now.UnixNano()
	for from.n > 0 && answers > 0 {
		last := &from.list[from.n-1]
		n := min(answers, last.answers)
		w.enter(withdrawal{at, arrival{last.from, last.to, n}})
		answers -= n
		if last.answers -= n; last.answers == 0 {
			from.n--
		}
	}
}

// enter enters one: with the last one, if it came at the same time.
func (w *withdrawals) enter(x withdrawal) {
	if n := len(w.list); n > 0 {
		if last := &w.list[n-1]; last.what.from == x.what.from && last.what.to == x.what.to {
			last.at = x.at
			last.what.answers += x.what.answers
			return
		}
	}
	if len(w.list) == 2*mostWithdrawals {
		w.list = append(w.list[:0], w.list[mostWithdrawals:]...)
	}
	w.list = append(w.list, x)
}

// since returns what was withdrawn from a time on.
func (w *withdrawals) since(t time.Time) []pool.Withdrawal {
	var list []pool.Withdrawal
	for _, x := range w.list {
		if x.at >= t.UnixNano() {
			list = append(list, pool.Withdrawal{From: time.Unix(0, x.what.from), To: time.Unix(0, x.what.to), Answers: x.what.answers})
		}
	}
	return list
}
