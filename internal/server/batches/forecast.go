package batches

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
)

// What a forecast may cost the server.
const (
	forecastEvery = 15 * time.Second // a forecast is good for so long, at least
	forecastShare = 20               // and for so many times as long as it took
	maxActivity   = 100_000          // assignments that people's habits are read from
)

// enoughSeen is how many hand-outs there must have been before a forecast is
// more than a guess.
const enoughSeen = 5

// StateOf reads a pool's state as of its last commit. waiting are the people
// who wait for a task now, nil if that is not known.
func StateOf(ctx context.Context, st store.Store, pool store.Pool, now time.Time, waiting []crowd.WorkerID) (*forecast.State, error) {
	snapshot, err := st.Snapshot(ctx, pool.ID)
	if err != nil {
		return nil, err
	}
	since := now.Add(-forecast.Window)
	if pool.CreatedAt.After(since) {
		since = pool.CreatedAt
	}
	list, since, err := st.Activity(ctx, pool.ID, since, maxActivity)
	if err != nil {
		return nil, err
	}
	signs := lists.Map(list, func(a store.Activity) forecast.Sign {
		return forecast.Sign{Worker: a.Worker, Batch: a.Assignment.Batch(), State: a.State, At: a.At, Ended: a.EndedAt}
	})
	out := &forecast.State{
		Now: now, Pool: pool.ID, Name: pool.Name, Policy: pool.Policy, Snapshot: snapshot,
		Batches: make(map[crowd.BatchID]string, len(snapshot.Batches)),
	}
	for i := range snapshot.Batches {
		id := snapshot.Batches[i].Spec.ID
		b, err := st.Batch(ctx, 0, id)
		if err != nil {
			return nil, err
		}
		out.Batches[id] = b.Name
	}
	out.Observed = forecast.Observe(now, since, signs, snapshot.Workers, waiting)
	forecast.Hide(snapshot)
	return out, nil
}

// PoolState returns all that a forecast needs of a pool, to be made elsewhere, of all
// tenants' batches. Who may not see money gets it without what batches pay.
func (s *Batches) PoolState(ctx context.Context, p *access.Principal, id crowd.PoolID) (*forecast.State, error) {
	if err := p.May(access.BatchesPoolState); err != nil {
		return nil, err
	}
	state, err := s.poolState(ctx, id)
	if err == nil && p.May(access.BatchesPoolStateMoney) != nil {
		state.WithoutMoney()
	}
	return state, err
}

func (s *Batches) poolState(ctx context.Context, id crowd.PoolID) (*forecast.State, error) {
	r, err := s.live.Get(id)
	if err != nil {
		return nil, err
	}
	pool, _ := s.live.Settings(id)
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	return StateOf(ctx, s.store, pool, s.clock.Time(), waiting)
}

// ForecastStatus is whether a batch has a forecast, or why it has none.
type ForecastStatus string

// The statuses of a forecast.
const (
	ForecastReady   ForecastStatus = "ready"
	ForecastPending ForecastStatus = "pending" // being computed for the first time
	ForecastUnknown ForecastStatus = "unknown" // too little was seen yet
	ForecastNobody  ForecastStatus = "nobody"  // nobody is there
	ForecastTooFew  ForecastStatus = "too_few" // a task wants answers from more people than there are
	ForecastPaused  ForecastStatus = "paused"
	ForecastStopped ForecastStatus = "stopped" // emergency stop
	ForecastTooBig  ForecastStatus = "too_big"
	ForecastFailed  ForecastStatus = "failed"
	ForecastDraft   ForecastStatus = "draft"
	ForecastOver    ForecastStatus = "over"
)

