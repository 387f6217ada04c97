#include "tests/state/properties/model.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const char *const model_jobs[MODEL_JOBS] = {"web", "db", "train", "cron"};
const char *const model_clients[MODEL_CLIENTS] = {"ann", "bob", "cyd"};

static uint64_t lowest(uint64_t free, uint32_t count)
{
	uint64_t taken = 0;

	for (; count && free; count--) {
		taken |= free & -free;
		free &= free - 1;
	}
	return count ? 0 : taken;
}

static struct model_allocation *find(struct model *m, const struct uuid *id)
{
	for (uint32_t i = 0; i < m->allocation_count; i++)
		if (uuid_equal(&m->allocations[i].id, id) && !m->allocations[i].is_collected)
			return &m->allocations[i];
	return NULL;
}

static void leave(struct model *m, struct model_allocation *a)
{
	struct model_node *n = &m->nodes[a->node];

	n->used = resources_minus(n->used, a->resources);
	n->gpus_used &= ~a->gpus;
}

// It is on its node until it has ended there.
static bool is_held(const struct model_allocation *a)
{
	return !a->is_collected && !a->is_off_node && a->client_status == ALLOC_PENDING;
}

static void end(struct model *m, struct model_allocation *a, uint8_t client_status)
{
	if (client_status != ALLOC_PENDING)
		leave(m, a);
	a->desired = ALLOC_STOP;
	a->client_status = client_status;
	a->ended_ms = m->now_ms;
	a->is_news = true;
}

static uint32_t nodes_known(const struct model *m)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < MODEL_NODES; i++)
		known += m->nodes[i].is_known;
	return known;
}

static bool has_other_devices(const struct node_registration *c)
{
	for (uint32_t i = 0; i < c->device_group_count; i++)
		if (text_equal(c->device_groups[i].type, TEXT("fpga")))
			return true;
	return false;
}

// What is to stop changes when its instances move with their group: that is when it is said to have ended.
static void lose_missing_devices(struct model *m, uint32_t node, bool are_moved)
{
	struct model_node *n = &m->nodes[node];
	uint64_t there = (1ull << n->gpus) - 1;

	for (uint32_t i = 0; i < m->allocation_count; i++) {
		struct model_allocation *a = &m->allocations[i];
		bool are_missing = a->gpus & ~there;
		if (a->node != node || !is_held(a) || !a->gpus || (!are_missing && !are_moved))
			continue;
		if (model_is_living(a)) {
			if (are_missing)
				end(m, a, ALLOC_LOST);
			continue;
		}
		if (are_missing) {
			n->gpus_used &= ~a->gpus;
			a->gpus = 0;
		}
		a->ended_ms = m->now_ms; // changed by it
		a->is_news = true;
	}
}

void model_register(struct model *m, uint32_t node, uint32_t gpus, const struct command *command)
{
	const struct node_registration *c = command->node_register;
	struct model_node *n = &m->nodes[node];

	if (command->outcome == OUTCOME_PART_STORED) {
		assert_true(c->parts > 1);
		return;
	}
	if (n->is_known && c->sequence <= n->sequence) {
		assert_int_equal(command->outcome,
			c->sequence == n->sequence ? OUTCOME_DONE : OUTCOME_STALE_REGISTRATION);
		return;
	}
	if (!n->is_known && nodes_known(m) == MODEL_NODES_MAX) {
		assert_int_equal(command->outcome, OUTCOME_TABLE_FULL);
		return;
	}
	assert_int_equal(command->outcome, OUTCOME_DONE);
	if (n->is_known) {
		assert_int_equal(c->generation, n->generation + 1);
		assert_int_equal(c->slot, n->slot);
	}
	n->is_new |= !n->is_known;
	n->is_known = true;
	n->slot = c->slot;
	n->generation = c->generation;
	n->sequence = c->sequence;
	n->total = c->total;
	n->gpus = gpus;
	bool has_others = has_other_devices(c), had_others = n->has_other_devices;
	n->has_other_devices = has_others;
	lose_missing_devices(m, node, has_others != had_others);
}

