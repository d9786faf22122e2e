package sched

import (
	"slices"
	"strings"
)

// An Extension is a policy from outside this package that Parse is to read: that of a
// program which imports the package, or of another package of this module. A policy of
// this package is none: it has a line in policies (parse.go).
type Extension struct {
	Name    string   // of its text form
	Options []string // that the text form may have
	// ByPriority says that the policy looks at the priorities of batches. Where none does within
	// by-reward, the reward decides nothing, and whoever sets such a policy is told.
	ByPriority bool
	// New returns what makes policies with the options that are given, by name. An
	// error says what is wrong with an option.
	New func(options map[string]string) (func() Policy, error)
}

var registered []known

// Register makes Parse read an extension and Names list it. It is to be called by
// an init function, and panics if the name is taken.
func Register(e Extension) {
	if slices.ContainsFunc(policies(), func(p known) bool { return nameOf(p.text) == e.Name }) {
		panic("sched: policy " + e.Name + " is registered twice")
	}
	p := known{text: e.Name, build: e.build}
	if e.ByPriority {
		p.ranks = byPriority
	}
	registered = append(registered, p)
}

// nameOf returns the name in a text form that has no spaces.
func nameOf(text string) string {
	name, _, _ := strings.Cut(text, "(")
	return name
}

// build returns what makes policies with the options of the spec.
func (e Extension) build(s spec) (func() Policy, error) {
	options := map[string]string{}
	for _, name := range e.Options {
		if value, given := s.Text(name); given {
			options[name] = value
		}
	}
	if _, err := s.finish(0, nil); err != nil {
		return nil, err
	}
	fresh, err := e.New(options)
	if err != nil {
		return nil, refuse("%v", err)
	}
	return fresh, nil
}