// forecastTexts say it in words.
var forecastTexts = map[ForecastStatus]string{
	ForecastReady:   "",
	ForecastPending: "The forecast is being computed.",
	ForecastUnknown: "Too little is known yet: a forecast needs a few answers.",
	ForecastNobody:  "Nobody is there to work on it, and nobody came lately: there is nothing to forecast from.",
	ForecastTooFew:  "It cannot finish: a task needs answers from more different people than the pool has.",
	ForecastPaused:  "No forecast while it is paused.",
	ForecastStopped: "No forecast while an emergency stop lasts.",
	ForecastTooBig:  "The pool has too much to do to forecast it on the server; an admin can, with throng sim run --from URL.",
	ForecastFailed:  "The forecast could not be computed.",
	ForecastDraft:   "It has not been launched.",
	ForecastOver:    "It is over.",
}

// ForecastStatuses lists every status.
func ForecastStatuses() []ForecastStatus {
	return []ForecastStatus{
		ForecastReady, ForecastPending, ForecastUnknown, ForecastNobody, ForecastTooFew, ForecastPaused, ForecastStopped, ForecastTooBig, ForecastFailed, ForecastDraft, ForecastOver,
	}
}

// BatchForecast is when a batch will be done.
type BatchForecast struct {
	Status   ForecastStatus
	Text     string // why there is none; "" if there is one
	Deadline time.Time
	// Only of ForecastReady:
	At      time.Time // of the state that it starts from
	Since   int       // answers that came after At
	Horizon time.Time
	Reps    int
	Left    int // answers, at that time
	Finish  forecast.Finish
	Basis   string // what it rests on, in words

	lately bool // of ForecastNobody: somebody was there, or came, not long ago
}

// Forecast returns when a batch will be done, as far as that has been computed.
// Asking is what gets it computed, in the background.
func (s *Batches) Forecast(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchForecast, error) {
	b, err := s.Get(ctx, p, id)
	if err != nil {
		return BatchForecast{}, err
	}
	return s.forecast(&b), nil
}

// forecast returns when a batch will be done, as far as that has been computed.
func (s *Batches) forecast(b *BatchView) BatchForecast {
	f := BatchForecast{Deadline: b.Progress.Deadline}
	f.Status = s.forecastOf(b, &f)
	if f.Text == "" {
		f.Text = forecastTexts[f.Status]
	}
	return f
}

// forecastOf fills in what is expected of a batch, if there is something. It is long as the reasons for
// none are a list whose order decides: the first that holds is told.
func (s *Batches) forecastOf(b *BatchView, f *BatchForecast) ForecastStatus {
	switch {
	case b.Progress.State == crowd.BatchDraft:
		return ForecastDraft
	case b.Progress.State.Ended():
		return ForecastOver
	case b.Reason == crowd.EmergencyStop:
		return ForecastStopped
	case b.Progress.State == crowd.BatchOnHold:
		return ForecastPaused
	case b.Unpaid != "":
		f.Text = "No forecast: " + b.Unpaid + "."
		return ForecastUnknown
	case b.Progress.Open && b.Progress.Wanted() == b.Progress.Labelled:
		f.Text = "Every task that there is has its label, and more may come: there is nothing to forecast."
		return ForecastUnknown
	case b.Crowd.TooSmall():
		f.Text = "It cannot finish: " + b.Crowd.String() + "."
		return ForecastTooFew
	}
	if b.PaysNobody && b.Reason == crowd.NoWorkerReady {
		f.Text = "Nobody is there to work on it, and the pool's money for waiting is too little to call anybody (throng pool fund " + b.Pool.String() + " AMOUNT)."
		return ForecastNobody
	}
	known := s.forecasts.ask(b.Pool)
	result, err := known.result, known.err
	switch {
	case crowd.CodeOf(err) == crowd.TooLarge:
		return ForecastTooBig
	case err != nil:
		return ForecastFailed
	case result == nil:
		return ForecastPending
	}
	i := slices.IndexFunc(result.Batches, func(x forecast.Batch) bool { return x.ID == b.Spec.ID })
	if i < 0 || result.Batches[i].State != crowd.BatchRunning || result.Batches[i].Stopped {
		return ForecastPending // the forecast is of before it was launched, or resumed
	}
	x, basis := &result.Batches[i], &result.Basis
	since := max(b.Progress.Completed-known.completed[b.Spec.ID], 0)
	nobody := basis.Present+basis.Gone == 0 && basis.Arrivals == 0
	unknown := basis.RecentHandOuts < enoughSeen && x.Answers < enoughSeen
	now, due := s.clock(), x.Finish[0].Median
	switch {
	// A time that moves on as long as nobody comes is no time, and the forecast may rest on
	// people who have left since.
	case !nobody && b.nobodyThere():
		f.Text, f.lately = "Nobody is there to work on it now: when it is done is known once somebody comes.", true
		return ForecastNobody
	case nobody && b.Here > 0: // they came after it was made, or have done nothing so far
		s.forecasts.renew(b.Pool)
		return ForecastUnknown
	case s.forecasts.refuted(b.Pool, b.Spec.ID, result, refuted(x, result, now, since)):
		f.Text = "What came since contradicts the last forecast: a new one is being computed."
		return ForecastPending
	case !nobody && unknown && since >= enoughSeen,
		!due.IsZero() && due.Before(now) && now.After(known.until):
		s.forecasts.renew(b.Pool)
		return ForecastPending
	case nobody:
		return ForecastNobody
	case unknown:
		return ForecastUnknown
	}
	f.At, f.Horizon, f.Reps, f.Left, f.Finish, f.Basis = result.At, result.Horizon, result.Reps, x.Left, x.Finish[0], result.Words(x)
	f.Since = since
	if !x.Deadline.Equal(b.Progress.Deadline) {
		f.Finish.Chance = nil // it was of another deadline
	}
	return ForecastReady
}

