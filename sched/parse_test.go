package sched_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

func TestParseReadsNames(t *testing.T) {
	t.Parallel()
	canonical := map[string]string{
		"dafs(f=log1p)":                                "dafs",
		"sdafs( f = identity )":                        "sdafs(f=identity)",
		"beta-fair(beta=+inf, x=wfs-ratio)":            "beta-fair(beta=inf)",
		"beta-fair(x=dafs,beta=-Inf)":                  "beta-fair(beta=-inf,x=dafs)",
		"beta-fair(beta=1e0,x=fs)":                     "beta-fair(beta=1,x=fs)",
		"beta-fair(beta=-0)":                           "beta-fair(beta=0)",
		"dafs-code(log=true, seed=1)":                  "dafs-code",
		"sdafs-code(seed=007,log=false)":               "sdafs-code(log=false,seed=7)",
		"penalty(form=rest)":                           "penalty",
		"penalty(look=60s)":                            "penalty(look=1m0s)",
		"penalty(form=atc, look=60s)":                  "penalty(form=atc)",
		"penalty(look=0s,form=atc, tenant-fair(fifo))": "penalty(tenant-fair(fifo),form=atc,look=0s)",
		"penalty(form=event)":                          "penalty(form=event)",
		"penalty(look=0s)":                             "penalty(look=0s)",
		"penalty( form = loop )":                       "penalty(form=loop)",
		"wcfs(k=3, tenant-fair( dafs(f=log1p)))":       "wcfs(tenant-fair(dafs),k=3)",
	}
	for _, name := range everyPolicy() {
		canonical[name] = name
	}
	for text, want := range canonical {
		if got := parse(t, text).Name(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestParseRefusesAndSaysWhy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "a name is missing",
		"lifo":                         `there is no policy "lifo"`,
		"fifo(f=log1p)":                `fifo has no option "f"`,
		"fifo(rr)":                     "fifo takes no inner policy, but has rr",
		"dafs(f=ln)":                   "dafs takes f=log1p or f=identity, not f=ln",
		"dafs)":                        `")" is left over`,
		"dafs(":                        "a name is missing",
		"dafs()":                       "a name is missing",
		"dafs(f=log1p":                 "dafs( lacks its )",
		"dafs(f=log1p,f=log1p)":        "dafs has f twice",
		"beta-fair":                    "beta-fair takes beta=",
		"beta-fair(beta=nan)":          "beta-fair takes beta=",
		"beta-fair(beta=2,x=y)":        "beta-fair takes x=",
		"beta-fair(beta=2,f=identity)": "f only with x=dafs",
		"tenant-fair":                  "tenant-fair takes one inner policy, not 0",
		"by-reward":                    "by-reward takes one inner policy, not 0: write by-reward(wfs)",
		"priority":                     "strict-priority(P) hands out the highest priority first",
		"strict(fifo)":                 "by-reward(P) takes the reward as the priority",
		"tenant-fair(fifo,rr)":         "tenant-fair takes one inner policy, not 2",
		"tenant-fair(lifo)":            `no policy "lifo"`,
		"wcfs(wfs)":                    "wcfs takes k=0 to 1000000, how often in a row a batch concedes its turn, and k is missing",
		"wcfs(wfs,k=-1)":               "not k=-1",
		"edf-code(seed=2)":             `edf-code has no option "seed"`,
		"fs-code(rr)":                  "fs-code takes no inner policy",
		"dafs-code(log=ln)":            "dafs-code takes log=true or log=false, not log=ln",
		"sdafs-code(seed=-1)":          "sdafs-code takes seed=0 to 18446744073709551615, not seed=-1",
		"penalty(form=off)":            "penalty takes form=rest, form=atc, form=event or form=loop, not form=off",
		"penalty(look=60)":             "penalty takes look=0s to 24h0m0s, how far ahead it looks, not look=60",
		"penalty(look=-1s)":            "not look=-1s",
		"penalty(look=25h)":            "not look=25h",
		"penalty(form=loop,look=1s)":   "penalty takes look only with form=rest or form=atc",
		"penalty(k=1)":                 `penalty has no option "k"`,
		"penalty(fifo,wfs)":            "penalty takes one inner policy, not 2",
		"penalty(lifo)":                `no policy "lifo"`,
		"dafs-code(f=log1p)":           `dafs-code has no option "f"`,
		strings.Repeat("wcfs(", 100):   "at most 256 characters",
	} {
		p, err := sched.Parse(text)
		if p != nil || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%q: got %v, %v", text, p, err)
			continue
		}
		if msg := err.Error(); !strings.HasPrefix(msg, "policy: ") || !strings.Contains(msg, want) || !strings.Contains(msg, "known: "+strings.Join(sched.Names()[:2], ", ")) {
			t.Errorf("%q: got %q, want %q in it", text, msg, want)
		}
	}
}

// FuzzParse: whatever comes in, either an Invalid error comes out or a policy
// whose name is read again as itself.
func FuzzParse(f *testing.F) {
	for _, name := range everyPolicy() {
		f.Add(name)
	}
	f.Add("wcfs(wcfs(wcfs(rr,k=1),k=0),k=1000000)")
	f.Add("beta-fair(beta=0x1p-2,x=dafs,f=identity)")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := sched.Parse(text)
		if err != nil {
			if crowd.CodeOf(err) != crowd.Invalid {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := sched.Parse(p.Name())
		if err != nil || again.Name() != p.Name() {
			t.Errorf("%q: its name %q is read as %v, %v", text, p.Name(), again, err)
		}
	})
}
