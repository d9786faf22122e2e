package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/label"
)

// soonest is the shortest time in which a demo's batch is due.
const soonest = 5 * time.Second

// mostAnswers is the most that a made batch asks for a task.
const mostAnswers = 5

// busy is the share of the demo's time after which all work is expected to be
// done. From it and the expected number of answers follows how long a person thinks.
const busy = 0.75

// kind is a kind of made work: how it is shown, and rows with known answers.
type kind struct {
	tenant     int
	name       string
	template   string
	tasks      int
	rule       label.Rule
	answers    float64 // about how many a task takes
	reward     crowd.Money
	priority   float64
	deadline   float64 // as a share of the demo's time; 0: none
	production bool
	starts     float64 // as a share of the demo's time
	think      float64 // how long an answer takes, against others
	row        func(r *rand.Rand) (cells []string, gold, wrong string)
	columns    []string
}

func kinds() []kind {
	return []kind{
		{
			tenant: 0, name: "Mood of reviews", tasks: 260, rule: label.Count(3), answers: 3, reward: 20_000, priority: 1, think: 1, columns: []string{"review"}, row: review,
			template: `{"kind": "choose_one", "title": "Mood of reviews", "question": "How does the writer feel?", "options": ["positive", "neutral", "negative"]}`,
		},
		{
			tenant: 1, name: "Urgent moderation", tasks: 60, rule: label.Agree(2, 3), answers: 2.3, reward: 50_000, priority: 8, deadline: 0.5, production: true, think: 0.6, columns: []string{"comment"}, row: comment,
			template: `{"kind": "choose_one", "title": "Urgent moderation", "question": "May this comment stay?", "options": ["stay", "remove"]}`,
		},
		{
			tenant: 0, name: "Which word is longer", tasks: 80, rule: label.Agree(3, mostAnswers), answers: 3.6, reward: 10_000, priority: 3, think: 0.7, columns: []string{"one", "other"}, row: words,
			template: `{"kind": "compare_two", "title": "Which word is longer", "question": "Which word has more letters?", "left": "one", "right": "other"}`,
		},
		{
			tenant: 1, name: "Count the circles", tasks: 90, rule: label.Count(3), answers: 3, reward: 15_000, priority: 2, think: 1.4, columns: []string{"row"}, row: circles,
			template: `{"kind": "number", "title": "Count the circles", "question": "How many filled circles are there?", "min": 0, "max": 40, "integer": true}`,
		},
		{
			tenant: 1, name: "Topics of a headline", tasks: 50, rule: label.Agree(2, 4), answers: 3, reward: 30_000, priority: 5, deadline: 0.8, production: true, starts: 0.3, think: 1.2, columns: []string{"headline"}, row: headline,
			template: `{"kind": "choose_many", "title": "Topics of a headline", "question": "Which topics does it name?", "min": 0, "options": ["sport", "weather", "money", "science"]}`,
		},
		{
			tenant: 0, name: "Type the sign", tasks: 40, rule: label.Agree(2, mostAnswers), answers: 2.5, reward: 40_000, priority: 2, starts: 0.5, think: 1.6, columns: []string{"sign"}, row: sign,
			template: `{"kind": "short_text", "title": "Type the sign", "question": "Write the sign without spaces", "max_length": 20}`,
		},
	}
}

// The rows. Each returns the cells, the known answer as the server compares
// answers, and what somebody who errs says.

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func review(r *rand.Rand) (cells []string, gold, wrong string) {
	thing := pick(r, "kettle", "lamp", "tent", "chair", "radio", "bicycle pump")
	says := map[string][]string{
		"positive": {"I use the %s every day and love it.", "Best %s I ever had.", "The %s came early and works well."},
		"neutral":  {"The %s is blue and weighs a kilo.", "I bought the %s in May.", "It is a %s like others."},
		"negative": {"The %s broke on the first day.", "I want my money back for this %s.", "The %s is useless."},
	}
	moods := []string{"positive", "neutral", "negative"}
	gold = moods[r.IntN(3)]
	return []string{fmt.Sprintf(pick(r, says[gold]...), thing) + " No " + strconv.Itoa(r.IntN(10_000)) + "."}, gold, other(r, moods, gold)
}

func other(r *rand.Rand, list []string, not string) string {
	for {
		if x := pick(r, list...); x != not {
			return x
		}
	}
}

func comment(r *rand.Rand) (cells []string, gold, wrong string) {
	if r.IntN(3) == 0 {
		return []string{pick(r, "Buy cheap watches at", "Win a car now, click", "You are all fools, says") + " user" + strconv.Itoa(r.IntN(1000))}, "remove", "stay"
	}
	return []string{pick(r, "Thanks, this helped me,", "Has anybody tried it in winter,", "Nice picture,") + " user" + strconv.Itoa(r.IntN(1000))}, "stay", "remove"
}

func words(r *rand.Rand) (cells []string, gold, wrong string) {
	word := func(n int) string {
		letters := make([]byte, n)
		for i := range letters {
			from := [2]string{"bdfklmnrst", "aeiou"}[i%2]
			letters[i] = from[r.IntN(len(from))]
		}
		return string(letters)
	}
	short := 4 + r.IntN(8)
	long := short + 1 + r.IntN(3)
	if r.IntN(2) == 0 {
		return []string{word(long), word(short)}, "left", "right"
	}
	return []string{word(short), word(long)}, "right", "left"
}

