package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Quota names something of which a tenant may have so much.
type Quota string

// The quotas. What each bounds is in the table that AllQuotas lists.
const (
	StoredBytes      Quota = "stored-bytes"
	OpenBatches      Quota = "open-batches"
	OpenTasks        Quota = "open-tasks"
	OpenRuns         Quota = "open-runs"
	Members          Quota = "members"
	OwnWorkers       Quota = "own-workers"
	OpenInvitations  Quota = "open-invitations"
	APITokens        Quota = "tokens"
	PushEndpoints    Quota = "push-endpoints"
	SecretsKept      Quota = "secrets"
	InvitationsDaily Quota = "invitations-per-day"
	UploadedDaily    Quota = "uploaded-bytes-per-day"
	QueryTimeDaily   Quota = "query-time-per-day"
	ServiceCalls     Quota = "service-calls-per-day"
	UploadSize       Quota = "upload-bytes"
	QueryTime        Quota = "query-time"
	Uploads          Quota = "uploads"
	Downloads        Quota = "downloads"
	LongLists        Quota = "long-lists"
	RequestMemory    Quota = "request-mib"
	EventStreams     Quota = "event-streams"
	Queries          Quota = "queries"
)

// QuotaKind is how what a quota bounds is counted.
type QuotaKind string

// The kinds of quotas.
const (
	Kept   QuotaKind = "kept"    // it is in the store, which counts it where it is kept
	Daily  QuotaKind = "daily"   // it adds up from midnight to midnight, UTC
	AtOnce QuotaKind = "at once" // it is under way at the moment
	Each   QuotaKind = "each"    // it is of one thing; nothing is used up
)

// Unit is in what a quota is counted.
type Unit string

// The units.
const (
	Number       Unit = "number"
	Bytes        Unit = "bytes"
	MiB          Unit = "MiB"
	Milliseconds Unit = "milliseconds"
)

// Text is n of the unit, for people.
func (u Unit) Text(n int64) string {
	switch u {
	case Bytes:
		return format.Bytes(n)
	case MiB:
		return strconv.FormatInt(n, 10) + " MiB"
	case Milliseconds:
		return (time.Duration(n) * time.Millisecond).String()
	}
	return strconv.FormatInt(n, 10)
}

// About is n of the unit in few digits.
func (u Unit) About(n int64) string {
	if u == MiB {
		n, u = n<<20, Bytes
	}
	switch {
	case u == Bytes && n >= 1<<10:
		x, i := float64(n)/(1<<10), 0
		for ; x >= 1<<10 && i < 3; i++ {
			x /= 1 << 10
		}
		return strconv.FormatFloat(x, 'f', 1, 64) + " " + [...]string{"KiB", "MiB", "GiB", "TiB"}[i]
	case u == Milliseconds && n >= 1000:
		return (time.Duration(n) * time.Millisecond).Round(time.Second).String()
	}
	return u.Text(n)
}

// QuotaInfo is what is known of a quota.
type QuotaInfo struct {
	Quota   Quota
	Kind    QuotaKind
	Unit    Unit
	Default int64
	Most    int64 // that it can be set to
	Bounds  string
	Where   string // it is checked, and what happens to who wants more
}

const (
	unlimitedBytes = 1 << 50        // the most that quotas of bytes can be set to
	hour           = 60 * 60 * 1000 // milliseconds
)

