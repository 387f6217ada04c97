#include "tests/placement/pipeline/cluster.h"
#include "placement/job_check/job_check.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/allocation.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"
#include "state/records/nodes/vm.h"
#include "tests/support/first_fit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void log_failed(void *context, int error)
{
	fail_msg("the log failed: %d", error);
}

static void step(void *context)
{
	struct cluster *c = context;
	void (*meanwhile)(struct cluster *) = c->meanwhile;

	c->meanwhile = NULL;
	if (meanwhile)
		meanwhile(c);
	(void)applier_step(c->applier);
}

static void start(struct cluster *c)
{
	struct state_limits limits = {
		8192, 128, 1u << 17, 1024, 16, .evaluations = c->evaluations_max};

	core_create(&c->core, limits, 1);
	c->state = c->core.state;
	c->queue = c->core.queue;
	core_appoint(&c->core, (struct applier_settings){
				       .log = memory_log_of(&c->log),
				       .placer = first_fit_placer(c->state),
				       .time = &c->source,
				       .seed = c->seed,
				       .collect_after_ms = 3600000,
				       .next_plan = crew_next_plan,
				       .plan_context = &c->crew,
				       .log_failed = log_failed,
			       });
	c->applier = c->core.applier;
	assert_int_equal(memory_log_replay(&c->log, c->log.count, c->applier), 0);
	assert_int_equal(core_open(&c->core), 0);
	crew_create(&c->crew, &c->core,
		&(struct crew_settings){
			.seed = c->seed += 1000, // no id is given twice
			.schedules = true,
			.schedulers = c->threads,
			.deciding = c->deciding,
			.processors = c->processors ? c->processors : c->threads + 1,
			.nack_timeout_ns = c->nack_timeout_ns,
			.step = c->threads ? NULL : step,
			.step_context = c,
		});
	c->pipeline = c->crew.pipeline;
	if (c->beside)
		c->beside->create(c);
	if (c->threads)
		core_start(&c->core, -1);
	crew_start(&c->crew);
	if (c->beside)
		c->beside->start(c);
	c->is_quiet = false;
}

void cluster_quiesce(struct cluster *c)
{
	if (c->is_quiet)
		return;
	if (c->beside)
		c->beside->stop(c);
	crew_stop(&c->crew);
	core_stop(&c->core, c->drain_ms || !c->threads ? c->drain_ms : 60000);
	c->is_quiet = true;
}

static void stop(struct cluster *c)
{
	cluster_quiesce(c);
	if (c->beside)
		c->beside->destroy(c);
	crew_destroy(&c->crew);
	c->pipeline = NULL;
	core_destroy(&c->core);
}

void cluster_init_limited(struct cluster *c, uint64_t seed, uint32_t evaluations_max)
{
	*c = (struct cluster){
		.time = {1, 1700000000000000000}, .seed = seed, .evaluations_max = evaluations_max};
	c->source = time_source_manual(&c->time);
	memory_log_init(&c->log);
	start(c);
}

void cluster_init(struct cluster *c, uint64_t seed)
{
	cluster_init_limited(c, seed, 0);
}

void cluster_init_threads_beside(
	struct cluster *c, uint32_t threads, const struct cluster_beside *beside)
{
	*c = (struct cluster){
		.source = time_source_real, .seed = 1, .threads = threads, .beside = beside};
	memory_log_init(&c->log);
	start(c);
}

void cluster_init_deciding(
	struct cluster *c, uint32_t threads, uint32_t deciding, uint32_t processors)
{
	*c = (struct cluster){.source = time_source_real,
		.seed = 1,
		.threads = threads,
		.deciding = deciding,
		.processors = processors};
	memory_log_init(&c->log);
	start(c);
}

void cluster_init_threads(struct cluster *c, uint32_t threads)
{
	cluster_init_threads_beside(c, threads, NULL);
}

void cluster_free(struct cluster *c)
{
	stop(c);
	memory_log_free(&c->log);
}

void cluster_kill(struct cluster *c)
{
	stop(c);
	start(c);
}

uint32_t cluster_settle(struct cluster *c)
{
	uint32_t turns = 0;

	for (bool did = true; did; turns++) {
		did = applier_step(c->applier) > 0;
		did |= pipeline_step(c->pipeline);
		assert_true(turns < 100000);
	}
	return turns;
}

