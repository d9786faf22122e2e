package crowd_test

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
)

// Ids carry what they belong to, and read back from their text.
func ExampleParseTaskID() {
	task := crowd.BatchID(7).Task(3)
	fmt.Println(task, "of", task.Batch())

	again, err := crowd.ParseTaskID("t7.3")
	fmt.Println(again == task, err)
	// Output:
	// t7.3 of b7
	// true <nil>
}

// Money is a whole number of millionths, so sums are exact.
func ExampleParseMoney() {
	reward, err := crowd.ParseMoney("0.05")
	if err != nil {
		fmt.Println(err)
		return
	}
	total, fits := reward.Times(1_000_000)
	fmt.Println(total, fits)
	_, err = crowd.ParseMoney("5 cents")
	fmt.Println(crowd.CodeOf(err))
	// Output:
	// 50000.00 true
	// invalid
}
