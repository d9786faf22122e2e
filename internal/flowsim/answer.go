package flowsim

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/template"
)

// answer is what a worker answers to a task: the truth with the chance of
// accuracy, else something else. Where the task has no known answer, the truth
// is drawn for the item.
func (j *job) answer(seed uint64, task *store.Task, chance *sim.Rand) json.RawMessage {
	t := j.shape.Template()
	truth := sim.NewStream(seed, int(task.Item), "truth "+j.name).At(0)
	right := chance.Float64() < j.model.Accuracy
	field := t.LabelField
	if field == "" {
		field = template.LabelField
	}
	switch t.Kind {
	case template.ChooseOne:
		return quoted(pickOne(values(t.Options), task.Gold, right, &truth, chance))
	case template.CompareTwo:
		list := []string{template.Left, template.Right}
		if t.Tie {
			list = append(list, template.Tie)
		}
		return quoted(pickOne(list, task.Gold, right, &truth, chance))
	case template.ChooseMany:
		if task.Gold != "" && right {
			return json.RawMessage(task.Gold)
		}
		list := values(t.Options)
		from := &truth
		if !right {
			from = chance
		}
		raw, _ := json.Marshal(list[:1+from.IntN(most(t, len(list)))])
		return raw
	case template.Number:
		return json.RawMessage(number(t.Min, t.Max, t.Integer, task.Gold, right, &truth, chance))
	case template.ShortText:
		return quoted(text(task.Gold, right, &truth, chance))
	case template.Form:
		out := make(map[string]any)
		for _, f := range t.Fields {
			out[f.Name] = formField(f, &truth)
			if f.Name == t.LabelField {
				gold := task.Gold
				switch f.Type {
				case template.FieldChoice:
					out[f.Name] = pickOne(values(f.Options), gold, right, &truth, chance)
				case template.FieldNumber:
					out[f.Name] = json.Number(number(f.Min, f.Max, f.Integer, gold, right, &truth, chance))
				case template.FieldText, template.FieldTextArea, "":
					out[f.Name] = text(gold, right, &truth, chance)
				}
			}
		}
		raw, _ := json.Marshal(out)
		return raw
	}
	raw, _ := json.Marshal(map[string]string{field: text(task.Gold, right, &truth, chance)})
	return raw
}

func values(options []template.Option) []string {
	list := make([]string, len(options))
	for i, o := range options {
		list[i] = o.Value
	}
	return list
}

func quoted(s string) json.RawMessage { return template.AppendString(nil, s) }

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

func most(t template.Template, n int) int {
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
func formField(f template.Field, truth *sim.Rand) any {
	switch f.Type {
	case template.FieldChoice:
		return f.Options[truth.IntN(len(f.Options))].Value
	case template.FieldCheckbox:
		if len(f.Options) > 0 {
			return []string{f.Options[0].Value}
		}
		return truth.IntN(2) == 1
	case template.FieldNumber:
		return json.Number(number(f.Min, f.Max, f.Integer, "", true, truth, truth))
	case template.FieldDate:
		return "2026-01-01"
	}
	return "text"
}
