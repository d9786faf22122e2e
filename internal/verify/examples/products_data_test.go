package examples

import (
	"fmt"
	"strings"
)

// How many products there are: those that both shops have, of which the second
// lists some twice, and those that only one of them has.
const (
	bothShops, twice   = 130, 30
	onlyOurs           = 70
	onlyTheirs         = 40
	siblings           = 0.5 // of the products that one shop has: variants of one that both have
	entityMatchingData = "entity-matching/data/"
)

var (
	brands  = strings.Fields("Arvelo Brintex Calmora Dunvik Elmark Fonteo Gravio Halden Ionda Jorvik Kestrel Lumina Mistral Norvex Orsola Pelion")
	kinds   = []string{"wireless mouse", "mechanical keyboard", "desk lamp", "coffee grinder", "usb charger", "bluetooth speaker", "electric kettle", "cordless drill", "bike light", "camera bag", "air purifier", "gaming headset"}
	colours = strings.Fields("black white silver blue red green")
	letters = strings.Fields("AX BT CR DL EK GM HX KS LT MX NV PR QS RT TX VZ")

	// shorter is what sellers write instead.
	shorter = map[string]string{
		"wireless": "wrls", "mechanical": "mech", "keyboard": "kbd", "bluetooth": "BT", "charger": "chgr", "electric": "elec", "speaker": "spkr",
		"cordless": "cordl.", "headset": "hdset", "black": "blk", "white": "wht", "silver": "slv", "camera": "cam", "purifier": "purif.",
	}
)

// product is what a shop sells, as it really is.
type product struct {
	brand, kind, series, colour string
	number                      int
	price                       float64
}

func (p product) words() []string {
	return append(append([]string{p.brand, p.series + "-" + fmt.Sprint(p.number)}, strings.Fields(p.kind)...), p.colour)
}

// products makes two tables of products that people wrote, each in their own
// way, and what is the same in truth.
func products(seed uint64) []File {
	d := newDice(seed, "products")
	seen := map[string]bool{}
	both := make([]product, bothShops)
	for i := range both {
		both[i] = d.newProduct(seen)
	}
	single := func() product {
		if d.chance(siblings) {
			return d.sibling(both[d.IntN(len(both))], seen)
		}
		return d.newProduct(seen)
	}
	type offer struct {
		product
		id int // of the product
	}
	var ours, theirs []offer
	for i, p := range both {
		ours, theirs = append(ours, offer{p, i + 1}), append(theirs, offer{p, i + 1})
		if i < twice {
			theirs = append(theirs, offer{p, i + 1})
		}
	}
	next := bothShops
	for range onlyOurs {
		next++
		ours = append(ours, offer{single(), next})
	}
	for range onlyTheirs {
		next++
		theirs = append(theirs, offer{single(), next})
	}
	truth := newSheet("id", "product")
	shop := func(list []offer, letter string, noise float64) File {
		d.shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		s := newSheet("id", "title", "price")
		for i, o := range list {
			id := fmt.Sprintf("%s%03d", letter, i+1)
			s.add(id, d.title(o.product, noise), fmt.Sprintf("%.2f", o.price*(1+0.06*d.Normal()*noise)))
			truth.add(id, fmt.Sprintf("p%03d", o.id))
		}
		return s.file(entityMatchingData + map[string]string{"a": "ours.csv", "b": "theirs.csv"}[letter])
	}
	return []File{shop(ours, "a", 0.4), shop(theirs, "b", 1), truth.file(entityMatchingData + "truth.csv")}
}

func (d *dice) newProduct(seen map[string]bool) product {
	for {
		p := product{brand: d.pick(brands), kind: d.pick(kinds), series: d.pick(letters), colour: d.pick(colours), number: 100 + 10*d.IntN(90), price: 10 + float64(d.IntN(19000))/100}
		if key := strings.Join(p.words(), " "); !seen[key] {
			seen[key] = true
			return p
		}
	}
}

// sibling is another product, but nearly the same: the next model, or another
// colour.
func (d *dice) sibling(p product, seen map[string]bool) product {
	for {
		q := p
		if d.chance(0.6) {
			q.number += 10 * (1 + d.IntN(5))
			q.price *= 1.1 + 0.3*d.Float64()
		} else {
			q.colour = d.pick(colours)
		}
		if key := strings.Join(q.words(), " "); !seen[key] {
			seen[key] = true
			return q
		}
	}
}

// title is what a seller writes: with more noise more is shortened, left out,
// put elsewhere and mistyped.
func (d *dice) title(p product, noise float64) string {
	words := p.words()
	if d.chance(0.3 * noise) {
		words[1] = p.series + fmt.Sprint(p.number) // the model in one
	} else if d.chance(0.3 * noise) {
		words[1] = p.series + " " + fmt.Sprint(p.number)
	}
	var out []string
	for i, w := range words {
		if short, ok := shorter[w]; ok && d.chance(0.25*noise) {
			w = short
		}
		if i == len(words)-1 && d.chance(0.2*noise) {
			continue // no colour
		}
		if i != 1 && d.chance(0.1*noise) {
			w = d.typo(w)
		}
		out = append(out, w)
	}
	if d.chance(0.35 * noise) {
		i := d.IntN(len(out))
		w := out[i]
		out = append(append(append([]string{}, out[:i]...), out[i+1:]...), w)
	}
	if d.chance(0.15 * noise) {
		out = append(out, d.pick([]string{"new", "(boxed)", "2 year warranty", "free shipping"}))
	}
	return strings.Join(out, " ")
}

// typo leaves a letter out, doubles it, or swaps it with the next.
func (d *dice) typo(w string) string {
	r := []rune(w)
	if len(r) < 4 {
		return w
	}
	i := 1 + d.IntN(len(r)-2)
	switch d.IntN(3) {
	case 0:
		return string(r[:i]) + string(r[i+1:])
	case 1:
		return string(r[:i+1]) + string(r[i:])
	}
	r[i], r[i+1] = r[i+1], r[i]
	return string(r)
}
