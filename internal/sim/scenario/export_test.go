package scenario

// Sections shows the schema to tests.
func Sections() map[string][]string { return sections }

// PoolSections shows the schema of files of pools.
func PoolSections() map[string][]string { return poolSections }

// Kept is how many figures are kept of a run.
func (m *Measured) Kept() int { return len(m.figures) }
