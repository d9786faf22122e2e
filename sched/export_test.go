package sched

// LeftOut returns how many boxes and batches the last decision of a β-fair policy
// looked at and left out, and false for another policy.
func LeftOut(p Policy) (int, bool) {
	b, ok := p.(*betaFair)
	if !ok {
		return 0, false
	}
	return len(b.search.later), true
}

// Priorities returns for how many priorities strict-priority keeps room, and false for another
// policy.
func Priorities(p Policy) (int, bool) {
	s, ok := p.(*strict)
	if !ok {
		return 0, false
	}
	return len(s.list), true
}
