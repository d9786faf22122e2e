// Package sla puts requests that wait before a limited resource into the order
// that keeps promises: first the one whose delay would cost the most, or soonest.
//
// A process (an insurance claim, an item on its way through a workflow) is
// promised to end by some age. What it costs to end later is its [Penalty], a
// function of the age at its end. The process is a few steps, some after each
// other, some side by side: a [Plan]. Each step asks a service for something, and
// a service may be a program or a pool of people; it answers so many requests
// at a time, and the others wait.
//
// Who is next? For each [Request] predict the end of its process twice: as if
// the reply came after the usual response time, and as if it took double that
// time. The difference of the two penalties is what a delay of this request
// would add, and the request with the greatest difference goes first, the
// longest wait first among equals. A process far from its limit has nothing to
// lose, and one whose constant penalty is already due has nothing left to lose:
// both let the others pass.
//
// That is the paper's order, listing 1. It sees a step only when it is one response
// time away. [ATC] looks further: the next step that each request can still escape,
// earlier by one response time for each factor of e that it costs more, and the
// least first (see [Step.Urgency]).
//
// The order changes as time goes by, though nothing happens. [Queue] keeps it in one
// of three forms. [ATC] and [Event], the latter for listing 1, know when each place
// changes next, since penalties are step functions, and touch only the requests
// that are due; [Loop] recomputes listing 1 every half response time, as the paper
// does. [Rank] is the paper's listing as it stands, with the requests that are only
// predicted, over the whole state of every [Process].
//
// Time is an argument everywhere; nothing here reads a clock. Instants are kept
// as nanoseconds, from the year 1678 to 2262; what lies beyond is taken for the
// nearer end. No value is safe for use by several goroutines while one changes it.
//
// Source: R. Khazankin, D. Schall, S. Dustdar, "Adaptive Request Prioritization
// in Dynamic Service-oriented Systems": equations 1 and 2 (penalties), listing 1
// (the order), listing 2 (its worked example). Of ATC see Step.Urgency.
package sla
