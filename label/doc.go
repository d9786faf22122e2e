// Package label turns the many answers to a task into one label.
//
// There are two halves. While a batch runs, a Rule is asked after every
// counted answer whether that is enough, how many assignments the task should
// have now, and what its label is. Over a whole batch, a Method fits a Dataset:
// every task gets a probability for each class (a Result), and the better
// methods learn on the way how far each worker is to be trusted.
//
//	answers ──▶ Rule.Decide ──▶ Decision             one task, live
//	answers ──▶ Builder ──▶ Dataset ──▶ Method.Fit ──▶ Result    a batch, at once
//
// Everything here is a pure function of its input: no clock, no random number,
// no I/O, and the order in which rows come in changes no bit of a result. Where
// two classes are equally good, the result says so, and the one that is named
// is picked by a hash of the task's id and the class, never by the order of
// the classes: a tie helps no class.
//
// A confidence is what the model believes, not a promise of accuracy: the
// posteriors of expectation maximisation are over-confident.
//
// Notation, in all formulas of this package: i is one of T tasks, j one of W
// workers, k and l one of K classes; c_ik counts the answers k to task i, and
// n_i = Σ_k c_ik; q_ik is the probability that the label of i is k; p_k is the
// share of class k; π_jkl is the probability that j answers l where k is true.
package label
