#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/placer.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

static enum command_outcome answer_again(
	const struct place_request *request, struct command_place *c, uint64_t *index)
{
	c->placed = request->count;
	c->requested = request->requested;
	c->nodes_feasible = request->nodes_feasible;
	memcpy(c->items, request->items, request->count * sizeof c->items[0]);
	*index = request->index;
	return OUTCOME_DONE;
}

static bool is_in_time(const struct decider *d, int64_t issued_ms)
{
	int64_t now_ms = d->now_ns / NS_PER_MS;

	return issued_ms >= now_ms - PLACE_REMEMBER_MS &&
	       issued_ms <= now_ms + PLACE_CLOCK_AHEAD_MS && issued_ms > d->state->forgotten_ms;
}

static enum command_outcome find_group(
	struct decider *d, const struct command_place *c, struct job **job, uint16_t *group)
{
	const struct job_cell *cell = decider_find_job(d, c->namespace_name, c->job);

	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	*job = job_cell_keep(cell)->versions[0];
	if (!job_is_direct(*job))
		return OUTCOME_NOT_DIRECT;
	if (!job_admits_client(*job, c->client))
		return OUTCOME_CLIENT_NOT_ALLOWED;
	if ((*job)->stop)
		return OUTCOME_JOB_STOPPED;
	int found = job_group_index(*job, c->group);
	if (found < 0)
		return OUTCOME_UNKNOWN_GROUP;
	*group = (uint16_t)found;
	return OUTCOME_DONE;
}

// Whether the tables have room; checked before anything is chosen.
static bool tables_have_room(const struct state *state, bool is_new_client)
{
	return state->tables[STATE_ALLOCATIONS].order.count < state->limits.allocations &&
	       state->tables[STATE_PLACE_REQUESTS].order.count < state->limits.place_requests &&
	       !(is_new_client && state->client_count >= state->limits.clients);
}

static struct uuid fresh_id(struct decider *d)
{
	struct uuid id;

	do
		id = prng_uuid(&d->prng);
	while (uuid_is_zero(&id) || alloc_cell_find(d->state, &id));
	return id;
}

static uint32_t next_number(const struct state *state, const struct job *job, uint16_t group)
{
	const struct job_cell *cell = job_cell_of(state, job);
	const struct task_group *task_group = ARRAY_AT(&job->task_groups, struct task_group, group);

	return job_keep_counter(cell->working, text_of(task_group->name))->next;
}

static struct entry place_entry(struct decider *d, const struct job *job, uint16_t group,
	const struct placer_choice *choice, uint32_t client)
{
	const struct node *n = d->state->cells[choice->slot].working;

	return (struct entry){.kind = ENTRY_ALLOC_PLACE,
		.alloc_place = {
			.id = fresh_id(d),
			.slot = choice->slot,
			.generation = n ? n->generation : 0,
			.client = client,
			.job_version = job->record.modify_index,
			.group = group,
			.number = next_number(d->state, job, group),
			.resources = ARRAY_AT(&job->asks, struct group_ask, group)->resources,
			.devices = choice->devices,
			.score = choice->score,
			.nodes_evaluated = choice->nodes_evaluated,
			.nodes_feasible = choice->nodes_feasible,
		}};
}

// The client's number; a new client becomes known with its first allocation.
static uint32_t client_number(struct decider *d, struct text name)
{
	if (name.size == 0)
		return CLIENT_NONE;
	const struct client *client = client_find(d->state, name);
	if (client)
		return client->number;
	struct entry e = {
		.kind = ENTRY_CLIENT, .client = {.number = d->state->client_count, .name = name}};
	CHECK(decider_commit(d, &e) == 0);
	return e.client.number;
}

// Whether the node has room beside everything that it holds, what is to stop included.
static bool has_room(const struct node_cell *cell, const struct entry_alloc_place *e)
{
	return cell->working &&
	       resources_fit(
		       e->resources, resources_minus(node_capacity(cell->working), cell->used)) &&
	       node_has_devices(cell->working, node_devices_used(cell), &e->devices);
}

