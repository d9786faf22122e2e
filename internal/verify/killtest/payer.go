package killtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/repeats"
)

// payer pays in under keys, and sends again what got no reply, until it is acknowledged,
// and a part of what was: each deposit must be booked once.
type payer struct {
	gate    *gate
	client  *client.Client
	random  *rand.Rand
	tenants []crowd.TenantID
	count   int
	next    string                    // the deposit under way: its note; "": none
	into    crowd.TenantID            // of it
	sent    bool                      // it was sent before
	paidIn  map[string]crowd.TenantID // acknowledged deposits by note
	resent  int                       // because there was no reply
	under   atomic.Bool               // a request is under way
}

func newPayer(g *gate, token string, random *rand.Rand, tenants []crowd.TenantID) *payer {
	p := &payer{gate: g, client: g.client(token), random: random, tenants: tenants, paidIn: make(map[string]crowd.TenantID)}
	p.client.HTTP = &http.Client{Transport: p}
	return p
}

// RoundTrip gives a request its key. A client that had it would wait before it sends again.
func (p *payer) RoundTrip(request *http.Request) (*http.Response, error) {
	if _, known := p.paidIn[p.next]; p.sent && !known {
		p.resent++
	}
	p.sent = true
	request = request.Clone(request.Context())
	request.Header.Set(repeats.Header, fmt.Sprintf("deposit-%d", p.count))
	p.under.Store(true)
	defer p.under.Store(false)
	return p.gate.RoundTrip(request)
}

func (p *payer) work(ctx context.Context) error {
	return repeat(ctx, "payer", time.Millisecond, p.step)
}

func (p *payer) step(ctx context.Context) error {
	if p.next == "" {
		p.count++
		p.next, p.into, p.sent = fmt.Sprintf("keyed deposit %d", p.count), p.tenants[p.random.IntN(len(p.tenants))], false
	}
	err := p.client.Deposit(ctx, p.into, deposit, p.next)
	if crowd.CodeOf(err) == crowd.Conflict { // the node that was asked first has it carried out yet
		return errLost
	}
	if err != nil {
		return err
	}
	_, known := p.paidIn[p.next]
	p.paidIn[p.next] = p.into
	if known || p.random.Float64() > 0.1 {
		p.next = ""
	}
	return nil
}
