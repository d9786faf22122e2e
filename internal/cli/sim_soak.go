package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/verify/soak"
)

// SimSoak is "throng sim soak".
type SimSoak struct {
	Rounds int    `help:"Worlds to look at." default:"200"`
	Seed   uint64 `help:"Of the first world; the others follow." default:"1"`
	Output
}

// Run looks.
func (s *SimSoak) Run(c *Context) error {
	if s.Rounds < 1 {
		return wrong("rounds", "must be at least 1, not %d", s.Rounds)
	}
	ctx, stop := c.untilFirstSignal()
	defer stop()
	show, finish := c.progress("worlds")
	r, err := soak.Run(ctx, soak.Options{Seed: s.Seed, Rounds: s.Rounds, Progress: func(done int) { show(done, s.Rounds) }})
	finish()
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("interrupted; no world that was looked at broke")
	case err != nil:
		return err
	}
	err = s.print(c, r, func(w io.Writer) {
		if r.Failed != nil {
			fmt.Fprintf(w, "the world of seed %d breaks: %s\nlooked at: %s\nagain: throng sim soak --seed %d --rounds 1\n", *r.Failed, r.Problem, format.Count(r.Worlds, "world"), *r.Failed)
			return
		}
		pairs(w,
			"worlds", r.Worlds, "hand-outs", r.HandOuts, "answers", r.Answers, "labels", r.Labels,
			"leases that ran out", r.Expired, "given up", r.GivenUp, "late answers", r.Late, "broken", "none")
	})
	if err == nil && r.Failed != nil {
		return fmt.Errorf("the world of seed %d breaks", *r.Failed)
	}
	return err
}
