package orchestration

// An eventKind is what happens.
type eventKind uint8

const (
	begin   eventKind = iota // of process number
	arrive                   // of step number's request at a proxy that takes time
	reply                    // to it
	iterate                  // of the loop of service number
	decided                  // its priorities are ready
)

// An event is what is to happen.
type event struct {
	kind   eventKind
	number int
	p      *process
	ranked []request
}
