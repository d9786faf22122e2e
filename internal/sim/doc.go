// Package sim is the simulated world: it drives the real engine with models of
// people, of requesters and of what goes wrong, under virtual time.
//
// A Setup is what a world is drawn from; a Run is one repetition of it under
// one policy, and gives an Outcome. The engine and the policies are the ones
// that run live: nothing here decides who gets which task.
//
// # Common random numbers
//
// Every random figure is a function of the seed, the repetition, a name for
// what it is ("service", "arrivals of group 2", …) and the number of the thing
// it belongs to (the task, the worker), and of nothing else: see Stream. So two
// policies meet the same people, the same batches and the same service times,
// whatever the order in which they ask for them, and differences between
// policies are differences of paired runs. The same seed gives the same bytes.
package sim
