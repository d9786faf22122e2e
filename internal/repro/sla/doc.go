// Package sla makes the figures of Khazankin, Schall and Dustdar 2011, "Adaptive
// Request Prioritization in Dynamic Service-oriented Systems", section V, again.
//
// The processes of that paper run on package orchestration, under the orders of package
// sla. Its figures are printed in words only ("30 to 80 %"), so the rows are
// claims. A reduction is 1 less the ratio of two means over repetitions on common
// random numbers, its interval by the delta method: a mean of ratios would leave
// out, or make much of, the repetitions in which hardly anybody pays. setting.go says, once for all its figures, what is taken for what the paper leaves unsaid.
// Times of passes and events (sla-fig9) are of the machine that runs them.
package sla
