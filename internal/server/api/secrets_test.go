package api_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
)

var madeSecret = regexp.MustCompile(`\b[a-z]+_[A-Za-z0-9_-]{20,}`)

// secretsAreNotKept looks for the secrets that an answer tells in every byte of the database.
func (w *world) secretsAreNotKept(answer []byte) {
	w.t.Helper()
	for _, file := range must(filepath.Glob(w.file + "*"))(w.t) {
		data := must(os.ReadFile(file))(w.t)
		for _, secret := range madeSecret.FindAll(answer, -1) {
			if bytes.Contains(data, secret) {
				w.t.Errorf("the secret %s is in %s", secret, filepath.Base(file))
			}
		}
	}
}
