#include "tests/state/properties/random_run.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BATCH_MAX = 8 };

// A command with all that it needs, and what the model has to know about it.
struct random_command {
	struct command command;
	struct work_command work;
	uint32_t node, gpus, job, group, client;
	uint32_t clients; // that may place, a bit for each
	struct resources asks[MODEL_GROUPS];
	uint32_t ask_gpus[MODEL_GROUPS];
	union {
		struct node_registration node_register;
		struct command_place place;
		struct command_release release;
		struct command_status status;
		struct {
			struct command_alloc_update update;
			struct alloc_update_item item;
		};
	};
};

static uint32_t below(struct random_run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

void random_run_init(struct random_run *r, uint64_t seed)
{
	memset(r, 0, sizeof *r);
	prng_seed(&r->prng, seed + 1000000); // the controller's own is small: their ids differ
	r->model = memory_take(sizeof *r->model);
	controller_init(&r->controller, (struct state_limits){.nodes = MODEL_NODES_MAX});
	controller_open(&r->controller);
	r->sequence = 1000;
	r->work = (struct work_run){
		.prng = &r->prng, .model = r->model, .work = memory_take(sizeof *r->work.work)};
}

void random_run_free(struct random_run *r)
{
	controller_free(&r->controller);
	free(r->work.work);
	free(r->model);
}

static void make_register(struct random_run *r, struct random_command *c)
{
	static const uint32_t cpus[] = {2000, 4000, 8000};
	struct node_registration *n = &c->node_register;

	c->command.type = COMMAND_NODE_REGISTER;
	c->command.node_register = n;
	c->node = below(r, MODEL_NODES);
	uint64_t sequence = r->sequence++;
	if (below(r, 8) == 0)
		sequence = r->model->nodes[c->node].sequence;
	build_node(n, c->node, sequence);
	n->worker = (uint16_t)below(r, 3);
	n->total.cpu_mhz = cpus[below(r, 3)];
	c->gpus = below(r, 4);
	if (c->gpus)
		n->device_groups[n->device_group_count++] = (struct node_device_group){
			TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), (uint8_t)c->gpus};
	if (below(r, 2)) // sorts before the other: what has instances moves
		n->device_groups[n->device_group_count++] =
			(struct node_device_group){TEXT("amd"), TEXT("fpga"), TEXT("x"), 3};
	if (below(r, 3) == 0)
		n->pairs[n->pair_count++] = (struct node_pair){PAIR_META, TEXT("rack"), TEXT("r1")};
}

static void make_node_status(struct random_run *r, struct random_command *c)
{
	static const enum command_type types[] = {COMMAND_NODE_EXPIRED, COMMAND_NODE_RETURNED,
		COMMAND_NODE_RETURNED, COMMAND_NODE_GOODBYE};
	const struct model_node *n = &r->model->nodes[below(r, MODEL_NODES)];

	c->command.type = types[below(r, 4)];
	c->command.node.slot = below(r, 10) ? n->slot : 70000;
	c->command.node.generation = n->generation - (below(r, 10) == 0);
}

static void make_eligibility(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_NODE_ELIGIBILITY;
	c->node = below(r, MODEL_NODES);
	c->command.node_eligibility.node = number_uuid(c->node);
	c->command.node_eligibility.eligible = below(r, 3) > 0;
}

static void make_purge(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_NODE_PURGE;
	c->node = below(r, MODEL_NODES);
	c->command.node_named.node = number_uuid(c->node);
}

static void make_place(struct random_run *r, struct random_command *c)
{
	const struct model *m = r->model;

	c->command.type = COMMAND_PLACE;
	c->command.place = &c->place;
	c->job = below(r, MODEL_JOBS);
	c->group = below(r, MODEL_GROUPS);
	c->client = below(r, MODEL_CLIENTS);
	c->place = (struct command_place){
		.issued_ms = controller_now_ms(&r->controller) - below(r, 1000),
		.request = r->request++,
		.count = (uint8_t)(1 + below(r, below(r, 4) ? 3 : PLACE_COUNT_MAX)),
	};
	if (m->request_count && below(r, 6) == 0) {
		const struct model_request *again = &m->requests[below(r, m->request_count)];
		c->client = again->client;
		c->place.issued_ms = again->issued_ms;
		c->place.request = again->request;
	}
	if (below(r, 20) == 0)
		c->place.issued_ms -= PLACE_REMEMBER_MS + 10;
	c->place.client = text_of(model_clients[c->client]);
	c->place.job = text_of(model_jobs[c->job]);
	c->place.group = c->group ? TEXT("g1") : TEXT("g0");
}

static struct uuid some_allocation(struct random_run *r)
{
	const struct model *m = r->model;

	if (!m->allocation_count || below(r, 20) == 0)
		return prng_uuid(&r->prng);
	uint32_t window = m->allocation_count < 60 ? m->allocation_count : 60;
	return m->allocations[m->allocation_count - 1 - below(r, window)].id;
}

