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
package experiment
