package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
)

// TestPasswordsOfAServerHaveTheFullCost, unless it is told otherwise, as tests do.
func TestPasswordsOfAServerHaveTheFullCost(t *testing.T) {
	t.Parallel()
	st := must(sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{}))(t)
	a := must(app.Open(t.Context(), app.Config{Store: st, Log: slog.New(slog.DiscardHandler)}))(t)
	link := must(a.Accounts.Bootstrap(t.Context()))(t)
	must(a.Accounts.Setup(t.Context(), link, goodPassword))(t)
	u := must(st.UserByName(t.Context(), "admin"))(t)
	if want := "$argon2id$v=19$m=19456,t=2,p=1$"; !strings.HasPrefix(u.PasswordHash, want) {
		t.Errorf("a password is kept as %.40q, want it to begin %q", u.PasswordHash, want)
	}
	a.Close()
	ok(t, st.Close())
}
