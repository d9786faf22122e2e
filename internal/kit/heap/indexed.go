package heap

// An Indexed is a heap with at most one entry for each slot, which is found by it.
// The zero value is empty.
type Indexed struct {
	Entries   Heap
	positions []int32 // by slot; absent if it has no entry
}

const absent = -1

// At returns the slot's entry, or nil. After its key was changed, Init must follow.
func (x *Indexed) At(slot uint32) *Entry {
	if int(slot) >= len(x.positions) || x.positions[slot] == absent {
		return nil
	}
	return &x.Entries[x.positions[slot]]
}

// Set adds the entry, or replaces the one of its slot. O(log n).
func (x *Indexed) Set(e Entry) {
	if int(e.Slot) < len(x.positions) && x.positions[e.Slot] != absent {
		x.Entries.Fix(int(x.positions[e.Slot]), e, x.positions)
		return
	}
	x.grow(e.Slot)
	x.Entries.Push(e, x.positions)
}

// Remove removes the slot's entry, if it has one. O(log n).
func (x *Indexed) Remove(slot uint32) {
	if x.At(slot) == nil {
		return
	}
	i := x.positions[slot]
	x.positions[slot] = absent
	x.Entries.Remove(int(i), x.positions)
}

// Append adds the entry of a slot that has none, out of order: Init must follow.
func (x *Indexed) Append(e Entry) {
	x.grow(e.Slot)
	x.positions[e.Slot] = int32(len(x.Entries))
	x.Entries = append(x.Entries, e)
}

// Init restores the order after keys were changed. O(n).
func (x *Indexed) Init() { x.Entries.Init(x.positions) }

// Clear removes all entries.
func (x *Indexed) Clear() {
	for i := range x.Entries {
		x.positions[x.Entries[i].Slot] = absent
	}
	x.Entries = x.Entries[:0]
}

// grow makes room for the position of a slot.
func (x *Indexed) grow(slot uint32) {
	for int(slot) >= len(x.positions) {
		x.positions = append(x.positions, absent)
	}
}
