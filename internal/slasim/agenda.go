package slasim

import "time"

// what happens.
type what uint8

const (
	begin   what = iota // of process number
	arrive              // of step number's request at a proxy that takes time
	reply               // to it
	iterate             // of the loop of service number
	decided             // its priorities are ready
)

// A thing is put down in the agenda.
type thing struct {
	at     time.Duration
	turn   uint64 // equals happen in the order in which they were put down
	what   what
	number int
	p      *process
	ranked []request
}

func (t *thing) before(o *thing) bool {
	return t.at < o.at || t.at == o.at && t.turn < o.turn
}

// agenda is a heap of what is to happen.
type agenda struct {
	list []*thing
	free []*thing
	turn uint64
}

func (a *agenda) push(t thing) {
	a.turn++
	t.turn = a.turn
	p := new(thing)
	if n := len(a.free); n > 0 {
		p, a.free = a.free[n-1], a.free[:n-1]
	}
	*p = t
	a.list = append(a.list, p)
	i := len(a.list) - 1
	for i > 0 && p.before(a.list[(i-1)/2]) {
		a.list[i] = a.list[(i-1)/2]
		i = (i - 1) / 2
	}
	a.list[i] = p
}

func (a *agenda) pop() (thing, bool) {
	if len(a.list) == 0 {
		return thing{}, false
	}
	first, last := a.list[0], a.list[len(a.list)-1]
	a.list[len(a.list)-1] = nil
	a.list = a.list[:len(a.list)-1]
	if n := len(a.list); n > 0 {
		i := 0
		for {
			c := 2*i + 1
			if c >= n {
				break
			}
			if c+1 < n && a.list[c+1].before(a.list[c]) {
				c++
			}
			if !a.list[c].before(last) {
				break
			}
			a.list[i] = a.list[c]
			i = c
		}
		a.list[i] = last
	}
	t := *first
	*first = thing{}
	a.free = append(a.free, first)
	return t, true
}
