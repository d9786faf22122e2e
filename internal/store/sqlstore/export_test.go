package sqlstore

import "strings"

// PersonalTables lists the tables of which it is said what they keep about people.
func PersonalTables() (names []string) {
	for _, t := range personal {
		names = append(names, t.name)
	}
	return names
}

// ListedTexts has the columns with texts of which it is decided whether they stay when somebody is
// erased.
func ListedTexts() (columns []string) {
	for i := range writings {
		columns = append(columns, strings.Fields(writings[i].columns)...)
	}
	return columns
}

// Statements are what an erasure does to the rows of a table.
func Statements(table string) (texts []string) {
	for _, t := range personal {
		if t.name == table {
			texts = append(texts, t.erase...)
		}
	}
	return texts
}
