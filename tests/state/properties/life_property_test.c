// Random lives of nodes and of jobs with versions and children: after each command what is published is what the one
// before it and the command make of it, by the plain words of the rules; and the log, and a snapshot with the rest of
// the log, lead to the same end.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 8, STEPS = 700, NODES = 3, JOBS = 4, ALLOCATIONS = 30 };

struct life {
	struct controller c;
	struct prng prng;
	struct node_registration nodes[NODES];
	uint64_t sequence;
	uint32_t placed; // allocations so far
};

// "web" may go on for a while without its controller, "db" may not; the others make jobs.
static const char *const jobs[JOBS] = {"web", "db", "cron", "work"};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

struct node_seen {
	int status;
	bool drains, eligible, is_there;
	int64_t drain_started_ns;
	uint64_t missed, reported;
	bool is_awaited; // it registered while initializing, and no heartbeat came since
	bool has_living, may_be_away;
};

struct alloc_seen {
	struct node_seen *node;
	int64_t now_ns;
};

// As row B53 says it, from the records alone.
static bool see_allocation(const struct allocation *a, void *context)
{
	const struct alloc_seen *seen = context;
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	bool is_expired = false;

	if (allocation_is_terminal(a))
		return true;
	seen->node->has_living = true;
	for (uint32_t i = 0; a->details && i < a->details->states.count; i++) {
		const struct alloc_state *s = ARRAY_AT(&a->details->states, struct alloc_state, i);
		if (strcmp(s->value, "unknown") == 0)
			is_expired =
				a->client_status == ALLOC_UNKNOWN &&
				s->time_ns + group->max_client_disconnect_ns.value <= seen->now_ns;
	}
	seen->node->may_be_away |= group->max_client_disconnect_ns.set && !is_expired;
	return true;
}

static struct node_seen see_node(struct life *l, uint32_t node, int64_t now_ns)
{
	struct node_seen seen = {0};
	struct alloc_seen context = {&seen, now_ns};

	state_read_begin();
	const struct node *n = state_node_by_id(l->c.state, &l->nodes[node].node);
	seen.is_there = true;
	seen.status = n->status;
	seen.eligible = n->eligibility == NODE_ELIGIBLE;
	seen.drains = n->drain != NULL;
	seen.drain_started_ns = n->drain ? n->drain->started_at_ns : 0;
	seen.missed = n->missed_heartbeat_index;
	seen.is_awaited = n->status == NODE_INITIALIZING && !*node_status_description(n);
	seen.reported = state_node_report_index(l->c.state, n);
	state_node_allocations(l->c.state, n->slot, see_allocation, &context);
	state_read_end();
	return seen;
}

static void expect_silent(struct life *l, uint32_t node, const struct node_seen *before)
{
	struct node_seen after = see_node(l, node, 0);
	bool was_whole = before->status == NODE_READY || before->status == NODE_DISCONNECTED;

	if (before->status == NODE_DOWN)
		assert_int_equal(after.status, NODE_DOWN);
	else
		assert_int_equal(after.status,
			was_whole && before->may_be_away ? NODE_DISCONNECTED : NODE_DOWN);
}

static void expect_back(struct life *l, uint32_t node, const struct node_seen *before)
{
	struct node_seen after = see_node(l, node, 0);
	bool was_away = before->status == NODE_DISCONNECTED || before->status == NODE_INITIALIZING;
	bool is_settled = !before->has_living || before->reported > before->missed;

	assert_int_equal(after.status, was_away && !is_settled ? NODE_INITIALIZING : NODE_READY);
	if (after.status == NODE_READY)
		assert_int_equal(after.missed, 0);
}