// quotas is every quota. docs/quotas.md has the same table.
var quotas = []QuotaInfo{
	{StoredBytes, Kept, Bytes, 50 << 30, unlimitedBytes, "texts of the tenant's tasks, known answers, answers, labels, rows of runs, files of workflows, templates and tests", "when tasks, rows, workflows, templates and tests are added, which is refused (507); a step of a run waits; answers are counted, and never refused"},
	{OpenBatches, Kept, Number, 5_000, 1 << 30, "batches that have not ended, drafts and those of runs among them", "when a batch is made (403); a step of a run waits"},
	{OpenTasks, Kept, Number, 50_000_000, 1 << 40, "tasks of batches that have not ended", "when tasks are added (403); a step of a run waits"},
	{OpenRuns, Kept, Number, 1_000, 1 << 30, "runs of workflows that have not ended", "when a run is made (403)"},
	{Members, Kept, Number, 1_000, 1 << 30, "people who act for the tenant", "when somebody becomes one (403)"},
	{OwnWorkers, Kept, Number, 100_000, 1 << 30, "workers who serve the tenant alone: those whom it brings", "when somebody accepts an invitation, or is made one (403)"},
	{OpenInvitations, Kept, Number, 100_000, 1 << 30, "invitations that are open", "when people are invited (403)"},
	{APITokens, Kept, Number, 1_000, 1 << 30, "tokens for programs that are good: those for the tenant alone, and those of its members for all that they may do", "when a token is made (403)"},
	{PushEndpoints, Kept, Number, 200_000, 1 << 30, "browsers that take messages for workers who serve the tenant alone", "when a browser subscribes (403)"},
	{SecretsKept, Kept, Number, 200, 1 << 20, "secrets for calls of services", "when a secret is set (403)"},
	{InvitationsDaily, Daily, Number, 20_000, 1 << 30, "people who are invited, those who are sent their invitation again among them", "when people are invited (429)"},
	{UploadedDaily, Daily, Bytes, 100 << 30, unlimitedBytes, "bytes of files of tasks, inputs and tests", "while a file comes, of which nothing is kept then (429)"},
	{QueryTimeDaily, Daily, Milliseconds, 48 * hour, 24 * 365 * hour, "time that SQL steps take", "before a query begins, which waits for the next day, and while it runs, which is ended"},
	{ServiceCalls, Daily, Number, 10_000_000, 1 << 40, "attempts of calls by service steps", "before a call, whose item is held with the error"},
	{UploadSize, Each, Bytes, 4 << 30, 4 << 30, "bytes of one file", "while it comes; nothing of it is kept then (413)"},
	{QueryTime, Each, Milliseconds, 24 * hour, 24 * hour, "time that one query of an SQL step may take, if its step allows as much", "while it runs, which is ended: the step fails"},
	{Uploads, AtOnce, Number, 4, 32, "files that are sent", "when a file comes, which waits for ten seconds (429)"},
	{Downloads, AtOnce, Number, 4, 16, "reads of whole batches and runs", "before they begin, for which they wait for ten seconds (429)"},
	{LongLists, AtOnce, Number, 8, 32, "answers that may be megabytes", "before they are made, for which they wait for ten seconds (429)"},
	{RequestMemory, AtOnce, MiB, 32, 96, "bodies of requests that are in memory", "before a body is read, for which it waits for ten seconds (429)"},
	{EventStreams, AtOnce, Number, 100, 100_000, "event streams, such as open pages of batches and runs have", "when one is opened (429)"},
	{Queries, AtOnce, Number, 8, 64, "queries of SQL steps, as far as the server runs as many", "before a query begins, which waits for its turn"},
}

// AllQuotas lists every quota.
func AllQuotas() []QuotaInfo { return slices.Clone(quotas) }

// Info returns what is known of the quota.
func (q Quota) Info() (QuotaInfo, bool) {
	i := slices.IndexFunc(quotas, func(x QuotaInfo) bool { return x.Quota == q })
	if i < 0 {
		return QuotaInfo{Quota: q}, false
	}
	return quotas[i], true
}

// ParseQuota returns the quota with a name.
func ParseQuota(field, name string) (QuotaInfo, error) {
	if info, found := Quota(name).Info(); found {
		return info, nil
	}
	names := make([]string, len(quotas))
	for i, q := range quotas {
		names[i] = string(q.Quota)
	}
	return QuotaInfo{}, crowd.Fieldf(field, "%q is not a quota; there are %s", name, strings.Join(names, ", "))
}