void cluster_advance(struct cluster *c, uint64_t ms)
{
	for (uint64_t left = ms; left > 0;) {
		uint64_t part = left < 50 ? left : 50;
		manual_time_advance_ms(&c->time, part);
		left -= part;
		(void)cluster_settle(c);
	}
}

enum command_outcome cluster_run(struct cluster *c, struct command *command)
{
	return core_run(&c->core, command);
}

void cluster_await(struct cluster *c, const char *job, uint32_t live)
{
	uint64_t index = state_index(c->state);

	while (cluster_allocations(c, job).live != live)
		index = state_wait(c->state, index, 1000);
}

struct uuid cluster_node_id(uint32_t number)
{
	return number_uuid(number);
}

static void register_node(struct cluster *c, uint32_t number, const char *name, bool is_worker)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	char class_name[16];

	snprintf(class_name, sizeof class_name, "class-%u", number % 4);
	if (!c->threads)
		manual_time_advance_ms(&c->time, 1);
	describe_plain_node(node, number, time_wall_ns(&c->source) / 1000000);
	node->name = text_of(name);
	node->pool = (struct text){0};
	node->class_name = text_of(class_name);
	node->pair_count = 2;
	node->pairs[0] = (struct node_pair){PAIR_DRIVER, TEXT("exec"), TEXT("1")};
	node->pairs[1] = (struct node_pair){PAIR_ATTRIBUTE, TEXT("kernel.name"), TEXT("linux")};
	if (is_worker) {
		node->pairs[node->pair_count++] =
			(struct node_pair){PAIR_SETTING, TEXT("vm.worker"), TEXT("1")};
		node->pairs[node->pair_count++] = (struct node_pair){
			PAIR_SETTING, TEXT("vm.resource." VM_RESOURCE_MEMORY), TEXT("8192")};
	}
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
	struct command beats = {
		.type = COMMAND_NODE_RETURNED, .node = {node->slot, node->generation}};
	assert_int_equal(cluster_run(c, &beats), OUTCOME_DONE);
	free(node);
}

void cluster_node(struct cluster *c, uint32_t number)
{
	register_node(c, number, "a-node", false);
}

void cluster_worker(struct cluster *c, uint32_t number, const char *name)
{
	register_node(c, number, name, true);
}

static struct command about(struct cluster *c, enum command_type type, uint32_t number)
{
	struct uuid id = cluster_node_id(number);

	state_read_begin();
	const struct node *node = state_node_by_id(c->state, &id);
	assert_non_null(node);
	struct command command = {.type = type, .node = {node->slot, node->generation}};
	state_read_end();
	return command;
}

static void tell(struct cluster *c, enum command_type type, uint32_t number)
{
	struct command command = about(c, type, number);
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void ignore(struct command *command)
{
}

void cluster_push_node_down(struct cluster *c, uint32_t number, struct command *command)
{
	*command = about(c, COMMAND_NODE_EXPIRED, number);
	command->done = ignore;
	assert_true(command_queue_push(c->queue, COMMAND_PRODUCER_SHARED, command));
}

void cluster_node_down(struct cluster *c, uint32_t number)
{
	tell(c, COMMAND_NODE_EXPIRED, number);
}

void cluster_node_returned(struct cluster *c, uint32_t number)
{
	tell(c, COMMAND_NODE_RETURNED, number);
}

static struct job *build(const struct job_ask *ask)
{
	struct job *job = plain_job(ask->id, ask->type);
	struct task *task = add_plain_group(job, "g",
		(struct resources){.cpu_mhz = ask->cpu ? ask->cpu : 100,
			.memory_mb = ask->memory_mb ? ask->memory_mb : 64,
			.disk_mb = 10});

	job->priority = ask->priority ? ask->priority : 50;
	ARRAY_AT(&job->task_groups, struct task_group, 0)->count = ask->count ? ask->count : 1;
	if (ask->max_parallel) {
		job->update = memory_take(sizeof *job->update);
		record_init(&update_description, job->update);
		job->update->stagger_ns = ask->stagger_ms * 1000000;
		job->update->max_parallel = ask->max_parallel;
	}
	task->driver = text_copy(TEXT("exec"));
	struct string_pair *pair = array_append(&task->env, sizeof *pair);
	*pair = (struct string_pair){
		text_copy(TEXT("VERSION")), text_copy(text_of(ask->version ? ask->version : "1"))};
	return job;
}

static void complain(const char *text, void *context)
{
	fail_msg("%s", text);
}

void cluster_job(struct cluster *c, struct job_ask ask)
{
	struct job *job = build(&ask);

	job_canonicalize(job);
	assert_int_equal(job_check(job, complain, NULL), 0);
	assert_true(job_derive(job));
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

void cluster_stop_job(struct cluster *c, const char *id)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = TEXT("default"), .id = text_of(id)}};

	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
}

