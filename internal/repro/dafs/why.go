package dafs

import "strconv"

func short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// why says why a sample's figure is not the published one of Table 3 or of
// Figures 13 and 14, where it is not.
func (s *sample) why(m metric) string {
	switch {
	case s.sameRuns() && !s.covers(49):
		return whyOtherSeeds
	case s.form == program && s.label == "DAFS":
		return whyUnknown32
	case s.form == program:
		return whyOwnDraws
	case s.form == formula && s.label == "EDF" && m.name == success(0).name:
		return whyEDFAlpha0
	case s.form == formula && s.label == "EDF":
		return whyEDFTrueDeadlines
	case s.form == formula && s.label == "FS":
		return whyFSByTurns
	case s.form == unlogged && s.label == "SDAFS":
		return whySDAFSNoLog
	case s.form == unlogged:
		return whyDAFSNoLog
	case s.form == mixed:
		return whyShorterDeadlines
	case s.form == formula && s.label == "SDAFS":
		return whySDAFSSpread
	case s.form == formula && s.label == "DAFS":
		return whyDAFSInfinite
	}
	return ""
}

// whyFile is why, of the summary of a result file.
func (s *sample) whyFile(name string, m metric) string {
	switch {
	case s.label == "SDAFS" && name == "comp.csv":
		return whyOtherVersion
	case s.label == "FS" && name == "comp.csv" && s.covers(100):
		return whyNanoseconds
	case s.sameRuns() && !s.covers(100):
		return whyFewerSeeds
	}
	return whyOwnDraws
}
