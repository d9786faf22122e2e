package app

// App is the running server without its edges: the use cases, each with what it
// owns. Make it with Open.
type App struct {
	Batches     *Batches
	Work        *Work
	Accounts    *Accounts
	Tenants     *Tenants
	Invitations *Invitations
	Tests       *Tests
	Duty        *Duty
	Transfers   *Transfers
	Outbox      *Outbox
	Pools       *Pools
	Control     *Control
	Runs        *Runs

	service *service
}

// Batches is the work of requesters: drafts, uploads, launches, and what comes out of them.
type Batches struct{ *service }

// Work is a worker's cycle: the next task, the answer, giving it back.
type Work struct{ *service }

// Accounts is who may sign in, with what.
type Accounts struct{ *service }

// Tenants is the tenants with their money and their secrets.
type Tenants struct{ *service }

// Invitations invites people by mail or by a link.
type Invitations struct{ *service }

// Tests is the qualification tests and the tries at them.
type Tests struct{ *service }

// Duty is what a worker on call sees and sets.
type Duty struct{ *service }

// Transfers moves people between pools.
type Transfers struct{ *service }

// Outbox sends messages to people.
type Outbox struct{ *service }

// Pools is the pools with their settings and what is seen of them.
type Pools struct{ *service }

// Control sizes the pools, step by step.
type Control struct{ *service }

// Runs is the runs of workflows.
type Runs struct{ *service }

func newApp(s *service) *App {
	return &App{
		Batches: &Batches{s}, Work: &Work{s}, Accounts: &Accounts{s}, Tenants: &Tenants{s}, Invitations: &Invitations{s}, Tests: &Tests{s},
		Duty: &Duty{s}, Transfers: &Transfers{s}, Outbox: &Outbox{s}, Pools: &Pools{s}, Control: &Control{s}, Runs: &Runs{s}, service: s,
	}
}