static struct model_node *node_of_slot(struct model *m, uint32_t slot)
{
	for (uint32_t i = 0; i < MODEL_NODES; i++)
		if (m->nodes[i].is_known && m->nodes[i].slot == slot)
			return &m->nodes[i];
	return NULL;
}

void model_node_status(struct model *m, const struct command *command)
{
	struct model_node *n = node_of_slot(m, command->node.slot);

	if (!n) {
		assert_int_equal(command->outcome, OUTCOME_UNKNOWN_NODE);
		return;
	}
	if (n->generation != command->node.generation) {
		assert_int_equal(command->outcome, OUTCOME_STALE_GENERATION);
		return;
	}
	assert_int_equal(command->outcome, OUTCOME_DONE);
	n->is_ready = command->type == COMMAND_NODE_RETURNED;
	n->is_new = false;
	for (uint32_t i = 0; i < m->allocation_count && !n->is_ready; i++)
		if (&m->nodes[m->allocations[i].node] == n && model_is_living(&m->allocations[i]))
			end(m, &m->allocations[i], ALLOC_LOST);
}

void model_eligibility(struct model *m, uint32_t node, const struct command *command)
{
	struct model_node *n = &m->nodes[node];

	assert_int_equal(command->outcome, n->is_known ? OUTCOME_DONE : OUTCOME_UNKNOWN_NODE);
	if (n->is_known)
		n->is_ineligible = !command->node_eligibility.eligible;
}

void model_purge(struct model *m, uint32_t node, const struct command *command)
{
	struct model_node *n = &m->nodes[node];

	assert_int_equal(command->outcome, n->is_known ? OUTCOME_DONE : OUTCOME_UNKNOWN_NODE);
	if (!n->is_known)
		return;
	for (uint32_t i = 0; i < m->allocation_count; i++) {
		struct model_allocation *a = &m->allocations[i];
		if (a->node != node || a->is_off_node || a->is_collected)
			continue;
		if (model_is_living(a))
			end(m, a, ALLOC_LOST);
		a->is_off_node = a->is_news = true;
		a->ended_ms = m->now_ms; // changed by it
	}
	n->is_known = n->is_ready = n->is_ineligible = n->is_new = false;
	n->used = (struct resources){0};
	n->gpus_used = 0;
	n->sequence = 0;
}

static struct model_node *first_that_takes(
	struct model *m, const struct model_job *job, uint32_t group)
{
	struct model_node *best = NULL;

	for (uint32_t i = 0; i < MODEL_NODES; i++) {
		struct model_node *n = &m->nodes[i];
		uint64_t free = ((1ull << n->gpus) - 1) & ~n->gpus_used;
		if (!n->is_known || !n->is_ready || n->is_ineligible ||
			(best && best->slot < n->slot) ||
			!resources_fit(job->asks[group], resources_minus(n->total, n->used)) ||
			(job->gpus[group] && !lowest(free, job->gpus[group])))
			continue;
		best = n;
	}
	return best;
}

static const struct model_request *request_of(
	const struct model *m, uint32_t client, const struct command_place *c)
{
	for (uint32_t i = 0; i < m->request_count; i++) {
		const struct model_request *r = &m->requests[i];
		if (!r->is_forgotten && r->client == client && r->issued_ms == c->issued_ms &&
			r->request == c->request)
			return r;
	}
	return NULL;
}

static enum command_outcome refusal_of(const struct model *m, const struct model_job *job,
	uint32_t client, const struct command_place *c)
{
	if (c->issued_ms < m->now_ms - PLACE_REMEMBER_MS ||
		c->issued_ms > m->now_ms + PLACE_CLOCK_AHEAD_MS || c->issued_ms <= m->forgotten_ms)
		return OUTCOME_TOO_OLD;
	if (!job->exists)
		return OUTCOME_UNKNOWN_JOB;
	if (!(job->clients >> client & 1))
		return OUTCOME_CLIENT_NOT_ALLOWED;
	return job->is_stopped ? OUTCOME_JOB_STOPPED : OUTCOME_DONE;
}

