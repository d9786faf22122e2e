package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/throng-dev/throng/internal/server/repeats"
)

// keyName is the part of an action's address that holds the key of its form. It is no
// field, so that it is there before a file is read.
const keyName = "key"

// newKey returns the key of a form that is shown.
func newKey() string { return rand.Text() }

// answerOnce is answer for a form with a key: sent again, by a double click or by loading
// its answer again, it leads to where it led at first. A form that was changed meanwhile is
// another one, unless it has a file, of which that is known too late: that is refused.
func (rt *route) answerOnce(rq *request, keys []string) error {
	key, err := repeats.ParseKey(keys)
	if err != nil {
		return err
	}
	q := repeats.Request{Who: rq.p, Address: rq.r.URL.EscapedPath(), Sent: rq.r.PostForm.Encode(), Streams: rt.upload, Page: true}
	sum := sha256.Sum256([]byte(q.Address + " " + q.Sent))
	q.Key = key + "." + hex.EncodeToString(sum[:16])
	return rq.App.ServeOnce(rq.w, rq.r, q, func(w http.ResponseWriter, r *http.Request) {
		rq.w, rq.r = w, r
		if err := rt.answer(rq); err != nil {
			rq.showError(err)
		}
	})
}
