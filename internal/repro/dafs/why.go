package dafs

import "strconv"

func short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// why says why a sample's figure is not the published one of Table 3 or of
// Figures 13 and 14, where it is not.
func (s *sample) why(m metric) string {
	switch {
	case s.sameRuns() && !s.covers(49):
		return "other-seeds"
	case s.form == program && s.label == "DAFS":
		return "unknown-32"
	case s.form == program:
		return "own-draws"
	case s.form == formula && s.label == "EDF" && m.name == success(0).name:
		return "edf-alpha-0"
	case s.form == formula && s.label == "EDF":
		return "edf-true-deadlines"
	case s.form == formula && s.label == "FS":
		return "fs-by-turns"
	case s.form == unlogged && s.label == "SDAFS":
		return "sdafs-no-log"
	case s.form == unlogged:
		return "dafs-no-log"
	case s.form == mixed:
		return "shorter-deadlines"
	case s.form == formula && s.label == "SDAFS":
		return "sdafs-spread"
	case s.form == formula && s.label == "DAFS":
		return "dafs-infinite"
	}
	return ""
}

// whyFile is why, of the summary of a result file.
func (s *sample) whyFile(name string, m metric) string {
	switch {
	case s.label == "SDAFS" && name == "comp.csv":
		return "other-version"
	case s.label == "FS" && name == "comp.csv" && s.covers(100):
		return "nanoseconds"
	case s.sameRuns() && !s.covers(100):
		return "fewer-seeds"
	}
	return "own-draws"
}