static void change_node(struct life *l, uint32_t node)
{
	// The clock goes on a little with every command: never about as much as a limit.
	struct node_seen before =
		see_node(l, node, controller_now_ms(&l->c) * 1000000 + NS_PER_S / 2);
	struct node_registration *n = &l->nodes[node];
	struct command command;

	switch (below(l, 5)) {
	case 0:
	case 1:
		controller_node(&l->c, COMMAND_NODE_EXPIRED, n->slot, n->generation);
		expect_silent(l, node, &before);
		return;
	case 2:
		controller_node(&l->c, COMMAND_NODE_RETURNED, n->slot, n->generation);
		expect_back(l, node, &before);
		return;
	case 3:
		build_node(n, node + 1, ++l->sequence);
		command = (struct command){.type = COMMAND_NODE_REGISTER, .node_register = n};
		assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
		assert_int_equal(see_node(l, node, 0).status, before.status);
		return;
	default:
		command = (struct command){
			.type = COMMAND_NODE_EXPIRED, .node = {n->slot, n->generation, true}};
		assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
		if (before.status == NODE_DISCONNECTED)
			expect_silent(l, node, &before);
		else
			assert_int_equal(see_node(l, node, 0).status, before.status);
	}
}

static void change_drain(struct life *l, uint32_t node)
{
	struct node_seen before = see_node(l, node, 0);
	const struct node_pair meta = {.name = TEXT("who"), .value = TEXT("ann")};
	struct command_node_drain c = {.node = l->nodes[node].node,
		.end = (uint8_t)below(l, 4),
		.deadline_ns = (int64_t)below(l, 3) * NS_PER_S - NS_PER_S,
		.mark_eligible = below(l, 2),
		.meta = &meta,
		.meta_count = below(l, 2)};
	struct command command = {.type = COMMAND_NODE_DRAIN, .node_drain = &c};

	assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
	struct node_seen after = see_node(l, node, 0);
	assert_int_equal(after.status, before.status);
	assert_int_equal(after.drains, c.end == DRAIN_GOES_ON);
	bool asks = c.end == DRAIN_CANCELED && c.mark_eligible;
	assert_int_equal(after.eligible,
		c.end != DRAIN_GOES_ON && (asks || (before.eligible && !before.drains)));
	if (before.drains && after.drains)
		assert_int_equal(after.drain_started_ns, before.drain_started_ns);
}

static struct uuid an_eval(struct life *l, const char *job)
{
	struct command command = {
		.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = text_of(job)}};

	assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
	return command.job_evaluate.made.id;
}

static void place(struct life *l, uint32_t node)
{
	const char *job = jobs[below(l, 2)];
	struct node_seen seen = see_node(l, node, 0);

	if (l->placed == ALLOCATIONS || seen.status != NODE_READY || !seen.eligible || seen.drains)
		return;
	struct uuid eval = an_eval(l, job);
	assert_int_equal(place_one(&l->c, &eval, job, &l->nodes[node], ++l->placed), OUTCOME_DONE);
}

// On which of the nodes it is, NODES: it is to run no more.
static uint32_t node_of(struct life *l, uint32_t number)
{
	struct uuid id = placed_id(number);
	uint32_t node = 0;

	state_read_begin();
	const struct allocation *a = state_allocation(l->c.state, &id);
	while (a && node < NODES && !uuid_equal(&a->node_id, &l->nodes[node].node))
		node++;
	if (!a || allocation_is_terminal(a))
		node = NODES;
	state_read_end();
	return node;
}

static void expect_settled(struct life *l, uint32_t node, const struct node_seen *before)
{
	struct node_seen after = see_node(l, node, 0);

	if (before->status != NODE_INITIALIZING) {
		assert_int_equal(after.status, before->status);
		return;
	}
	bool is_settled = !after.has_living || after.reported > before->missed;
	assert_int_equal(
		after.status, is_settled && !before->is_awaited ? NODE_READY : NODE_INITIALIZING);
}

static void report_some(struct life *l)
{
	static const enum alloc_client statuses[] = {ALLOC_RUNNING, ALLOC_RUNNING, ALLOC_COMPLETE};
	uint32_t number = 1 + below(l, l->placed + 1);
	uint32_t node = node_of(l, number);

	if (node == NODES)
		return;
	struct node_seen before = see_node(l, node, 0);
	bool may = before.status == NODE_READY || before.status == NODE_INITIALIZING;
	assert_int_equal(report_one(&l->c, &l->nodes[node], number, statuses[below(l, 3)]),
		may ? OUTCOME_DONE : OUTCOME_NODE_NOT_ALLOWED);
	expect_settled(l, node, &before);
}

