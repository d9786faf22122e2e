package sqlstore_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// TestEveryTableIsLookedAt: of every table and view of the schema it is said what it keeps
// about people, so that a new one is neither left out of what is handed out nor of an
// erasure.
func TestEveryTableIsLookedAt(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../sqlite/testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, found := range regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW) (\w+)`).FindAllStringSubmatch(string(schema), -1) {
		there = append(there, found[1])
	}
	listed := slices.DeleteFunc(sqlstore.PersonalTables(), func(name string) bool { return name == "goose_db_version" })
	slices.Sort(there)
	slices.Sort(listed)
	if !slices.Equal(there, listed) || len(there) < 40 {
		t.Errorf("the schema has %q, and personal %q", there, listed)
	}
}

// What becomes of what somebody wrote into a column, or others about them, when they are erased.
const (
	// listed: it is in writings, and stays or goes as is decided.
	listed = "listed"
	// goes: the row does, or the column is emptied, where it is theirs. What others have there of
	// them is the name of a thing, or nothing.
	goes = "goes"
	// logged: the details of entries about them go, the chain stays.
	logged = "logged"
	// results: what tenants have uploaded, asked for and been answered by others. It stays for as
	// long as they keep it, as docs/people-data.md says.
	results = "results"
	// settings: names and terms of things, which stay with the thing.
	settings = "settings"
	// words: the program alone writes it: states, kinds, ids, hashes, figures.
	words = "words"
)

// textColumns says it of every column of text.
var textColumns = map[string]map[string]string{
	listed: {"answers": "body", "revisions": "body", "corrections": "body", "invitations": "note", "ledger": "note", "pay_texts": "body", "replies": "body", "reports": "body", "sent_back": "body"},
	goes: {
		"asked_addresses": "address hash", "duties": "why", "factors": "kind name secret sealed_with credential", "identities": "issuer subject external_id", "invitations": "address address_key",
		"messages": "channel target subject body link state error", "pool_actions": "why", "provisioned_users": "provider external_id user_name name_key profile",
		"push_subscriptions": "endpoint p256dh auth", "recovery_codes": "hash", "requests": "request_key digest withheld content_type location body rights", "test_tries": "answers",
		"tokens": "hash kind roles name networks address scopes provider", "user_roles": "role",
		"users": "name name_key full_name email password_hash qualifications prefers granted serves suspended_by email_by",
	},
	logged: {"audit": "before after address"},
	results: {
		"answers": "answer_key", "corrections": "value", "labels": "value", "revisions": "answer_key", "provisional_answers": "answer_key body send_back", // these count before anything goes
		"run_faults": "error", "run_nodes": "headers error", "run_rows": "body", "run_texts": "body", "tasks": "gold cells explain",
	},
	settings: {
		"batches": "name rule requirements headers template sla enough not_by checks quality review approval", "pools": "name policy retainer control calling grants",
		"provisioned_groups": "provider external_id name name_key", "removed_services": "name", "roles": "name text permissions", "run_feeds": "name", "run_nodes": "name",
		"runs": "name classes service_origins", "secrets": "name secret sealed_with", "services": "name url tenants", "tenant_secrets": "name secret sealed_with hosts", "tenants": "name",
		"quality_actions": "body", // of the rule, to everybody of whom it holds
		"test_questions":  "cells gold", "tests": "name template columns qualifies",
	},
	words: {
		"assignments": "state", "audit": "operation kind object salt previous hash address_salt address_digest change_digest", "call_notices": "state", "calls": "state", "counters": "name",
		"daily_usage": "quota", "deletions": "kind state", "erasures": "free_text but state", "held_pay": "state", "invitations": "state", "ledger": "kind", "pay_texts": "kind",
		"pool_actions": "kind saw failed", "pool_samples": "metrics", "pool_states": "state", "progress": "state", "quality_actions": "holds kind figures", "quotas": "quota",
		"retention": "kind", "reviews": "answers verdict", "run_nodes": "state cursors", "run_rows": "state people", "runs": "state from_step redo_error", "spent_challenges": "hash", "tasks": "not_by", "usage": "quota",
	},
}

var (
	tableText  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \((.*?)\);$`)
	columnText = regexp.MustCompile(`(?m)(?:^|,)\s*(\w+)\s+text\b`)
	comment    = regexp.MustCompile(`--[^\n]*`)
)

// TestEveryTextIsLookedAt: of every column of text it is said what becomes of what people wrote
// there, so that a new one is not forgotten where its table is nobody's; and what is said is so.
func TestEveryTextIsLookedAt(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../sqlite/testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var there, said []string
	for _, table := range tableText.FindAllStringSubmatch(string(schema), -1) {
		if table[1] == "goose_db_version" {
			continue
		}
		for _, column := range columnText.FindAllStringSubmatch(comment.ReplaceAllString(table[2], ""), -1) {
			there = append(there, table[1]+"."+column[1])
		}
	}
	for _, tables := range textColumns {
		for table, columns := range tables {
			for column := range strings.FieldsSeq(columns) {
				said = append(said, table+"."+column)
			}
		}
	}
	slices.Sort(there)
	slices.Sort(said)
	if !slices.Equal(there, said) || len(there) < 100 {
		t.Errorf("not said of: %q\nsaid twice, or of none: %q", missingIn(there, said), missingIn(said, there))
	}

	columns := sqlstore.ListedTexts()
	slices.Sort(columns)
	columns = slices.Compact(columns)
	var decided []string
	for table, column := range textColumns[listed] {
		decided = append(decided, table+"."+column)
	}
	slices.Sort(decided)
	if !slices.Equal(columns, decided) {
		t.Errorf("it is decided about %q, and said so of %q", columns, decided)
	}
	for table := range textColumns[goes] {
		if len(sqlstore.Statements(table)) == 0 {
			t.Errorf("an erasure does nothing to %s", table)
		}
	}
}

// missingIn has those of a list that another one does not have as often.
func missingIn(list, other []string) (missing []string) {
	other = slices.Clone(other)
	for _, x := range list {
		if i := slices.Index(other, x); i >= 0 {
			other = slices.Delete(other, i, i+1)
		} else {
			missing = append(missing, x)
		}
	}
	return missing
}