// refuted reports whether what came since a forecast of a batch was made contradicts it: it
// should have ended by now in nine of ten repetitions, or its answers come more than
// twice as fast as they do on average in the quickest tenth of them.
func refuted(x *forecast.Batch, of *forecast.Result, now time.Time, since int) bool {
	low, high := x.Finish[0].Low, x.Finish[0].High
	if !high.IsZero() && high.Before(now) {
		return true
	}
	if low.IsZero() {
		low = of.Horizon
	}
	share := 1.0
	if all := low.Sub(of.At); all > 0 {
		share = min(now.Sub(of.At).Seconds()/all.Seconds(), 1)
	}
	foreseen := float64(x.Left) * share
	return float64(since) >= enoughSeen+2*foreseen+3*math.Sqrt(foreseen) // answers come in groups
}

// forecastOfStep returns when the tasks of a step's batch will be done, as far as that has
// been computed.
func (s *Batches) forecastOfStep(pool crowd.PoolID, id crowd.BatchID, st *engine.Status) (f orchestrator.Forecast) {
	if st.Progress.Open && st.Progress.Wanted() == st.Progress.Labelled {
		return f // nothing is left to do
	}
	b := BatchView{Batch: store.Batch{Pool: pool, Progress: st.Progress}, Running: st.Running, Waiting: st.Waiting, Undo: st.Provisional, Reason: st.Reason, Stops: st.Stops, Crowd: st.Crowd, Here: st.Here, PaysNobody: st.PaysNobody}
	b.Spec.ID = id
	x := s.forecast(&b)
	f.Why, f.Nobody = x.Text, x.Status == ForecastNobody && !x.lately
	if x.Status == ForecastReady {
		f.Low, f.Median, f.High, f.Horizon = x.Finish.Low, x.Finish.Median, x.Finish.High, x.Horizon
		f.At, f.Since = x.At, x.Since
	}
	return f
}

// forecasts computes forecasts in the background, one at a time, and keeps the
// last one of each pool.
type forecasts struct {
	batches *Batches
	log     *slog.Logger
	wake    chan struct{} // has a signal when something was queued

	mu    sync.Mutex
	list  map[crowd.PoolID]*poolForecast
	queue []crowd.PoolID // wanted, not begun
}

type poolForecast struct {
	result    *forecast.Result       // nil: none yet
	completed map[crowd.BatchID]int  // answers that its batches had when it was made
	refuted   map[crowd.BatchID]bool // those of which what came since contradicts it
	err       error                  // why the last one failed
	until     time.Time              // it is good for so long
	rest      time.Time              // until when none is made, so that they do not cost too much
	wanted    bool                   // in the queue, or being computed
	renewed   bool                   // before it had to be
}

