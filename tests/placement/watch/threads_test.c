// All threads of a controller at once, on the real clock: applier, schedulers, watchers, readers, nodes that report,
// and two operators, one of whom changes jobs while the other drains nodes and lets them go down. In the end everything
// settles: no node drains, every deployment has ended, every job has what it asked for.
#include "placement/job_check/job_check.h"
#include "placement/watch/watchers.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"
#include "tests/placement/pipeline/cluster.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 8, JOBS = 4, COUNT = 4, OPERATIONS = 60, READERS = 2, WORKERS = 2, ITEMS = 16 };

#define SETTLE_MS 120000u

struct fleet {
	struct cluster cluster;
	struct watchers *watchers;
	_Atomic bool nodes_fail; // now and then they report failures
	_Atomic bool stop;
	uint64_t reports[NODES];
};

static struct fleet *fleet_of(struct cluster *c)
{
	return (struct fleet *)c; // its first member
}

static void create_watchers(struct cluster *c)
{
	struct watchers_settings settings = {.state = c->state,
		.queue = c->queue,
		.time = &c->source,
		.seed = 77,
		.node_ttl_ns = NS_PER_S};

	fleet_of(c)->watchers = watchers_create(&settings);
}

static void start_watchers(struct cluster *c)
{
	assert_int_equal(watchers_start(fleet_of(c)->watchers), 0);
}

static void stop_watchers(struct cluster *c)
{
	watchers_stop(fleet_of(c)->watchers);
}

static void destroy_watchers(struct cluster *c)
{
	watchers_destroy(fleet_of(c)->watchers);
}

static const struct cluster_beside beside = {
	create_watchers, start_watchers, stop_watchers, destroy_watchers};

struct reporting {
	struct alloc_update_item items[ITEMS];
	uint32_t count;
	struct prng *prng; // NULL: nothing fails
};

static bool report_allocation(const struct allocation *a, void *context)
{
	struct reporting *r = context;
	struct alloc_update_item item = {.allocation = a->id};

	if (r->count == ITEMS || a->client_status > ALLOC_RUNNING)
		return r->count < ITEMS;
	if (a->desired != ALLOC_RUN) {
		item.client_status = ALLOC_COMPLETE;
	} else if (a->client_status == ALLOC_PENDING) {
		bool fails = r->prng && prng_below(r->prng, 12) == 0;
		item.client_status = fails ? ALLOC_FAILED : ALLOC_RUNNING;
		item.healthy = (struct optional_bool){true, !fails};
	} else {
		return true;
	}
	r->items[r->count++] = item;
	return true;
}

static void report(struct fleet *f, uint32_t number, struct prng *prng)
{
	struct reporting r = {.count = 0, .prng = f->nodes_fail ? prng : NULL};
	struct command_alloc_update update = {.items = r.items};
	struct uuid id = cluster_node_id(number);

	state_read_begin();
	const struct node *node = state_node_by_id(f->cluster.state, &id);
	bool is_new = node && node->status == NODE_INITIALIZING;
	if (node) {
		update.slot = node->slot;
		update.generation = node->generation;
		if (node->status != NODE_DOWN)
			state_node_allocations(f->cluster.state, node->slot, report_allocation, &r);
	}
	state_read_end();
	if (r.count == 0 && !is_new)
		return;
	update.count = r.count;
	update.sequence = ++f->reports[number];
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	enum command_outcome outcome = cluster_run(&f->cluster, &command);
	// The node may have been collected since, and one that is new has nothing to report.
	CHECK(outcome == OUTCOME_DONE || outcome == OUTCOME_NODE_NOT_ALLOWED ||
		(r.count == 0 && outcome == OUTCOME_BAD_DESCRIPTION) ||
		outcome == OUTCOME_STALE_GENERATION || outcome == OUTCOME_UNKNOWN_NODE);
}

static void *be_nodes(void *argument)
{
	struct fleet *f = argument;
	struct prng prng;
	uint64_t index = 0;

	prng_seed(&prng, 3);
	while (!f->stop) {
		for (uint32_t n = 0; n < NODES; n++)
			report(f, n, &prng);
		index = state_wait(f->cluster.state, index, 20);
	}
	return NULL;
}

static bool count_whole(const struct allocation *a, void *context)
{
	char name[64];

	*(uint64_t *)context += strlen(allocation_name(a, name, sizeof name)) + a->job->version;
	return true;
}

static uint64_t read_jobs(const struct state *state)
{
	const struct job *job;
	uint64_t cursor = 0, seen = 0;

	while ((job = state_next(state, STATE_JOBS, &cursor))) {
		const struct deployment *d =
			state_latest_deployment(state, text_of("default"), text_of(job->id));
		seen += d ? strlen(d->status_description) : 0;
		state_job_allocations(
			state, text_of("default"), text_of(job->id), count_whole, &seen);
	}
	return seen;
}