static void make_release(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_RELEASE;
	c->command.release = &c->release;
	c->client = below(r, MODEL_CLIENTS);
	c->release = (struct command_release){
		.client = text_of(model_clients[c->client]),
		.any_client = below(r, 2),
		.count = (uint8_t)(1 + below(r, 12)),
	};
	for (uint8_t i = 0; i < c->release.count; i++)
		c->release.ids[i] = some_allocation(r);
}

static void make_report(struct random_run *r, struct random_command *c)
{
	const struct model *m = r->model;
	struct uuid id = some_allocation(r);

	c->command.type = COMMAND_ALLOC_UPDATE;
	c->command.alloc_update = &c->update;
	c->node = below(r, MODEL_NODES);
	for (uint32_t i = 0; i < m->allocation_count; i++)
		if (uuid_equal(&m->allocations[i].id, &id))
			c->node = m->allocations[i].node;
	c->item = (struct alloc_update_item){.allocation = id, .client_status = ALLOC_COMPLETE};
	c->update = (struct command_alloc_update){.slot = m->nodes[c->node].slot,
		.generation = m->nodes[c->node].generation,
		.sequence = ++r->work.report_sequence,
		.count = 1,
		.items = &c->item};
}

static void make_status(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_STATUS;
	c->command.status = &c->status;
	c->client = below(r, MODEL_CLIENTS);
	c->status = (struct command_status){
		.client = text_of(model_clients[c->client]),
		.changes = below(r, 3),
		.count = (uint8_t)(1 + below(r, PLACE_COUNT_MAX)),
		.since = r->model->asked_at[c->client],
	};
	for (uint8_t i = 0; i < c->status.count; i++)
		c->status.ids[i] = some_allocation(r);
}

// Clients that a job names, and which of model_clients those are.
static const struct {
	const char *names[2];
	uint32_t bits;
} some_clients[] = {{{NULL}, 7}, {{"ann"}, 1}, {{"*b"}, 2}, {{"ann", "c*d"}, 5}, {{"nobody"}, 0}};

static struct direct_policy *direct_policy_of(const char *const names[static 2])
{
	struct direct_policy *direct = memory_take(sizeof *direct);

	for (uint32_t i = 0; i < 2 && names[i]; i++)
		*(char **)array_append(&direct->clients, sizeof(char *)) =
			text_copy(text_of(names[i]));
	return direct;
}

static void make_job(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_JOB_REGISTER;
	c->job = below(r, MODEL_JOBS);
	for (uint32_t i = 0; i < MODEL_GROUPS; i++) {
		c->asks[i] = (struct resources){100 + 400 * below(r, 3), 200, 50 * below(r, 2)};
		c->ask_gpus[i] = below(r, 3) ? 0 : 1 + below(r, 2);
	}
	c->command.job_register.job =
		build_device_job(model_jobs[c->job], c->asks, c->ask_gpus, MODEL_GROUPS);
	uint32_t pick = below(r, 2) ? 0 : below(r, sizeof some_clients / sizeof some_clients[0]);
	c->clients = some_clients[pick].bits;
	if (some_clients[pick].names[0])
		c->command.job_register.job->direct = direct_policy_of(some_clients[pick].names);
}

static void make_stop(struct random_run *r, struct random_command *c)
{
	c->command.type = COMMAND_JOB_DEREGISTER;
	c->job = below(r, MODEL_JOBS);
	c->command.job_deregister.id = text_of(model_jobs[c->job]);
	c->command.job_deregister.purge = below(r, 2);
}

static void make(struct random_run *r, struct random_command *c)
{
	static const struct {
		uint32_t weight;
		void (*make)(struct random_run *, struct random_command *);
	} makers[] = {
		{12, make_register},
		{10, make_node_status},
		{3, make_eligibility},
		{1, make_purge},
		{26, make_place},
		{14, make_release},
		{10, make_report},
		{14, make_status},
		{6, make_job},
		{2, make_stop},
	};
	uint32_t pick = below(r, 100);

	*c = (struct random_command){.command = {.type = COMMAND_COLLECT}};
	if (below(r, 5) < 2) {
		work_make(&r->work, &c->work, &c->command);
		return;
	}
	for (uint32_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
		if (pick < makers[i].weight) {
			makers[i].make(r, c);
			return;
		}
		pick -= makers[i].weight;
	}
}

static void tell_register(struct random_run *r, struct random_command *c)
{
	const struct model_node before = r->model->nodes[c->node];

	model_register(r->model, c->node, c->gpus, &c->command);
	const struct model_node *after = &r->model->nodes[c->node];
	if (after->is_known != before.is_known || after->generation != before.generation)
		work_node_registered(r->work.work, r->model, c->node, &c->command, before.is_known);
}

