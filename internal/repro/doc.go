// Package repro makes the published results of four sources again: each figure of
// ours next to the published one, with a verdict. Each source has a package:
//
//   - dafs: Difallah, Checco, Demartini, Cudré-Mauroux 2019, "Deadline-Aware Fair
//     Scheduling for Multi-Tenant Crowd-Powered Systems", ACM TSC 2(1);
//   - cioppino: Haas and Franklin 2017, "Cioppino: Multi-Tenant Crowd Management",
//     HCOMP, section 6;
//   - sla: Khazankin, Schall and Dustdar 2011, "Adaptive Request Prioritization in
//     Dynamic Service-oriented Systems", section V;
//   - cymphony: Cymphony's "Execution Plan", section Events.
//
// Package experiment has what they share. docs/paper.md says what came of it.
package repro