static uint64_t read_nodes(const struct state *state)
{
	uint64_t seen = 0;

	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		const struct node *node = state_node_at(state, slot);
		seen += node ? node->status + (node->drain ? node->drain->deadline_ns != 0 : 0) : 0;
		seen += (uint64_t)state_node_use(state, slot).used.cpu_mhz;
	}
	return seen;
}

static void *be_reader(void *argument)
{
	struct fleet *f = argument;
	struct watchers_stats watched;
	struct pipeline_stats piped;
	struct state_counts counts;
	uint64_t seen = 0;

	while (!f->stop) {
		state_read_begin();
		seen += read_jobs(f->cluster.state) + read_nodes(f->cluster.state);
		state_read_end();
		watchers_stats(f->watchers, &watched);
		pipeline_stats(f->cluster.pipeline, &piped);
		state_counts(f->cluster.state, &counts);
		seen += counts.jobs;
		sched_yield();
	}
	CHECK(seen > 0);
	return NULL;
}

static void name_of(uint32_t number, char name[16])
{
	snprintf(name, 16, "job-%u", number);
}

static void add_policies(struct task_group *group, bool canary)
{
	group->update = memory_take(sizeof *group->update);
	record_init(&update_description, group->update);
	group->update->max_parallel = COUNT / 2;
	group->update->min_healthy_time_ns = 0;
	group->update->canary = canary;
	group->update->auto_revert = (struct optional_bool){true, true};
	group->update->auto_promote = (struct optional_bool){true, canary};
	group->reschedule = memory_take(sizeof *group->reschedule);
	record_init(&reschedule_description, group->reschedule);
	group->reschedule->delay_ns = 5 * NS_PER_S;
	group->reschedule->delay_function = text_copy(TEXT("constant"));
	group->reschedule->unlimited = (struct optional_bool){true, true};
}

static struct job *build(uint32_t number, uint32_t version, bool canary)
{
	struct job *job = job_create();
	char name[16];

	name_of(number, name);
	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(name));
	job->name = text_copy(text_of(name));
	job->type = JOB_SERVICE;
	job->priority = 50;
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	group->count = COUNT;
	add_policies(group, canary);
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->driver = text_copy(TEXT("exec"));
	task->resources.cpu = 100;
	task->resources.memory_mb = 64;
	snprintf(name, sizeof name, "%u", version);
	struct string_pair *pair = array_append(&task->env, sizeof *pair);
	*pair = (struct string_pair){text_copy(TEXT("VERSION")), text_copy(text_of(name))};
	return job;
}

static void complain(const char *text, void *context)
{
	fail_msg("%s", text);
}

static void register_job(struct fleet *f, uint32_t number, uint32_t version, bool canary)
{
	struct job *job = build(number, version, canary);

	job_canonicalize(job);
	assert_int_equal(job_check(job, complain, NULL), 0);
	assert_true(job_derive(job));
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	assert_int_equal(cluster_run(&f->cluster, &command), OUTCOME_DONE);
}

// Whatever its status: the deployment may have ended meanwhile.
static void change_deployment(struct fleet *f, uint32_t number, enum deployment_action action)
{
	struct command_deployment change = {.action = action, .description = "ended by hand"};
	struct command command = {.type = COMMAND_DEPLOYMENT, .deployment = &change};
	char name[16];

	name_of(number, name);
	state_read_begin();
	const struct deployment *d =
		state_latest_deployment(f->cluster.state, TEXT("default"), text_of(name));
	if (d)
		change.id = d->id;
	state_read_end();
	if (!uuid_is_zero(&change.id))
		(void)cluster_run(&f->cluster, &command);
}

static void change_jobs(struct fleet *f)
{
	struct prng prng;

	prng_seed(&prng, 1);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t job = (uint32_t)prng_below(&prng, JOBS);
		switch (prng_below(&prng, 8)) {
		case 0: change_deployment(f, job, DEPLOYMENT_FAIL); break;
		case 1: change_deployment(f, job, DEPLOYMENT_PROMOTE); break;
		case 2: assert_int_equal(core_collect(&f->cluster.core), OUTCOME_DONE); break;
		default: register_job(f, job, i, prng_below(&prng, 2)); break;
		}
		(void)state_wait(f->cluster.state, state_index(f->cluster.state), 50);
	}
}

static void drain(struct fleet *f, uint32_t number, struct command_node_drain ask)
{
	struct command command = {.type = COMMAND_NODE_DRAIN, .node_drain = &ask};

	ask.node = cluster_node_id(number);
	(void)cluster_run(&f->cluster, &command);
}

static void end_drain(struct fleet *f, uint32_t number)
{
	drain(f, number, (struct command_node_drain){.end = DRAIN_CANCELED, .mark_eligible = true});
}

