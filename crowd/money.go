package crowd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in micro-units (millionths) of the installation's one
// currency: 50,000 is 0.05. It may be negative.
type Money int64

// Unit is one whole unit of the currency, and MaxMoney the largest amount that
// anyone may enter: sums of a million such amounts still fit. It bounds no sum: see Plus.
const (
	Unit     Money = 1_000_000
	MaxMoney Money = 1_000_000 * Unit
)

// Times returns m × n, and false if the product does not fit.
func (m Money) Times(n int64) (Money, bool) {
	if m == 0 || n == 0 {
		return 0, true
	}
	p := int64(m) * n
	if p/n != int64(m) || (n == -1 && int64(m) == math.MinInt64) {
		return 0, false
	}
	return Money(p), true
}

// Plus returns m + n, or the nearest amount that there is if the sum does not fit. It
// is for sums that are only counted, such as penalties, not for money that moves.
func (m Money) Plus(n Money) Money {
	switch {
	case n > 0 && m > math.MaxInt64-n:
		return math.MaxInt64
	case n < 0 && m < math.MinInt64-n:
		return math.MinInt64
	}
	return m + n
}

// String writes m as a decimal with at least two and at most six places: "0.05".
func (m Money) String() string {
	sign, u := "", uint64(m)
	if m < 0 {
		sign, u = "-", -u
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", u%uint64(Unit)), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return sign + strconv.FormatUint(u/uint64(Unit), 10) + "." + frac
}

// Short writes m for people to read at a glance: rounded towards 0 to two places, and "less than
// 0.01" where that would be 0.00 and m is more than 0; a debt below 0.01 is whole. Sums that are added up are
// written by String.
func (m Money) Short() string {
	const cent = Unit / 100
	switch {
	case m > 0 && m < cent:
		return "less than " + cent.String()
	case m < 0 && m > -cent:
		return m.String()
	}
	return (m - m%cent).String()
}

// ParseMoney reads a non-negative decimal such as "12", "0.05" or "0.000001",
// up to MaxMoney, without a currency sign.
func ParseMoney(s string) (Money, error) {
	whole, frac, dotted := strings.Cut(strings.TrimSpace(s), ".")
	bad := Fieldf("money", "%q is not an amount (like 0.05, at most six places, at most %s)", s, MaxMoney)
	if !allDigits(whole) || len(whole) > 9 || len(frac) > 6 || (dotted && !allDigits(frac)) {
		return 0, bad
	}
	w, _ := strconv.ParseInt(whole, 10, 64)
	f, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	m := Money(w)*Unit + Money(f)
	if m > MaxMoney {
		return 0, bad
	}
	return m, nil
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
