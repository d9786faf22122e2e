package examples

import (
	"fmt"
	"strings"
)

// manyComments is how many comments there are to moderate.
const manyComments = 200

// What comments are made of, by what they are. <thing> and <person> stand for a
// word of those below.
var (
	sentences = map[string][]string{
		"fine": {
			"Thanks, the part about the <thing> helped me a lot.",
			"I do not agree: my <thing> is five years old and still works.",
			"Does anybody know where to get a new <thing> in a small town?",
			"Good article, but the picture of the <thing> is missing.",
			"We had the same trouble with our <thing>; a new cable was the answer.",
			"The <person> explained it well, I will try it at the weekend.",
			"Too long for me, but the last chapter about the <thing> is worth it.",
			"I tried it twice, and the <thing> broke both times. What do I do wrong?",
		},
		"insult": {
			"Only a fool like you would buy such a <thing>.",
			"The <person> is as dumb as a doorknob and should stay silent.",
			"You people are too stupid to use a <thing>, go home.",
			"What a pathetic liar. Nobody wants to hear from this <person>.",
			"This <person> has the brain of a potato.",
			"Shut up, you clown. You know nothing about any <thing>.",
		},
		"spam": {
			"Cheap <thing> here, 80 percent off, only today: best-deals.example",
			"I earn 900 a day from home, ask me how: easy-money.example",
			"Win a free <thing>! Just leave your number at prizes.example",
			"Visit my page for the best <thing> of the year, link in my profile!!!",
			"The <person> hates this trick, click now: one-trick.example",
		},
	}
	things  = strings.Fields("lamp bicycle kettle tent camera radio drill toaster printer heater")
	persons = strings.Fields("author editor reporter seller teacher neighbour")
	filler  = []string{"", "", "", "Well. ", "Honestly: ", "So, ", "Second comment: "}
)

// comments makes comments of a site, with what they are in truth.
func comments(seed uint64) File {
	d := newDice(seed, "comments")
	s := newSheet("id", "text", "truth")
	for i := range manyComments {
		what := "fine"
		if x := d.Float64(); x > 0.85 {
			what = "spam"
		} else if x > 0.65 {
			what = "insult"
		}
		text := strings.NewReplacer("<thing>", d.pick(things), "<person>", d.pick(persons)).Replace(d.pick(sentences[what]))
		s.add(fmt.Sprintf("c%03d", i+1), d.pick(filler)+text, what)
	}
	return s.file("moderation/data/comments.csv")
}
