package orchestrator

// Locked reports whether somebody holds the orchestrator's lock.
func (o *Orchestrator) Locked() bool {
	if !o.mu.TryLock() {
		return true
	}
	o.mu.Unlock()
	return false
}

// WaitKinds is how many kinds of waits there are.
const WaitKinds = int(waitKinds)
