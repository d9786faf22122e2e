// Package experiment is what the reproductions of all papers have in common: an
// experiment, its rows of ours against the published figure with a verdict, and
// the report.
//
// # The verdict
//
// A figure of ours is a mean or a median over repetitions, whichever the
// published one is, with a 95 % interval: Student's t for a mean, order
// statistics for a median. The published figure has an uncertainty of its own:
// 1.96 sd/√n of a mean whose sample is known, 1.57 IQR/√n (the notch of a box
// plot) of a median read off one. Of any other it is not known, and none is taken in its
// place. A figure is "reproduced" if the two lie no
// farther apart than the root of the sum of the squares of the two half widths,
// and half a unit of the last digit printed. Where ours are the very same runs
// (the authors' EDF and FS, seed by seed) only that half unit counts.
//
// A claim in words is reproduced if the whole interval of a figure that says the
// same lies where the words put it, and differs if none of it does. What differs
// says why.
//
// It is too imprecise to say, "imprecise", where an interval lies partly where the
// words put it, where the whole width of ours, or of the published figure's own, is more than that figure, and
// where fewer than five repetitions tell of the figure, of a median fewer than six, or
// none gives it. The very same runs are exempt: chance has no part in them.
//
// A row that compares nothing has neither kind nor verdict, but says why: it is not
// in the paper, or what was published depends on how real people behaved on a
// marketplace and is not simulatable. Then the row says what is simulated in its
// place. Of a hundred rows that agree, some few will by chance seem to differ.
//
// # The kind
//
// A figure or range that the paper prints, an ordering of two of its methods, and
// what it says else in words are counted apart, as are the rows in which a method of
// ours is held against what was published, and those of which a constant was chosen
// with the row in view: that such a row is reproduced says nothing of the paper.
package experiment
