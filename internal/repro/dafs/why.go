package dafs

import "strconv"

func short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// why says why a sample's figure is not the published one of Table 3 or of
// Figures 13 and 14, where it is not.
func (s *sample) why(m metric) string {
	switch {
	case s.sameRuns() && !s.covers(49):
		return "the published figure is over the scenarios of seeds 1 to 49, and this run is over others"
	case s.form == program && s.label == "DAFS":
		return "the published figure is over 32 scenarios, not said which. The program is the slower, the more best-effort work DAFS leaves undone (the two correlate at -0.79 in final1200.csv), so the missing scenarios are likely those where it starves best-effort batches: without those the mean is the published one (see the row of the scenarios with half of it or more), while the first 32 seeds have 0.747; over all seeds, and over the 100 of final1200.csv, it is as here"
	case s.form == program:
		return "by chance: the program shuffles with the stream that its service times come from, so that ours are other service times of the same distribution"
	case s.form == formula && s.label == "EDF" && m.name == success(0).name:
		return "by the formula a batch has S/min(W,T) at α = 0, less than the mean of a single task; the program gives it T times that"
	case s.form == formula && s.label == "EDF":
		return "here EDF orders by the true deadlines of each α; the program makes one schedule, with the deadlines of α = 0, and scores it at every α afterwards. In that order the batches that are already lost stand first. Scored by the formula's deadlines, the program's schedule has as much as published, or a little less"
	case s.form == formula && s.label == "FS":
		return "equals are served by turns, where the program takes the first in its list, which has the new batches, and so all with a deadline, before the old ones. That the formula's deadlines are others makes next to no difference: see the authors' program, scored by the formula's"
	case s.form == unlogged && s.label == "SDAFS":
		return "the published runs have the logarithm, which makes the weight of a started deadline batch negative. Without it all that SDAFS had over FS is gone, and best-effort work is served: it is as SDAFS by the paper's formula"
	case s.form == unlogged:
		return "the published runs have the logarithm. Without it no weight is negative, and no best-effort work starves; fewer deadlines are met, though still more than by the paper's formula, for ties are drawn at random"
	case s.form == mixed:
		return "the formula's deadlines are shorter than the program's, most of all at a small α: f(α) has (1 - α)·s/min(W,T) where the program has T times that"
	case s.form == formula && s.label == "SDAFS":
		return "with f = log1p, and as well with the identity, x_b stays ≥ 0 and is 0 for a batch with nobody at work, so people are spread over the batches much as under FS. In the program the logarithm makes the weight of a started deadline batch negative, the more so the more are at work on it, and the least weight is served: everybody goes to one deadline batch. Without its logarithm the program has the figures of the formula (\"without log\")"
	case s.form == formula && s.label == "DAFS":
		return "while there are more batches than people every choice has J∞ = -∞, and ours takes, among the batches with nobody at work, the one with the least next term, the largest: one person for each batch. In the program ties go to a batch drawn at random, and negative weights turn the sign of the index, so that started deadline batches are taken before others. Without the logarithm (\"without log\") the ties are left, and the best-effort work is served"
	}
	return ""
}

// whyFile is why, of the summary of a result file.
func (s *sample) whyFile(name string, m metric) string {
	switch {
	case s.label == "SDAFS" && name == "comp.csv":
		return "comp.csv's SDAFS was made by another version of the program: the published one does not give its rows at any of the seeds 1 to 3, neither with its option log nor without. Table 3's line is that of the published one"
	case s.label == "FS" && name == "comp.csv" && s.covers(100):
		return "in the scenario of seed 52 two events lie closer together than the whole nanoseconds that our clock counts, and change places: one deadline batch is in time here that was late there, and the mean completion moves by 0.000003. With time stretched a thousandfold both figures are the published ones. All else in the file agrees to every digit"
	case s.sameRuns() && !s.covers(100):
		return "the published figure is over the scenarios of seeds 1 to 100, and this run is over fewer or others"
	}
	return "by chance: the program shuffles with the stream that its service times come from, so that ours are other service times of the same distribution"
}