// Placement's choice is checked again here. A choice that does not fit is a mistake in placement: the request ends,
// and no node is over-committed.
static bool commit_choice(struct decider *d, struct command_place *c, const struct job *job,
	uint16_t group, const struct placer_choice *choice)
{
	CHECK(choice->slot < d->state->slots_max);
	uint32_t client = client_number(d, c->client);
	struct entry e = place_entry(d, job, group, choice, client);

	if (!has_room(&d->state->cells[choice->slot], &e.alloc_place) ||
		decider_commit(d, &e) != 0) {
		atomic_fetch_add(&d->counters->bad_choices, 1);
		log_error("placement-does-not-fit", "slot=%u job=%lu group=%u", choice->slot,
			(unsigned long)job->record.modify_index, group);
		return false;
	}
	atomic_fetch_add(&d->counters->placements, 1);
	c->items[c->placed++] = (struct placed_item){
		.allocation = e.alloc_place.id,
		.node = *node_cell_id(&d->state->cells[choice->slot]),
		.node_slot = choice->slot,
		.score = choice->score,
	};
	c->nodes_feasible = choice->nodes_feasible;
	return true;
}

// Whether the quota of the job's namespace takes one more instance of the group (row B45).
static bool quota_takes_one(const struct state *state, const struct job *job, uint16_t group)
{
	const struct namespace_cell *space = job_cell_of(state, job)->space;
	const struct group_ask *ask = ARRAY_AT(&job->asks, struct group_ask, group);
	struct quota_amount one = {0};

	if (!space->quota)
		return true;
	quota_amount_add(&one, ask->resources, ask, 1);
	bool takes = !namespace_lacks(space, &one);
	quota_amount_free(&one);
	return takes;
}

static enum command_outcome place_instances(
	struct decider *d, struct command_place *c, const struct job *job, uint16_t group)
{
	while (c->placed < c->count) {
		struct placer_choice choice = {.slot = PLACER_NO_NODE};
		if (d->state->tables[STATE_ALLOCATIONS].order.count >=
				d->state->limits.allocations ||
			next_number(d->state, job, group) == UINT32_MAX)
			return OUTCOME_TABLE_FULL;
		c->refusal = (struct place_refusal){0};
		if (!quota_takes_one(d->state, job, group))
			return OUTCOME_QUOTA_EXHAUSTED;
		d->placer->best(d->placer->context, job, group, &choice, &c->refusal);
		if (choice.slot == PLACER_NO_NODE || !commit_choice(d, c, job, group, &choice))
			return OUTCOME_NO_NODE;
	}
	return OUTCOME_DONE;
}

static void remember(struct decider *d, const struct command_place *c)
{
	bool is_whole = c->placed == c->count;
	struct entry e = {.kind = is_whole ? ENTRY_PLACE_REQUEST : ENTRY_PLACE_IN_PART,
		.place_request = {
			.client = client_number(d, c->client),
			.issued_ms = c->issued_ms,
			.request = c->request,
			.nodes_feasible = c->nodes_feasible,
			.requested = c->count,
			.count = c->placed,
		}};
	memcpy(e.place_request.items, c->items, c->placed * sizeof c->items[0]);
	CHECK(decider_commit(d, &e) == 0);
}

static bool is_sound(const struct command_place *c)
{
	return c->count > 0 && c->count <= PLACE_COUNT_MAX &&
	       c->client.size <= CLIENT_NAME_BYTES_MAX && text_is_printable(c->client);
}

enum command_outcome decide_place(struct decider *d, struct command *command)
{
	struct command_place *c = command->place;
	uint64_t *index = &command->index;
	const struct client *client = client_find(d->state, c->client);
	bool is_named = c->client.size > 0; // only a client's requests have names
	struct job *job;
	uint16_t group;