static void stop_some(struct life *l)
{
	uint32_t number = 1 + below(l, l->placed + 1);
	uint32_t node = node_of(l, number);
	struct uuid id = placed_id(number);

	if (node == NODES)
		return;
	state_read_begin();
	char *job = text_copy(text_of(state_allocation(l->c.state, &id)->job->id));
	state_read_end();
	struct node_seen before = see_node(l, node, 0);
	struct uuid eval = an_eval(l, job);
	assert_int_equal(stop_one(&l->c, &eval, job, number, STOP_NOT_NEEDED), OUTCOME_DONE);
	expect_settled(l, node, &before);
	free(job);
}

static void register_one(struct life *l, uint32_t which)
{
	struct job *job = build_scheduled_job(jobs[which], which < 2 ? JOB_SERVICE : JOB_BATCH);

	job->priority = 40 + below(l, 3);
	if (which == 0)
		ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
			(struct optional_i64){true, 30 * NS_PER_S};
	if (which == 2) {
		job->periodic = memory_take(sizeof *job->periodic);
		job->periodic->enabled = true;
	}
	if (which == 3)
		job->parameterized = memory_take(sizeof *job->parameterized);
	assert_int_equal(register_job(&l->c, job, NULL), OUTCOME_DONE);
}

static void change_version(struct life *l)
{
	static const struct text group = TEXT("g0");
	struct text id = text_of(jobs[below(l, 2)]);
	struct command_job_scale scale = {
		.id = id, .group = group, .count = {true, below(l, 4)}, .message = TEXT("so many")};
	struct command command = {.type = COMMAND_JOB_SCALE, .job_scale = &scale};

	state_read_begin();
	uint64_t newest = state_job(l->c.state, TEXT("default"), id)->version;
	state_read_end();
	uint64_t version = newest - (newest ? below(l, newest < 8 ? (uint32_t)newest + 1 : 8) : 0);
	uint32_t kind = below(l, 3);
	if (kind == 1) {
		command.type = COMMAND_JOB_STABLE;
		command.job_stable = (struct command_job_stable){
			.id = id, .version = version, .stable = below(l, 3) > 0};
	} else if (kind == 2) {
		command.type = COMMAND_JOB_REVERT;
		command.job_revert = (struct command_job_revert){.id = id, .version = version};
	}
	state_read_begin();
	bool is_kept = state_job_version(l->c.state, TEXT("default"), id, version) != NULL;
	state_read_end();
	enum command_outcome outcome = controller_run(&l->c, &command);
	if (kind == 0)
		assert_int_equal(outcome, OUTCOME_DONE);
	else if (kind == 2 && version == newest)
		assert_int_equal(outcome, OUTCOME_NOT_NOW);
	else
		assert_int_equal(outcome, is_kept ? OUTCOME_DONE : OUTCOME_UNKNOWN_VERSION);
	if (kind == 1 && is_kept) {
		state_read_begin();
		assert_int_equal(
			state_job_version(l->c.state, TEXT("default"), id, version)->stable,
			command.job_stable.stable);
		state_read_end();
	}
}

static void make_child(struct life *l)
{
	bool dispatch = below(l, 2);
	struct command_job_child c = {.parent = text_of(jobs[dispatch ? 3 : 2]),
		.dispatch = dispatch,
		.launch_ns = (1700000000 + (int64_t)below(l, 100)) * NS_PER_S,
		.unless_one_is_alive = below(l, 2)};
	struct command command = {.type = COMMAND_JOB_CHILD, .job_child = &c};
	enum command_outcome outcome = controller_run(&l->c, &command);

	assert_true(outcome == OUTCOME_DONE || outcome == OUTCOME_UNKNOWN_JOB ||
		    (outcome == OUTCOME_NOT_NOW && c.unless_one_is_alive) ||
		    outcome == OUTCOME_JOB_STOPPED);
	if (outcome == OUTCOME_DONE && c.made.count > 0 && below(l, 2))
		change_evaluation(&l->c, &c.made.id, EVAL_COMPLETE);
}

