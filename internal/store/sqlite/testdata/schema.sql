CREATE TABLE accounts (
    account     integer primary key,
    balance     bigint not null,
    last_entry  bigint not null,
    last_answer bigint not null -- of a worker: his last answered assignment
);
CREATE VIEW annotations as
    select a.id, a.task, a.worker, case when n.id is null then a.state else 'submitted' end as state,
        a.assigned_at, a.expires_at, coalesce(n.answered_at, a.ended_at) as ended_at, n.id is not null as answered,
        coalesce(n.late, false) as late, coalesce(n.counted and n.disregarded_at = 0, false) as counted, coalesce(n.paid, 0) as paid,
        coalesce(n.answer_key, '') as answer_key, coalesce(n.body, '') as body, coalesce(n.disregarded_at, 0) as disregarded_at,
        coalesce(n.revised_at, 0) as revised_at, coalesce(n.revised, 0) as revised
    from assignments a left join answers n on n.id = a.id;
CREATE TABLE answers (
    id          integer primary key, -- of the assignment
    answered_at bigint not null,
    late        boolean not null,
    counted     boolean not null,
    paid        bigint not null,
    prev_answer bigint not null, -- the same worker's answer before this one
    answer_key  text not null,
    body        text not null
, disregarded_at bigint not null default 0, revised_at bigint not null default 0, revised bigint not null default 0);
CREATE TABLE asked_addresses (
    user_id    bigint not null primary key references users (id),
    address    text not null,
    hash       text not null, -- of the secret in the last link that was sent; '': none was
    asked_at   bigint not null,
    expires_at bigint not null
);
CREATE INDEX asked_addresses_by_end on asked_addresses (expires_at);
CREATE TABLE assignments (
    id          integer primary key,
    task        bigint not null,
    worker      bigint not null,
    state       text not null, -- until it is answered
    assigned_at bigint not null,
    expires_at  bigint not null,
    ended_at    bigint not null default 0
);
CREATE TABLE audit (
    number    integer primary key,
    at        bigint not null,
    tenant    bigint not null, -- whose the thing is; 0: the installation's
    actor     bigint not null, -- 0: the server itself
    token     bigint not null, -- of a program, or 0
    operation text not null,
    kind      text not null,
    object    text not null,
    address   text not null,
    before    text not null, -- JSON of what differs
    after     text not null,
    salt      text not null,
    previous  text not null,
    hash      text not null
, address_salt   text not null default '', address_digest text not null default '', change_digest  text not null default '');
CREATE INDEX audit_by_actor on audit (actor, number);
CREATE INDEX audit_by_object on audit (object, kind, number);
CREATE INDEX audit_by_tenant on audit (tenant, number);
CREATE TABLE batches (
    id             integer primary key,
    tenant         bigint not null references tenants (id),
    pool           bigint not null references pools (id),
    name           text not null,
    tasks          bigint not null,
    directed       boolean not null,
    created_by     bigint not null,
    created_at     bigint not null,
    rule           text not null,
    reward         bigint not null,
    budget         bigint not null,
    production     boolean not null,
    lease_ns       bigint not null,
    task_time_ns   bigint not null,
    ends_at        bigint not null,
    small_crowd_ok boolean not null,
    requirements   text not null,
    headers        text not null, -- the file's columns
    template       text not null
, training boolean not null default false, run bigint not null default 0, node bigint not null default 0, open boolean not null default false, sla text not null default '', enough text not null default '', per_worker bigint not null default 0, not_by text not null default '', tells_who boolean not null default false, answers_deleted_at bigint not null default 0, files_deleted_at bigint not null default 0, grace_ns bigint not null default 0, checks text not null default '', quality text not null default '', review text not null default '', review_of bigint not null default 0, approval text not null default '', pay_paid bigint not null default 0, pay_returned bigint not null default 0, revise_ns bigint not null default 0);
CREATE UNIQUE INDEX batches_by_review on batches (review_of) where review_of <> 0;
CREATE INDEX batches_by_tenant on batches (tenant, id);
CREATE TABLE call_notices (
    call        bigint not null references calls (id),
    worker      bigint not null references users (id),
    state       text not null,
    asked_at    bigint not null,
    answered_at bigint not null,
    primary key (call, worker)
);
CREATE INDEX call_notices_by_worker on call_notices (worker, asked_at, call);
CREATE TABLE calls (
    id        integer primary key,
    pool      bigint not null references pools (id),
    called_at bigint not null,
    ends_at   bigint not null,
    wanted    bigint not null,
    came      bigint not null,
    state     text not null,
    ended_at  bigint not null
);
CREATE INDEX calls_open on calls (id) where state = 'open';
CREATE TABLE corrections (
    task         bigint  not null,
    number       bigint  not null, -- among those of the task, from 1
    corrected_at bigint  not null,
    corrected_by bigint  not null,
    value        text    not null, -- the label
    withdrawn    boolean not null, -- no correction holds from then on
    body         text    not null, -- the note
    superseded   boolean not null, review bigint not null default 0, -- there is a later one
    primary key (task, number)
);
CREATE INDEX corrections_by_person on corrections (corrected_by);
CREATE TABLE counters (
    name text primary key,
    last bigint not null
);
CREATE TABLE daily_usage (
    tenant bigint not null, -- 0: of all who are of none
    quota  text   not null,
    day    bigint not null, -- since 1970
    used   bigint not null,
    primary key (tenant, quota)
);
CREATE TABLE deletions (
    kind     text   not null,
    tenant   bigint not null references tenants (id),
    batch    bigint not null, -- 0: of a run, or of none of both
    run      bigint not null,
    state    text   not null,
    begun_at bigint not null,
    last     bigint not null, -- id of the last row that was dealt with
    until    bigint not null, -- id of the last one that is to be
    gone_at  bigint not null, -- when the rows were gone; 0: they are not
    primary key (kind, tenant, batch, run)
);
CREATE INDEX deletions_open on deletions (state, begun_at) where state <> 'done';
CREATE TABLE duties (
    pool       bigint not null references pools (id),
    worker     bigint not null references users (id),
    is_on      boolean not null,
    changed_at bigint not null,
    since      bigint not null,
    why        text not null,
    training   bigint not null,
    primary key (pool, worker)
);
CREATE TABLE erasures (
    person    integer primary key references users (id),
    asked_by  bigint not null,
    asked_at  bigint not null,
    free_text text not null, -- what becomes of what they wrote
    but       text not null, -- those texts of which the other holds, a list in JSON
    state     text not null,
    done_at   bigint not null
);
CREATE TABLE factors (
    id           integer primary key,
    user_id      bigint not null references users (id),
    kind         text   not null,
    name         text   not null,
    secret       text   not null, -- sealed
    sealed_with  text   not null, -- '': it lies in the clear
    counter      bigint not null, -- of what was used last: a step of time, or what a passkey counts
    created_at   bigint not null,
    confirmed_at bigint not null, -- 0: not yet
    used_at      bigint not null  -- 0: never
, credential text not null default '');
CREATE UNIQUE INDEX factors_by_credential on factors (credential) where credential <> '';
CREATE INDEX factors_by_user on factors (user_id);
CREATE TABLE held_pay ( -- of an answer that counts, in a batch whose pay is approved
    id        bigint not null primary key, -- of the assignment
    worker    bigint not null,
    tenant    bigint not null,
    amount    bigint not null,
    state     text   not null,
    held_at   bigint not null,
    due_at    bigint not null, -- when it is decided by itself; 0: it is paid, or has gone back
    closed_at bigint not null, -- when it was
    closed_by bigint not null  -- 0: by itself
);
CREATE INDEX held_pay_by_state on held_pay (state, id);
CREATE INDEX held_pay_by_worker on held_pay (worker, id);
CREATE INDEX held_pay_due on held_pay (due_at, id) where due_at <> 0;
CREATE INDEX held_pay_open on held_pay (worker, state) where due_at <> 0;
CREATE TABLE identities (
    issuer     text not null,
    subject    text not null, -- who they are there
    user_id    bigint not null references users (id),
    created_at bigint not null, external_id text not null default '',
    primary key (issuer, subject)
);
CREATE INDEX identities_by_external_id on identities (issuer, external_id) where external_id <> '';
CREATE INDEX identities_by_user on identities (user_id);
CREATE TABLE invitations (
    id          integer primary key,
    tenant      bigint not null, -- 0: an admin's
    pool        bigint not null references pools (id),
    test        bigint not null, -- 0: none
    address     text not null,
    address_key text not null, -- lower case
    note        text not null,
    invited_by  bigint not null references users (id),
    created_at  bigint not null,
    expires_at  bigint not null,
    state       text not null,
    opened_at   bigint not null,
    answered_at bigint not null,
    worker      bigint not null -- who accepted, else 0
);
CREATE INDEX invitations_by_address on invitations (address_key, id);
CREATE INDEX invitations_by_tenant on invitations (tenant, id);
CREATE INDEX invitations_by_worker on invitations (worker, id) where worker <> 0;
CREATE INDEX invitations_open on invitations (tenant, id) where state = 'open';
CREATE TABLE labels (
    task        integer primary key,
    labelled_at bigint not null,
    value       text not null,
    confidence  double precision not null,
    answers     bigint not null,
    tie         boolean not null,
    undecided   boolean not null
);
CREATE TABLE ledger (
    id          integer primary key,
    entered_at  bigint not null,
    kind        text not null,
    source      bigint not null,
    target      bigint not null,
    amount      bigint not null,
    assignment  bigint not null, -- of a reward, else 0
    source_prev bigint not null, -- the source account's entry before this one
    target_prev bigint not null,
    note        text not null default ''
, author bigint not null default 0);
CREATE TABLE messages (
    id         integer primary key,
    worker     bigint not null references users (id),
    channel    text not null,
    target     text not null,
    subject    text not null,
    body       text not null,
    link       text not null,
    call       bigint not null, -- 0: none
    state      text not null,
    created_at bigint not null,
    useless_at bigint not null,
    next_at    bigint not null,
    sent_at    bigint not null,
    tries      bigint not null,
    error      text not null,
    turn_at    bigint not null -- of a queued one next_at; of others when they were sent or failed
, invitation bigint not null default 0, asks boolean not null default false);
CREATE INDEX messages_by_call on messages (call, id);
CREATE INDEX messages_by_invitation on messages (invitation, id) where invitation <> 0;
CREATE INDEX messages_by_turn on messages (state, turn_at, id);
CREATE TABLE past_rewards (
    batch  bigint not null references batches (id),
    last   bigint not null, -- the last assignment that pays it
    reward bigint not null,
    primary key (batch, last)
);
CREATE TABLE pay_texts ( -- what was said about held pay
    assignment bigint not null,
    kind       text   not null, -- refusal, appeal or decision
    author     bigint not null,
    said_at    bigint not null,
    body       text   not null,
    primary key (assignment, kind)
);
CREATE INDEX pay_texts_by_author on pay_texts (author);
CREATE TABLE pool_actions (
    id       integer primary key,
    pool     bigint not null references pools (id),
    acted_at bigint not null,
    acted_by bigint not null, -- 0: a controller
    kind     text not null,
    people   bigint not null,
    worker   bigint not null, -- of a transfer, else 0
    to_pool  bigint not null, -- of a transfer, else 0
    advice   boolean not null,
    why      text not null,
    saw      text not null,
    failed   text not null
);
CREATE INDEX pool_actions_by_pool on pool_actions (pool, id);
CREATE INDEX pool_actions_by_receiver on pool_actions (to_pool, id) where to_pool <> 0;
CREATE TABLE pool_samples (
    pool     bigint not null references pools (id),
    taken_at bigint not null,
    metrics  text not null,
    funds    bigint not null,
    waiting  bigint not null,
    primary key (pool, taken_at)
);
CREATE TABLE pool_states (
    pool    integer primary key references pools (id),
    kept_at bigint not null,
    state   text not null -- JSON of package pool
);
CREATE TABLE pools (
    id         integer primary key,
    name       text not null unique,
    policy     text not null,
    stopped    boolean not null,
    created_at bigint not null
, retainer text not null default '', control text not null default '', calling text not null default '', gate boolean not null default false, gate_open boolean not null default false, grants text not null default '');
CREATE TABLE progress (
    batch         integer primary key references batches (id),
    state         text not null,
    stopped       boolean not null,
    priority      double precision not null,
    deadline      bigint not null,
    fresh         bigint not null,
    issued        bigint not null,
    oldest_open   bigint not null,
    planned       bigint not null,
    completed     bigint not null,
    labelled      bigint not null,
    escrow        bigint not null,
    spent         bigint not null,
    worked_ns     bigint not null,
    launched_at   bigint not null,
    ended_at      bigint not null,
    first_started bigint not null
, tasks bigint not null default 0, open boolean not null default false, released bigint not null default 0, removed bigint not null default 0, certainty double precision not null default 0, had_enough boolean not null default false, taken_over bigint not null default 0, taken_certainty double precision not null default 0, known bigint not null default 0, total bigint not null default 0, waits_from bigint not null default 0);
CREATE TABLE provisional_answers ( -- until they count, or are taken back
    id          integer primary key, -- of the assignment, which is provisional
    answered_at bigint not null,
    answer_key  text not null,
    body        text not null
, send_back text not null default '');
CREATE TABLE provisioned_groups (
    id          integer primary key,
    provider    text   not null,
    external_id text   not null, -- what it is there; '': not said
    name        text   not null,
    name_key    text   not null,
    created_at  bigint not null,
    changed_at  bigint not null
);
CREATE UNIQUE INDEX provisioned_groups_by_external_id on provisioned_groups (provider, external_id) where external_id <> '';
CREATE UNIQUE INDEX provisioned_groups_by_name on provisioned_groups (provider, name_key);
CREATE TABLE provisioned_members (
    group_id bigint not null references provisioned_groups (id),
    member   bigint not null references provisioned_users (id),
    primary key (group_id, member)
);
CREATE INDEX provisioned_members_by_member on provisioned_members (member);
CREATE TABLE provisioned_users (
    id          integer primary key,
    provider    text   not null,
    user_id     bigint not null references users (id),
    external_id text   not null, -- who they are there; '': not said
    user_name   text   not null,
    name_key    text   not null,
    profile     text   not null, -- names and addresses, as JSON
    created_at  bigint not null,
    changed_at  bigint not null,
    deleted_at  bigint not null  -- 0: not
);
CREATE UNIQUE INDEX provisioned_users_by_external_id on provisioned_users (provider, external_id) where deleted_at = 0 and external_id <> '';
CREATE UNIQUE INDEX provisioned_users_by_name on provisioned_users (provider, name_key) where deleted_at = 0;
CREATE INDEX provisioned_users_by_provider on provisioned_users (provider, id);
CREATE UNIQUE INDEX provisioned_users_by_user on provisioned_users (user_id, provider) where deleted_at = 0;
CREATE TABLE push_subscriptions (
    id         integer primary key,
    worker     bigint not null references users (id),
    endpoint   text not null unique,
    p256dh     text not null,
    auth       text not null,
    created_at bigint not null
);
CREATE INDEX push_subscriptions_by_worker on push_subscriptions (worker, id);
CREATE TABLE quality_actions (
    batch       bigint not null references batches (id),
    number      bigint not null, -- among those in the batch, from 1
    worker      bigint not null,
    acted_at    bigint not null,
    rule        bigint not null, -- from 1
    holds       text   not null, -- the rule's condition
    kind        text   not null,
    body        text   not null, -- of a warning
    figures     text   not null, -- that the condition was of
    seen_at     bigint not null default 0, -- by the worker
    undone_at   bigint not null default 0,
    undone_by   bigint not null default 0,
    counts_from bigint not null default 0, -- assignments of the worker from this number on count from then on
    acts_after  bigint not null default 0, lessons bigint not null default 0, weight bigint not null default 0, -- and actions after this number
    primary key (batch, number)
);
CREATE INDEX quality_actions_by_worker on quality_actions (worker);
CREATE TABLE quotas ( -- those that are not the default
    tenant bigint not null references tenants (id),
    quota  text   not null,
    value  bigint not null,
    primary key (tenant, quota)
);
CREATE TABLE recovery_codes (
    user_id bigint not null references users (id),
    hash    text   not null,
    primary key (user_id, hash)
);
CREATE TABLE removals (
    task       integer primary key,
    removed_at bigint not null
);
CREATE TABLE removed_services (
    name      text primary key,
    next_call bigint not null, -- as in services
    calls_end bigint not null
);
CREATE TABLE replies ( -- shown to whoever gets the task later
    task       integer primary key,
    replied_at bigint not null,
    body       text   not null
, by_reviewer boolean not null default false, author bigint not null default 0);
CREATE INDEX replies_by_author on replies (author) where author <> 0;
CREATE TABLE reports (
    assignment  integer primary key, -- which ended as reported
    task        bigint not null,
    worker      bigint not null,
    reported_at bigint not null,
    body        text   not null
);
CREATE INDEX reports_by_task on reports (task);
CREATE INDEX reports_by_worker on reports (worker);
CREATE TABLE requests (
    person       bigint not null references users (id),
    tenant       bigint not null, -- of their token; 0: any
    request_key  text not null,
    digest       text not null, -- of what was asked
    asked_at     bigint not null,
    status       bigint not null, -- of the answer; 0: it had an effect, and no answer yet
    withheld     text not null, -- why the answer is not kept
    content_type text not null,
    location     text not null,
    body         text not null, rights text not null default '',
    primary key (person, tenant, request_key)
);
CREATE INDEX requests_by_age on requests (asked_at);
CREATE TABLE retention ( -- what tenants have set
    tenant bigint not null references tenants (id),
    kind   text   not null,
    days   bigint not null, -- 0: for ever
    primary key (tenant, kind)
);
CREATE TABLE reviews (
    task       bigint not null primary key, -- whose label is reviewed
    review     bigint not null unique,      -- the task of the batch of reviews
    asked_at   bigint not null,
    why        bigint not null, -- a bit for each reason
    answers    text   not null, -- numbers of the assignments that the label was made of
    verdict    text   not null, -- '': nobody has reviewed it
    decided_at bigint not null,
    decided_by bigint not null
);
CREATE INDEX reviews_by_person on reviews (decided_by);
CREATE VIEW revised_answers as
    select v.id, v.number, v.given_at, v.answer_key, v.body
        from revisions v join answers n on n.id = v.id where v.number < n.revised
    union all
    select n.id, 0, n.answered_at, n.answer_key, n.body
        from answers n where n.revised > 0 and exists (select 1 from revisions v where v.id = n.id and v.number = n.revised);
