package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/server"
)

// Key is "throng key".
type Key struct {
	New    KeyNew    `cmd:"" help:"Make a key; put it first into a file of keys."`
	Show   KeyShow   `cmd:"" help:"Show with which keys a stopped server's secrets are sealed."`
	Forget KeyForget `cmd:"" help:"Delete the secrets whose key is lost."`
}

// keyFlag is where a server finds its keys.
type keyFlag struct {
	KeyFile string `type:"path" placeholder:"FILE" env:"THRONG_KEY_FILE" help:"File of the keys that seal the secrets in the database, the one that seals first; without it, one is made in the data folder."`
}

// Where keys are found that no flag names: in the environment, and where a service
// manager puts credentials.
const (
	keysVariable        = "THRONG_KEYS"
	credentialsVariable = "CREDENTIALS_DIRECTORY"
)

// credential returns the file of keys that a service manager has put there, or "".
func credential() string {
	dir := os.Getenv(credentialsVariable)
	if dir == "" {
		return ""
	}
	file := filepath.Join(dir, server.KeyFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

// keys returns the keys given, or nil.
func (k *keyFlag) keys() (*keyring.Ring, error) {
	if k.KeyFile != "" {
		return server.ReadKeys(k.KeyFile)
	}
	if text := os.Getenv(keysVariable); text != "" {
		r, err := keyring.Parse([]byte(strings.ReplaceAll(text, ",", "\n")))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keysVariable, err)
		}
		return r, nil
	}
	if file := credential(); file != "" {
		return server.ReadKeys(file)
	}
	return nil, nil
}

// KeyNew is "throng key new".
type KeyNew struct {
	File string `arg:"" optional:"" type:"path" help:"File to put it into, before the keys that it holds; without it, the key is printed."`
	Output
}

// Run makes a key.
func (x *KeyNew) Run(c *Context) error {
	fresh := keyring.New()
	if x.File == "" {
		return x.print(c, map[string]string{"key": fresh}, func(w io.Writer) { say(w, "%s\n", fresh) })
	}
	before, err := os.ReadFile(x.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := fresh + "\n" + string(before)
	keys, err := keyring.Parse([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", x.File, err)
	}
	if err := replaceFile(x.File, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}); err != nil {
		return err
	}
	return x.print(c, map[string]any{"file": x.File, "keys": keys.IDs()}, func(w io.Writer) {
		say(w, "the key %s is the first of %s in %s\n", keys.Current(), format.Count(len(keys.IDs()), "key"), clean(x.File))
	})
}

// with returns the keys given and those of a data folder, or nil.
func (k *keyFlag) with(data string) (*keyring.Ring, error) {
	given, err := k.keys()
	if err != nil {
		return nil, err
	}
	own, err := server.ReadKeys(filepath.Join(data, server.KeyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return given, nil
	case err != nil:
		return nil, err
	case given == nil:
		return own, nil
	}
	return given.And(own), nil
}

// keyData is a stopped server's data folder and the keys for it.
type keyData struct {
	configFlag
	Data string `type:"path" default:"throng-data" env:"THRONG_DATA" help:"The data folder of a server that is stopped."`
	databaseFlag
	keyFlag
	Output
}

// open returns the keys that a server on the folder would have, and opens its database
// as it is.
func (x *keyData) open(c *Context) (*keyring.Ring, server.SealedStore, error) {
	place := x.in(x.Data)
	if err := place.Check(true); err != nil {
		return nil, nil, err
	}
	keys, err := x.with(x.Data)
	if err != nil {
		return nil, nil, err
	}
	st, err := place.OpenSealed(c.Ctx)
	return keys, st, err
}

// KeyShow is "throng key show".
type KeyShow struct{ keyData }

// sealedWith is how many secrets a key seals.
type sealedWith struct {
	Key     string `json:"key"` // "": they lie in the clear
	Secrets int    `json:"secrets"`
	Given   bool   `json:"given"`
	Seals   bool   `json:"seals"`
}

// Run shows the keys, by what they seal.
func (x *KeyShow) Run(c *Context) (err error) {
	keys, st, err := x.open(c)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, st.Close()) }()
	counts, err := st.SealedWith(c.Ctx)
	if err != nil {
		return err
	}
	var list []sealedWith
	for _, id := range keys.IDs() {
		list = append(list, sealedWith{id, counts[id], true, id == keys.Current()})
		delete(counts, id)
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, sealedWith{Key: id, Secrets: counts[id]})
	}
	return x.print(c, list, func(w io.Writer) {
		writeTable(w, list, "KEY|SECRETS|", func(s sealedWith) []any {
			says := when(s.Seals, "seals from now on")
			switch {
			case s.Given && !s.Seals && s.Secrets == 0:
				says = "seals nothing here; backups of before may need it"
			case s.Key == "":
				says = "sealed when the server starts"
			case !s.Given:
				says = "not among the keys given: a server does not start"
			}
			return []any{cmp.Or(s.Key, "in the clear"), s.Secrets, says}
		})
	})
}

// KeyForget is "throng key forget".
type KeyForget struct {
	keyData
	Yes bool `help:"Delete them; without it, this is refused where it would delete something."`
}

// Run deletes what cannot be opened.
func (x *KeyForget) Run(c *Context) (err error) {
	keys, st, err := x.open(c)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, st.Close()) }()
	if !x.Yes {
		if err := nothingLost(c, keys, st); err != nil {
			return err
		}
	}
	gone, err := st.ForgetSealed(c.Ctx, keys)
	if err != nil {
		return err
	}
	return x.print(c, map[string]any{"forgotten": append([]string{}, gone...)}, func(w io.Writer) {
		say(w, "%s forgotten\n", format.Count(len(gone), "secret"))
		for _, name := range gone {
			say(w, "  %s\n", clean(name))
		}
	})
}

// nothingLost refuses what would delete secrets that none of the keys opens.
func nothingLost(c *Context, keys *keyring.Ring, st server.SealedStore) error {
	counts, err := st.SealedWith(c.Ctx)
	if err != nil {
		return err
	}
	delete(counts, "") // which lie in the clear
	for _, id := range keys.IDs() {
		delete(counts, id)
	}
	var goes []string
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		goes = append(goes, fmt.Sprintf("%s sealed with the key %s", format.Count(counts[id], "secret"), id))
	}
	if len(goes) == 0 {
		return nil
	}
	return &noted{crowd.Errorf(crowd.Conflict, "this deletes, for good: %s", strings.Join(goes, "; ")), "if that key is found, give it with --key-file; to delete what it sealed: --yes"}
}
