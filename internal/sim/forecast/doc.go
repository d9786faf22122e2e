// Package forecast estimates when the batches of a live pool will be done: it lets
// the simulated world go on from the pool's state, many times, and counts.
//
// A State is all that a forecast needs of a pool: what the store has of it, and
// what was observed of its people in the last hours. It holds no answers, no
// rows of tasks and no names of people, so it can be handed out and kept. It says
// by their numbers how long people took.
//
// # What is assumed
//
// People are those of the pool, and go on as they have in the last hours: each
// who is away comes back at a constant rate, the same for all, and who is there
// leaves at a constant rate. The time of an answer is lognormal for each batch and
// person; how quick people are is estimated as far as their answers allow (speeds).
// Each figure is estimated from a few observations and a guess that counts for
// little (see the constants), and is not taken for certain: every repetition
// draws its own from what the observations leave open, so that a forecast that
// knows little has a wide band.
//
// # What it cannot know
//
// Batches and people that are yet to be added, nights and weekends, a change of
// pace, and what requesters will do.
package forecast
