// Package orchestration is the simulated orchestration engine of Khazankin, Schall
// and Dustdar 2011 (docs/papers/sla.md), called the paper, section V:
// processes of sequence, flow and condition over services that serve so many
// requests at a time, in a world whose load goes up for a while. Between the
// processes and each limited service stands a proxy that decides which request
// goes next: first come first served, listing 1 in its adaptation loop, or the
// queue of package sla that keeps the same order by events.
//
// A World says what is simulated, a Policy who decides, and Run is one
// repetition: it goes on until the last process has ended.
//
// # What belongs to what
//
// A random figure is a function of the seed, a name for what it is, and the
// number of the event it belongs to: the gap before a process, its kind, and, of
// each of its steps, the service time, an unexpected delay, and whether its
// condition holds. So every policy meets the same world, in whatever order it
// serves it.
//
// # Time
//
// Time is virtual and counted in whole nanoseconds. The order of things that
// happen at the same nanosecond is that in which they were put down, so a run is
// the same each time. Nothing here reads a clock.
package orchestration
