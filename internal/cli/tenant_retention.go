package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// TenantRetention is "throng tenant retention".
type TenantRetention struct {
	aTenant
	Set     []string `sep:"none" placeholder:"KIND=DAYS" help:"Keep answers, files or logs for so many days, as in answers=365; 0: for ever. Repeat it for several."`
	Default []string `sep:"none" placeholder:"KIND" help:"Keep it for as long as the operator says. Repeat it for several."`
	DryRun  bool     `help:"Change nothing; say what is deleted and when, with what --set and --default ask for."`
	Yes     bool     `help:"Set it also where it deletes something at once."`
	Remote
}

// Run shows or sets the retention, or says what it deletes.
func (t *TenantRetention) Run(c *Context, r *remote, id crowd.TenantID) error {
	days := make(map[string]*int)
	for _, text := range t.Set {
		kind, n, err := retention.ParseDays("set", text)
		if err != nil {
			return err
		}
		days[string(kind)] = &n
	}
	for _, name := range t.Default {
		kind, err := store.ParseRetained("default", name)
		if err != nil {
			return err
		}
		if days[string(kind)] != nil {
			return wrong("default", "%s is set by --set, too", name)
		}
		days[string(kind)] = nil
	}
	if t.DryRun {
		return t.preview(c, r, id, days)
	}
	get := func() (wire.Retention, error) { return r.Retention(c.Ctx, id) }
	if len(days) > 0 {
		if err := t.sure(c, r, id, days); err != nil {
			return err
		}
		get = func() (wire.Retention, error) { return r.SetRetention(c.Ctx, id, days) }
	}
	out, err := get()
	if err != nil {
		return err
	}
	if r.json {
		return r.tell(out, nil, "")
	}
	return printTable(r, out.Rules, nil, "KIND|KEPT FOR|FROM|SET BY|POSSIBLE", func(x wire.RetentionRule) []any {
		by := "operator"
		if x.Set {
			by = "tenant"
		}
		most := "for ever"
		if x.Most > 0 {
			most = keptFor(x.Most)
		}
		return []any{x.Kind, keptFor(x.Days), x.Since, by, keptFor(max(x.Least, 1)) + " to " + most}
	})
}

// sure is the error of a change that deletes something at once, unless it is said that it may.
func (t *TenantRetention) sure(c *Context, r *remote, id crowd.TenantID, days map[string]*int) error {
	if t.Yes {
		return nil
	}
	out, err := r.RetentionPreview(c.Ctx, id, days)
	if err != nil {
		return err
	}
	var goes []string
	now := lists.Filter(out.Things, func(x wire.Expiry) bool { return goesNow(&out, &x) })
	if n := len(now); n > 0 {
		first := &now[0]
		goes = append(goes, fmt.Sprintf("%s of %s%s", first.Kind, cmp.Or(idOf(first.Batch), idOf(first.Run)), when(n > 1, fmt.Sprintf(" and %d more", n-1))))
	}
	if !out.LogsBefore.IsZero() {
		goes = append(goes, "details of entries of the audit log of before "+out.LogsBefore.Format("2006-01-02"))
	}
	if len(goes) == 0 {
		return nil
	}
	return &noted{crowd.Errorf(crowd.Conflict, "this deletes at once, and for good: %s", strings.Join(goes, "; ")), "to look first: --dry-run; to delete it: --yes"}
}

// goesNow reports whether something is deleted at once.
func goesNow(of *wire.RetentionPreview, x *wire.Expiry) bool {
	return x.NeededBy == 0 && !x.At.After(of.At)
}

func keptFor(days int) string {
	if days == 0 {
		return "for ever"
	}
	return format.Count(days, "day")
}

// preview says what is deleted, and when.
func (t *TenantRetention) preview(c *Context, r *remote, id crowd.TenantID, days map[string]*int) error {
	out, err := r.RetentionPreview(c.Ctx, id, days)
	if err != nil {
		return err
	}
	if r.json {
		return r.tell(out, nil, "")
	}
	for _, x := range out.Rules {
		say(c.Stdout, "%s: %s\n", x.Kind, keptFor(x.Days))
	}
	if !out.LogsBefore.IsZero() {
		say(c.Stdout, "details of entries of the audit log of before %s go now\n", out.LogsBefore.Format("2006-01-02"))
	}
	if len(out.Things) == 0 {
		say(c.Stdout, "nothing of a batch or a run that has ended is to be deleted\n")
		return nil
	}
	err = printTable(r, out.Things, nil, "OF|NAME|WHAT|ENDED|DELETED", func(x wire.Expiry) []any {
		when := any(x.At)
		switch {
		case x.NeededBy != 0:
			when = "when " + x.NeededBy.String() + " has ended"
		case goesNow(&out, &x):
			when = "now"
		}
		return []any{cmp.Or(idOf(x.Batch), idOf(x.Run)), x.Name, x.Kind, x.EndedAt, when}
	})
	if err == nil && out.More {
		say(c.Stderr, "throng: there are more\n")
	}
	return err
}

// idOf is the text of an id; "": there is none.
func idOf[T interface {
	comparable
	fmt.Stringer
}](id T) string {
	if id == *new(T) {
		return ""
	}
	return id.String()
}