static void take(struct model *m, struct model_node *n, uint32_t job, uint32_t group,
	uint32_t client, const struct placed_item *item)
{
	const struct model_job *j = &m->jobs[job];
	struct model_allocation *a = &m->allocations[m->allocation_count++];

	assert_true(m->allocation_count < MODEL_ALLOCATIONS);
	assert_int_equal(item->node_slot, n->slot);
	*a = (struct model_allocation){
		.id = item->allocation,
		.node = (uint32_t)(n - m->nodes),
		.job = job,
		.client = client,
		.resources = j->asks[group],
		.desired = ALLOC_RUN,
		.client_status = ALLOC_PENDING,
		.is_news = true,
	};
	if (j->gpus[group])
		a->gpus = lowest(((1ull << n->gpus) - 1) & ~n->gpus_used, j->gpus[group]);
	n->used = resources_plus(n->used, a->resources);
	n->gpus_used |= a->gpus;
}

void model_place(struct model *m, uint32_t job, uint32_t group, uint32_t client,
	const struct command *command)
{
	const struct command_place *c = command->place;
	const struct model_request *before = request_of(m, client, c);

	if (before) {
		assert_int_equal(command->outcome, OUTCOME_DONE);
		assert_int_equal(c->placed, before->count);
		assert_memory_equal(c->items, before->items, c->placed * sizeof c->items[0]);
		return;
	}
	enum command_outcome refusal = refusal_of(m, &m->jobs[job], client, c);
	if (refusal != OUTCOME_DONE) {
		assert_int_equal(command->outcome, refusal);
		return;
	}
	for (uint8_t i = 0; i < c->count; i++) {
		struct model_node *n = first_that_takes(m, &m->jobs[job], group);
		if (!n) {
			assert_int_equal(c->placed, i);
			break;
		}
		assert_true(c->placed > i);
		take(m, n, job, group, client, &c->items[i]);
	}
	assert_int_equal(command->outcome, c->placed ? OUTCOME_DONE : OUTCOME_NO_NODE);
	if (!c->placed)
		return;
	struct model_request *r = &m->requests[m->request_count++];
	assert_true(m->request_count < MODEL_REQUESTS);
	*r = (struct model_request){client, c->issued_ms, c->request, c->placed, false, {{{{0}}}}};
	memcpy(r->items, c->items, c->placed * sizeof c->items[0]);
}

void model_release(struct model *m, uint32_t client, const struct command *command)
{
	const struct command_release *c = command->release;

	assert_int_equal(command->outcome, OUTCOME_DONE);
	for (uint8_t i = 0; i < c->count; i++) {
		struct model_allocation *a = find(m, &c->ids[i]);
		if (!a || (!c->any_client && a->client != client)) {
			assert_int_equal(c->results[i], RELEASE_UNKNOWN);
			continue;
		}
		assert_int_equal(
			c->results[i], model_is_living(a) ? RELEASE_DONE : RELEASE_ALREADY);
		if (model_is_living(a))
			end(m, a, ALLOC_COMPLETE);
	}
}

void model_report(struct model *m, uint32_t node, const struct command *command)
{
	const struct command_alloc_update *c = command->alloc_update;
	struct model_node *n = &m->nodes[node];

	// Its slot may be another's by now.
	if (!n->is_known || n->slot != c->slot || n->generation != c->generation)
		return;
	bool may_report = n->is_ready || n->is_new;
	assert_int_equal(command->outcome, may_report ? OUTCOME_DONE : OUTCOME_NODE_NOT_ALLOWED);
	for (uint32_t i = 0; i < c->count && may_report; i++) {
		struct model_allocation *a = find(m, &c->items[i].allocation);
		if (!a || a->node != node || a->is_off_node)
			continue;
		if (is_held(a)) {
			leave(m, a);
			a->client_status = ALLOC_COMPLETE;
		}
		if (a->desired != ALLOC_RUN) // a lost one may still tell how it ended
			a->client_status = ALLOC_COMPLETE;
		a->ended_ms = m->now_ms; // changed by it
		a->is_news = true;
	}
}

