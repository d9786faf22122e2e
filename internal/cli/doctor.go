package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/disk"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/task"
)

// Doctor is "throng doctor".
type Doctor struct {
	configFlag
	Data string `type:"path" placeholder:"DIR" env:"THRONG_DATA" help:"The data folder of a server that is stopped; default throng-data."`
	databaseFlag
	keyFlag
	Server string `placeholder:"URL" help:"Check a running server instead."`
	MailTo string `placeholder:"ADDRESS" help:"Send a test mail instead."`
	Mail   string `placeholder:"URL" help:"The mail server, as for throng serve." env:"THRONG_MAIL" secret:""`
	Output
}

// diagnosis is what doctor prints.
type diagnosis struct {
	OK       bool              `json:"ok"`
	Data     string            `json:"data,omitempty"`
	Server   string            `json:"server,omitempty"`
	Problems []string          `json:"problems"` // what failed, as NAME: DETAIL
	Checks   []check           `json:"checks"`
	Counts   map[string]int64  `json:"counts,omitempty"`
	Facts    map[string]string `json:"facts,omitempty"`
}

type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

func (d *diagnosis) check(name string, err error, detail string, args ...any) bool {
	k := check{Name: name, OK: err == nil, Detail: fmt.Sprintf(detail, args...)}
	if err != nil {
		k.Detail = message(err)
		d.Problems = append(d.Problems, name+": "+k.Detail)
	}
	d.Checks = append(d.Checks, k)
	return k.OK
}

// Run checks.
func (x *Doctor) Run(c *Context) error {
	d := &diagnosis{Counts: make(map[string]int64), Facts: make(map[string]string), Problems: []string{}}
	var err error
	switch {
	case x.MailTo != "":
		err = x.mail(c, d)
	case x.Server != "":
		err = x.online(c, d)
	default:
		err = x.offline(c, d)
	}
	if err != nil {
		return err
	}
	d.OK = len(d.Problems) == 0
	if err := x.print(c, d, d.show); err != nil || d.OK {
		return err
	}
	return crowd.Errorf(failed, "%s failed", format.Count(len(d.Problems), "check"))
}

func (d *diagnosis) show(w io.Writer) {
	for _, k := range d.Checks {
		say(w, "%-4s %-12s %s\n", map[bool]string{true: "ok", false: "BAD"}[k.OK], k.Name, clean(k.Detail))
	}
	var rows [][]string
	for name, n := range d.Counts {
		rows = append(rows, cells("    "+name, n))
	}
	for name, text := range d.Facts {
		rows = append(rows, cells("    "+name, text))
	}
	slices.SortFunc(rows, slices.Compare)
	columns(w, rows)
}

// leastFree is how much room a disk should have.
const leastFree = 256 << 20

func (x *Doctor) offline(c *Context, d *diagnosis) error {
	place := x.in(cmp.Or(x.Data, "throng-data"))
	d.Data = place.String()
	if place.Database == "" {
		d.Data = place.Data
	}
	if err := place.Check(true); err != nil {
		return err
	}
	if free, known := disk.Free(place.Data); known {
		d.Facts["disk free"] = humanize.IBytes(free)
		err := error(nil)
		if free < leastFree {
			err = fmt.Errorf("only %s free", humanize.IBytes(free))
		}
		d.check("disk", err, "%s free", humanize.IBytes(free))
	}
	keys, err := x.with(place.Data)
	if err != nil {
		d.check("keys", err, "")
	}
	if place.Database != "" {
		return d.lookAt(c.Ctx, place, keys)
	}
	return d.tryFile(c.Ctx, place, keys)
}

// lookAt checks a database without taking it from a server that has it.
func (d *diagnosis) lookAt(ctx context.Context, place server.Place, keys *keyring.Ring) error {
	st, err := place.OpenReadOnly(ctx)
	if err != nil {
		d.check("database", err, "")
		return nil
	}
	d.check("database", nil, "opens, and its schema is of this version")
	inspect(ctx, st, d)
	inspectKeys(ctx, st, keys, d)
	inspectNodes(ctx, place, d)
	d.check("closing", st.Close(), "closed in order")
	return nil
}

// inspectNodes says which nodes share a database, and which of them could not take it.
func inspectNodes(ctx context.Context, place server.Place, d *diagnosis) {
	list, err := postgres.ReadNodes(ctx, place.Database)
	alive, owner := 0, "none has the database"
	for _, n := range list {
		if !n.Alive {
			continue
		}
		alive++
		if n.Owner {
			owner = n.Name + " has the database"
		}
		if n.Problem != "" {
			err = errors.Join(err, fmt.Errorf("%s could not take the database: %s", n.Name, n.Problem))
		}
	}
	if err != nil || alive > 0 {
		d.check("nodes", err, "%s, %s", format.Count(alive, "node"), owner)
	}
}

