package killtest

// Tampered returns o with something done to the database before it is compared
// with what the clients know.
func Tampered(o Options, with func(path string) error) Options {
	o.tamper = with
	return o
}