static void report_ended(struct cluster *c, const struct allocation *a, uint32_t generation)
{
	struct alloc_update_item item = {.allocation = a->id, .client_status = ALLOC_COMPLETE};
	struct command_alloc_update update = {
		a->node_slot, generation, state_index(c->state), 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	assert_int_equal(cluster_run(c, &command), OUTCOME_DONE);
	assert_true(item.known);
}

void cluster_stopped(struct cluster *c)
{
	const struct allocation *a;
	uint64_t cursor = 0;

	do {
		struct allocation stopping = {.node_slot = NODE_SLOT_NONE};
		uint32_t generation = 0;
		state_read_begin();
		while ((a = state_next(c->state, STATE_ALLOCATIONS, &cursor)))
			if (allocation_is_terminal(a) && allocation_holds_room(a)) {
				stopping =
					(struct allocation){.id = a->id, .node_slot = a->node_slot};
				generation = state_node_at(c->state, a->node_slot)->generation;
				break;
			}
		state_read_end();
		if (a)
			report_ended(c, &stopping, generation);
	} while (a);
}

struct counting {
	struct alloc_counts counts;
	uint64_t version;
};

static bool count_allocation(const struct allocation *a, void *context)
{
	struct counting *counting = context;
	struct alloc_counts *n = &counting->counts;
	bool live = !allocation_is_terminal(a);

	n->live += live;
	n->stopped += a->desired == ALLOC_STOP;
	n->lost += a->client_status == ALLOC_LOST;
	n->of_version += live && a->job->version == counting->version;
	return true;
}

struct alloc_counts cluster_allocations(struct cluster *c, const char *id)
{
	struct counting counting = {.version = UINT64_MAX};

	state_read_begin();
	const struct job *job = state_job(c->state, TEXT("default"), text_of(id));
	if (job)
		counting.version = job->version;
	state_job_allocations(c->state, TEXT("default"), text_of(id), count_allocation, &counting);
	state_read_end();
	return counting.counts;
}

struct searching {
	const char *job;
	int status, trigger;
	uint32_t count;
	const struct evaluation *newest;
};

static bool fits(const struct evaluation *e, const struct searching *s)
{
	return (s->status < 0 || e->status == s->status) &&
	       (s->trigger < 0 || e->triggered_by == s->trigger) && strcmp(e->job_id, s->job) == 0;
}

static void search(struct cluster *c, struct searching *s)
{
	const struct evaluation *e;
	uint64_t cursor = 0;

	while ((e = state_next(c->state, STATE_EVALUATIONS, &cursor))) {
		if (!fits(e, s))
			continue;
		s->count++;
		if (!s->newest || e->record.create_index >= s->newest->record.create_index)
			s->newest = e;
	}
}

uint32_t cluster_evaluations(struct cluster *c, const char *job, int status, int trigger)
{
	struct searching s = {.job = job, .status = status, .trigger = trigger};

	state_read_begin();
	search(c, &s);
	state_read_end();
	return s.count;
}

struct evaluation *cluster_evaluation(struct cluster *c, const char *job, int status, int trigger)
{
	struct searching s = {.job = job, .status = status, .trigger = trigger};

	state_read_begin();
	search(c, &s);
	struct evaluation *e = s.newest ? evaluation_copy(s.newest) : NULL;
	state_read_end();
	return e;
}

void cluster_verify(struct cluster *c)
{
	(void)state_verify(c->state, complain, NULL);
}
