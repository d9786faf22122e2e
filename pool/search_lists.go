package pool

import (
	"cmp"
	"slices"
)

// Into how many parts a list is divided by preference: the most, the least, and how
// many people of a giver there are for each.
const (
	mostBuckets  = 128
	leastBuckets = 4
	perBucket    = 8
)

// With more than manyPairs pairs of a person and a dest, only so many favourites
// of each person are listed at first. The others come to a list
// when that has nobody left.
const (
	manyPairs  = 200_000
	favourites = 5
)

// lists has what the people prefer, and for each slot (a giver, a dest and a
// kind) the giver's people in the order of how much they like the dest, ties by
// id. Few of them are ever asked for, so they are only put into buckets, and a
// bucket is put in order when it is reached: an order of all would take most of
// the time of a plan.
type lists struct {
	dests   int
	buckets int       // of each slot
	likes   []float64 // by person and dest: see search.liking
	knows   []bool    // by person and dest: see search.kind
	used    []bool    // by dest and kind: whether there is anybody
	favs    []int32   // by person, so many: the favourites, which alone are listed at first; nil: all are

	ends  []int32  // by slot and bucket, best first: the end of the bucket in all
	all   []liking // one slot after the other
	slots []list
}

type list struct {
	bucket int  // the next one to be put in order
	at     int  // the first of the one before that has not been passed over
	end    int  // of it
	all    bool // what was not listed at first is now
}

// A liking is a person and how much he likes a dest, rounded.
type liking struct {
	gain float32
	who  int32
}

func (l *lists) fill(s *search) {
	l.dests = len(s.dests)
	slots := len(s.gives) * l.dests * kinds
	l.likes = make([]float64, len(s.idle)*l.dests)
	l.knows = make([]bool, len(s.idle)*l.dests)
	l.used = make([]bool, l.dests*kinds)
	l.buckets = min(max(len(s.idle)/len(s.gives)/perBucket, leastBuckets), mostBuckets)
	l.ends = make([]int32, slots*l.buckets)
	if len(s.idle)*l.dests > manyPairs && l.dests > favourites {
		l.favs = make([]int32, len(s.idle)*favourites)
		l.all = make([]liking, 0, len(s.idle)*favourites)
	}
	others := make([]int32, 0, l.dests) // dests but the giver's own pool
	l.slots = make([]list, slots)
	to := make([]int, l.dests)
	for d, i := range s.dests {
		to[d] = s.pools[i].At
	}
	end := int32(0)
	for g := range s.gives {
		give := &s.gives[g]
		others = others[:0]
		for d, i := range s.dests {
			if i != give.pool {
				others = append(others, int32(d))
			}
		}
		least, most := l.weigh(s, g, to, others)
		scale := 0.0
		if most > least {
			scale = float64(l.buckets) / (most - least)
		}
		ends := l.ends[s.slot(g, 0, 0)*l.buckets : s.slot(g+1, 0, 0)*l.buckets]
		// The place of a liking is found by counting: how many there are in each
		// bucket, where each bucket starts, and then one after the other.
		for w := give.first; w < give.end; w++ {
			row := w * l.dests
			for _, d := range l.listed(w, others) {
				ends[l.bucket(row, int(d), (most-l.likes[row+int(d)])*scale)]++
			}
		}
		for at, n := range ends {
			ends[at] = end
			end += n
		}
		l.all = append(l.all, make([]liking, int(end)-len(l.all))...)
		for w := give.first; w < give.end; w++ {
			row := w * l.dests
			for _, d := range l.listed(w, others) {
				x := l.likes[row+int(d)]
				place := &ends[l.bucket(row, int(d), (most-x)*scale)]
				l.all[*place] = liking{float32(x), int32(w)}
				*place++
			}
		}
		for slot := s.slot(g, 0, 0); slot < s.slot(g+1, 0, 0); slot++ {
			l.slots[slot].all = l.favs == nil
			if l.favs != nil || l.start(slot, 0) < l.start(slot+1, 0) {
				l.used[slot%len(l.used)] = true
			}
		}
	}
}

