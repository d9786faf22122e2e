// Package repro makes the simulated results of three papers again, and holds the
// engine against the execution plan of a fourth source. The first is
// Difallah, Checco, Demartini, Cudré-Mauroux 2019, "Deadline-Aware Fair
// Scheduling for Multi-Tenant Crowd-Powered Systems", ACM TSC 2(1), Table 3 and
// Figures 5 to 16. Each experiment gives rows, ours beside the published figure
// with a verdict, and pictures. The second is Haas and Franklin 2017, "Cioppino:
// Multi-Tenant Crowd Management", HCOMP, section 6. The third is Khazankin, Schall
// and Dustdar 2011, "Adaptive Request Prioritization in Dynamic Service-oriented
// Systems", section V. The fourth is Cymphony's "Execution Plan". The last
// paragraphs are about these.
//
// # Two forms
//
// The program that the authors published departs from the paper's formulas in
// ways that the published figures depend on. "authors' program" means the
// policies edf-code, fs-code, sdafs-code and dafs-code of package sched, one
// schedule a scenario with deadlines at α = 0 that is scored at every α
// afterwards, and the deadline rule sim.AlphaCode. "paper's formula" means edf,
// fs-ratio, sdafs and dafs with the true deadlines of sim.AlphaPaper at each α.
// Two more forms, by name, stand between them: the program's runs scored by the
// formula's deadlines, and the program without its logarithm. In all of them, as in
// the program, the completion of a batch is the share of it that
// was begun, the run ends 20 s after the window, and batches that had not
// arrived by then are left out. Both meet the authors' own scenarios: see
// synthetic.
//
// Figures 11 and 12 are of another program of the authors, of threads that sleep.
// Its rules run on the engine, where handing out and booking take no time; for
// Figure 12, whose data are published, threads.go models its threads too.
//
// # The verdict
//
// A figure of ours is a mean or a median over repetitions, whichever the
// published one is, with a 95 % interval: Student's t for a mean, order
// statistics for a median. The published figure has an uncertainty of its own:
// 1.96 sd/√n of a mean whose sample is known, 1.57 IQR/√n (the notch of a box
// plot) of a median read off one. A figure is "reproduced" if the two lie no
// farther apart than the root of the sum of the squares of the two half widths,
// and half a unit of the last digit printed. Where ours are the very same runs
// (the authors' EDF and FS, seed by seed) only that half unit counts.
//
// A claim in words is reproduced if the whole interval of a figure that says the
// same lies where the words put it. Else it "differs", and says why. What depends
// on how real people behaved on a marketplace is "not simulatable": then the row
// says what is simulated in its place. Of a hundred rows that agree, some few
// will by chance seem to differ.
//
// # Cioppino
//
// The pools of that paper run on internal/sim/pools. Its figures are ratios of two
// systems, so ours are geometric means of the ratios in the same repetition, on
// common random numbers, with the interval of Student's t of the logarithms. The
// paper leaves most of its setting unsaid: cioppino.go says, once for all its
// figures, what is taken. A figure of a system of ours that is to be at least
// the published one is "reproduced" if its whole interval is.
//
// # SLAs
//
// The processes of that paper run on internal/repro/slasim, under the orders of package
// sla. Its figures are printed in words only ("30 to 80 %"), so the rows are
// claims. A reduction is 1 less the ratio of two means over repetitions on common
// random numbers, its interval by the delta method: a mean of ratios would leave
// out, or make much of, the repetitions in which hardly anybody pays. sla_world.go
// says, once for all its figures, what is taken for what the paper leaves unsaid.
// Times of passes and events (sla-fig9) are of the machine that runs them.
//
// # Cymphony
//
// A conformance run: the real engine with its events observed, one command at a
// time. Producers and consumers are found from the commands and from what they
// changed, and held against the document's table.
package repro