// A child of any parent, or a parent.
static void stop_child(struct life *l)
{
	uint32_t skip = below(l, 20);
	uint64_t cursor = 0;
	const struct job *job;
	char *id = NULL;

	state_read_begin();
	while ((job = state_next(l->c.state, STATE_JOBS, &cursor)))
		if ((job->parent_id || job->type == JOB_BATCH) && skip-- == 0) {
			id = text_copy(text_of(job->id));
			break;
		}
	state_read_end();
	if (id)
		controller_stop_job(&l->c, id, below(l, 2));
	free(id);
}

static void come_back(struct life *l)
{
	register_one(l, 2 + below(l, 2));
}

static void collect(struct life *l)
{
	struct command command = {.type = COMMAND_GC,
		.gc = {.jobs_before_ns = INT64_MAX,
			.evals_before_ns = INT64_MAX,
			.batch_evals_before_ns = INT64_MAX}};
	uint32_t done = 0;

	controller_push(&l->c, &command, &done);
	while (!done)
		applier_step(l->c.applier);
}

static void expect_children(struct life *l)
{
	for (uint32_t parent = 2; parent < JOBS; parent++) {
		int64_t counted[JOB_DEAD + 1] = {0};
		uint64_t cursor = 0;
		const struct job *job;
		state_read_begin();
		while ((job = state_next(l->c.state, STATE_JOBS, &cursor)))
			if (job->parent_id && strcmp(job->parent_id, jobs[parent]) == 0)
				counted[job->status]++;
		struct job_children children =
			state_job_children(l->c.state, TEXT("default"), text_of(jobs[parent]));
		bool is_there =
			state_job(l->c.state, TEXT("default"), text_of(jobs[parent])) != NULL;
		state_read_end();
		if (!is_there)
			continue;
		assert_int_equal(children.pending, counted[JOB_PENDING]);
		assert_int_equal(children.running, counted[JOB_RUNNING]);
		assert_true(children.dead >= counted[JOB_DEAD]);
	}
}

static void step(struct life *l)
{
	uint32_t node = below(l, NODES), what = below(l, 100);

	if (what < 22)
		change_node(l, node);
	else if (what < 34)
		change_drain(l, node);
	else if (what < 50)
		place(l, node);
	else if (what < 62)
		report_some(l);
	else if (what < 70)
		stop_some(l);
	else if (what < 80)
		change_version(l);
	else if (what < 90)
		make_child(l);
	else if (what < 94)
		stop_child(l);
	else if (what < 96)
		come_back(l);
	else if (what < 98)
		collect(l);
	else
		advance_ms(&l->c, below(l, 20) * 1000);
	expect_children(l);
}

static void begin(struct life *l, uint64_t seed)
{
	*l = (struct life){.sequence = CONTROLLER_WALL_MS + 1000000};
	prng_seed(&l->prng, seed);
	controller_init(&l->c, (struct state_limits){0});
	controller_open(&l->c);
	for (uint32_t i = 0; i < NODES; i++)
		controller_register(&l->c, i + 1, &l->nodes[i]);
	for (uint32_t i = 0; i < JOBS; i++)
		register_one(l, i);
}

static void expect_same(struct life *l, struct controller *again)
{
	struct bytes_writer a = controller_image(&l->c), b = controller_image(again);

	controller_verify(again);
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.data, b.data, a.size);
	bytes_writer_free(&a);
	bytes_writer_free(&b);
}

static void every_life_is_as_the_rules_say_and_can_be_told_again(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life l;
		struct controller again;
		print_message("seed %lu\n", (unsigned long)seed);
		begin(&l, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(&l);
			if (i % 50 == 0)
				controller_verify(&l.c);
			if (i == STEPS / 2) {
				struct bytes_writer half = controller_image(&l.c);
				controller_init(&again, (struct state_limits){0});
				assert_int_equal(controller_load(&again, &half), 0);
				expect_same(&l, &again);
				bytes_writer_free(&half);
			}
		}
		assert_int_equal(controller_replay(&again, &l.c.log, l.c.log.count), 0);
		expect_same(&l, &again);
		controller_free(&again);
		expect_restores(&l.c);
		controller_free(&l.c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_life_is_as_the_rules_say_and_can_be_told_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
