package scenario

import "github.com/throng-dev/throng/internal/kit/yamlfile/fields"

// Sections shows the schema to tests.
func Sections() map[string][]string { return keys(sections) }

// PoolSections shows the schema of files of pools.
func PoolSections() map[string][]string { return keys(poolSections) }

func keys(sections map[string]fields.Fields) map[string][]string {
	all := map[string][]string{}
	for name, list := range sections {
		all[name] = list.Keys()
	}
	return all
}

// Kept is how many figures are kept of a run.
func (m *Measured) Kept() int { return len(m.figures) }
