package authors

import "github.com/throng-dev/throng/internal/kit/random"

// A ranks keeps slots in order of (key, id) and finds one by its place in the
// order: what a uniform draw among equals needs, and what the heaps of an index
// cannot give. It can hold several trees over one memory, as long as a slot is in
// one of them at most.
//
// The trees are treaps: search trees by (key, id), heaps by a hash of the id, so
// that their expected depth is O(log n) whatever comes in what order. Which slot
// is at which place follows from what is in the tree alone.
type ranks struct {
	nodes []rankNode // by slot + 1; the first stands for an empty tree
}

type rankNode struct {
	key         uint64
	id          int64
	left, right tree
	size        uint32 // of the tree below and with this node; 0: in no tree
	weight      uint32 // the heap order, greatest at the root
}

// A tree is the root of one: the position of its node, 0 if it is empty.
type tree uint32

func (n *rankNode) before(key uint64, id int64) bool {
	return n.key < key || n.key == key && n.id < id
}

func (k *ranks) size(t tree) int {
	if t == 0 {
		return 0
	}
	return int(k.nodes[t].size)
}

// key returns the key of a slot that is in a tree.
func (k *ranks) key(slot uint32) uint64 { return k.nodes[slot+1].key }

// insert puts a slot that is in no tree into one.
func (k *ranks) insert(root *tree, slot uint32, key uint64, id int64) {
	for int(slot)+1 >= len(k.nodes) {
		k.nodes = append(k.nodes, rankNode{})
	}
	n := &k.nodes[slot+1]
	*n = rankNode{key: key, id: id, weight: uint32(random.Mix(uint64(id)))}
	at := root
	for *at != 0 && k.nodes[*at].weight >= n.weight {
		m := &k.nodes[*at]
		m.size++
		if m.before(key, id) {
			at = &m.right
		} else {
			at = &m.left
		}
	}
	n.left, n.right = k.split(*at, key, id)
	k.count(n)
	*at = tree(slot + 1)
}

// remove takes a slot out of the tree that it is in.
func (k *ranks) remove(root *tree, slot uint32) {
	n := &k.nodes[slot+1]
	at := root
	for *at != tree(slot+1) {
		m := &k.nodes[*at]
		m.size--
		if m.before(n.key, n.id) {
			at = &m.right
		} else {
			at = &m.left
		}
	}
	*at = k.merge(n.left, n.right)
	n.size = 0
}

// has reports whether the slot is in a tree.
func (k *ranks) has(slot uint32) bool {
	return int(slot)+1 < len(k.nodes) && k.nodes[slot+1].size > 0
}

func (k *ranks) count(n *rankNode) {
	n.size = uint32(1 + k.size(n.left) + k.size(n.right))
}

// split cuts a tree into what lies before (key, id) and what does not.
func (k *ranks) split(t tree, key uint64, id int64) (before, after tree) {
	if t == 0 {
		return 0, 0
	}
	n := &k.nodes[t]
	if n.before(key, id) {
		n.right, after = k.split(n.right, key, id)
		k.count(n)
		return t, after
	}
	before, n.left = k.split(n.left, key, id)
	k.count(n)
	return before, t
}

// merge joins two trees of which the first lies before the second.
func (k *ranks) merge(a, b tree) tree {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	n, m := &k.nodes[a], &k.nodes[b]
	if n.weight >= m.weight {
		n.right = k.merge(n.right, b)
		k.count(n)
		return a
	}
	m.left = k.merge(a, m.left)
	k.count(m)
	return b
}

// at returns the slot at a place of a tree, from 0.
func (k *ranks) at(t tree, place int) uint32 {
	for {
		n := &k.nodes[t]
		switch left := k.size(n.left); {
		case place < left:
			t = n.left
		case place == left:
			return uint32(t) - 1
		default:
			place -= left + 1
			t = n.right
		}
	}
}

// below returns how many keys of a tree are less than key: the first place at
// which one that is not may stand.
func (k *ranks) below(t tree, key uint64) int {
	return k.beforeEntry(t, key, -1<<63)
}

// upTo returns how many keys of a tree are not greater than key.
func (k *ranks) upTo(t tree, key uint64) int {
	places := 0
	for t != 0 {
		n := &k.nodes[t]
		if n.key <= key {
			places += 1 + k.size(n.left)
			t = n.right
		} else {
			t = n.left
		}
	}
	return places
}

// place returns the place of a slot in the tree that it is in.
func (k *ranks) place(t tree, slot uint32) int {
	n := &k.nodes[slot+1]
	return k.beforeEntry(t, n.key, n.id)
}

func (k *ranks) beforeEntry(t tree, key uint64, id int64) int {
	places := 0
	for t != 0 {
		n := &k.nodes[t]
		if n.before(key, id) {
			places += 1 + k.size(n.left)
			t = n.right
		} else {
			t = n.left
		}
	}
	return places
}
