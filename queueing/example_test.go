package queueing_test

import (
	"fmt"

	"github.com/throng-dev/throng/queueing"
)

// A task comes every 10 s on average and takes a person 60 s. Seven people are
// enough, but the eighth takes two thirds off the wait.
func ExampleNew() {
	for _, people := range []int{7, 8, 10} {
		q, err := queueing.New(0.1, 1.0/60, people)
		if err != nil {
			fmt.Println(people, err)
			continue
		}
		fmt.Printf("%d people: %.0f %% busy, a wait of %.1f s, more than a minute for %.1f %%\n",
			people, 100*q.Utilisation(), q.MeanWait(), 100*q.WaitTail(60))
	}
	// Output:
	// 7 people: 86 % busy, a wait of 36.8 s, more than a minute for 22.6 %
	// 8 people: 75 % busy, a wait of 10.7 s, more than a minute for 4.8 %
	// 10 people: 60 % busy, a wait of 1.5 s, more than a minute for 0.2 %
}

// The least number of people with whom a task waits 5 s on average at most.
func ExampleLeastFor() {
	fmt.Println(queueing.LeastFor(0.1, 1.0/60, 5))
	// Output:
	// 9 <nil>
}
