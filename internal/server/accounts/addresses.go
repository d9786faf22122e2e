package accounts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// addressCases are the use cases of e-mail addresses, a part of Accounts.
type addressCases struct {
	accounts *Accounts
	outbox   *recruit.Outbox
	asks     limits.Quota[[16]byte]
}

// AddressLinkLife is how long a link works that asks whether an address is somebody's.
const AddressLinkLife = 3 * 24 * time.Hour

// The limits of mails that ask whether an address is somebody's.
var (
	asksOfOne = limits.Limit{Burst: 5, Every: 10 * time.Minute} // of one person
	asksAtOne = limits.Limit{Burst: 5, Every: 30 * time.Minute} // at one address, whoever is asked
	asksByOne = limits.Limit{Burst: 100, Every: time.Minute}    // of people whom one person has added, or who come by one invitation
)

// SetEmail has p enter an address of somebody. Who may vouch for it does. From others, another
// address than before is not known to be anybody's: by one that is, its owner could come in by a
// provider as a person whose password somebody else has.
func SetEmail(p *access.Principal, u *store.User, address string) {
	vouches := p.May(access.AccountsVouch) == nil
	if vouches || u.Email != address {
		SetVerified(u, vouches)
	}
	u.Email = address
}

// SetVerified says whether somebody's address is known to be theirs.
func SetVerified(u *store.User, verified bool) { u.EmailVerified, u.EmailBy = verified, "" }

// settleAddress keeps what is known of an address to one that there is.
func settleAddress(u *store.User) {
	if u.EmailVerified = u.EmailVerified && u.Email != ""; !u.EmailVerified {
		u.EmailBy = ""
	}
}

// vouched checks what p says of an address: only who may vouch for addresses makes one known
// to be somebody's, or their own word where it was a provider's.
func vouched(p *access.Principal, before, u *store.User) error {
	changed := u.Email != before.Email
	switch vouches := p.May(access.AccountsVouch); {
	case vouches == nil && changed:
		u.EmailBy = ""
	case vouches == nil || !u.EmailVerified:
	case changed || !before.EmailVerified:
		return &crowd.Error{Code: crowd.Forbidden, Field: "email_verified", Message: "cannot be said by you: " + vouches.Error() + "; or its owner confirms it, by a mail that asks there"}
	default:
		u.EmailBy = before.EmailBy
	}
	return nil
}

// ownName checks the name of somebody for whom no administrator vouches: one that is an
// address would keep its owner from it.
func ownName(u *store.User) error {
	if strings.Contains(u.Name, "@") && (!u.EmailVerified || !format.SameAddress(u.Name, u.Email)) {
		return crowd.Fieldf("name", "%q is an address, which can be the name only of somebody whose verified address it is: take another name", u.Name)
	}
	return nil
}

// Address is somebody's e-mail address.
type Address struct {
	Email    string
	Verified bool                // it is known to be theirs
	Asked    *store.AskedAddress // at which they are asked whether it is theirs; nil: at none
	CanAsk   bool                // the server sends mail
}

// Address returns the address that somebody has. One's own, or, for who sees people, anybody's.
func (part *addressCases) Address(ctx context.Context, p *access.Principal, id crowd.WorkerID) (Address, error) {
	s := part.accounts
	if id == p.User.ID && p.Limited() {
		return Address{}, nil // it is not for such a token to see
	}
	if id != p.User.ID && p.May(access.AccountsAddressOfOthers) != nil {
		return Address{}, s.mayNot(ctx, p, access.AccountsAddressOfOthers, id)
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return Address{}, err
	}
	a := Address{Email: u.Email, Verified: u.EmailVerified, CanAsk: part.outbox.CanMail()}
	asked, err := s.store.AskedAddress(ctx, id)
	switch {
	case err == nil && s.clock.Time().Before(asked.ExpiresAt):
		a.Asked = &asked
	case err != nil && crowd.CodeOf(err) != crowd.NotFound:
		return a, err
	}
	return a, nil
}

