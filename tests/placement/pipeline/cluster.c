#include "tests/placement/pipeline/cluster.h"
#include "placement/job_check/job_check.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/allocation.h"
#include "state/records/job.h"
#include "state/records/node.h"
#include "state/records/vm.h"
#include "tests/support/first_fit.h"
#include <semaphore.h>
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

static struct command *next_plan(void *context)
{
	struct cluster *c = context;
	return c->pipeline ? pipeline_next_plan(c->pipeline) : NULL;
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
	struct state_limits limits = {8192, 128, 1u << 17, 1024, 16};

	c->state = state_create(&limits);
	c->queue = command_queue_create(1);
	c->placer = first_fit_placer(c->state);
	struct applier_settings settings = {
		.state = c->state,
		.queue = c->queue,
		.log = memory_log_of(&c->log),
		.placer = c->placer,
		.time = &c->source,
		.seed = c->seed,
		.collect_after_ms = 3600000,
		.next_plan = next_plan,
		.plan_context = c,
		.log_failed = log_failed,
		.context = c,
	};
	c->applier = applier_create(&settings);
	for (uint32_t i = 0; i < c->log.count; i++) {
		const struct memory_batch *batch = &c->log.batches[i];
		assert_int_equal(
			applier_replay(c->applier, batch->first_index, batch->data, batch->size),
			0);
	}
	assert_int_equal(applier_open(c->applier), 0);
	struct pipeline_settings pipeline = {
		.state = c->state,
		.queue = c->queue,
		.time = &c->source,
		.seed = c->seed += 1000, // ids are not given again
		.threads = c->threads,
		.step = c->threads ? NULL : step,
		.step_context = c,
	};
	c->pipeline = pipeline_create(&pipeline);
	if (c->beside)
		c->beside->create(c);
	if (c->threads)
		assert_int_equal(applier_start(c->applier, -1), 0);
	assert_int_equal(pipeline_start(c->pipeline), 0);
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
	pipeline_stop(c->pipeline);
	applier_stop(c->applier, c->drain_ms || !c->threads ? c->drain_ms : 60000);
	c->is_quiet = true;
}

static void stop(struct cluster *c)
{
	cluster_quiesce(c);
	if (c->beside)
		c->beside->destroy(c);
	pipeline_destroy(c->pipeline);
	c->pipeline = NULL;
	applier_destroy(c->applier);
	command_queue_destroy(c->queue);
	state_destroy(c->state);
}

void cluster_init(struct cluster *c, uint64_t seed)
{
	*c = (struct cluster){.time = {1, 1700000000000000000}, .seed = seed};
	c->source = time_source_manual(&c->time);
	memory_log_init(&c->log);
	start(c);
}

void cluster_init_threads_beside(
	struct cluster *c, uint32_t threads, const struct cluster_beside *beside)
{
	*c = (struct cluster){
		.source = time_source_real, .seed = 1, .threads = threads, .beside = beside};
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

static void done(struct command *command)
{
	CHECK(sem_post(command->context) == 0);
}

enum command_outcome cluster_run(struct cluster *c, struct command *command)
{
	sem_t finished;

	CHECK(sem_init(&finished, 0, 0) == 0);
	command->done = done;
	command->context = &finished;
	command->submitted_ns = time_monotonic_ns(&c->source);
	assert_true(command_queue_push(c->queue, COMMAND_PRODUCER_SHARED, command));
	if (c->threads)
		CHECK(sem_wait(&finished) == 0);
	for (uint32_t i = 0; !c->threads && sem_trywait(&finished) != 0; i++) {
		(void)applier_step(c->applier);
		assert_true(i < 10000);
	}
	sem_destroy(&finished);
	return command->outcome;
}

void cluster_await(struct cluster *c, const char *job, uint32_t live)
{
	uint64_t index = state_index(c->state);

	while (cluster_allocations(c, job).live != live)
		index = state_wait(c->state, index, 1000);
}

// --- Nodes ---------------------------------------------------------------------------------------

struct uuid cluster_node_id(uint32_t number)
{
	struct uuid id = {{0xb0}};

	memcpy(id.bytes + 12, &number, sizeof number);
	return id;
}

static void register_node(struct cluster *c, uint32_t number, const char *name, bool is_worker)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	char class_name[16];

	snprintf(class_name, sizeof class_name, "class-%u", number % 4);
	if (!c->threads)
		manual_time_advance_ms(&c->time, 1);
	node->node = cluster_node_id(number);
	node->sequence = time_wall_ns(&c->source) / 1000000;
	node->parts = 1;
	node->total = (struct resources){4000, 8192, 100000};
	node->name = text_of(name);
	node->datacenter = TEXT("dc1");
	node->class_name = text_of(class_name);
	node->address = TEXT("192.0.2.1:1");
	node->version = TEXT("1.0");
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

// --- Jobs ----------------------------------------------------------------------------------------

static struct job *build(const struct job_ask *ask)
{
	struct job *job = job_create();

	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(ask->id));
	job->name = text_copy(text_of(ask->id));
	job->type = ask->type;
	job->priority = ask->priority ? ask->priority : 50;
	if (ask->max_parallel) {
		job->update = memory_take(sizeof *job->update);
		record_init(&update_description, job->update);
		job->update->stagger_ns = ask->stagger_ms * 1000000;
		job->update->max_parallel = ask->max_parallel;
	}
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	group->disk.size_mb = 10;
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->driver = text_copy(TEXT("exec"));
	task->resources.cpu = ask->cpu ? ask->cpu : 100;
	task->resources.memory_mb = ask->memory_mb ? ask->memory_mb : 64;
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

// --- Looking -------------------------------------------------------------------------------------

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

	while ((e = state_next_evaluation(c->state, &cursor))) {
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

static void violated(const char *text, void *context)
{
	fail_msg("%s", text);
}

void cluster_verify(struct cluster *c)
{
	(void)state_verify(c->state, violated, NULL);
}
