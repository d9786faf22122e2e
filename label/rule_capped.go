package label

// Capped returns the rule for a task that only n people (≥ 1) may answer: it
// wants no more answers than that, and gives up when they are in.
func (r Rule) Capped(n int) Rule {
	r.most = min(r.most, small(n))
	if r.kind == countRule {
		r.k = r.most
	}
	return r
}