// ask returns a pool's last forecast, if there is one, and queues a new one when
// that is too old.
func (f *forecasts) ask(pool crowd.PoolID) poolForecast {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.list[pool]
	if x == nil {
		x = &poolForecast{}
		f.list[pool] = x
	}
	if !x.wanted && f.batches.clock().After(x.until) {
		x.renewed = false
		f.want(pool, x)
	}
	return *x
}

// renew queues a new forecast of a pool, whose last one may be wrong by now; not twice in a
// row, as the new one may be as wrong.
func (f *forecasts) renew(pool crowd.PoolID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x := f.list[pool]; x != nil && !x.renewed {
		f.again(pool, x)
	}
}

// refuted reports whether a forecast of a batch is wrong, as it is known to be now or was
// before, and queues another one of its pool. What was contradicted once is not shown again
// if by and by it fits what came.
func (f *forecasts) refuted(pool crowd.PoolID, id crowd.BatchID, of *forecast.Result, now bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.list[pool]
	if x == nil || x.result != of { // there is another one already
		return now
	}
	if now {
		x.refuted[id] = true
	}
	if !x.refuted[id] {
		return false
	}
	f.again(pool, x)
	return true
}

// again queues a new forecast of a pool before it has to be, unless they cost too much by then.
// f.mu is held.
func (f *forecasts) again(pool crowd.PoolID, x *poolForecast) {
	if !x.wanted && !f.batches.clock().Before(x.rest) {
		x.renewed = true
		f.want(pool, x)
	}
}

// want queues a forecast of a pool. f.mu is held.
func (f *forecasts) want(pool crowd.PoolID, x *poolForecast) {
	x.wanted = true
	f.queue = append(f.queue, pool)
	select {
	case f.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run computes what is queued until ctx is done.
func (f *forecasts) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		for ctx.Err() == nil {
			pool, ok := f.next()
			if !ok {
				break
			}
			f.compute(ctx, pool)
		}
	}
}

// next takes a pool out of the queue.
func (f *forecasts) next() (pool crowd.PoolID, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return 0, false
	}
	pool, f.queue = f.queue[0], f.queue[1:]
	return pool, true
}

// compute makes the forecast of a pool, keeps it and signals who watches its
// batches.
func (f *forecasts) compute(ctx context.Context, pool crowd.PoolID) {
	now, begin := f.batches.clock(), time.Now() // its cost is real time, whatever the clock of the server
	var result *forecast.Result
	state, err := f.batches.poolState(ctx, pool)
	if err == nil { // on half of the cores, at most: people come first
		result, err = forecast.Forecast(ctx, state, forecast.Options{Seed: 1, Cores: max(1, runtime.GOMAXPROCS(0)/2)})
	}
	cost := time.Since(begin)
	if err != nil && !errors.Is(err, context.Canceled) && crowd.CodeOf(err) != crowd.TooLarge {
		f.log.Warn("a forecast failed", "pool", pool.String(), "err", err)
	}
	f.mu.Lock()
	x := f.list[pool]
	x.result, x.completed, x.refuted, x.err, x.wanted = result, completed(state), make(map[crowd.BatchID]bool), err, false
	x.rest = now.Add(forecastShare * cost)
	x.until = instant.Later(x.rest, now.Add(forecastEvery))
	f.mu.Unlock()
	// Also when it has failed: the page says that it is pending.
	if state == nil {
		f.batches.watched.AllChanged()
	} else {
		f.batches.watched.Changed(slices.Collect(maps.Keys(state.Batches))...)
	}
}

// completed is how many answers each batch of a state has; nil of none.
func completed(state *forecast.State) map[crowd.BatchID]int {
	if state == nil {
		return nil
	}
	out := make(map[crowd.BatchID]int, len(state.Snapshot.Batches))
	for i := range state.Snapshot.Batches {
		b := &state.Snapshot.Batches[i]
		out[b.Spec.ID] = b.Progress.Completed
	}
	return out
}
