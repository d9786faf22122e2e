package pool

import (
	"cmp"
	"slices"
)

// lists has what the people prefer, and for each slot (a giver, a dest and a
// kind) the giver's people in the order of how much they like the dest, ties by
// id.
type lists struct {
	dests int
	likes []float64  // by person and dest: see search.liking
	knows []bool     // by person and dest: see search.kind
	used  []bool     // by dest and kind: whether there is anybody
	slots [][]liking // in order, without those who have been passed over
}

// A liking is a person and what their preference for a dest is worth.
type liking struct {
	gain float64
	who  int32
}

func (l *lists) fill(s *search) {
	l.dests = len(s.dests)
	l.likes = make([]float64, len(s.idle)*l.dests)
	l.knows = make([]bool, len(s.idle)*l.dests)
	l.used = make([]bool, l.dests*kinds)
	l.slots = make([][]liking, len(s.gives)*l.dests*kinds)
	for w := range s.idle {
		g, who := int(s.idle[w].giver), s.idle[w].who
		own := s.pools[s.gives[g].pool].At
		likesOwn := who.PrefersAt(own)
		for d, i := range s.dests {
			at, to := w*l.dests+d, s.pools[i].At
			l.likes[at] = s.perLiking * (who.PrefersAt(to) - likesOwn)
			l.knows[at] = who.KnowsAt(to, own)
			if i == s.gives[g].pool {
				continue
			}
			slot := s.slot(g, d, s.kind(int32(w), d))
			l.slots[slot] = append(l.slots[slot], liking{l.likes[at], int32(w)})
			l.used[slot%len(l.used)] = true
		}
	}
	for _, list := range l.slots {
		slices.SortFunc(list, func(a, b liking) int {
			if a.gain != b.gain {
				return cmp.Compare(b.gain, a.gain)
			}
			return cmp.Compare(a.who, b.who) // the people of a giver are in the order of their ids
		})
	}
}

// top returns the first person of a slot who stays, or nobody. Whoever has been
// passed over is not found again.
func (l *lists) top(s *search, slot int) int32 {
	list := l.slots[slot]
	for len(list) > 0 && s.dest[list[0].who] != stays {
		list = list[1:]
	}
	l.slots[slot] = list
	if len(list) == 0 {
		return nobody
	}
	return list[0].who
}
