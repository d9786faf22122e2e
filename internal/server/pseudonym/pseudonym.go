// Package pseudonym decides by which name somebody sees a worker. Tenants see pseudonyms,
// each its own ones, so that nobody can follow a worker from one tenant to another. Who
// has the permission people.names sees who it is (ADR 35).
//
// Whatever a use case says of a worker to people of a tenant goes through Names.For.
package pseudonym

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// secret names the secret that the pseudonyms are made with.
const secret = "pseudonyms"

// prefix begins every pseudonym.
const prefix = "w_"

// letters are those of pseudonyms: nothing to escape in a file, an address or a page.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ErrNoWorker is the error about a worker who is not there, or not to be seen.
var ErrNoWorker = &crowd.Error{Code: crowd.NotFound, Field: "worker", Message: "no such worker"}

// Names makes pseudonyms, and knows whose they are.
//
// A pseudonym is one block of AES: the tenant's and the worker's numbers, enciphered. So it
// is the same whenever it is made, needs no table, and tells nothing to who has not the
// key: neither the number, nor an order, nor that two are the same person's.
type Names struct{ block cipher.Block }

// Open returns the names of an installation, whose secret is made if there is none.
func Open(ctx context.Context, secrets store.Outbox) (*Names, error) {
	text, err := secrets.Secret(ctx, secret, keyring.New())
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte(text))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("make pseudonyms: %w", err)
	}
	return &Names{block}, nil
}

// Pseudonym is how a tenant knows a worker; tenant 0 is the installation.
func (n *Names) Pseudonym(tenant crowd.TenantID, worker crowd.WorkerID) string {
	var plain, sealed [aes.BlockSize]byte
	binary.BigEndian.PutUint64(plain[:8], uint64(tenant))
	binary.BigEndian.PutUint64(plain[8:], uint64(worker))
	n.block.Encrypt(sealed[:], plain[:])
	text := make([]byte, 0, len(prefix)+letters.EncodedLen(len(sealed)))
	return string(letters.AppendEncode(append(text, prefix...), sealed[:]))
}

// Task is how workers know a task of a batch with checks: its number is another one, so that those of
// checks do not stand out among numbers that count up. It is the same for everybody,
// whenever it is made, and no two tasks have the same.
func (n *Names) Task(id crowd.TaskID) crowd.TaskID {
	x := n.shuffle(id.Batch(), id.N())
	for x == 0 { // no task has this number: the next one in its cycle is another task's
		x = n.shuffle(id.Batch(), x)
	}
	return id.Batch().Task(x)
}

// shuffle is a permutation of the numbers of 32 bits: a Feistel network of four rounds, whose
// round function is the cipher.
func (n *Names) shuffle(batch crowd.BatchID, x uint32) uint32 {
	left, right := uint16(x>>16), uint16(x)
	for round := range byte(4) {
		var plain, sealed [aes.BlockSize]byte
		binary.BigEndian.PutUint64(plain[:8], uint64(batch))
		plain[0] = 0xff // no tenant's number begins so
		plain[8] = round
		binary.BigEndian.PutUint16(plain[9:], right)
		n.block.Encrypt(sealed[:], plain[:])
		left, right = right, left^binary.BigEndian.Uint16(sealed[:2])
	}
	return uint32(left)<<16 | uint32(right)
}

// parse returns who has a pseudonym of a tenant's.
func (n *Names) parse(tenant crowd.TenantID, text string) (crowd.WorkerID, bool) {
	code, found := strings.CutPrefix(text, prefix)
	raw, err := letters.DecodeString(code)
	if !found || err != nil || len(raw) != aes.BlockSize || letters.EncodeToString(raw) != code {
		return 0, false
	}
	var plain [aes.BlockSize]byte
	n.block.Decrypt(plain[:], raw)
	worker := crowd.WorkerID(binary.BigEndian.Uint64(plain[8:]))
	return worker, crowd.TenantID(binary.BigEndian.Uint64(plain[:8])) == tenant && worker > 0
}

// Reader is how somebody sees the workers of a tenant.
type Reader struct {
	names  *Names
	tenant crowd.TenantID
	named  bool
}

// For returns how p sees the workers of a tenant.
func (n *Names) For(p *access.Principal, tenant crowd.TenantID) Reader {
	return Reader{n, tenant, p.MayFor(access.BatchesNames, tenant) == nil}
}

// Named reports whether the reader sees who the workers are.
func (r Reader) Named() bool { return r.named }

// Worker is a worker as somebody sees them.
type Worker struct {
	Pseudonym string         // for the tenant
	ID        crowd.WorkerID // 0: not to be seen
	Name      string         // "": not to be seen, or erased
}

// Show returns how the reader sees the worker with an id and a name.
func (r Reader) Show(id crowd.WorkerID, name string) Worker {
	w := Worker{Pseudonym: r.names.Pseudonym(r.tenant, id)}
	if r.named {
		w.ID, w.Name = id, name
	}
	return w
}

// Compare puts workers in the order of what they are called, which tells nothing else.
func Compare(a, b Worker) int { return cmp.Compare(a.String(), b.String()) }

// String is what a page calls the worker.
func (w Worker) String() string { return cmp.Or(w.Name, w.Pseudonym) }

// Find returns the worker whom the reader calls by a text: by the tenant's pseudonym, or,
// where they see who the workers are, by an id. The error is the same for whoever is not
// there, and for another tenant's pseudonym.
func (r Reader) Find(text string) (crowd.WorkerID, error) {
	if id, ok := r.names.parse(r.tenant, text); ok {
		return id, nil
	}
	if id, err := crowd.ParseWorkerID(text); err == nil && r.named {
		return id, nil
	}
	return 0, ErrNoWorker
}
