package crowd_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// FuzzRates: a rate that is read is written so that it reads the same.
func FuzzRates(f *testing.F) {
	for _, s := range []string{"", "10/s", " 100 / m", "5000/h", "20000/d", "0/s", "1/w", "-1/s", "999999999999999999999/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := crowd.ParseRate(s)
		if err != nil {
			return
		}
		if again, err := crowd.ParseRate(r.String()); err != nil || again != r || r.Gap() < 0 {
			t.Errorf("%q reads as %+v, and that as %+v, %v", s, r, again, err)
		}
	})
}

// FuzzQualifications: what is read holds, and nothing of it could be read in two ways.
func FuzzQualifications(f *testing.F) {
	for _, s := range []string{"birds", "birds>=80", "birds=80", "birds: 80", "birds 80", "b=c=3", "north/birds>=1", ">=", "x -5", "x 99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := crowd.ParseQualification(s, 1)
		if err != nil {
			return
		}
		if err := q.Validate(); err != nil || q.Score < 0 || q.Score > crowd.MaxScore || q.Name == "" {
			t.Errorf("%q reads as %+v: %v", s, q, err)
		}
	})
}
