package sched

import "cmp"

// Before says whether k's batch goes before other's for a worker who may do
// both. A key of another policy gives no meaningful answer.
func (k Key) Before(other Key) bool {
	if k.Candidate != other.Candidate {
		return k.Candidate
	}
	for i := 0; i < min(len(k.Rank), len(other.Rank)); i++ {
		if c := cmp.Compare(k.Rank[i], other.Rank[i]); c != 0 {
			return c < 0
		}
	}
	if k.Inner != nil && other.Inner != nil {
		return k.Inner.Before(*other.Inner)
	}
	return cmp.Or(cmp.Compare(k.Turn, other.Turn), cmp.Compare(k.Batch, other.Batch)) < 0
}
