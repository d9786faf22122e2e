package dafs

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// What the figures with real people need of them, from the answers of the
// authors' own crowd: the logs of their runs on a marketplace of 4 to 7 October
// 2013 (XI-lab/HIT-Scheduler, res.tar.gz), 2,725 answers of 190 workers. Nothing
// of the logs is here but these figures.
//
// The times follow ln t = base of the kind + 0.131 (ln 1.14) after a switch of
// batch - 0.17 ln n at the worker's n-th task of the kind + worker + rest, with
// worker and rest normal: switch and practice were fitted within worker and
// batch (1.14, 95 % 1.07-1.21; 0.17, .13-.21), the others are what is left over.

// A kindFit is one type of task.
type kindFit struct {
	name   string
	ln     float64 // mean of ln seconds of a first task without a switch
	within float64 // standard deviation of ln seconds within a worker
}

var kindFits = []kindFit{
	{"B1", 3.756, 0.475}, // phone search, 398 answers
	{"B2", 3.253, 0.461}, // image tags, 666
	{"B3", 2.836, 0.575}, // sentiment, 858
	{"B4", 2.674, 0.347}, // short text from memory, 583
	{"B5", 3.626, 0.607}, // proofreading, 215
	// Not in the logs: such that the mean over 50 tasks is that of Table 1 (15 s
	// and 22 s), with the pooled standard deviations.
	{"B6", notLogged(15), 0.561}, // butterflies
	{"B7", notLogged(22), 0.561}, // item matching
}

const (
	betweenWorkers = 0.570 // standard deviation of ln seconds between workers
	switchFactor   = 1.14  // time of the first task after one of another batch; 1.30 if practice is left out
	learning       = 0.17  // exponent of practice
	sessionLn      = 5.92  // mean and standard deviation of ln seconds of a session; 81 sessions, mean 435 s
	sessionSD      = 0.605
	arrivalGap     = 24.7 // s, mean between arrivals
	pauseShare     = 0.48 // of submits that a pause follows; of all gaps the median is 0 and the mean 12 s
	pauseMean      = 25.0 // s
)

// meanLog50 is the mean of ln n over n = 1..50.
const meanLog50 = 2.97

func notLogged(mean float64) float64 {
	v := 0.561*0.561 + betweenWorkers*betweenWorkers
	return math.Log(mean) - v/2 + learning*meanLog50
}

// sometimes is exponential with a probability, else 0.
type sometimes struct{ share, mean float64 }

func (s sometimes) Draw(r *sim.Rand) float64 {
	if u := r.Float64(); u >= s.share {
		return 0
	}
	return s.mean * r.Exp()
}
func (s sometimes) Mean() float64 { return s.share * s.mean }
func (s sometimes) String() string {
	return fmt.Sprintf("%g of the time exponential, mean %g, else 0", s.share, s.mean)
}

// realKinds are the types as kinds of a simulation.
func realKinds() []sim.Kind {
	return lists.Map(kindFits, func(k kindFit) sim.Kind {
		return sim.Kind{Name: k.name, Service: sim.LogNormal{Mu: k.ln, Sigma: k.within}, SwitchFactor: switchFactor, Learning: learning}
	})
}

// realCrowd is a group of such people.
func realCrowd(arrive sim.Arrivals) sim.Group {
	return sim.Group{
		Name: "crowd", Arrive: arrive, Speed: sim.LogNormal{Sigma: betweenWorkers},
		Session: sim.LogNormal{Mu: sessionLn, Sigma: sessionSD}, Pause: sometimes{pauseShare, pauseMean},
	}
}

// A realRun is one run of 7 October 2013: 45 tasks, three answers each. Where the
// log stopped before a batch was complete, its figure is missing.
type realRun struct {
	log    string
	policy string
	b2     float64    // price of B2
	took   [5]float64 // completion of B1 to B5, s after the first start
	came   []float64  // when each worker began, s after the first
}

var realRuns = []realRun{
	{"07sept_142308", "FS", 0.05, [5]float64{643, 451, 635, 359, 451}, []float64{0, 4, 9, 10, 11, 19, 27, 28, 33, 73, 168, 359, 452}},
	{"07sept_145820", "FS", 0.02, [5]float64{642, 533, 576, 274, 417}, []float64{0, 0, 7, 8, 14, 14, 32, 39, 42, 67, 67, 67}},
	{"07sept_155434", "FS", 0.02, [5]float64{341, 417, 554, 239, 281}, []float64{0, 0, 6, 6, 13, 13, 13, 13, 14, 14, 14, 14, 20, 24, 36, 42, 43, 50, 70, 145, 418, 431}},
	{"07sept_165143", "RR", 0.02, [5]float64{662, 415, 522, 548, 401}, []float64{0, 3, 5, 6, 14, 15, 27, 108, 189, 263}},
	{"07sept_173404", "FIFO", 0.02, [5]float64{164, 503, 725, math.NaN(), math.NaN()}, []float64{0, 0, 7, 7, 7, 7, 13, 21, 55}},
	{"07sept_182615", "FIFO", 0.02, [5]float64{419, 472, 654, math.NaN(), math.NaN()}, []float64{0, 0, 1, 10, 10, 24, 38, 42, 48, 316, 493}},
}

// realTasks are the tasks of those runs, B1 to B5.
var realTasks = [5]int{5, 5, 20, 10, 5}
