package authors

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/sched"
)

func init() {
	sched.Register(sched.Extension{Name: "edf-code", New: plain(newEDF)})
	sched.Register(sched.Extension{Name: "fs-code", New: plain(newFS)})
	sched.Register(sched.Extension{Name: "sdafs-code", Options: []string{"log", "seed"}, New: drawing("sdafs-code", newSDAFS)})
	sched.Register(sched.Extension{Name: "dafs-code", Options: []string{"log", "seed"}, New: drawing("dafs-code", newDAFS)})
}

// plain makes a policy without options.
func plain(fresh func() sched.Policy) func(map[string]string) (func() sched.Policy, error) {
	return func(map[string]string) (func() sched.Policy, error) { return fresh, nil }
}

// drawing makes a policy that has weights and draws among equals.
func drawing(name string, fresh func(weighted) sched.Policy) func(map[string]string) (func() sched.Policy, error) {
	return func(options map[string]string) (func() sched.Policy, error) {
		w := weighted{log: true, seed: 1}
		var parts []string
		switch text, given := options["log"]; {
		case text == "false":
			w.log = false
			parts = append(parts, "log=false")
		case given && text != "true":
			return nil, fmt.Errorf("%s takes log=true or log=false, not log=%s", name, text)
		}
		if text, given := options["seed"]; given {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s takes seed=0 to 18446744073709551615, not seed=%s", name, text)
			}
			if w.seed = seed; seed != 1 {
				parts = append(parts, "seed="+strconv.FormatUint(seed, 10))
			}
		}
		w.name = name
		if len(parts) > 0 {
			w.name = fmt.Sprintf("%s(%s)", name, strings.Join(parts, ","))
		}
		return func() sched.Policy { return fresh(w) }, nil
	}
}