	c->placed = 0;
	c->requested = c->count;
	if (!is_sound(c))
		return OUTCOME_BAD_DESCRIPTION;
	const struct place_request *before =
		client ? place_request_find(d->state, client->number, c->issued_ms, c->request)
		       : NULL;
	if (before)
		return answer_again(before, c, index);
	if (is_named && !is_in_time(d, c->issued_ms))
		return OUTCOME_TOO_OLD;
	enum command_outcome outcome = find_group(d, c, &job, &group);
	if (outcome != OUTCOME_DONE)
		return outcome;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	if (!tables_have_room(d->state, is_named && !client))
		return OUTCOME_TABLE_FULL;
	outcome = place_instances(d, c, job, group);
	if (c->placed == 0)
		return outcome;
	if (is_named)
		remember(d, c);
	return OUTCOME_DONE;
}

static struct alloc_cell *find_of_client(
	const struct state *state, const struct uuid *id, struct text name, bool any_client)
{
	struct alloc_cell *cell = alloc_cell_find(state, id);
	if (!cell || !alloc_cell_is_there(cell))
		return NULL;
	if (any_client)
		return cell;
	const struct client *client = name.size ? client_find(state, name) : NULL;
	return client && client->number == cell->working->client ? cell : NULL;
}

static bool is_listed(const struct entry_alloc_release *release, const struct uuid *id)
{
	for (uint8_t i = 0; i < release->count; i++)
		if (uuid_equal(&release->ids[i], id))
			return true;
	return false;
}

enum command_outcome decide_release(struct decider *d, struct command *command)
{
	struct command_release *c = command->release;
	struct entry e = {.kind = ENTRY_ALLOC_RELEASE};
	struct entry_alloc_release *release = &e.alloc_release;

	if (c->count > PLACE_COUNT_MAX)
		return OUTCOME_BAD_DESCRIPTION;
	for (uint8_t i = 0; i < c->count; i++) {
		const struct alloc_cell *cell =
			find_of_client(d->state, &c->ids[i], c->client, c->any_client);
		c->results[i] = RELEASE_UNKNOWN;
		if (!cell)
			continue;
		c->results[i] = RELEASE_ALREADY;
		if (allocation_is_terminal(cell->working) || is_listed(release, &c->ids[i]))
			continue;
		c->results[i] = RELEASE_DONE;
		release->ids[release->count++] = c->ids[i];
	}
	if (release->count > 0) {
		CHECK(decider_commit(d, &e) == 0);
		decider_judge_released(d, release);
	}
	return OUTCOME_DONE;
}

static void add_item(struct command_status *c, const struct uuid *id, const struct alloc_cell *cell)
{
	struct status_item *item = &c->items[c->found++];

	*item = (struct status_item){.allocation = *id, .known = cell != NULL};
	if (!cell)
		return;
	item->modify_index = cell->working->record.modify_index;
	item->node_slot = cell->working->node_slot;
	item->desired = cell->working->desired;
	item->client_status = cell->working->client_status;
}

// The index tells where to continue: this answer and the ones before hold everything up to it.
static void find_changes(const struct state *state, struct command_status *c)
{
	const struct client *client = client_find(state, c->client);
	// Who has seen more than there is has seen what the state has lost (an earlier one was put back): all of it is
	// news.
	uint64_t cursor = c->since > state->index ? 0 : c->since + 1;
	const struct alloc_cell *cell;

	if (!client)
		return;
	while ((cell = sequence_next(&client->changes, &cursor))) {
		if (c->found == c->count) {
			c->more = true;
			c->index = c->items[c->found - 1].modify_index;
			return;
		}
		add_item(c, alloc_cell_id(cell), cell);
	}
}

enum command_outcome decide_status(struct decider *d, struct command *command)
{
	struct command_status *c = command->status;

	c->found = 0;
	c->more = false;
	c->index = d->state->index;
	if (c->count == 0 || c->count > PLACE_COUNT_MAX)
		return OUTCOME_BAD_DESCRIPTION;
	if (c->changes) {
		find_changes(d->state, c);
		return OUTCOME_DONE;
	}
	for (uint8_t i = 0; i < c->count; i++)
		add_item(c, &c->ids[i], find_of_client(d->state, &c->ids[i], c->client, false));
	return OUTCOME_DONE;
}