// favour sets favs to the dests that are liked best, the first of those that are
// liked the same. There are at least as many others.
func favour(likes []float64, others, favs []int32) {
	for i, d := range others {
		if i >= favourites {
			if likes[d] <= likes[favs[favourites-1]] {
				continue
			}
			i = favourites - 1
		}
		for ; i > 0 && likes[favs[i-1]] < likes[d]; i-- {
			favs[i] = favs[i-1]
		}
		favs[i] = d
	}
}

// listed returns the dests for which a person is listed at first.
func (l *lists) listed(w int, others []int32) []int32 {
	if l.favs == nil {
		return others
	}
	return l.favs[w*favourites : (w+1)*favourites]
}

// bucket returns the bucket of a dest, its kind and a place from 0 to buckets,
// among those of a giver.
func (l *lists) bucket(row, d int, place float64) int {
	at := d * kinds
	if l.knows[row+d] {
		at += ready
	}
	return at*l.buckets + min(max(int(place), 0), l.buckets-1)
}

// weigh takes down what the people of a giver prefer and know, and returns the
// least and most of the former.
func (l *lists) weigh(s *search, g int, to []int, others []int32) (least, most float64) {
	own := s.pools[s.gives[g].pool].At
	for w := s.gives[g].first; w < s.gives[g].end; w++ {
		who := s.idle[w].who
		likesOwn := who.PrefersAt(own)
		row := w * l.dests
		likes, knows := l.likes[row:row+len(to)], l.knows[row:row+len(to)]
		for d, at := range to {
			x := s.perLiking * (who.PrefersAt(at) - likesOwn)
			likes[d] = x
			if x < least {
				least = x
			} else if x > most {
				most = x
			}
		}
		if l.favs != nil {
			favour(likes, others, l.favs[w*favourites:(w+1)*favourites])
		}
		if who.Knows == nil {
			continue
		}
		for d, at := range to {
			knows[d] = who.KnowsAt(at, own)
		}
	}
	return least, most
}

// top returns the first person of a slot who stays, or -1. Whoever has been
// passed over is not found again.
func (l *lists) top(s *search, slot int) int32 {
	ls := &l.slots[slot]
	for {
		for ; ls.at < ls.end; ls.at++ {
			if w := l.all[ls.at].who; s.dest[w] == stays {
				return w
			}
		}
		switch {
		case ls.bucket < l.buckets:
			l.open(s, slot)
		case !ls.all:
			l.openRest(s, slot)
		default:
			return -1
		}
	}
}

// open puts the next bucket of a slot in order.
func (l *lists) open(s *search, slot int) {
	ls := &l.slots[slot]
	first, end := l.start(slot, ls.bucket), int(l.ends[slot*l.buckets+ls.bucket])
	ls.bucket++
	ls.at, ls.end = first, first
	for _, x := range l.all[first:end] {
		if s.dest[x.who] == stays {
			l.all[ls.end] = x
			ls.end++
		}
	}
	l.order(s, slot)
}

// openRest lists those who were not listed at first. Of those who were, nobody
// stays any more.
func (l *lists) openRest(s *search, slot int) {
	ls := &l.slots[slot]
	ls.all = true
	ls.at = len(l.all)
	d := slot / kinds % l.dests
	give := &s.gives[slot/kinds/l.dests]
	if s.dests[d] == give.pool {
		return
	}
	for w := give.first; w < give.end; w++ {
		if x := l.likes[w*l.dests+d]; s.dest[w] == stays && l.knows[w*l.dests+d] == (slot%kinds == ready) {
			l.all = append(l.all, liking{float32(x), int32(w)})
		}
	}
	ls.end = len(l.all)
	l.order(s, slot)
}

func (l *lists) order(s *search, slot int) {
	ls := &l.slots[slot]
	if ls.end-ls.at < 2 {
		return
	}
	d := slot / kinds % l.dests
	slices.SortFunc(l.all[ls.at:ls.end], func(a, b liking) int {
		if a.gain != b.gain {
			return cmp.Compare(b.gain, a.gain)
		}
		return cmp.Or(cmp.Compare(s.liking(b.who, d), s.liking(a.who, d)), cmp.Compare(s.idle[a.who].id, s.idle[b.who].id))
	})
}

// start is where a bucket starts in all.
func (l *lists) start(slot, bucket int) int {
	if at := slot*l.buckets + bucket; at > 0 {
		return int(l.ends[at-1])
	}
	return 0
}
