package sched

import (
	"math/bits"

	"github.com/throng-dev/throng/crowd"
)

// A boxes is the candidates of betaFair in a binary radix tree. A candidate's key is
// a number of keyBits bits:
//
//	class (32) ‖ ρ and δ, bit by bit in turn (128) ‖ x (64) ‖ id (64),   ρ = x/δ
//
// There is an inner node only where keys part, so there are fewer of them than
// candidates, and what the tree looks like follows from the set of its keys. Floats
// ≥ 0 are in the order of their bits, so the candidates below a node of one class
// lie in a box of the (log ρ, log δ) plane, and equal ones, with the same class, x and
// δ, have a node of their own.
//
// Putting a candidate in or taking it out costs O(depth), at most keyBits and in
// practice a little more than log₂ of their number.
type boxes struct {
	nodes []boxNode // nodes[0].box[0] is the whole tree
	free  []uint32
	keys  []boxKey // by slot
	at    []boxRef // by slot: the leaf's box
	least bool     // the best k of two is the lesser
}

// A boxRef names a box: twice the number of its node and the side there.
type boxRef uint32

// A boxNode is an inner node with what is below it on either side. Boxes lie in the
// node above so that the two that are compared, or merged, lie together.
type boxNode struct {
	box [2]box
	up  boxRef // the node's own box
	bit int16  // the first bit in which the keys of the two sides differ; -1 of nodes[0]
}

// A box is what a subtree, or a single candidate, has to offer. What k, peak and the
// powers are depends on β: see betaFair.
type box struct {
	k      float64 // the best of the candidates'
	peak   float64 // that of the candidate with the best k
	lo, hi float64 // the least and the greatest δ
	pLo    float64 // the power of lo
	pHi    float64 // the power of hi
	turn   uint64  // the least, of first
	first  uint32  // the slot of the candidate first by turn, then id
	child  int32   // the node; of a candidate -1-slot; 0: there is nothing
}

// A boxKey is a candidate's key.
type boxKey struct {
	class         Class
	rho, delta, x uint64 // as float bits
	id            crowd.BatchID
}

// Where the parts of a key end.
const (
	classBits     = 32
	componentBits = classBits + 3*64
)

// bit returns a bit of the key, the highest first.
func (k *boxKey) bit(i int) int {
	switch {
	case i < classBits:
		return int(k.class>>(classBits-1-i)) & 1
	case i < classBits+128:
		part := &k.rho
		if i&1 == 1 {
			part = &k.delta
		}
		return int(*part>>(63-(i-classBits)/2)) & 1
	case i < componentBits:
		return int(k.x>>(componentBits-1-i)) & 1
	}
	return int(k.id>>(componentBits+63-i)) & 1
}

// parting returns the first bit in which two keys differ.
func (k *boxKey) parting(o *boxKey) int {
	if k.class != o.class {
		return bits.LeadingZeros32(uint32(k.class ^ o.class))
	}
	if rho, delta := bits.LeadingZeros64(k.rho^o.rho), bits.LeadingZeros64(k.delta^o.delta); rho < 64 || delta < 64 {
		return classBits + min(2*rho, 2*delta+1)
	}
	if x := bits.LeadingZeros64(k.x ^ o.x); x < 64 {
		return componentBits - 64 + x
	}
	return componentBits + bits.LeadingZeros64(uint64(k.id^o.id))
}

func (t *boxes) box(r boxRef) *box { return &t.nodes[r>>1].box[r&1] }

// has reports whether the slot's batch is in the tree.
func (t *boxes) has(slot uint32) bool { return int(slot) < len(t.at) && t.at[slot] != noBox }

// noBox is where a batch lies that is not in the tree: no leaf lies there, for
// nodes[0] has one side.
const noBox boxRef = 1

// put adds a candidate with its key and its box, or moves it there.
func (t *boxes) put(slot uint32, key boxKey, leaf box) {
	for int(slot) >= len(t.at) {
		t.at, t.keys = append(t.at, noBox), append(t.keys, boxKey{})
	}
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, boxNode{bit: -1})
	}
	leaf.first, leaf.child = slot, -1-int32(slot)
	if r := t.at[slot]; r != noBox {
		if key.parting(&t.keys[slot]) > int(t.nodes[r>>1].bit) { // its place is the same
			t.keys[slot] = key
			*t.box(r) = leaf
			t.update(uint32(r >> 1))
			return
		}
		t.drop(slot)
	}
	t.keys[slot] = key
	if t.nodes[0].box[0].child == 0 {
		t.attach(0, leaf)
		return
	}
	r := boxRef(0)
	child := t.box(r).child
	for child > 0 {
		r = boxRef(child)<<1 | boxRef(key.bit(int(t.nodes[child].bit)))
		child = t.box(r).child
	}
	parting := key.parting(&t.keys[-1-child])
	for int(t.nodes[r>>1].bit) > parting {
		r = t.nodes[r>>1].up
	}
	v := t.node()
	side := boxRef(key.bit(parting))
	t.nodes[v].bit, t.nodes[v].up = int16(parting), r
	t.attach(boxRef(v)<<1|(1-side), *t.box(r))
	t.attach(boxRef(v)<<1|side, leaf)
	t.update(v)
}

// attach puts a box into its place.
func (t *boxes) attach(r boxRef, b box) {
	*t.box(r) = b
	if b.child < 0 {
		t.at[-1-b.child] = r
	} else {
		t.nodes[b.child].up = r
	}
}

// node returns the number of an unused node.
func (t *boxes) node() uint32 {
	if n := len(t.free); n > 0 {
		v := t.free[n-1]
		t.free = t.free[:n-1]
		return v
	}
	t.nodes = append(t.nodes, boxNode{})
	return uint32(len(t.nodes) - 1)
}

// drop takes the slot's batch out, if it is there.
func (t *boxes) drop(slot uint32) {
	if !t.has(slot) {
		return
	}
	r := t.at[slot]
	t.at[slot] = noBox
	v := uint32(r >> 1)
	if v == 0 {
		t.nodes[0].box[0] = box{}
		return
	}
	up := t.nodes[v].up
	t.attach(up, *t.box(r ^ 1))
	t.free = append(t.free, v)
	t.update(uint32(up >> 1))
}

// serve tells of the turn of a candidate.
func (t *boxes) serve(slot uint32, turn uint64) {
	r := t.at[slot]
	if b := t.box(r); b.turn != turn {
		b.turn = turn
		t.update(uint32(r >> 1))
	}
}

// update computes the boxes of node v and of those above it from what is below.
func (t *boxes) update(v uint32) {
	for v != 0 {
		n := &t.nodes[v]
		merged := t.merge(&n.box[0], &n.box[1])
		merged.child = int32(v)
		own := t.box(n.up)
		if *own == merged {
			return
		}
		*own = merged
		v = uint32(n.up >> 1)
	}
}

// merge returns the box of the candidates in either.
func (t *boxes) merge(a, b *box) box {
	m := *a
	if b.k != a.k && (b.k < a.k) == t.least {
		m.k, m.peak = b.k, b.peak
	}
	if b.lo < m.lo {
		m.lo, m.pLo = b.lo, b.pLo
	}
	if b.hi > m.hi {
		m.hi, m.pHi = b.hi, b.pHi
	}
	if t.before(b, a) {
		m.turn, m.first = b.turn, b.first
	}
	return m
}

// before reports whether the first candidate of a comes before that of b, by turn,
// then id.
func (t *boxes) before(a, b *box) bool {
	return a.turn < b.turn || a.turn == b.turn && t.keys[a.first].id < t.keys[b.first].id
}
