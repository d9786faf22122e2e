// Package dafs makes the tables and figures of Difallah, Checco, Demartini,
// Cudré-Mauroux 2019, "Deadline-Aware Fair Scheduling for Multi-Tenant
// Crowd-Powered Systems", ACM TSC 2(1), again: Table 3 and Figures 5 to 16.
//
// # Two forms
//
// The program that the authors published departs from the paper's formulas in
// ways that the published figures depend on. "authors' program" means the
// policies edf-code, fs-code, sdafs-code and dafs-code of package authors, one
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
package dafs
