package load

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

func TestACrewEndsWithItsFirstError(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	c := NewCrew(t.Context())
	for i := range 5 {
		c.Go(func() error {
			if i == 3 {
				return failed
			}
			<-c.Quit().Done()
			return nil
		})
	}
	if err := c.Wait(); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

func TestACrewThatIsEndedHasNoError(t *testing.T) {
	t.Parallel()
	c := NewCrew(t.Context())
	c.Go(func() error { <-c.Quit().Done(); return nil })
	if c.Err() != nil {
		t.Error(c.Err())
	}
	c.End()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = NewCrew(ctx)
	cancel()
	if err := c.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestCSVIsMadeAsItIsRead(t *testing.T) {
	t.Parallel()
	made := 0
	file := CSV([]string{"n", "text"}, 100_000, func(i int) []string {
		made++
		return []string{strconv.Itoa(i), "a, \"b\""}
	})
	begin := make([]byte, 21)
	if _, err := io.ReadFull(file, begin); err != nil || string(begin) != "n,text\n0,\"a, \"\"b\"\"\"\n1" {
		t.Errorf("%q, %v", begin, err)
	}
	rest, err := io.ReadAll(file)
	if err != nil || made != 100_000 || !strings.HasSuffix(string(rest), "\n99999,\"a, \"\"b\"\"\"\n") {
		t.Errorf("%d rows made, %v", made, err)
	}
}

func TestInParallelJoinsErrors(t *testing.T) {
	t.Parallel()
	one, two := errors.New("one"), errors.New("two")
	err := InParallel(100, func(i int) error {
		switch i {
		case 7:
			return one
		case 93:
			return two
		}
		return nil
	})
	if !errors.Is(err, one) || !errors.Is(err, two) {
		t.Error(err)
	}
}
