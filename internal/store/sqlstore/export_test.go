package sqlstore

// PersonalTables lists the tables of which it is said what they keep about people.
func PersonalTables() (names []string) {
	for _, t := range personal {
		names = append(names, t.name)
	}
	return names
}
