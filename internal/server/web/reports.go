package web

import (
	"cmp"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/work"
)

// report gives a task back because something is wrong with it.
func (rq *request) report() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	text := rq.r.PostForm.Get("text")
	duty, err := rq.App.Duty.Get(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	_, err = rq.App.Work.Report(rq.ctx(), rq.p, id, text, duty.Leaves == "", 0)
	switch code := crowd.CodeOf(err); {
	case code == crowd.Invalid:
		current, lost := rq.App.Work.Current(rq.ctx(), rq.p)
		if lost != nil {
			return lost
		}
		if current != nil && current.Assignment == id {
			rq.made = text
			return rq.showWork(current, page{}, nil, crowd.Errorf(crowd.Invalid, "your report was not taken: %s", err))
		}
		return err
	case isGone(err):
		return rq.seeOther("/work", "gone")
	case err != nil && code != crowd.OffDuty:
		return err
	}
	next, err := rq.afterTask(duty)
	if err != nil {
		return err
	}
	return rq.seeOther(next, "reported")
}

// ownReports lists what the worker last said is wrong with tasks, with the answers.
func (rq *request) ownReports() error {
	list, err := rq.App.Work.OwnReports(rq.ctx(), rq.p, reportsShown)
	if err != nil {
		return err
	}
	return rq.render("ownreports", page{Title: "Your reports", Section: "reported", Data: list})
}

// reports lists what workers said is wrong with a batch's tasks.
func (rq *request) reports(id crowd.BatchID) error {
	n, err := strconv.ParseUint(cmp.Or(rq.r.URL.Query().Get("after"), "0"), 10, 32)
	if err != nil {
		return crowd.Fieldf("after", "%q is not a number of an assignment", rq.r.URL.Query().Get("after"))
	}
	b, list, more, err := rq.App.Work.Reports(rq.ctx(), rq.p, id, id.Assignment(uint32(n)), reportsShown)
	if err != nil {
		return err
	}
	var next uint32
	if more {
		next = list[len(list)-1].Assignment.N()
	}
	return rq.render("reports", page{Title: "Reported problems", Section: "batches", Data: map[string]any{"B": b, "Tasks": byTask(list), "Next": next, "First": n == 0}})
}

// reportsShown is how many reports a page lists.
const reportsShown = 100

// reportedTask is a task with the reports about it.
type reportedTask struct {
	Task    crowd.TaskID
	Reports []work.Report
}

// byTask puts the reports of a task together, where the first one of it stands.
func byTask(list []work.Report) (tasks []reportedTask) {
	at := make(map[crowd.TaskID]int)
	for _, r := range list {
		i, known := at[r.Task]
		if !known {
			i = len(tasks)
			at[r.Task] = i
			tasks = append(tasks, reportedTask{Task: r.Task})
		}
		tasks[i].Reports = append(tasks[i].Reports, r)
	}
	return tasks
}

// reply answers the reports of a task.
func (rq *request) reply(id crowd.BatchID) error {
	f := rq.sent()
	task, err := crowd.ParseTaskID(f.text("task"))
	if err != nil || task.Batch() != id {
		return crowd.Fieldf("task", "%q is not a task of this batch", f.text("task"))
	}
	return rq.done(rq.App.Work.Reply(rq.ctx(), rq.p, task, f.text("text")), "/batches/"+id.String()+"/reports", "replied")
}
