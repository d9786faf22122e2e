package accounts

import (
	"context"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/server/auth"
)

// ticket is what somebody is given who has to show something within ChallengeLife, and brings
// with it. It says all that is to be known of that, signed, so that nothing is kept here.
type ticket struct {
	text    string
	subject string
	begun   time.Time // what it is for, such as a sign-in
	until   time.Time
	signed  []string // and the signature
}

// challengeSecret names the secret with which tickets are signed.
const challengeSecret = "challenges"

func (s *Accounts) challengeKey(ctx context.Context) (string, error) {
	return s.store.Secret(ctx, challengeSecret, auth.NewSecret(challengeSecret))
}

// newTicket returns a ticket for a purpose, which was begun at a time, and a subject. It is worth
// nothing once what it is bound to has changed.
func (s *Accounts) newTicket(ctx context.Context, purpose, subject string, begun time.Time, bound ...string) (ticket, error) {
	secret, err := s.challengeKey(ctx)
	if err != nil {
		return ticket{}, err
	}
	until := s.clock.Time().Add(ChallengeLife).Truncate(time.Second)
	parts := []string{subject, strconv.FormatInt(begun.UnixMicro(), 10), strconv.FormatInt(until.Unix(), 10), auth.NewSecret("t")}
	signature := auth.Sign(secret, append(append([]string{purpose}, parts...), bound...)...)
	parts = append(parts, signature)
	return ticket{text: strings.Join(parts, "."), subject: subject, begun: begun, until: until, signed: parts}, nil
}

// parseTicket reads a ticket that has not expired. Whether it was given out is for isFor to
// say.
func (s *Accounts) parseTicket(text string) (ticket, error) {
	parts := strings.Split(text, ".")
	if len(text) > 200 || len(parts) != 5 {
		return ticket{}, errChallenge
	}
	begun, wrong := strconv.ParseInt(parts[1], 10, 64)
	until, err := strconv.ParseInt(parts[2], 10, 64)
	if wrong != nil || err != nil || !s.clock.Time().Before(time.Unix(until, 0)) {
		return ticket{}, errChallenge
	}
	return ticket{text: text, subject: parts[0], begun: time.UnixMicro(begun).UTC(), until: time.Unix(until, 0).UTC(), signed: parts}, nil
}

// isFor checks that a ticket was given out for a purpose, and that what it is bound to is as
// it was.
func (s *Accounts) isFor(ctx context.Context, t *ticket, purpose string, bound ...string) error {
	secret, err := s.challengeKey(ctx)
	if err == nil && !auth.Signed(secret, t.signed[4], append(append([]string{purpose}, t.signed[:4]...), bound...)...) {
		err = errChallenge
	}
	return err
}

// challenge is what an authenticator signs that answers a ticket: nobody foresees it who was
// not given the ticket.
func (t *ticket) challenge() []byte {
	sum := sha256.Sum256([]byte("passkey\x00" + t.text))
	return sum[:]
}
