package engine_test

import "testing"

// TestReleaseWithAHandOut edits a batch so that its task goes to somebody who waits, while
// late answers to it are worth more than they are promised. They may give it back, so what
// the edit gives back must be the same as if nobody had waited.
func TestReleaseWithAHandOut(t *testing.T) {
	t.Parallel()
	seen := make(happenings)
	must(t, run(162, []command{
		{"ready", 3136273923, 2811579011, 1320981864},
		{"ready", 677440795, 1883850784, 4054234211},
		{"launch", 1912719530, 392999419, 3671898099},
		{"ready", 15321969, 1386732448, 1123088886},
		{"submit", 3668393046, 1054319059, 2046310209},
		{"submit", 689227334, 3677849238, 167723161},
		{"submit", 146472127, 2622832818, 88712145},
		{"ready", 499700106, 2274221551, 4212417699},
		{"submit", 3803592811, 375983304, 1488949383},
		{"ready", 2231365203, 1574555775, 2663774134},
		{"ready", 4162187037, 801695482, 2058673098},
		{"top up", 145215000, 278935243, 1610269384},
		{"submit", 3821326145, 599157495, 2136571709},
		{"ready", 1204577652, 4134949261, 3425356244},
		{"ready", 3120560788, 1494008506, 3191135310},
		{"take out", 1209970089, 2905032789, 1525491409},
		{"tick", 1638621460, 1785422809, 1402660944},
		{"ready", 1994358969, 3697910187, 3097508512},
		{"ready", 3949740183, 2968994971, 1709263300},
		{"revise", 3731146356, 302042342, 2166767237},
	}, seen))
	if seen["released by an edit"] == 0 || seen["most: but for what may be given back"] == 0 {
		t.Errorf("nothing was given back while somebody held the task: %v", seen)
	}
}