static void check_item(struct model *m, uint32_t client, const struct status_item *item)
{
	const struct model_allocation *a = find(m, &item->allocation);

	assert_int_equal(item->known, a && a->client == client);
	if (!item->known)
		return;
	assert_int_equal(item->desired, a->desired);
	assert_int_equal(item->client_status, a->client_status);
	assert_int_equal(item->node_slot, a->is_off_node ? NODE_SLOT_NONE : m->nodes[a->node].slot);
}

// The changes may come in pages; what is news after the last of them was never told.
void model_status(struct model *m, uint32_t client, const struct command *command)
{
	const struct command_status *c = command->status;

	assert_int_equal(command->outcome, OUTCOME_DONE);
	for (uint8_t i = 0; i < c->found; i++) {
		check_item(m, client, &c->items[i]);
		if (!c->changes)
			continue;
		struct model_allocation *a = find(m, &c->items[i].allocation);
		// Instances that moved with their group are news that the model does not foretell.
		assert_true(a && (a->is_news || a->gpus));
		a->is_news = false;
	}
	if (!c->changes) {
		assert_int_equal(c->found, c->count);
		return;
	}
	m->asked_at[client] = c->index;
	for (uint32_t i = 0; i < m->allocation_count && !c->more; i++) {
		const struct model_allocation *a = &m->allocations[i];
		assert_false(a->client == client && a->is_news && !a->is_collected);
	}
}

void model_job_register(struct model *m, uint32_t job, uint32_t clients,
	const struct resources *asks, const uint32_t *gpus, const struct command *command)
{
	struct model_job *j = &m->jobs[job];
	bool is_same = j->exists && !j->is_stopped && memcmp(j->asks, asks, sizeof j->asks) == 0 &&
		       memcmp(j->gpus, gpus, sizeof j->gpus) == 0 && j->clients == clients;

	assert_int_equal(command->outcome, OUTCOME_DONE);
	assert_int_equal(command->job_register.existed, j->exists);
	if (is_same)
		return;
	j->version = j->exists ? j->version + 1 : 0;
	j->exists = true;
	j->is_stopped = false;
	memcpy(j->asks, asks, sizeof j->asks);
	memcpy(j->gpus, gpus, sizeof j->gpus);
	j->clients = clients;
}

void model_job_stop(struct model *m, uint32_t job, const struct command *command)
{
	struct model_job *j = &m->jobs[job];

	assert_int_equal(command->outcome, j->exists ? OUTCOME_DONE : OUTCOME_UNKNOWN_JOB);
	if (!j->exists || (j->is_stopped && !command->job_deregister.purge))
		return;
	for (uint32_t i = 0; i < m->allocation_count; i++)
		if (m->allocations[i].job == job && model_is_living(&m->allocations[i]))
			end(m, &m->allocations[i], ALLOC_PENDING);
	j->exists = !command->job_deregister.purge;
	j->is_stopped = true;
	j->version++;
	j->stopped_ms = m->now_ms;
}

void model_collect(struct model *m, const struct command *command)
{
	int64_t before = m->now_ms - CONTROLLER_COLLECT_AFTER_MS;
	bool has_allocations[MODEL_JOBS] = {0};

	assert_int_equal(command->outcome, OUTCOME_DONE);
	for (uint32_t i = 0; i < m->allocation_count; i++) {
		struct model_allocation *a = &m->allocations[i];
		if (!a->is_collected && !model_is_living(a) && a->ended_ms < before) {
			if (is_held(a))
				leave(m, a);
			a->is_collected = true;
		}
		has_allocations[a->job] |= !a->is_collected;
	}
	for (uint32_t i = 0; i < MODEL_JOBS; i++)
		if (m->jobs[i].is_stopped && m->jobs[i].stopped_ms < before && !has_allocations[i])
			m->jobs[i].exists = false;
	for (uint32_t i = 0; i < m->request_count; i++) {
		struct model_request *r = &m->requests[i];
		if (r->is_forgotten)
			continue;
		if (r->issued_ms >= m->now_ms - PLACE_REMEMBER_MS)
			break; // in the order in which they were answered
		r->is_forgotten = true;
		if (r->issued_ms > m->forgotten_ms)
			m->forgotten_ms = r->issued_ms;
	}
}

