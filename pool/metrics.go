package pool

// Unknown is the CStar of a pool whose load has not been seen for long enough.
const Unknown = -1

// Metrics is what a controller knows of a pool at a step: what it was told, and
// what follows from it. These are the names that rules may use (see Names).
// Workers, Busy, Idle and Training are those on duty here; Own is what a
// controller counts. Rates are per second, times in seconds. A rate that is not known yet is 0.
type Metrics struct {
	Queue    int `json:"queue"`
	Workers  int `json:"workers"`
	Busy     int `json:"busy"`
	Idle     int `json:"idle"`
	Training int `json:"training"`
	Coming   int `json:"coming"`
	Lent     int `json:"lent"`     // people of this pool who are on duty in others
	Borrowed int `json:"borrowed"` // of Workers, who are lent by others
	CStar    int `json:"c_star"`   // the best number of people, see Target; Unknown: not known yet

	Lambda      float64 `json:"lambda"`      // answers that came to be wanted and were not withdrawn, a second
	Mu          float64 `json:"mu"`          // answers a second by one person who works
	Abandonment float64 `json:"abandonment"` // people who leave by themselves, a second, of the whole pool
	Recruitment float64 `json:"recruitment"` // one over the mean time from being asked to coming
	Throughput  float64 `json:"throughput"`  // answers that counted, a second
	Utilisation float64 `json:"utilisation"` // lambda / (mu workers); 0 without people

	WaitP95    float64 `json:"wait_p95"`
	OldestWait float64 `json:"oldest_wait"`
	Backlog    float64 `json:"backlog"` // arrived less withdrawn and completed over the last step: the error of CT-t

	CostPerHour float64 `json:"cost_per_hour"` // of those who are idle now, in money
	Preference  float64 `json:"preference"`    // mean preference of the people on duty, 0 to 1
}

// Own is how many people on duty belong to the pool: those here and those lent to
// others, without those whom others have lent.
func (m *Metrics) Own() int { return m.Workers + m.Lent - m.Borrowed }
