package orchestration

// what happens.
type what uint8

const (
	begin   what = iota // of process number
	arrive              // of step number's request at a proxy that takes time
	reply               // to it
	iterate             // of the loop of service number
	decided             // its priorities are ready
)

// A thing is what is to happen.
type thing struct {
	what   what
	number int
	p      *process
	ranked []request
}
