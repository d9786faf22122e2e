package control

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// lowFunds is how long the money for waiting must last for those on duty, so that
// nobody is warned.
const lowFunds = 10 * time.Minute

// Low reports whether the pool pays for waiting and its money lasts less than ten
// minutes for those on duty. Who stands outside its gate is not paid.
func (v *PoolView) Low() bool {
	f, rate := &v.Status.Funds, v.Retainer.Rate
	return rate > 0 && (f.Empty || f.Funds-f.Owed < v.TenMinutes())
}

// TenMinutes is what those on duty are paid for waiting in ten minutes, or one person where
// nobody is on duty.
func (v *PoolView) TenMinutes() crowd.Money {
	return v.Retainer.Rate * crowd.Money(max(v.OnDuty, 1)) * crowd.Money(lowFunds/time.Minute)
}

// GateNeeds is what the people whom a closed gate waits for, and those who are there, have to
// be payable for together before all of them are called, where the pool's money is less: then
// the gate opens only if some come by themselves. 0: there is enough, or nobody is called.
func (v *PoolView) GateNeeds() crowd.Money {
	r, f := &v.Retainer, &v.Status.Funds
	if !r.Called || r.Rate == 0 || v.GateNow.Lacks() == 0 {
		return 0
	}
	need := v.keeps(v.GateNow.Opens())
	if f.Funds-f.Owed >= need {
		return 0
	}
	return need
}

// CallNeeds is what one person has to be payable for before anybody is called, where the pool
// calls its people, nobody is on duty, and its money is less. 0: there is enough, or somebody is
// there.
func (v *PoolView) CallNeeds() crowd.Money {
	r, f := &v.Retainer, &v.Status.Funds
	if !r.Called || r.Rate == 0 || v.OnDuty > 0 {
		return 0
	}
	need := v.keeps(1)
	if f.Funds-f.Owed >= need {
		return 0
	}
	return need
}

// keeps is what so many people have to be payable for when they are called.
func (v *PoolView) keeps(people int) crowd.Money {
	return crowd.Money(float64(v.Retainer.Rate) * max(v.Retainer.Promise, time.Minute).Minutes() * float64(people))
}
