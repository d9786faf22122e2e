package label_test

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Two of three must agree: the task starts with two assignments, and gets a
// third where they differ.
func ExampleRule_Decide() {
	rule, task := label.Agree(2, 3), crowd.BatchID(17).Task(5)
	for _, answers := range [][]string{{}, {"cat"}, {"cat", "dog"}, {"cat", "dog", "cat"}} {
		d := rule.Decide(task, answers, 0)
		fmt.Printf("%d answers: want %d, enough %v, label %q with %.2f\n", len(answers), d.Want, d.Enough, d.Label, d.Confidence)
	}
	// Output:
	// 0 answers: want 2, enough false, label "" with 0.00
	// 1 answers: want 2, enough false, label "cat" with 1.00
	// 2 answers: want 3, enough false, label "dog" with 0.50
	// 3 answers: want 3, enough true, label "cat" with 0.67
}

// Eve says yes to everything. The vote is 2 to 1 on t2 as on t3, but on t3 one
// of the two is Eve, and Dawid-Skene sees that her yes tells little.
func ExampleDawidSkene() {
	var b label.Builder
	for _, a := range []label.Answer{
		{Task: "t1", Worker: "ann", Label: "yes"}, {Task: "t1", Worker: "bob", Label: "yes"}, {Task: "t1", Worker: "eve", Label: "yes"},
		{Task: "t2", Worker: "ann", Label: "no"}, {Task: "t2", Worker: "bob", Label: "no"}, {Task: "t2", Worker: "eve", Label: "yes"},
		{Task: "t3", Worker: "ann", Label: "yes"}, {Task: "t3", Worker: "bob", Label: "no"}, {Task: "t3", Worker: "eve", Label: "yes"},
		{Task: "t4", Worker: "ann", Label: "no"}, {Task: "t4", Worker: "bob", Label: "no"}, {Task: "t4", Worker: "eve", Label: "yes"},
	} {
		b.Add(a)
	}
	vote, err := label.Majority{}.Fit(b.Build(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := label.DefaultDawidSkene().Fit(b.Build(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, task := range result.Data.Tasks() {
		fmt.Printf("%s %-3s %.2f, by the vote %.2f\n", task, result.Label(i), result.Confidence(i), vote.Confidence(i))
	}
	for j, worker := range result.Data.Workers() {
		score, _ := result.Model.SpammerScore(j)
		fmt.Printf("%s: accuracy %.2f, spammer score %.2f\n", worker, result.Model.Accuracy(j), score)
	}
	// Output:
	// t1 yes 0.93, by the vote 1.00
	// t2 no  0.86, by the vote 0.67
	// t3 yes 0.62, by the vote 0.67
	// t4 no  0.86, by the vote 0.67
	// ann: accuracy 0.76, spammer score 0.27
	// bob: accuracy 0.73, spammer score 0.20
	// eve: accuracy 0.58, spammer score 0.03
}
