package scenario

// Sections shows the schema to tests.
func Sections() map[string][]string { return sections }