func circles(r *rand.Rand) (cells []string, gold, wrong string) {
	n, full := 8+r.IntN(12), 0
	var b strings.Builder
	for range n {
		if r.IntN(2) == 0 {
			full++
			b.WriteRune('●')
		} else {
			b.WriteRune('○')
		}
	}
	miss := full + 1
	if full > 0 && r.IntN(2) == 0 {
		miss = full - 1
	}
	return []string{b.String()}, strconv.Itoa(full), strconv.Itoa(miss)
}

func headline(r *rand.Rand) (cells []string, gold, wrong string) {
	topics := []string{"sport", "weather", "money", "science"} // in the template's order
	says := map[string]string{"sport": "the cup is won", "weather": "a storm is coming", "money": "prices fall", "science": "a comet is found"}
	has := make([]string, 0, len(topics))
	var parts []string
	for _, t := range topics {
		if r.IntN(2) == 0 {
			has, parts = append(has, t), append(parts, says[t])
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "a cat sleeps")
	}
	miss := slices.Clone(has)
	if len(miss) > 0 {
		miss = miss[1:]
	} else {
		miss = append(miss, "sport")
	}
	return []string{strings.Join(parts, ", ") + " (" + strconv.Itoa(r.IntN(1000)) + ")"}, list(has), list(miss)
}

// list is a list as JSON: how the server compares the answers of choose_many.
func list(items []string) string {
	text, _ := json.Marshal(items) // strings cannot fail
	return string(text)
}

func sign(r *rand.Rand) (cells []string, gold, wrong string) {
	letters := make([]byte, 6)
	for i := range letters {
		letters[i] = "ABCDEFGHJKLMNPRSTUVWXYZ23456789"[r.IntN(31)]
	}
	gold = string(letters)
	letters[r.IntN(6)] = "OQIS"[r.IntN(4)]
	return []string{strings.Join(strings.Split(gold, ""), " ")}, gold, string(letters)
}

// made sets the made demo up.
func made(ctx context.Context, s *server) error {
	tenants := make([]crowd.TenantID, len(tenantNames))
	for i, name := range tenantNames {
		var err error
		if tenants[i], err = s.AddTenant(ctx, name, tenantWeights[i], 1000*crowd.Unit, depositNote); err != nil {
			return err
		}
		login := strings.ToLower(strings.Fields(name)[0])
		if err := s.addVisitor(ctx, wire.NewUser{Name: login, Tenants: tenants[i : i+1]}, "requester of "+name); err != nil {
			return err
		}
	}
	if err := s.addVisitor(ctx, wire.NewUser{Name: "you", Pool: s.Pool}, "a worker; join in"); err != nil {
		return err
	}
	if err := s.addPeople(ctx, s.Workers, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("worker-%02d", i+1), s.Pool }); err != nil {
		return err
	}
	all := kinds()
	answers := lists.Sum(all, func(k kind) float64 { return float64(k.tasks) * k.answers * k.think }) // in units of the mean time
	think := time.Duration(float64(s.For) * busy * float64(s.Workers) / answers)
	for i, p := range s.people {
		p.random = rand.New(rand.NewPCG(s.Seed, uint64(i+1)))
		p.think, p.pace = think, 0.6+0.8*p.random.Float64()
		if p.skill = 0.75 + 0.24*p.random.Float64(); i%12 == 11 {
			p.skill = 0.35 // guesses
		}
	}
	now, random := time.Now(), rand.New(rand.NewPCG(s.Seed, 0))
	for _, k := range all {
		d := wire.NewBatch{
			Tenant: tenants[k.tenant], BatchTerms: wire.BatchTerms{
				Pool: s.Pool, Name: k.name, Template: wire.Template(k.template), Redundancy: &k.rule, RewardMicros: k.reward, Priority: k.priority,
				Production: k.production, TaskTimeSeconds: (think.Seconds() * k.think), LeaseSeconds: int64(max(2, (8 * think).Seconds())),
			},
		}
		if k.deadline > 0 {
			// A demo of a second still has to get its batches launched before they are due.
			d.Deadline = now.Add(max(time.Duration(k.deadline*float64(s.For)), soonest))
		}
		b := &batch{tenant: tenantNames[k.tenant], name: k.name, think: k.think, starts: time.Duration(k.starts * float64(s.For)), deadline: d.Deadline}
		if err := s.draft(ctx, b, d, k.draw(random)); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		s.batches = append(s.batches, b)
		if k.starts == 0 {
			if err := s.launch(ctx, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawn is the tasks of a batch. The clients know the right answers from here, and
// err by their skill; the server does not show them to workers.
type drawn struct {
	kind
	rows          [][]string // with the right answer in the end
	golds, wrongs []string
}

func (k kind) draw(random *rand.Rand) *drawn {
	d := &drawn{kind: k}
	for range k.tasks {
		cells, gold, wrong := k.row(random)
		d.rows, d.golds, d.wrongs = append(d.rows, append(cells, gold)), append(d.golds, gold), append(d.wrongs, wrong)
	}
	return d
}

// draft makes a batch with its tasks.
func (s *server) draft(ctx context.Context, b *batch, n wire.NewBatch, d *drawn) error {
	template, err := task.Parse([]byte(d.template))
	if err != nil {
		return err
	}
	shown, err := template.Compile()
	if err != nil {
		return err
	}
	b.answer = func(p *person, w *wire.Work) string {
		said := d.wrongs
		if p.random.Float64() < p.skill {
			said = d.golds
		}
		return string(shown.FromKey(said[w.Task.N()-1]))
	}
	b.id, err = s.AddBatch(ctx, n, load.CSV(append(slices.Clone(d.columns), "_gold"), d.tasks, func(i int) []string { return d.rows[i] }), d.tasks)
	return err
}
