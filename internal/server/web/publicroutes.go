package web

// PublicRoutes returns the pages and actions for which nobody has to sign in, as methods and
// paths of package net/http, for whoever tries what strangers can do to them.
func PublicRoutes() (patterns []string) {
	for _, rt := range routes() {
		if rt.access == public {
			patterns = append(patterns, rt.pattern)
		}
	}
	return patterns
}
