package sched

import "slices"

// An Extension is a policy from outside this package that Parse is to read.
type Extension struct {
	Name    string   // of its text form
	Options []string // that the text form may have
	// New returns what makes policies with the options that are given, by name. An
	// error says what is wrong with an option.
	New func(options map[string]string) (func() Policy, error)
}

var extensions []Extension

// Register makes Parse read an extension and Names list it. It is to be called by
// an init function, and panics if the name is taken.
func Register(e Extension) {
	if slices.ContainsFunc(Names(), func(name string) bool { return spell(name) == e.Name }) {
		panic("sched: policy " + e.Name + " is registered twice")
	}
	extensions = append(extensions, e)
}

// spell returns the name in a text form that has no spaces.
func spell(text string) string { return (&reader{text: text}).word() }

// extension returns what makes a registered policy.
func (s *spec) extension() (func() Policy, error) {
	for _, e := range extensions {
		if e.Name != s.name {
			continue
		}
		if err := s.allow(0, e.Options...); err != nil {
			return nil, err
		}
		fresh, err := e.New(s.options)
		if err != nil {
			return nil, refuse("%v", err)
		}
		return fresh, nil
	}
	return nil, refuse("there is no policy %q", s.name)
}
