package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/throng-dev/throng/internal/kit/keyring"
)

// KeyFile is the name of the file in the data folder with the keys of an installation
// that was given none.
const KeyFile = "throng.keys"

// keysOf returns the keys of a server, and whether it has made them now. Those of the data
// folder open what they sealed before others were given, too.
func keysOf(cfg Config) (_ *keyring.Ring, made bool, _ error) {
	path := filepath.Join(cfg.Data, KeyFile)
	own, err := ReadKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && cfg.Keys != nil:
		return cfg.Keys, false, nil
	case errors.Is(err, fs.ErrNotExist):
		err := makeKeys(path)
		if err != nil && !errors.Is(err, fs.ErrExist) { // another node with the folder was faster
			return nil, false, fmt.Errorf("keep a key for secrets: %w", err)
		}
		made = err == nil
		own, err = ReadKeys(path)
		return own, made, err
	case err != nil:
		return nil, false, err
	case cfg.Keys != nil:
		cfg.Log.Info("secrets are sealed with the keys given: when the server listens, the file is needed no more", "file", path)
		return cfg.Keys.And(own), false, nil
	}
	return own, false, nil
}

// unmakeKeys removes keys that a start has made for a database whose secrets need others, so
// that no file stands where theirs belong. Nothing can be sealed with them.
func unmakeKeys(data string, refused error) error {
	if !errors.Is(refused, keyring.ErrNoKey) {
		return nil
	}
	return os.Remove(filepath.Join(data, KeyFile))
}

// makeKeys writes a file with a key, which is on the disk before anything is sealed
// with it.
func makeKeys(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("# This key seals the secrets in " + DatabaseFile + ".\n" + keyring.New() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ReadKeys reads a file of keys.
func ReadKeys(path string) (*keyring.Ring, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	r, err := keyring.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