// False: the node was down, and is collected.
static bool tell_node(struct fleet *f, enum command_type type, uint32_t number)
{
	struct uuid id = cluster_node_id(number);
	struct command command = {.type = type};

	state_read_begin();
	const struct node *node = state_node_by_id(f->cluster.state, &id);
	if (node)
		command.node = (struct command_node){node->slot, node->generation};
	state_read_end();
	if (node)
		(void)cluster_run(&f->cluster, &command);
	return node != NULL;
}

static void make_eligible(struct fleet *f, uint32_t number)
{
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = cluster_node_id(number), .eligible = true}};

	(void)cluster_run(&f->cluster, &command);
}

// Any refusal is fine: the change may have happened already.
static void *change_nodes(void *argument)
{
	static const int64_t deadlines[] = {-1, 0, NS_PER_S / 5, NS_PER_S};
	struct fleet *f = argument;
	struct prng prng;

	prng_seed(&prng, 2);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t node = (uint32_t)prng_below(&prng, NODES);
		struct command_node_drain ask = {.deadline_ns = deadlines[prng_below(&prng, 4)]};
		switch (prng_below(&prng, 8)) {
		case 0: (void)tell_node(f, COMMAND_NODE_EXPIRED, node); break;
		case 1: (void)tell_node(f, COMMAND_NODE_RETURNED, node); break;
		case 2: make_eligible(f, node); break;
		case 3:
		case 4: end_drain(f, node); break;
		default: drain(f, node, ask); break;
		}
		(void)state_wait(f->cluster.state, state_index(f->cluster.state), 50);
	}
	return NULL;
}

// Brings every node back to take work, and gives every job a last version that does not fail.
static void heal(struct fleet *f)
{
	f->nodes_fail = false;
	for (uint32_t n = 0; n < NODES; n++) {
		if (!tell_node(f, COMMAND_NODE_RETURNED, n))
			cluster_node(&f->cluster, n);
		end_drain(f, n);
		make_eligible(f, n);
	}
	for (uint32_t j = 0; j < JOBS; j++)
		register_job(f, j, OPERATIONS, false);
}

static bool job_has_settled(struct fleet *f, uint32_t number)
{
	char name[16];

	name_of(number, name);
	struct alloc_counts counts = cluster_allocations(&f->cluster, name);
	state_read_begin();
	const struct deployment *d =
		state_latest_deployment(f->cluster.state, TEXT("default"), text_of(name));
	bool has = d && d->status == DEPLOYMENT_SUCCESSFUL && counts.live == COUNT &&
		   counts.of_version == COUNT;
	state_read_end();
	return has;
}

static bool has_settled(struct fleet *f)
{
	struct state_counts counts;

	state_counts(f->cluster.state, &counts);
	if (counts.nodes_draining || counts.deployments_active || counts.evaluations_pending ||
		counts.nodes[NODE_READY] != NODES)
		return false;
	for (uint32_t j = 0; j < JOBS; j++) {
		if (!job_has_settled(f, j))
			return false;
	}
	return true;
}

static void await_peace(struct fleet *f)
{
	uint64_t until_ms = time_wall_ns(&f->cluster.source) / 1000000 + SETTLE_MS;

	while (!has_settled(f)) {
		(void)state_wait(f->cluster.state, state_index(f->cluster.state), 100);
		if (time_wall_ns(&f->cluster.source) / 1000000 > until_ms)
			fail_msg("a job, a deployment or a drain is stuck");
	}
}

static void everything_at_once_settles(void **state)
{
	pthread_t nodes, operator_of_nodes, readers[READERS];
	struct fleet f = {.nodes_fail = true};
	struct watchers_stats stats;

	cluster_init_threads_beside(&f.cluster, WORKERS, &beside);
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(&f.cluster, n);
	CHECK(pthread_create(&nodes, NULL, be_nodes, &f) == 0);
	for (uint32_t i = 0; i < READERS; i++)
		CHECK(pthread_create(&readers[i], NULL, be_reader, &f) == 0);
	CHECK(pthread_create(&operator_of_nodes, NULL, change_nodes, &f) == 0);
	change_jobs(&f);
	CHECK(pthread_join(operator_of_nodes, NULL) == 0);
	heal(&f);
	await_peace(&f);
	f.stop = true;
	CHECK(pthread_join(nodes, NULL) == 0);
	for (uint32_t i = 0; i < READERS; i++)
		CHECK(pthread_join(readers[i], NULL) == 0);
	watchers_stats(f.watchers, &stats);
	assert_int_equal(stats.nodes_draining, 0);
	assert_true(stats.drains_completed + stats.drains_forced > 0);
	cluster_quiesce(&f.cluster);
	cluster_verify(&f.cluster);
	cluster_free(&f.cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_at_once_settles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
