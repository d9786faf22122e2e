package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkerFactor is "throng worker second-factor".
type WorkerFactor struct {
	Show  WorkerFactorShow  `cmd:"" help:"Show what somebody signs in with besides their password."`
	Reset WorkerFactorReset `cmd:"" help:"Take all second factors of somebody away who has lost them."`
}

// WorkerFactorShow is "throng worker second-factor show".
type WorkerFactorShow struct {
	aWorker
	Remote
}

// Run lists the factors.
func (f *WorkerFactorShow) Run(c *Context, r *remote, id crowd.WorkerID) error {
	held, err := r.SecondFactors(c.Ctx, id)
	return r.print(held, err, func(w io.Writer) {
		writeTable(w, held.Factors, "ID|KIND|NAME|SINCE|LAST USED", func(x wire.SecondFactor) []any {
			return []any{x.ID, x.Kind, x.Name, x.CreatedAt, x.UsedAt}
		})
		say(w, "recovery codes left: %d\n", held.RecoveryCodes)
	})
}

// WorkerFactorReset is "throng worker second-factor reset".
type WorkerFactorReset struct {
	aWorker
	Remote
}

// Run takes them away.
func (f *WorkerFactorReset) Run(c *Context, r *remote, id crowd.WorkerID) error {
	err := r.ResetSecondFactors(c.Ctx, id)
	return r.tell(map[string]string{"id": id.String()}, err, "%s has no second factor now, and is signed out everywhere\n", clean(f.Name))
}
