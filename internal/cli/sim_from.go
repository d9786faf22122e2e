package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/wire"
)

// From is the part of "throng sim run" that goes on from a live pool.
type From struct {
	From    string  `group:"A live pool, in place of a scenario:" placeholder:"URL|DIR" help:"Forecast from the present state of a server, or of a data folder (also one that a server uses)."`
	Pool    string  `group:"A live pool, in place of a scenario:" placeholder:"P" help:"The pool, by id or name; default: the only one."`
	Horizon *span   `group:"A live pool, in place of a scenario:" placeholder:"TIME" help:"How far to look; default: 24h, or until the last deadline."`
	Token   *string `group:"A live pool, in place of a scenario:" help:"Act with this token instead of the saved login; default: $THRONG_TOKEN."`
}

// fromBudget bounds what is simulated, a minute or two, unless --reps says how
// often.
const fromBudget = 50_000_000

// forecast forecasts a live pool: under its own policy, and under others.
func (s *SimRun) forecast(c *Context, policies []string) error {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	o := forecast.Options{Policies: policies, Budget: fromBudget, Seed: 1}
	if s.From.Horizon != nil {
		if o.Horizon = s.From.Horizon.Duration; o.Horizon <= 0 {
			return wrong("horizon", "must be more than 0, like 12h or 3d")
		}
	}
	if s.Seed != nil {
		o.Seed = *s.Seed
	}
	reps, _, err := s.check()
	if err != nil {
		return err
	}
	if reps > 0 {
		o.Reps, o.Budget = reps, math.MaxInt64
	}
	state, err := s.From.state(ctx, c)
	if err != nil {
		return err
	}
	if len(state.Snapshot.Batches) == 0 {
		return fmt.Errorf("nothing runs in the pool %s: there is nothing to forecast", poolName(state.Pool, state.Name))
	}
	var finish func()
	o.Progress, finish = c.progress("forecast")
	r, err := forecast.Forecast(ctx, state, o)
	finish()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case crowd.CodeOf(err) == crowd.TooLarge:
		return crowd.Errorf(crowd.TooLarge, "%v (with --reps it is done all the same)", err)
	case err != nil:
		return err
	}
	return s.print(c, r, func(w io.Writer) { writeForecast(w, r, state.Name) })
}

// state copies the state of the pool.
func (f *From) state(ctx context.Context, c *Context) (*forecast.State, error) {
	if strings.HasPrefix(f.From, "http://") || strings.HasPrefix(f.From, "https://") {
		return f.online(ctx, c)
	}
	return f.offline(ctx)
}

func (f *From) online(ctx context.Context, c *Context) (*forecast.State, error) {
	at := Remote{Account: Account{Server: f.From}, Token: f.Token}
	r, err := at.ProvideRemote(c)
	if err != nil {
		return nil, err
	}
	id, err := r.pool(f.Pool)
	if err != nil {
		return nil, err
	}
	if id == 0 {
		list, err := r.Pools(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, whichPool(len(list), joined(list, func(p wire.Pool) string { return poolName(p.ID, p.Name) }))
		}
		id = list[0].ID
	}
	return r.PoolState(ctx, id)
}

// offline reads the database as it is, without disturbing a server that uses it.
func (f *From) offline(ctx context.Context) (*forecast.State, error) {
	path := filepath.Join(f.From, server.DatabaseFile)
	if _, err := os.Stat(path); err != nil {
		return nil, wrong("from", "%s is neither the URL of a server (like %s) nor a data folder: there is no %s in it", f.From, defaultServer, server.DatabaseFile)
	}
	st, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	state, err := f.read(ctx, st)
	return state, errors.Join(err, st.Close())
}

func (f *From) read(ctx context.Context, st store.Store) (*forecast.State, error) {
	pools, err := st.ListPools(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pools {
		if p.ID.String() == f.Pool || p.Name == f.Pool || f.Pool == "" && len(pools) == 1 {
			return batches.StateOf(ctx, st, p, now().UTC().Truncate(time.Microsecond), nil)
		}
		names = append(names, poolName(p.ID, p.Name))
	}
	if f.Pool == "" {
		return nil, whichPool(len(names), strings.Join(names, ", "))
	}
	return nil, &crowd.Error{Code: crowd.NotFound, Field: "pool", Message: "no such pool; there are " + strings.Join(names, ", ")}
}

func whichPool(n int, names string) error {
	return wrong("pool", "there are %d pools, say which: %s", n, names)
}

func poolName(id crowd.PoolID, name string) string {
	if name == "" {
		return id.String()
	}
	return id.String() + " (" + name + ")"
}

// writeForecast prints a forecast for people.
func writeForecast(w io.Writer, r *forecast.Result, name string) {
	b := &r.Basis
	say(w, "%s\n", clean(fmt.Sprintf("pool %s at %s: %s, %d tasks handed out, seed %d", poolName(r.Pool, name), stamp(r.At), format.Count(r.Reps, "repetition"), r.Cycles, r.Seed)))
	say(w, "people: %.0f of %d there, %.0f away with a task; %.0f seen from %s to %s, %.0f came later, %.0f left\n\n", math.Round(b.Present), b.Members, math.Round(b.Gone),
		b.Early(), shortTime(r.At, b.Since), shortTime(r.At, b.ArrivalsSince(r.At)), b.Arrivals, b.Departures)
	head := []string{"BATCH", "NAME", "LEFT", "DEADLINE"}
	for i, policy := range r.Policies {
		if i == 0 {
			policy += " (now)"
		}
		head = append(head, policy, "80 %", "IN TIME")
	}
	rows := [][]string{head}
	for i := range r.Batches {
		x := &r.Batches[i]
		row := []string{x.ID.String(), x.Name, strconv.Itoa(x.Left), shortTime(r.At, x.Deadline)}
		for k := range x.Finish {
			row = append(row, finishCells(r, x, &x.Finish[k])...)
		}
		rows = append(rows, row)
	}
	columns(w, rows)
	say(w, "\nA time is when half of the repetitions have ended, with the band that 80 %% of them end in. Nothing is looked at after %s.\n", stamp(r.Horizon))
}

func finishCells(r *forecast.Result, x *forecast.Batch, f *forecast.Finish) []string {
	switch {
	case x.Stopped:
		return []string{"stopped", "", ""}
	case x.State != crowd.BatchRunning:
		return []string{string(x.State), "", ""}
	}
	chance := ""
	if f.Chance != nil {
		chance = fmt.Sprintf("%.0f %%", 100*f.Chance.Value)
	}
	end := func(t time.Time) string {
		if t.IsZero() {
			return "after " + shortTime(r.At, r.Horizon)
		}
		return shortTime(r.At, t)
	}
	band := end(f.Low) + " - " + end(f.High)
	if f.Low.IsZero() {
		band = ""
	}
	return []string{end(f.Median), band, chance}
}

// shortTime writes a time in the reader's zone, with the day if it is another
// one.
func shortTime(at, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	at, t = at.Local(), t.Local()
	if at.Year() == t.Year() && at.YearDay() == t.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
