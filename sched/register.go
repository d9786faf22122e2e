package sched

import (
	"slices"
	"strings"
)

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
	if slices.ContainsFunc(Names(), func(name string) bool { return nameOf(name) == e.Name }) {
		panic("sched: policy " + e.Name + " is registered twice")
	}
	extensions = append(extensions, e)
}

// nameOf returns the name in a text form that has no spaces.
func nameOf(text string) string {
	name, _, _ := strings.Cut(text, "(")
	return name
}

// extension returns what makes a registered policy.
func (s spec) extension() (func() Policy, error) {
	i := slices.IndexFunc(extensions, func(e Extension) bool { return e.Name == s.Name })
	if i < 0 {
		return nil, refuse("there is no policy %q", s.Name)
	}
	options := map[string]string{}
	for _, name := range extensions[i].Options {
		if value, given := s.Text(name); given {
			options[name] = value
		}
	}
	if _, err := s.finish(0, nil); err != nil {
		return nil, err
	}
	fresh, err := extensions[i].New(options)
	if err != nil {
		return nil, refuse("%v", err)
	}
	return fresh, nil
}
