package workflows

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// answer is what a worker answers to a task: the truth with the chance of
// accuracy, else something else. Where the task has no known answer, the truth
// is drawn for the item.
func (j *job) answer(seed uint64, asked *store.Task, chance *sim.Rand) json.RawMessage {
	t := j.shape.Template()
	truth := sim.NewStream(seed, int(asked.Item), "truth "+j.name).At(0)
	right := chance.Float64() < j.model.Accuracy
	field := t.LabelField
	if field == "" {
		field = task.LabelField
	}
	switch t.Kind {
	case task.ChooseOne:
		return quoted(pickOne(values(t.Options), asked.Gold, right, &truth, chance))
	case task.CompareTwo:
		list := []string{task.Left, task.Right}
		if t.Tie {
			list = append(list, task.Tie)
		}
		return quoted(pickOne(list, asked.Gold, right, &truth, chance))
	case task.ChooseMany:
		if asked.Gold != "" && right {
			return json.RawMessage(asked.Gold)
		}
		list := values(t.Options)
		from := &truth
		if !right {
			from = chance
		}
		raw, _ := json.Marshal(list[:1+from.IntN(most(t, len(list)))])
		return raw
	case task.Number:
		return json.RawMessage(number(t.Min, t.Max, t.Integer, asked.Gold, right, &truth, chance))
	case task.ShortText:
		return quoted(text(asked.Gold, right, &truth, chance))
	case task.Form:
		out := make(map[string]any)
		for _, f := range t.Fields {
			out[f.Name] = formField(f, &truth)
			if f.Name == t.LabelField {
				gold := asked.Gold
				switch f.Type {
				case task.FieldChoice:
					out[f.Name] = pickOne(values(f.Options), gold, right, &truth, chance)
				case task.FieldNumber:
					out[f.Name] = json.Number(number(f.Min, f.Max, f.Integer, gold, right, &truth, chance))
				case task.FieldText, task.FieldTextArea, "":
					out[f.Name] = text(gold, right, &truth, chance)
				}
			}
		}
		raw, _ := json.Marshal(out)
		return raw
	}
	raw, _ := json.Marshal(map[string]string{field: text(asked.Gold, right, &truth, chance)})
	return raw
}

func values(options []task.Option) []string {
	list := make([]string, len(options))
	for i, o := range options {
		list[i] = o.Value
	}
	return list
}

func quoted(s string) json.RawMessage { return task.AppendString(nil, s) }

// pickOne picks the truth, or one of the others.
func pickOne(list []string, gold string, right bool, truth, chance *sim.Rand) string {
	if gold == "" {
		gold = list[truth.IntN(len(list))]
	}
	if right || len(list) < 2 {
		return gold
	}
	for {
		if s := list[chance.IntN(len(list))]; s != gold {
			return s
		}
	}
}

func most(t task.Template, n int) int {
	if t.Max != nil {
		return max(min(n, int(*t.Max)), 1)
	}
	return n
}

func number(least, most *float64, integer bool, gold string, right bool, truth, chance *sim.Rand) string {
	lo, hi := 0.0, 100.0
	if least != nil {
		lo, hi = *least, *least+100
	}
	if most != nil {
		hi = *most
		lo = min(lo, hi)
	}
	x, err := strconv.ParseFloat(gold, 64)
	if err != nil {
		x = math.Round(lo + (hi-lo)*truth.Float64())
	}
	if !right {
		x = min(max(math.Round(x+(hi-lo)*0.1*chance.Normal()), lo), hi)
	}
	if integer {
		x = math.Round(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func text(gold string, right bool, truth, chance *sim.Rand) string {
	if gold == "" {
		gold = "text " + strconv.Itoa(truth.IntN(1000))
	}
	if right {
		return gold
	}
	return gold + " " + strconv.Itoa(chance.IntN(10))
}

// formField fills in a field that is not compared.
func formField(f task.Field, truth *sim.Rand) any {
	switch f.Type {
	case task.FieldChoice:
		return f.Options[truth.IntN(len(f.Options))].Value
	case task.FieldCheckbox:
		if len(f.Options) > 0 {
			return []string{f.Options[0].Value}
		}
		return truth.IntN(2) == 1
	case task.FieldNumber:
		return json.Number(number(f.Min, f.Max, f.Integer, "", true, truth, truth))
	case task.FieldDate:
		return "2026-01-01"
	}
	return "text"
}
