// Package pools is the simulated world of several pools of people on call: it
// drives one real engine for each pool and the real pool.Control under virtual
// time, with models of the work that arrives, of the crowd that people are
// recruited from, and of why they leave. It keeps no queue of its own and
// decides nothing: who gets which task is the engine's business, how many
// people there are and who moves is the control's.
//
// A Setup is what a world is drawn from; a Run is one repetition of it and
// gives an Outcome. Compare runs variants of a setup on common random numbers.
//
// # What belongs to what
//
// As in package sim, a random figure is a function of the seed, the repetition,
// a name for what it is, and the number of the thing it belongs to. Tasks are
// numbered within their pool in the order in which they arrive: the n-th one
// takes the same time whoever does it and under whichever control, and it is
// also the task after which its worker abandons the pool or not. Recruits are
// numbered in the order in which they were asked for, and those of the start
// within their pool, so the k-th one asked takes the same time to come, stays as
// long and likes the same pools, however many there were at the start. What the
// control draws (average-rate recruitment, random balance) is a sequence of its
// own.
//
// # The model, and where it follows the paper
//
// It is that of Haas and Franklin, "Cioppino: Multi-Tenant Crowd Management"
// (HCOMP 2017), section 6.1; docs/pool-simulation.md tells how each sentence of
// it is read.
package pools
