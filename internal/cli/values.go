package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// The values of flags that have a form of their own. kong reads them by
// UnmarshalText and puts the flag's name before the error.

// amount is money on the command line: 0.05.
type amount struct{ crowd.Money }

func (a *amount) UnmarshalText(text []byte) error {
	m, err := crowd.ParseMoney(strings.TrimPrefix(string(text), "-"))
	if err == nil && strings.HasPrefix(string(text), "-") {
		m = -m // whoever takes it says what is wrong with that
	}
	a.Money = m
	return plain(err)
}

// check refuses what is no budget of a run.
func (a *amount) check() error {
	if a != nil && a.Money <= 0 {
		return wrong("budget", "%s is not a budget (more than 0)", a.Money)
	}
	return nil
}

// orNone returns the amount, or 0 where none is given.
func (a *amount) orNone() crowd.Money {
	if a == nil {
		return 0
	}
	return a.Money
}

// plain leaves the field's name out: kong names the flag.
func plain(err error) error {
	if e, ok := err.(*crowd.Error); ok { //nolint:errorlint // as made just above
		return &crowd.Error{Code: e.Code, Message: e.Message}
	}
	return err
}

// moment is a time on the command line: RFC 3339, or +2h from now.
type moment struct{ time.Time }

func (m *moment) UnmarshalText(text []byte) error {
	if s, relative := strings.CutPrefix(string(text), "+"); relative {
		d, err := duration(s)
		if err != nil {
			return err
		}
		m.Time = now().Add(d).UTC().Truncate(time.Second)
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, string(text), time.Local); err == nil {
			m.Time = t.UTC()
			return nil
		}
	}
	return crowd.Errorf(crowd.Invalid, "%q is not a time (like 2030-01-31T18:00:00Z, or +2h for two hours from now)", text)
}

// past is a time on the command line that is over: RFC 3339, or 7d for so long ago.
type past struct{ time.Time }

func (p *past) UnmarshalText(text []byte) error {
	if d, err := duration(string(text)); err == nil {
		p.Time = now().Add(-d).UTC().Truncate(time.Second)
		return nil
	}
	var m moment
	if err := m.UnmarshalText(text); err != nil {
		return crowd.Errorf(crowd.Invalid, "%q is not a time (like 2030-01-31T18:00:00Z, or 7d for seven days ago)", text)
	}
	p.Time = m.Time
	return nil
}

// duration reads 90s, 2h30m, 3d.
func duration(s string) (time.Duration, error) {
	days, rest, dotted := strings.Cut(s, "d")
	if !dotted {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err == nil && rest == "" && dotted {
		rest = "0s"
	}
	d, err2 := time.ParseDuration(rest)
	if err != nil || err2 != nil || d < 0 {
		return 0, crowd.Errorf(crowd.Invalid, "%q is not a duration (like 30s, 10m, 2h30m or 3d)", s)
	}
	return d + time.Duration(n)*24*time.Hour, nil
}

// span is a duration on the command line.
type span struct{ time.Duration }

func (d *span) UnmarshalText(text []byte) (err error) {
	d.Duration, err = duration(string(text))
	return err
}

// or is the time that was given, or this one.
func (d *span) or(otherwise time.Duration) span {
	if d == nil {
		return span{otherwise}
	}
	return *d
}

// text is a span as it is given, with days; "" for none.
func (d span) text() string {
	const day = 24 * time.Hour
	switch {
	case d.Duration == 0:
		return ""
	case d.Duration%day == 0:
		return fmt.Sprintf("%dd", d.Duration/day)
	}
	return d.String()
}

// check refuses a time that is given and shorter than least: the API takes 0 for none.
func (d *span) check(name string, least time.Duration) error {
	if d == nil || d.Duration >= least {
		return nil
	}
	return wrong(name, "%s is too short: give %s at least, or leave it out for the default", d.Duration, least)
}

// orNone is a time that is given, or 0.
func (d *span) orNone() time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}

// redundancy is how many answers a task gets: 3, 2of3, or 99%of10.
type redundancy struct{ rule label.Rule }

func (r *redundancy) UnmarshalText(text []byte) (err error) {
	r.rule, err = label.ParseRule(string(text))
	return plain(err)
}

// enough says when a batch ends by itself: labels=500,share=0.9.
type enough struct{ wire.Enough }

func (x *enough) UnmarshalText(text []byte) error {
	parsed, err := engine.ParseEnough(string(text))
	x.Enough = wire.Enough(parsed)
	return plain(err)
}

// checks says how many tasks are checks: first=0.1,least=0.01.
type checks struct{ wire.Checks }

func (x *checks) UnmarshalText(text []byte) error {
	parsed, err := engine.ParseChecks(string(text))
	x.Checks = wire.Checks(parsed)
	return plain(err)
}

// reviews says which labels are reviewed: undecided,share=0.05.
type reviews struct{ engine.Review }

func (x *reviews) UnmarshalText(text []byte) (err error) {
	x.Review, err = engine.ParseReview(string(text))
	return plain(err)
}

// requirement is a qualification that a worker must hold: name>=80, or name.
type requirement struct{ wire.Qualification }

func (q *requirement) UnmarshalText(text []byte) error {
	asked, err := crowd.ParseQualification(string(text), 0)
	q.Name, q.Min = asked.Name, asked.Score
	if err != nil {
		return crowd.Errorf(crowd.Invalid, "%q is not a qualification (like english>=80, or english)", text)
	}
	return nil
}

// score is a qualification that a worker holds: name=80.
type score struct{ crowd.Qualification }

func (q *score) UnmarshalText(text []byte) (err error) {
	if q.Qualification, err = crowd.ParseQualification(string(text), crowd.MaxScore); err != nil {
		return crowd.Errorf(crowd.Invalid, "%q is not a qualification with its score (like english=80, from 0 to 100)", text)
	}
	return nil
}

func scores(list []score) map[string]int {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]int, len(list))
	for _, q := range list {
		out[q.Name] = q.Score
	}
	return out
}

func policies() []string { return sched.Names() }