void model_drop_stopped(struct model *m)
{
	bool has_allocations[MODEL_JOBS] = {0};

	for (uint32_t i = 0; i < m->allocation_count; i++)
		has_allocations[m->allocations[i].job] |= !m->allocations[i].is_collected;
	for (uint32_t i = 0; i < MODEL_JOBS; i++)
		if (m->jobs[i].is_stopped && !has_allocations[i])
			m->jobs[i].exists = false;
}

static void compare_node(const struct model_node *n, const struct state *state)
{
	const struct node *record = state_node_at(state, n->slot);

	assert_non_null(record);
	assert_int_equal(record->generation, n->generation);
	assert_int_equal(record->status, n->is_new     ? NODE_INITIALIZING
					 : n->is_ready ? NODE_READY
						       : NODE_DOWN);
	assert_int_equal(record->eligibility, n->is_ineligible ? NODE_INELIGIBLE : NODE_ELIGIBLE);
	struct resources used = state_node_cell((struct state *)state, n->slot)->used;
	assert_memory_equal(&used, &n->used, sizeof used);
}

static void compare_allocation(
	const struct model *m, const struct model_allocation *a, const struct state *state)
{
	const struct allocation *record = state_allocation(state, &a->id);

	if (a->is_collected) {
		assert_null(record);
		return;
	}
	assert_non_null(record);
	assert_int_equal(record->desired, a->desired);
	assert_int_equal(record->client_status, a->client_status);
	assert_int_equal(
		record->node_slot, a->is_off_node ? NODE_SLOT_NONE : m->nodes[a->node].slot);
	assert_string_equal(record->job->id, model_jobs[a->job]);
	assert_string_equal(state_client_name(state, record->client), model_clients[a->client]);
	assert_memory_equal(&record->resources, &a->resources, sizeof a->resources);
}

static bool count_one(const struct allocation *a, void *count)
{
	++*(uint32_t *)count;
	return true;
}

static void compare_job(const struct model *m, uint32_t job, const struct state *state)
{
	const struct model_job *j = &m->jobs[job];
	const struct job *record = state_job(state, TEXT("default"), text_of(model_jobs[job]));
	uint32_t expected = 0, living = 0, found = 0;

	for (uint32_t i = 0; i < m->allocation_count; i++) {
		expected += m->allocations[i].job == job && !m->allocations[i].is_collected;
		living += m->allocations[i].job == job && model_is_living(&m->allocations[i]);
	}
	state_job_allocations(state, TEXT("default"), text_of(model_jobs[job]), count_one, &found);
	assert_int_equal(found, expected);
	assert_int_equal(record != NULL, j->exists);
	if (!record)
		return;
	assert_int_equal(record->version, j->version);
	assert_int_equal(record->stop, j->is_stopped);
	assert_int_equal(record->status, j->is_stopped ? JOB_DEAD
					 : living      ? JOB_RUNNING
						       : JOB_PENDING);
}

void model_compare(const struct model *m, const struct state *state)
{
	uint64_t cursor = 0, last = 0;
	uint32_t found = 0, expected = 0;
	const struct allocation *a;

	state_read_begin();
	for (uint32_t i = 0; i < MODEL_NODES; i++)
		if (m->nodes[i].is_known)
			compare_node(&m->nodes[i], state);
	for (uint32_t i = 0; i < m->allocation_count; i++) {
		compare_allocation(m, &m->allocations[i], state);
		expected += !m->allocations[i].is_collected;
	}
	for (uint32_t i = 0; i < MODEL_JOBS; i++)
		compare_job(m, i, state);
	while ((a = state_next(state, STATE_ALLOCATIONS, &cursor))) {
		assert_true(a->record.create_index > last);
		last = a->record.create_index;
		found += uuid_is_zero(&a->eval_id); // the others are of the work model
	}
	state_read_end();
	assert_int_equal(found, expected);
}