// tryFile opens the file of a database as a server does, and checks it.
func (d *diagnosis) tryFile(ctx context.Context, place server.Place, keys *keyring.Ring) error {
	path := place.File()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	d.Facts["database"] = humanize.IBytes(uint64(info.Size()))
	if err := sqlite.LogMissing(path); err != nil {
		d.check("log", err, "")
	}
	if look, err := sqlite.OpenReadOnly(ctx, path); errors.Is(err, store.ErrOldSchema) {
		d.check("database", err, "") // a check changes nothing
		return nil
	} else if err == nil {
		if err := look.Close(); err != nil {
			return err
		}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		d.check("database", fmt.Errorf("%w (a running server is checked with: throng doctor --server %s)", err, defaultServer), "")
		return nil
	}
	d.check("database", nil, "opens, and its schema is of this version")
	if d.check("integrity", sqlite.Intact(ctx, path), "every page and index is whole, and what rows refer to is there") {
		inspect(ctx, st, d)
		inspectKeys(ctx, st, keys, d)
	}
	d.check("closing", st.Close(), "closed in order")
	return nil
}

// inspect checks what is in a store.
func inspect(ctx context.Context, st store.Store, d *diagnosis) {
	checkBooks(ctx, st, d)
	if tenants, err := st.ListTenants(ctx); err == nil {
		d.Counts["tenants"] = int64(len(tenants))
	} else {
		d.check("tenants", err, "")
	}
	acting, err := countPeople(ctx, st, d)
	if d.check("people", err, "can be read") && d.Counts["people"] > 0 {
		if acting == 0 {
			err = errNoAdmin
		}
		d.check("admins", err, "%s who may act as one", format.Count(acting, "administrator"))
	}
	d.check("batches", checkBatches(ctx, st, d), "can be read and shown")
	inspectOutbox(ctx, st, d)
	pools, err := st.ListPools(ctx)
	if err != nil {
		d.check("pools", err, "")
		return
	}
	d.Counts["pools"] = int64(len(pools))
	for _, p := range pools {
		var counts engine.Counts
		e, err := live.Restore(ctx, st, p.ID, now().UTC().Truncate(time.Microsecond)) // as a server would
		if err == nil {
			counts, err = e.Counts(), e.Check()
		}
		d.check("pool "+p.Name, err, "%s under %s, %s: everything that must hold does", format.Count(counts.Belong, "person"), p.Policy, format.Count(counts.Batches, "batch")+" open")
	}
}

// sealedWithIn counts the secrets of a store by the id of the key that they are sealed with.
func sealedWithIn(ctx context.Context, st store.Store) (map[string]int, error) {
	return st.(interface {
		SealedWith(context.Context) (map[string]int, error)
	}).SealedWith(ctx)
}

// inspectKeys checks that a server would have the keys that open what is sealed in a store.
func inspectKeys(ctx context.Context, st store.Store, keys *keyring.Ring, d *diagnosis) {
	counts, err := sealedWithIn(ctx, st)
	sealed := 0
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		switch n := counts[id]; {
		case id == "": // it lies in the clear
		case !slices.Contains(keys.IDs(), id):
			err = errors.Join(err, fmt.Errorf("%s sealed with the key %s, which is neither in %s of the data folder nor given with --key-file, as to throng serve", format.Count(n, "secret"), id, server.KeyFile))
		default:
			sealed += n
		}
	}
	d.check("keys", err, "%s sealed, by keys that are there", format.Count(sealed, "secret"))
}

// checkBooks checks what a store counts and chains.
func checkBooks(ctx context.Context, st store.Store, d *diagnosis) {
	d.check("ledger", st.CheckLedger(ctx), "sums to zero, and every balance is what its entries make it")
	head, err := st.CheckAudit(ctx)
	d.check("audit log", err, "%s", auditLine(head))
	d.check("quotas", st.CheckUsage(ctx), "what is counted of stored bytes, open batches and open tasks is what there is")
}

// auditLine says what an audit log that is as it should be has.
func auditLine(h store.AuditHead) string {
	if h.Last == 0 {
		return "no entries"
	}
	text := fmt.Sprintf("%s, each as it was written", auditEntries(h.Last-h.First+1))
	if h.First > 1 {
		text += fmt.Sprintf(", from number %d on: those before it were dropped", h.First)
	}
	if h.Erased > 0 {
		text += fmt.Sprintf("; details of %d were erased", h.Erased)
	}
	return text + fmt.Sprintf("; the last is number %d, with hash %s", h.Last, h.Hash)
}

