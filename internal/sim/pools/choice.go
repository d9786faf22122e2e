package pools

import (
	"fmt"
	"slices"
)

// choice finds people to ask where pools ask only those who like them enough: what
// everybody in the crowd prefers is known before they are asked, as it is live. Without
// such a pool the n-th who is asked is person n.
type choice struct {
	w      *world
	likes  []float64         // of whoever is looked at
	met    uint64            // people looked at so far: the numbers below it
	passed []uint64          // of a bounded crowd, who was looked at and not asked yet, in order
	people map[uint64]uint64 // who is asked and not here, by the number of their call
}

// maxLooked bounds how many new people are looked at for one call.
const maxLooked = 10_000

// find finds somebody to ask for pool i, under the number of a call; false: nobody is left
// who likes it enough.
func (c *choice) find(i int32, number uint64) bool {
	for k, person := range c.passed {
		if c.suits(i, person) {
			c.passed = slices.Delete(c.passed, k, k+1)
			c.people[number] = person
			return true
		}
	}
	most := uint64(c.w.run.People.Outside)
	for range maxLooked {
		if most > 0 && c.met >= most {
			return false
		}
		person := c.met
		c.met++
		if c.suits(i, person) {
			c.people[number] = person
			return true
		}
		c.w.pools[i].books.out.PassedOver++
		if most > 0 { // else there are others like them
			c.passed = append(c.passed, person)
		}
	}
	return false
}

func (c *choice) suits(i int32, person uint64) bool {
	c.w.like(recruit(person), c.likes)
	return c.w.run.Pools[i].Settings.Calls(c.likes[i])
}

// comes takes out who comes, of those asked.
func (c *choice) comes(number uint64) (person uint64) {
	person, ok := c.people[number]
	if !ok {
		c.w.fail(fmt.Errorf("call %d is nobody's", number))
	}
	delete(c.people, number)
	return person
}
