package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/runs"
)

// action is what a button does to a batch or a run, or to a step of a run. One with
// a consequence is asked about first.
type action[ID any] struct {
	Do, Did, Verb, Question, Consequence string
	Step                                 bool   // may be for one step
	Place                                string // what Step names; "": a step
	run                                  doing[ID]
}

// doing carries out an action; step is "" for the whole.
type doing[ID any] func(rq *request, id ID, step string) error

// onAll makes an action of a method of a use case.
func onAll[U, ID, V any](of func(*request) U, move func(U, context.Context, *access.Principal, ID) (V, error)) doing[ID] {
	return func(rq *request, id ID, _ string) error {
		_, err := move(of(rq), rq.ctx(), rq.p, id)
		return err
	}
}

func allBatches(rq *request) *batches.Batches { return rq.App.Batches }
func allRuns(rq *request) *runs.Runs          { return rq.App.Runs }

func stopBatch(stopped bool) doing[crowd.BatchID] {
	return func(rq *request, id crowd.BatchID, _ string) error {
		_, err := rq.App.Batches.Change(rq.ctx(), rq.p, id, func(x *batches.RunningSettings) error { x.Stopped = stopped; return nil })
		return err
	}
}

// batchActions are what the buttons of a batch do.
var batchActions = []action[crowd.BatchID]{
	{Do: "pause", Did: "paused", Verb: "Pause", run: onAll(allBatches, (*batches.Batches).Pause)},
	{Do: "resume", Did: "resumed", Verb: "Resume", run: onAll(allBatches, (*batches.Batches).Resume)},
	{
		Do: "end", Did: "ended", Verb: "End it now", Question: "End this batch early?", run: onAll(allBatches, (*batches.Batches).End),
		Consequence: "Tasks get the labels that the answers so far make. Nothing new is handed out, and what is left of the budget goes back to the account. Who holds a task is not paid for it any more: to let them finish, pause the batch first, and end it when nobody holds one. This cannot be undone.",
	},
	{
		Do: "cancel", Did: "cancelled", Verb: "Cancel it", Question: "Cancel this batch?", run: onAll(allBatches, (*batches.Batches).Cancel),
		Consequence: "It is given up. Of a draft, its tasks and its question are deleted. Answers that are in stay paid and can be downloaded; what is left of the budget goes back to the account. This cannot be undone.",
	},
	{
		Do: "stop", Did: "stopped", Verb: "Stop at once", Question: "Emergency stop?", run: stopBatch(true),
		Consequence: "Nothing of this batch is handed out until the stop is lifted. What is held may still be submitted.",
	},
	{Do: "lift", Did: "restarted", Verb: "Lift the stop", run: stopBatch(false)},
}

// runActions are what the buttons of a run do.
var runActions = []action[crowd.RunID]{
	{Do: "pause", Did: "paused", Verb: "Pause", run: onAll(allRuns, (*runs.Runs).Pause)},
	{Do: "resume", Did: "resumed", Verb: "Resume", run: onAll(allRuns, (*runs.Runs).Resume)},
	{
		Do: "cancel", Did: "cancelled", Verb: "Cancel it", Question: "Cancel this run?", run: onAll(allRuns, (*runs.Runs).Cancel),
		Consequence: "It is given up, and so are its crowd steps. Answers that are in stay paid, and what was made can be downloaded. A new run can go on from it. This cannot be undone.",
	},
	{
		Do: "end", Did: "stepended", Verb: "End it early", Question: "End this step early?", Step: true,
		Consequence: "Its people get no more tasks. Items that have a label go on with it; the others that are in the step go on as failed, and so does what comes to it later. Who holds a task is not paid for it any more: to let them finish, pause the step's batch first, and end the step when nobody holds one. This cannot be undone.",
		run: func(rq *request, id crowd.RunID, step string) error {
			_, err := rq.App.Runs.EndStep(rq.ctx(), rq.p, id, step)
			return err
		},
	},
	{
		Do: "seal", Did: "sealed", Verb: "Seal it", Question: "Seal this input?", Step: true, Place: "Input",
		Consequence: "No more rows can be added to it. Steps that wait for all of its rows go on, and the run ends when all is done. This cannot be undone.",
		run: func(rq *request, id crowd.RunID, step string) error {
			_, err := rq.App.Runs.SealInputs(rq.ctx(), rq.p, id, step)
			return err
		},
	},
	{
		Do: "redo", Did: "redone", Verb: "Do it anew", Question: "Do this run anew with the corrected labels?", run: onAll(allRuns, (*runs.Runs).Redo),
		Consequence: "Another run of the same workflow and the same inputs begins, in which the corrected labels stand in place of those that were given. For what rests on them people are asked, and paid, again; everything else is taken over. This run stays as it is.",
	},
	{Do: "retry", Did: "retried", Verb: "Try again", Step: true, run: func(rq *request, id crowd.RunID, step string) error {
		_, _, err := rq.App.Runs.Retry(rq.ctx(), rq.p, id, step)
		return err
	}},
	{
		Do: "skip", Did: "givenup", Verb: "Give them up", Question: "Give up the held items?", Step: true,
		Consequence: "The items that are held after an error go on as failed: the steps that follow do nothing with them. This cannot be undone.",
		run: func(rq *request, id crowd.RunID, step string) error {
			_, err := rq.App.Runs.Skip(rq.ctx(), rq.p, id, step)
			return err
		},
	},
}