// inspectOutbox says how many messages wait and have failed, and why.
func inspectOutbox(ctx context.Context, st store.Store, d *diagnosis) {
	const back, page = 24 * time.Hour, 100
	queued, failed, err := st.CountMessages(ctx, now().Add(-back))
	if err != nil {
		d.check("messages", err, "")
		return
	}
	list, err := st.ListMessages(ctx, 0, 0, page)
	last := ""
	if i := slices.IndexFunc(list, func(m store.Message) bool { return m.Error != "" }); i >= 0 {
		last = "; the latest error: " + list[i].Error
	}
	d.check("messages", err, "%d to be sent, %d failed in the last 24 hours%s", queued, failed, last)
}

// mail sends a test mail.
func (x *Doctor) mail(c *Context, d *diagnosis) error {
	if x.Mail == "" {
		return wrong("mail", "say through which server, by --mail or THRONG_MAIL, like smtp://user:password@mail.example.org:587?from=throng@example.org")
	}
	cfg, err := notify.ParseMail(x.Mail)
	if err != nil {
		return err
	}
	if err := notify.CheckAddress(x.MailTo); err != nil {
		return wrong("mail-to", "%s", err)
	}
	mail, err := notify.NewMail(cfg)
	if err != nil {
		return err
	}
	begin := now()
	err = mail.Send(c.Ctx, x.MailTo, "A test mail from Throng", "If you can read this, Throng can send mail.\n")
	d.check("mail", err, "%s took it for %s in %s", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)), x.MailTo, now().Sub(begin).Round(time.Millisecond))
	return nil
}

// errNoAdmin is the error of a server that nobody can look after.
var errNoAdmin = errors.New("nobody is an administrator who is not suspended: start the server again, and it prints a link for a new one")

// countPeople counts people, and returns how many of them may act as administrators.
func countPeople(ctx context.Context, st store.Store, d *diagnosis) (admins int, _ error) {
	for u, err := range pages.All(pageSize, func(after crowd.WorkerID, limit int) ([]store.User, error) {
		return st.ListUsers(ctx, 0, after, limit)
	}, func(u *store.User) crowd.WorkerID { return u.ID }) {
		if err != nil {
			return 0, err
		}
		d.Counts["people"]++
		d.Counts["workers"] += int64(btoi(u.Pool != 0))
		admins += btoi(u.Admin && !u.Suspended)
	}
	return admins, nil
}

// checkBatches verifies that every batch that is not over can be shown.
func checkBatches(ctx context.Context, st store.Store, d *diagnosis) error {
	for b, err := range pages.All(pageSize, func(before crowd.BatchID, limit int) ([]store.Batch, error) {
		return st.ListBatches(ctx, 0, before, limit)
	}, func(b *store.Batch) crowd.BatchID { return b.Spec.ID }) {
		if err != nil {
			return err
		}
		d.Counts["batches"]++
		d.Counts["tasks"] += int64(b.Spec.Tasks)
		d.Counts["answers"] += int64(b.Progress.Completed)
		if !b.Progress.State.Open() {
			continue
		}
		var t task.Template
		if b, err = st.Batch(ctx, 0, b.Spec.ID); err == nil { // lists have no templates
			t, err = task.Parse(b.Template)
		}
		if err == nil {
			err = crowd.Errors(t.Validate(b.Columns)).Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.Spec.ID, err)
		}
	}
	return nil
}

// probes is how often a running server is asked, to tell how fast it answers.
const probes = 11

// online asks a running server.
func (x *Doctor) online(c *Context, d *diagnosis) error {
	at := Account{Server: x.Server}
	url, err := at.server(logins{})
	if err != nil {
		return err
	}
	d.Server = url
	ctx, cancel := context.WithTimeout(c.Ctx, 30*time.Second)
	defer cancel()
	took := make([]time.Duration, probes)
	for i := range took {
		begin := now()
		if _, err := get(ctx, url+"/healthz"); err != nil {
			d.check("health", err, "")
			return nil
		}
		took[i] = now().Sub(begin)
	}
	slices.Sort(took)
	d.check("health", nil, "answers in %s (median of %d)", took[probes/2].Round(10*time.Microsecond), probes)
	d.Facts["latency"] = took[probes/2].String()
	_, err = get(ctx, url+"/readyz")
	d.check("readiness", err, "the store can be written, every pool takes commands")
	var document struct {
		Info struct {
			Title   string `json:"title"`
			Version string `json:"version"`
		} `json:"info"`
	}
	data, err := get(ctx, url+"/v1/openapi.json")
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err == nil && document.Info.Title != "Throng" {
		err = errors.New("this is not a Throng server")
	}
	d.check("version", err, "%s (this program: %s)", document.Info.Version, c.Version)
	d.Facts["version"] = document.Info.Version
	return nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, errors.Unwrap(err) // a url.Error: the report has the address
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, data)
	}
	return data, err
}