var (
	errNoMail       = crowd.Errorf(crowd.Conflict, "this server sends no mail, so it cannot ask at an address: ask an administrator to enter yours")
	errTheirs       = crowd.Errorf(crowd.Conflict, "the address is known to be yours already")
	errNoAddress    = crowd.Errorf(crowd.Conflict, "there is no address to ask at")
	errAddressLink  = crowd.Errorf(crowd.NotFound, "this link is not for the account that you are signed in with, has expired, was used, or a later mail has another one: sign in with the account that the mail names, or have a new mail sent on the page of your account")
	errAddressTaken = crowd.Errorf(crowd.Conflict, "another account has this address already: sign in with that one, or ask an administrator")
)

// ChangeAddress asks at an address whether it is p's. Until they have followed the link in the
// mail, they keep the one that they have. Whether somebody else has the address makes no
// difference before. Where the server sends no mail, who may vouch for addresses vouches for their
// own.
func (part *addressCases) ChangeAddress(ctx context.Context, p *access.Principal, address string, proof Proof) error {
	s := part.accounts
	if err := ValidAddress(address); err != nil {
		return crowd.Fieldf("address", "%v", err)
	}
	return s.prove(ctx, p, &proof, func(ctx context.Context, u *store.User) error {
		if !part.outbox.CanMail() && p.May(access.AccountsVouch) == nil {
			ctx, _ := s.acting(ctx, p, access.AccountsChangeAddress, u.ID)
			_, err := s.Change(ctx, u.ID, func(u *store.User) error {
				u.Email, u.EmailVerified, u.EmailBy = address, true, ""
				return nil
			})
			return err
		}
		return part.ask(ctx, p, access.AccountsChangeAddress, u.ID, address)
	})
}

// AskForAddress asks again at the address at which somebody is asked, or at the one that they
// have. One's own, or, for who changes people, anybody's.
func (part *addressCases) AskForAddress(ctx context.Context, p *access.Principal, id crowd.WorkerID) error {
	if id == p.User.ID && p.Limited() {
		return crowd.Errorf(crowd.Conflict, "a limited token is not good for this: sign in")
	}
	if _, err := part.accounts.personal(ctx, p, access.AccountsAskAddressOfOthers, id); err != nil {
		return err
	}
	return part.ask(ctx, p, access.AccountsAskForAddress, id, "")
}

// ask asks somebody at an address, or, if that is "", where AskForAddress says. While a mail to
// the same address waits to be sent, there is no other one.
func (part *addressCases) ask(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID, address string) error {
	s := part.accounts
	if !part.outbox.CanMail() {
		return errNoMail
	}
	s.people.Lock()
	defer s.people.Unlock()
	u, err := s.store.User(ctx, id)
	if err != nil {
		return err
	}
	asked, err := s.store.AskedAddress(ctx, id)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	if address == "" {
		if address = asked.Address; address == "" {
			address = u.Email
		}
	}
	now := s.clock.Time()
	switch {
	case address == "":
		return errNoAddress
	case u.EmailVerified && u.EmailBy == "" && format.SameAddress(u.Email, address):
		return errTheirs
	case asked.Address == address && asked.Mail.State == store.MessageQueued && now.Before(asked.ExpiresAt):
		return nil
	}
	if ok, enough := part.asks.Take(now, guessAt(asksOfOne, "asks of", id.String()), guessAt(asksAtOne, "asks at", strings.ToLower(address))); !ok {
		left := (enough.Sub(now) + time.Second - 1).Truncate(time.Second)
		return crowd.Errorf(crowd.TooMany, "too many mails that ask for an address; try again in %s", left).After(left)
	}
	ctx, act := s.acting(ctx, p, o, id)
	act.After = struct{ Address string }{address}
	_, err = s.store.PutUserAsked(ctx, u, part.asking(&u, address))
	if err == nil {
		part.outbox.Wake()
	}
	return err
}

// askNew returns how somebody who has an address that is not known to be theirs is asked, or
// nil if they are not: the server sends no mail, or too many were sent for whom by names.
func (part *addressCases) askNew(u *store.User, by string) *store.Asking {
	if u.Email == "" || u.EmailVerified || !part.outbox.CanMail() {
		return nil
	}
	if ok, _ := part.asks.Take(part.accounts.clock.Time(), guessAt(asksByOne, "asks by", by), guessAt(asksAtOne, "asks at", strings.ToLower(u.Email))); !ok {
		return nil
	}
	a := part.asking(u, u.Email)
	return &a
}

