package store_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/store"
)

var update = flag.Bool("update", false, "write the table into docs/quotas.md")

// quotaTable is the table of docs/quotas.md.
func quotaTable() string {
	var b strings.Builder
	b.WriteString("| quota | unit | default | at most | bounds | checked |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, q := range store.AllQuotas() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", q.Quota, q.Unit, q.Unit.Text(q.Default), q.Unit.Text(q.Most), q.Bounds, q.Where)
	}
	return b.String()
}

// TestTheTableOfQuotas: docs/quotas.md has the table as it is.
func TestTheTableOfQuotas(t *testing.T) { sharedtest.DocTable(t, "quotas.md", quotaTable(), *update) }

// TestQuotasAreWhole: each has all that the table says, a default that it allows, and is
// read as it is written.
func TestQuotasAreWhole(t *testing.T) {
	seen := make(map[store.Quota]bool)
	for _, q := range store.AllQuotas() {
		if q.Quota == "" || seen[q.Quota] || q.Kind == "" || q.Unit == "" || q.Bounds == "" || q.Where == "" || q.Check(q.Default) != nil || q.Check(q.Most+1) == nil || q.Check(-1) == nil {
			t.Errorf("%+v", q)
		}
		seen[q.Quota] = true
		for _, n := range []int64{0, q.Default, q.Most} {
			if got, err := q.Parse(q.Unit.Text(n)); got != n || err != nil {
				t.Errorf("%s: %q is read as %d, %v", q.Quota, q.Unit.Text(n), got, err)
			}
		}
	}
}

// TestValuesOfQuotas: numbers with units, and what is none.
func TestValuesOfQuotas(t *testing.T) {
	for _, x := range []struct {
		quota store.Quota
		text  string
		want  int64 // -1: it is refused
	}{
		{store.StoredBytes, "20GiB", 20 << 30}, {store.StoredBytes, "3 MiB", 3 << 20}, {store.StoredBytes, "17", 17}, {store.StoredBytes, "1TiB", 1 << 40},
		{store.StoredBytes, "9000000000GiB", -1}, {store.StoredBytes, "-1", -1}, {store.StoredBytes, "", -1}, {store.StoredBytes, "2h", -1}, {store.StoredBytes, "1.5GiB", -1},
		{store.QueryTime, "90m", 90 * 60_000}, {store.QueryTime, "1h30m", 90 * 60_000}, {store.QueryTime, "5000", 5000}, {store.QueryTime, "25h", -1}, {store.QueryTime, "-1h", -1},
		{store.RequestMemory, "64MiB", 64}, {store.RequestMemory, "64", 64}, {store.RequestMemory, "1GiB", -1},
		{store.APITokens, "50", 50}, {store.APITokens, "50KiB", -1}, {store.APITokens, "many", -1},
	} {
		info, err := store.ParseQuota("quota", string(x.quota))
		if err != nil {
			t.Fatal(err)
		}
		got, err := info.Parse(x.text)
		if x.want < 0 && crowd.CodeOf(err) != crowd.Invalid || x.want >= 0 && (err != nil || got != x.want) {
			t.Errorf("%s=%q is read as %d, %v; want %d", x.quota, x.text, got, err, x.want)
		}
	}
	if _, err := store.ParseQuota("quota", "none"); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("a quota that is not there: %v", err)
	}
}

// TestWhatAnExcessSays: which quota, how much is used and wanted, and who can raise it.
func TestWhatAnExcessSays(t *testing.T) {
	for _, x := range []struct {
		excess store.Excess
		code   crowd.Code
		want   string
	}{
		{store.Excess{Quota: store.APITokens, Tenant: 2, Limit: 50, Used: 50, Wanted: 1}, crowd.QuotaExceeded, "n2's quota tokens does not suffice: 50 of 50 are used, and this needs 1 more; an administrator can raise it"},
		{store.Excess{Quota: store.StoredBytes, Tenant: 2, Limit: 1 << 30, Used: 1<<30 - 100, Wanted: 4096}, crowd.StorageFull, "n2's quota stored-bytes does not suffice: 1024.0 MiB of 1 GiB are used, and this needs 4.0 KiB more; an administrator can raise it"},
		{store.Excess{Quota: store.UploadSize, Tenant: 2, Limit: 1 << 20, Wanted: 1<<20 + 1}, crowd.TooLarge, "n2's quota upload-bytes is 1 MiB, and this needs more; an administrator can raise it"},
		{store.Excess{Quota: store.InvitationsDaily, Limit: 10, Used: 9, Wanted: 2, Again: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}, crowd.TooMany, "its tenant's quota invitations-per-day does not suffice: 9 of 10 are used, and this needs 2 more; it begins anew at 00:00 UTC, and an administrator can raise it"},
		{store.Excess{Quota: store.EventStreams, Tenant: 2, Limit: 100, Used: 100, Wanted: 1}, crowd.TooMany, "n2's quota event-streams does not suffice: 100 of 100 are used, and this needs 1 more; wait for some to end, or have an administrator raise it"},
	} {
		if err := x.excess.Refused(); err.Code != x.code || err.Error() != x.want {
			t.Errorf("%q %q\nwant %q %q", err.Code, err, x.code, x.want)
		}
	}
}
