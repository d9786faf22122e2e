// Package authors has the policies of the simulator that the authors of the DAFS
// paper published: edf-code, fs-code, sdafs-code and dafs-code.
//
// The program departs from the paper in ways that its figures depend on, so they
// can be reproduced only by what the program does. These policies are here to
// compare; those of package sched are for work. Importing this package makes
// sched.Parse read their names:
//
//	edf-code, fs-code         no options
//	sdafs-code, dafs-code     log=true (default) or log=false; seed=number, 0 to
//	                          2^64-1 (default 1), for what they draw
//
// The program looks at candidates only: batches of which something may be handed
// out. (The paper, and the policies of package sched, count every open batch in the
// fairness index.) It knows no priorities. A batch with a deadline is one of its
// deadline-aware ones, whatever Production says.
//
// Where the program takes the first batch in the order of its list, the least id
// goes first here. Where it shuffles the list, these policies draw from a hash of
// the state of the candidates and of the option seed: the same state gets the
// same answer, also after a restart, and any change gets a draw of its own.
package authors
