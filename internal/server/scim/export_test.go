package scim

// Routes are all routes, each as "METHOD /path".
func Routes() (list []string) {
	for _, r := range routes() {
		list = append(list, r.method+" "+r.path)
	}
	return list
}
