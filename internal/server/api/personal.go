package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toFindings(f *accounts.Findings) wire.BeforeErasure {
	out := wire.BeforeErasure{ID: f.User.ID, Name: f.User.Name, EarnedMicros: f.Balance, Count: f.Count}
	out.Texts = lists.Map(f.Texts, func(x accounts.FreeText) wire.FreeText {
		return wire.FreeText{ID: x.ID, Kind: string(x.Kind), At: x.At, Tenant: x.Tenant, Texts: x.Texts, Others: x.Others}
	})
	return out
}

func (a *api) personal() {
	const tag = "People"
	register(a, op{method: http.MethodGet, path: "/v1/users/{id}/data", summary: "Download everything that is kept about a person", tag: tag, access: signedIn, streams: []string{"application/jsonl"},
		text: "As JSON Lines, as of one moment: a line for each row, with its `table` and what the columns have. Your own, or, with the permission people.erase, anybody's. [What is in it](https://github.com/throng-dev/throng/blob/main/docs/people-data.md)."},
		func(ctx context.Context, p *access.Principal, in *UserPath) (*huma.StreamResponse, error) {
			u, rows, err := a.app.Accounts.PersonalData(ctx, p, in.id)
			if err != nil {
				return nil, err
			}
			return a.download(file{u.ID.String() + "-data.jsonl", "application/jsonl", func(w *bufio.Writer) error { return WritePersonal(w, rows) }}), nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}/erasure", summary: "See what erasing a person would find", tag: tag, access: signedIn, long: true,
		text: "The texts that they wrote, or that name them, of which it has to be decided whether they stay (the first thousand), and what they have earned. Nothing is changed. An error says why they cannot be erased."},
		of[UserPath](a.app.Accounts.BeforeErasure, toFindings))
	addAction(a, op{method: http.MethodPost, path: "/v1/users/{id}/erasure", summary: "Erase a person", tag: tag, access: access.AccountsErase,
		text: "It cannot be undone. What they hold goes to others at once; what is kept about them is deleted, and no byte of it stays in the database's files. Their number stays, under which what they did and were paid is counted. The files are written anew at once, and nothing else is kept meanwhile, for some seconds per gigabyte; where you erase yourself, that waits for the next quiet hour. You yourself by a session, or, with the permission people.erase, anybody."},
		func(ctx context.Context, p *access.Principal, in *struct {
			UserPath
			Body wire.ErasePerson
		}) error {
			b := &in.Body
			return a.app.Accounts.Erase(ctx, p, in.id, accounts.ErasureOrder{Confirm: b.Confirm, FreeText: accounts.FreeTextChoice(b.FreeText), But: b.But, Settled: b.Settled})
		})
}

// WritePersonal writes what is kept about a person as JSON Lines.
func WritePersonal(w io.Writer, rows iter.Seq2[store.PersonalRow, error]) error {
	buffer := bufio.NewWriterSize(w, 64<<10)
	out := json.NewEncoder(buffer)
	out.SetEscapeHTML(false)
	for x, err := range rows {
		if err != nil {
			return err
		}
		if err := out.Encode(wire.PersonalRow{Table: x.Table, Row: x.Row}); err != nil {
			return fmt.Errorf("a row of %s: %w", x.Table, err)
		}
	}
	return buffer.Flush()
}