CREATE TABLE revisions (
    id         bigint not null, -- of the assignment
    number     bigint not null, -- 0: it was the first answer; n: revision n
    given_at   bigint not null,
    answer_key text   not null,
    body       text   not null,
    primary key (id, number)
);
CREATE TABLE roles (
    tenant      bigint not null, -- whose it is; 0: the installation's
    name        text not null,
    text        text not null,
    permissions text not null, -- a list in JSON
    created_at  bigint not null,
    primary key (tenant, name)
);
CREATE TABLE run_faults ( -- items that a node holds with an error
    run     bigint not null references runs (id),
    item    bigint not null,
    node    bigint not null,
    n       bigint not null,
    held_at bigint not null,
    tries   bigint not null,
    error   text not null,
    primary key (run, item, node)
);
CREATE INDEX run_faults_by_node on run_faults (run, node, item);
CREATE TABLE run_feeds (
    run  bigint not null references runs (id),
    node bigint not null,
    name text not null,
    rows bigint not null,
    primary key (run, node, name)
);
CREATE TABLE run_nodes (
    run        bigint not null references runs (id),
    node       bigint not null,
    log        bigint not null, -- upper half of the ids of its rows
    name       text not null,
    state      text not null,
    error      text not null,
    headers    text not null, -- of an input: the file's columns
    batch      bigint not null, -- 0: none
    cursors    text not null,
    sealed     boolean not null,
    started_at bigint not null,
    ended_at   bigint not null,
    served     bigint not null,
    busy_ns    bigint not null,
    last       bigint not null, -- number of the last row in its log
    ok         bigint not null,
    skipped    bigint not null,
    failed     bigint not null,
    faults     bigint not null, text bigint not null default 0, open boolean not null default false,
    primary key (run, node)
);
CREATE TABLE run_rows (
    id      integer primary key,
    log     bigint not null,
    item    bigint not null,
    origin  bigint not null, -- 0: none
    born_at bigint not null,
    made_at bigint not null,
    state   text not null,
    body    text not null -- of an ok one its cells, of a failed one its error
, people text not null default '', class bigint not null default 0, source bigint not null default 0, correction bigint not null default 0);
CREATE UNIQUE INDEX run_rows_by_item on run_rows (log, item);
CREATE INDEX run_rows_by_source on run_rows (source, log) where source <> 0;
CREATE TABLE run_texts (
    run  integer primary key references runs (id),
    body text not null
);
CREATE TABLE runs (
    id         integer primary key,
    tenant     bigint not null references tenants (id),
    name       text not null,
    state      text not null,
    budget     bigint not null,
    deadline   bigint not null,
    parent     bigint not null, -- 0: none
    from_step  text not null,
    created_by bigint not null,
    created_at bigint not null,
    started_at bigint not null,
    ended_at   bigint not null,
    penalty    bigint not null,
    ended      bigint not null, -- items
    late       bigint not null, -- of those
    items      bigint not null -- the last item's number
, ask_again boolean not null default false, renew_ages boolean not null default false, classes text not null default '', answers_deleted_at bigint not null default 0, files_deleted_at bigint not null default 0, service_origins text not null default '', redo_labels bigint not null default 0, redo_due boolean not null default false, redo_error text not null default '');
CREATE INDEX runs_by_tenant on runs (tenant, id);
CREATE INDEX runs_open on runs (id) where state not in ('done', 'cancelled');
CREATE UNIQUE INDEX runs_redone on runs (parent) where redo_labels > 0 and state <> 'cancelled';
CREATE INDEX runs_to_redo on runs (id) where redo_due;
CREATE TABLE secrets ( -- of the installation
    name   text primary key,
    secret text not null
, sealed_with text not null default '');
CREATE TABLE sent_back (
    review  bigint  not null primary key, -- the task of the batch of reviews
    task    bigint  not null,             -- whose label it is
    worker  bigint  not null,             -- who sent it back
    sent_at bigint  not null,             -- when that came to count
    acts    boolean not null,             -- false: the label could not be sent back any more, and stays
    body    text    not null              -- the comment
);
CREATE INDEX sent_back_by_task on sent_back (task);
CREATE INDEX sent_back_by_worker on sent_back (worker);
CREATE TABLE services (
    name        text primary key,
    url         text not null,
    concurrency bigint not null,
    rate_calls  bigint not null, -- 0: no limit
    rate_per    bigint not null, -- nanoseconds
    all_tenants boolean not null,
    tenants     text not null, -- a list in JSON
    created_at  bigint not null,
    next_call   bigint not null, -- no call was begun that the rate allows only after it
    calls_end   bigint not null -- no call that was begun goes on after it
);
CREATE TABLE spent_challenges (
    hash       text   primary key,
    expires_at bigint not null
);
CREATE INDEX spent_challenges_by_expiry on spent_challenges (expires_at);
CREATE TABLE task_workers ( -- who may do a task of a directed batch
    task   bigint not null,
    worker bigint not null,
    primary key (task, worker)
);
CREATE TABLE tasks (
    id    integer primary key,
    gold  text not null,
    cells text not null -- by the batch's headers
, item bigint not null default 0, born_at bigint not null default 0, not_by text not null default '', bound_at bigint not null default 0, class bigint not null default 0, explain text not null default '');
CREATE TABLE tenant_secrets (
    tenant bigint not null references tenants (id),
    name   text not null,
    secret text not null, sealed_with text not null default '', hosts text not null default '[]',
    primary key (tenant, name)
);
CREATE TABLE tenants (
    id         integer primary key,
    name       text not null unique,
    weight     double precision not null,
    stopped    boolean not null,
    created_at bigint not null
, max_priority double precision not null default 1000000);
CREATE TABLE test_questions (
    test   bigint not null references tests (id),
    n      bigint not null,
    cells  text not null,
    gold   text not null,
    primary key (test, n)
);
CREATE TABLE test_tries (
    id           integer primary key,
    test         bigint not null references tests (id),
    worker       bigint not null references users (id),
    n            bigint not null,
    started_at   bigint not null,
    ends_at      bigint not null,
    submitted_at bigint not null,
    answers      text not null,
    correct      bigint not null,
    score        bigint not null,
    late         boolean not null,
    passed       boolean not null,
    unique (test, worker, n)
);
CREATE INDEX test_tries_by_test on test_tries (test, id);
CREATE TABLE tests (
    id         integer primary key,
    tenant     bigint not null, -- 0: of the installation
    name       text not null,
    template   text not null,
    columns    text not null,
    questions  bigint not null,
    draw       bigint not null,
    pass_mark  bigint not null,
    tries      bigint not null,
    wait       bigint not null,
    time_limit bigint not null, -- 0: none
    qualifies  text not null,
    is_open    boolean not null,
    retired    boolean not null,
    created_by bigint not null references users (id),
    created_at bigint not null,
    unique (tenant, name)
);
CREATE TABLE tokens (
    id         integer primary key,
    hash       text not null unique,
    kind       text not null,
    user_id    bigint not null references users (id),
    tenant     bigint not null, -- 0: any
    roles      text not null,
    name       text not null,
    created_at bigint not null,
    expires_at bigint not null
, networks text not null default '', used_at bigint not null default 0, address text not null default '', factor_elsewhere boolean not null default false, scopes text not null default '', provider text not null default '', made_by bigint not null default 0, made_with bigint not null default 0);
CREATE INDEX tokens_by_made_with on tokens (made_with) where made_with <> 0;
CREATE INDEX tokens_by_tenant on tokens (tenant, id) where tenant <> 0;
CREATE INDEX tokens_by_user on tokens (user_id, id);
CREATE TABLE usage ( -- what is counted along
    tenant bigint not null references tenants (id),
    quota  text   not null,
    used   bigint not null,
    primary key (tenant, quota)
);
CREATE TABLE user_blocks ( -- tenants who do not want the worker
    user_id bigint not null references users (id),
    tenant  bigint not null references tenants (id),
    primary key (user_id, tenant)
);
CREATE TABLE user_roles ( -- besides admins, who are marked so, and requesters
    user_id bigint not null references users (id),
    tenant  bigint not null, -- for which; 0: for the installation
    role    text not null,
    primary key (user_id, tenant, role)
);
CREATE INDEX user_roles_by_tenant on user_roles (tenant, user_id);
CREATE TABLE user_tenants ( -- requesters
    user_id bigint not null references users (id),
    tenant  bigint not null references tenants (id),
    primary key (user_id, tenant)
);
CREATE INDEX user_tenants_by_tenant on user_tenants (tenant, user_id);
CREATE TABLE users (
    id             integer primary key,
    name           text not null,
    name_key       text not null unique, -- lower case
    full_name      text not null,
    email          text not null,
    password_hash  text not null,
    admin          boolean not null,
    pool           bigint not null, -- 0: not a worker
    suspended      boolean not null,
    created_at     bigint not null,
    qualifications text not null
, prefers text not null default '', away boolean not null default false, no_mail boolean not null default false, moves_to bigint not null default 0, granted text not null default '', home bigint not null default 0, moved_at bigint not null default 0, serves text not null default '', suspended_by text not null default '', erased_at bigint not null default 0, email_verified boolean not null default false, email_by text not null default '', ended_at bigint not null default 0);
CREATE INDEX users_by_email on users (lower(email)) where email <> '';
CREATE INDEX users_by_pool on users (pool, id);
CREATE INDEX users_by_serves on users (serves, id) where serves <> '';