// keepNew keeps a person whom by adds, and asks them at their address.
func (s *Accounts) keepNew(ctx context.Context, u store.User, by string) (crowd.WorkerID, error) {
	a := s.askNew(&u, by)
	if a == nil {
		return s.store.CreateUser(ctx, u)
	}
	id, err := s.store.PutUserAsked(ctx, u, *a)
	if err == nil {
		s.outbox.Wake()
	}
	return id, err
}

// asking is the address of somebody with the mail that asks there.
func (part *addressCases) asking(u *store.User, address string) store.Asking {
	now := part.accounts.clock.Time()
	ends := now.Add(AddressLinkLife)
	return store.Asking{
		AskedAddress: store.AskedAddress{Address: address, AskedAt: now, ExpiresAt: ends},
		Letter: store.Message{
			Channel: store.Mail, Target: address, Subject: "Is this address yours?", Link: "/verify?token=", State: store.MessageQueued, CreatedAt: now, NextAt: now, UselessAt: ends,
			Body: fmt.Sprintf("The account %s says that %s is its address. If that is your account, follow this link, sign in with it if you are asked to, and confirm the address. The link works once, until %s, and a later mail replaces it.\n\nIf you know nothing of it, do nothing: without you the address is nobody's.",
				u.Name, address, ends.UTC().Format("2 January 2006, 15:04 UTC")),
		},
	}
}

// AddressToConfirm returns the address that p confirms with a link. It changes nothing, as
// programs that look for viruses follow links, too.
func (part *addressCases) AddressToConfirm(ctx context.Context, p *access.Principal, token string) (string, error) {
	a, err := part.linkedTo(ctx, p, token)
	return a.Address, err
}

// linkedTo returns the address of p that a link is about. To everybody else the link is one
// that there is not, so that who is talked into following it gives their address to nobody.
func (part *addressCases) linkedTo(ctx context.Context, p *access.Principal, token string) (store.AskedAddress, error) {
	s := part.accounts
	a, err := s.store.AskedAddress(ctx, p.User.ID)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		return a, errAddressLink
	case err != nil:
		return a, err
	case a.Hash == "" || a.Hash != auth.HashSecret(token) || !s.clock.Time().Before(a.ExpiresAt):
		return store.AskedAddress{}, errAddressLink
	}
	return a, nil
}

// ConfirmAddress makes an address p's, by the link in the mail that was sent there. The address
// that they had, if it was known to be theirs, is told.
func (part *addressCases) ConfirmAddress(ctx context.Context, p *access.Principal, token string) error {
	s := part.accounts
	if p.Token.Kind == store.APIToken {
		return crowd.Errorf(crowd.Conflict, "a token for programs cannot confirm an address: sign in")
	}
	s.people.Lock()
	defer s.people.Unlock()
	a, err := part.linkedTo(ctx, p, token)
	if err != nil {
		return err
	}
	before, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return err
	}
	same, err := s.store.UsersByEmail(ctx, a.Address)
	if err != nil {
		return err
	}
	for i := range same {
		if same[i].ID != before.ID {
			return errAddressTaken
		}
	}
	u, now := before, s.clock.Time()
	u.Email, u.EmailVerified, u.EmailBy = a.Address, true, ""
	var letter *store.Message
	if before.EmailVerified && !format.SameAddress(before.Email, u.Email) && part.outbox.CanMail() {
		letter = &store.Message{Worker: u.ID, Channel: store.Mail, Target: before.Email, Subject: "Your account has another address", State: store.MessageQueued, CreatedAt: now, NextAt: now, UselessAt: now.Add(AddressLinkLife),
			Body: fmt.Sprintf("The account %s has another e-mail address now; this one is no longer used for it. If it was not you who changed it, change your password and tell an administrator.", u.Name)}
	}
	ctx, _ = s.acting(ctx, p, access.AccountsConfirmAddress, u.ID)
	store.Tell(ctx, "user", before, u)
	if err := s.store.ConfirmAddress(ctx, u, a.Hash, letter); err != nil {
		if crowd.CodeOf(err) == crowd.NotFound {
			err = errAddressLink
		}
		return err
	}
	s.sessions.clear()
	if letter != nil {
		part.outbox.Wake()
	}
	return nil
}