func findAction[ID any](actions []action[ID], do, step string) (action[ID], error) {
	i := slices.IndexFunc(actions, func(a action[ID]) bool { return a.Do == do })
	if i < 0 || step != "" && !actions[i].Step {
		return action[ID]{}, crowd.Errorf(crowd.NotFound, "%q is nothing that can be done", do)
	}
	return actions[i], nil
}

// act does what a button says on the page home/ID.
func act[ID fmt.Stringer](home string, actions []action[ID]) of[ID] {
	return func(rq *request, id ID) error {
		f := rq.sent()
		a, err := findAction(actions, f.text("do"), f.text("step"))
		if err == nil {
			err = a.run(rq, id, f.text("step"))
		}
		return rq.done(err, home+id.String(), a.Did)
	}
}

// subject is what an action is about, as the page that asks shows it.
type subject struct{ Section, Name, State string }

// confirm asks before something that cannot be undone.
func confirm[ID fmt.Stringer](home string, actions []action[ID], about func(rq *request, id ID, step string) (subject, error)) of[ID] {
	return func(rq *request, id ID) error {
		step := rq.r.URL.Query().Get("step")
		a, err := findAction(actions, rq.r.URL.Query().Get("do"), step)
		if err != nil {
			return err
		}
		x, err := about(rq, id, step)
		if err != nil {
			return err
		}
		question, back := cmp.Or(a.Question, a.Verb+"?"), home+id.String()
		return rq.render("ask", page{Title: question, Section: x.Section, Data: map[string]any{
			"Question": question, "About": x.Name, "State": x.State, "Place": cmp.Or(a.Place, "Step"), "Step": step, "Consequence": a.Consequence, "Verb": a.Verb, "Danger": a.Consequence != "",
			"To": back + "/do", "Back": back, "Hidden": url.Values{"do": {a.Do}, "step": {step}},
		}})
	}
}

func aboutBatch(rq *request, id crowd.BatchID, _ string) (subject, error) {
	b, err := rq.App.Batches.Get(rq.ctx(), rq.p, id)
	return subject{"batches", b.Name, string(b.Progress.State)}, err
}

func aboutRun(rq *request, id crowd.RunID, step string) (subject, error) {
	v, err := rq.App.Runs.Get(rq.ctx(), rq.p, id)
	if err != nil {
		return subject{}, err
	}
	if step != "" && !slices.ContainsFunc(v.Nodes, func(n orchestrator.NodeView) bool { return n.Name == step }) {
		return subject{}, crowd.Errorf(crowd.NotFound, "%s has no step %q", id, step)
	}
	return subject{"runs", v.Name, string(v.State)}, nil
}

// actRun is act for runs, of which one button starts the run with its files, and one
// makes it again for others.
func (rq *request) actRun(id crowd.RunID) error {
	switch rq.r.PostForm.Get("do") {
	case "start":
		return rq.startRun(id, rq.r.PostForm.Get("small_crowd") != "", "")
	case "again":
		made, err := rq.App.Runs.MakeAgain(rq.ctx(), rq.p, id)
		return rq.done(err, "/runs/"+made.Run.ID.String(), "remade")
	}
	return act("/runs/", runActions)(rq, id)
}