// multiples are what a number of a unit may be followed by.
var multiples = map[Unit]map[string]int64{
	Bytes: {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
	MiB:   {"MiB": 1, "GiB": 1 << 10},
}

// Parse reads a value for the quota: a number in its unit, or with another, as in 20GiB
// or 90m.
func (q *QuotaInfo) Parse(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := strings.TrimSpace(text[len(digits):])
	times, known := multiples[q.Unit][unit]
	if unit == "" {
		times, known = 1, true
	}
	if d, wrong := time.ParseDuration(strings.ReplaceAll(text, " ", "")); q.Unit == Milliseconds && unit != "" && wrong == nil {
		n, times, known, err = d.Milliseconds(), 1, true, nil
	}
	if err != nil || !known || n > q.Most/times {
		return 0, crowd.Fieldf(string(q.Quota), "%q is not from 0 to %s%s", text, q.Unit.Text(q.Most), map[Unit]string{Bytes: "; write it as 20GiB, 500MiB or 1000", MiB: "; write it as 64MiB", Milliseconds: "; write it as 36h, 90m or 30s"}[q.Unit])
	}
	return n * times, q.Check(n * times)
}

// Check returns what is wrong with a value for the quota, or nil.
func (q *QuotaInfo) Check(value int64) error {
	if value < 0 || value > q.Most {
		return crowd.Fieldf(string(q.Quota), "%d is not between 0 and %d (%s)", value, q.Most, q.Unit)
	}
	return nil
}

// Excess is that something would pass a quota.
type Excess struct {
	Quota  Quota
	Tenant crowd.TenantID // 0: all who are of none
	Unit   Unit
	Limit  int64
	Used   int64
	Wanted int64     // in addition
	Again  time.Time // when there is more of a daily one; else zero
}

// Error implements error.
func (e *Excess) Error() string {
	return fmt.Sprintf("%s of %s: %d of %d used, %d wanted", e.Quota, e.Tenant, e.Used, e.Limit, e.Wanted)
}

// excessCodes are the codes of what passes a quota, by its kind.
var excessCodes = map[QuotaKind]crowd.Code{Kept: crowd.QuotaExceeded, Daily: crowd.TooMany, AtOnce: crowd.TooMany, Each: crowd.TooLarge}

// Refused makes the error for users. It says which quota, how much of it is used, how
// much was wanted, and who can raise it; its cause is e.
func (e *Excess) Refused() *crowd.Error {
	info, _ := e.Quota.Info()
	e.Unit = info.Unit
	code := excessCodes[info.Kind]
	if e.Quota == StoredBytes {
		code = crowd.StorageFull
	}
	whose := "its tenant's"
	if e.Tenant > 0 {
		whose = e.Tenant.String() + "'s"
	}
	var text string
	if info.Kind == Each {
		text = fmt.Sprintf("%s quota %s is %s, and this needs more", whose, e.Quota, e.Unit.Text(e.Limit))
	} else {
		text = fmt.Sprintf("%s quota %s does not suffice: %s of %s are used, and this needs %s more", whose, e.Quota, e.Unit.About(e.Used), e.Unit.Text(e.Limit), e.Unit.About(e.Wanted))
	}
	switch {
	case !e.Again.IsZero():
		text += fmt.Sprintf("; it begins anew at %s UTC, and an administrator can raise it", e.Again.UTC().Format("15:04"))
	case info.Kind == AtOnce:
		text += "; wait for some to end, or have an administrator raise it"
	default:
		text += "; an administrator can raise it"
	}
	return &crowd.Error{Code: code, Message: text, Cause: e}
}

// DailyUse is how much of a daily quota was used on a day.
type DailyUse struct {
	Tenant crowd.TenantID
	Quota  Quota
	Day    int64 // since 1970, in UTC
	Used   int64
}

// Quotas keeps what tenants may have, and what they have. Methods of the store that keep
// something of which there is a quota refuse what would pass it, with an error that Excess
// has made: in the transaction that keeps the thing, so that two at once do not pass it.
type Quotas interface {
	// SetQuotas sets what a tenant may have of some quotas; nil: the default.
	SetQuotas(ctx context.Context, tenant crowd.TenantID, values map[Quota]*int64) error
	// QuotasSet returns what is not the default.
	QuotasSet(ctx context.Context) (map[crowd.TenantID]map[Quota]int64, error)
	// Usage returns how much a tenant has of each quota that is Kept.
	Usage(ctx context.Context, tenant crowd.TenantID, now time.Time) (map[Quota]int64, error)
	// UsageOfAll returns Usage of every tenant that there is.
	UsageOfAll(ctx context.Context, now time.Time) (map[crowd.TenantID]map[Quota]int64, error)
	// DailyUsage returns what KeepDailyUsage has kept last, by tenant and quota.
	DailyUsage(ctx context.Context) ([]DailyUse, error)
	KeepDailyUsage(ctx context.Context, list []DailyUse) error
	// CheckUsage verifies that what is counted along is what there is. The error is a
	// *crowd.Error of code Conflict and names the first tenant and quota of which it is not.
	CheckUsage(ctx context.Context) error
}
