package scenario

// Sections shows the schema to tests.
func Sections() map[string][]string { return sections }

// Kept is how many figures are kept of a run.
func (m *Measured) Kept() int { return len(m.figures) }
