package format_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{format.Count(1, "task"), "1 task"},
		{format.Count(0, "task"), "0 tasks"},
		{format.Place(1, 1), "the only one"},
		{format.Place(1, 6), "first of 6"},
		{format.Place(2, 6), "place 2 of 6"},
		{format.Place(6, 6), "last of 6"},
		{format.Count(12345, "batch"), "12345 batches"},
		{format.Count(2, "person"), "2 people"},
		{format.Count(2, "try"), "2 tries"},
		{format.Count(2, "class"), "2 classes"},
		{format.Count(2, "day"), "2 days"},
		{format.Grouped(1, "task"), "1 task"},
		{format.Grouped(1234567, "task"), "1\u202f234\u202f567 tasks"},
		{format.Thousands(-123456), "-123\u202f456"},
		{format.Number(0.000001), "0.000001"},
		{format.Number(1e6), "1000000"},
		{format.Number(-2.5), "-2.5"},
		{format.Bytes(0), "0 bytes"},
		{format.Bytes(1025), "1025 bytes"},
		{format.Bytes(64 << 10), "64 KiB"},
		{format.Bytes(1 << 30), "1 GiB"},
		{format.Bytes(4 << 40), "4096 GiB"},
		{format.Percent(0, 0), "0 %"},
		{format.Percent(0, 10), "0 %"},
		{format.Percent(1, 1000), "<1 %"},
		{format.Percent(999, 1000), ">99 %"},
		{format.Percent(1, 3), "33 %"},
		{format.Percent(10, 10), "100 %"},
		{format.Duration(0), "0 s"},
		{format.Duration(time.Millisecond), "<1 s"},
		{format.Duration(59 * time.Second), "59 s"},
		{format.Duration(90 * time.Second), "1 min"},
		{format.Duration(90 * time.Minute), "1 h 30 min"},
		{format.Duration(11*time.Hour + 30*time.Minute), "11 h"},
		{format.Duration(25 * time.Hour), "1 day"},
		{format.Duration(72 * time.Hour), "3 days"},
		{format.Clock(now, now.Add(-time.Hour)), "11:00"},
		{format.Clock(now, now.Add(-24*time.Hour)), "21 Nov, 12:00"},
		{format.Clock(now, now.AddDate(-1, 0, 0)), "22 Nov 2025, 12:00"},
		{format.Clip("abc", 3), "abc"},
		{format.Clip("abcd", 3), "abc…"},
		{format.Clip("abäd", 3), "abä…"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	for want, d := range map[string]time.Duration{
		"14:00 (now)": time.Millisecond, "14:05 (in 5 min)": 5 * time.Minute, "11:30 (2 h 30 min ago)": -150 * time.Minute, "26 Feb, 14:00 (3 days ago)": -72 * time.Hour,
	} {
		if got := format.Moment(now, now.Add(d)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