static void tell_node_status(struct random_run *r, struct random_command *c)
{
	uint32_t node = 0;

	while (node < MODEL_NODES && !(r->model->nodes[node].is_known &&
					     r->model->nodes[node].slot == c->command.node.slot))
		node++;
	bool was_ready = node < MODEL_NODES && r->model->nodes[node].is_ready;
	model_node_status(r->model, &c->command);
	if (node < MODEL_NODES)
		work_node_status(r->work.work, r->model, node, &c->command, was_ready);
}

static void tell_eligibility(struct random_run *r, struct random_command *c)
{
	bool was_ineligible = r->model->nodes[c->node].is_ineligible;

	model_eligibility(r->model, c->node, &c->command);
	work_eligibility(r->work.work, r->model, c->node, was_ineligible);
}

static void tell_purge(struct random_run *r, struct random_command *c)
{
	const struct model_node *n = &r->model->nodes[c->node];
	bool was_usable = n->is_ready && !n->is_ineligible, was_known = n->is_known;

	model_purge(r->model, c->node, &c->command);
	if (was_known)
		work_purge(r->work.work, r->model, c->node, was_usable);
}

static void tell_job(struct random_run *r, struct random_command *c)
{
	if (r->work.work->rejects_jobs)
		assert_int_equal(c->command.outcome, OUTCOME_REJECTED);
	else
		model_job_register(r->model, c->job, c->clients, c->asks, c->ask_gpus, &c->command);
	job_free(c->command.job_register.job);
}

static void tell_model(struct random_run *r, struct random_command *c)
{
	struct model *m = r->model;

	if (c->work.is_one) {
		work_tell(&r->work, &c->work, &c->command);
		return;
	}
	switch (c->command.type) {
	case COMMAND_NODE_REGISTER: tell_register(r, c); break;
	case COMMAND_NODE_EXPIRED:
	case COMMAND_NODE_RETURNED:
	case COMMAND_NODE_GOODBYE: tell_node_status(r, c); break;
	case COMMAND_NODE_ELIGIBILITY: tell_eligibility(r, c); break;
	case COMMAND_NODE_PURGE: tell_purge(r, c); break;
	case COMMAND_PLACE: model_place(m, c->job, c->group, c->client, &c->command); break;
	case COMMAND_RELEASE: model_release(m, c->client, &c->command); break;
	case COMMAND_ALLOC_UPDATE: model_report(m, c->node, &c->command); break;
	case COMMAND_STATUS: model_status(m, c->client, &c->command); break;
	case COMMAND_JOB_REGISTER: tell_job(r, c); break;
	case COMMAND_JOB_DEREGISTER: model_job_stop(m, c->job, &c->command); break;
	case COMMAND_COLLECT: model_collect(m, &c->command); break;
	default: fail();
	}
}

// One question about changes per client and batch: the next one begins where the answer ends.
static bool asks_again(const struct random_command *commands, uint32_t count)
{
	const struct random_command *last = &commands[count];

	for (uint32_t i = 0; i < count; i++)
		if (commands[i].command.type == COMMAND_STATUS &&
			commands[i].client == last->client)
			return last->command.type == COMMAND_STATUS;
	return false;
}

// Whatever its age, but no node; alone, as it takes as many batches as it needs.
static void collect_garbage(struct random_run *r)
{
	struct command command = {.type = COMMAND_GC,
		.gc = {.evals_before_ns = INT64_MAX,
			.batch_evals_before_ns = INT64_MAX,
			.jobs_before_ns = INT64_MAX}};
	uint32_t done = 0;

	controller_push(&r->controller, &command, &done);
	while (!done)
		applier_step(r->controller.applier);
	work_learn(r->work.work, r->controller.state);
	work_collected(r->work.work, r->model, &command);
	model_drop_stopped(r->model);
}

// Often just before or after a mark is due.
static void let_time_pass(struct random_run *r)
{
	static const uint32_t bounds[] = {60000, 150, 1100, 60000};

	manual_time_advance_ms(&r->controller.time, below(r, bounds[below(r, 4)]));
	r->model->now_ms = controller_now_ms(&r->controller);
	work_begin(r->work.work, r->model);
}

void random_run_step(struct random_run *r)
{
	static struct random_command commands[BATCH_MAX];
	uint32_t count = 1 + below(r, BATCH_MAX), done = 0;

	let_time_pass(r);
	if (below(r, 30) == 0) {
		collect_garbage(r);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		do
			make(r, &commands[i]);
		while (asks_again(commands, i));
		controller_push(&r->controller, &commands[i].command, &done);
	}
	applier_step(r->controller.applier);
	assert_int_equal(done, count);
	for (uint32_t i = 0; i < count; i++)
		tell_model(r, &commands[i]);
	work_learn(r->work.work, r->controller.state);
}
