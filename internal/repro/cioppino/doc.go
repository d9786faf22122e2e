// Package cioppino makes the figures of Haas and Franklin 2017, "Cioppino:
// Multi-Tenant Crowd Management", HCOMP, section 6, again.
//
// The pools of that paper run on internal/sim/pools. Its figures are ratios of two
// systems, so ours are geometric means of the ratios in the same repetition, on
// common random numbers, with the interval of Student's t of the logarithms. The
// paper leaves most of its setting unsaid: setting.go says, once for all its
// figures, what is taken. A figure of a system of ours that is to be at least
// the published one is "reproduced" if its whole interval is.
package cioppino
