// Checks every invariant of the tables the slow way: from the records, not from what is kept beside them. No node is
// over-committed in any dimension by living allocations, with one exception: a node that registered again with less
// than before keeps its allocations; then everything that takes of the short dimension was placed before that
// registration.
// Beside the living ones there may be allocations that are to stop: they count as use until they have ended.
#include "state/apply/apply.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/client.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/kind.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include "state/verify/verifier.h"
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

struct use {
	uint64_t cpu_mhz, memory_mb, disk_mb;
	uint64_t newest_cpu, newest_memory,
		newest_disk; // index since which the newest user takes some
	struct device_set devices;
	bool has_device_twice;
	uint32_t direct, with_details, living; // how many
};

// What allocations of a node hold that are to stop.
struct stopping_use {
	struct resources resources;
	struct device_set devices;
	uint32_t with_details;
};

static void add_dimension(uint64_t *sum, uint64_t *newest, uint32_t amount, uint64_t since_index)
{
	*sum += amount;
	if (amount > 0 && since_index > *newest)
		*newest = since_index;
}

static void add_resources(struct use *use, struct resources r, uint64_t since_index)
{
	add_dimension(&use->cpu_mhz, &use->newest_cpu, r.cpu_mhz, since_index);
	add_dimension(&use->memory_mb, &use->newest_memory, r.memory_mb, since_index);
	add_dimension(&use->disk_mb, &use->newest_disk, r.disk_mb, since_index);
}

static void add_use(struct use *use, const struct allocation *a)
{
	use->direct += job_is_direct(a->job);
	use->with_details += alloc_details_hold_node(a->details);
	use->living++;
	add_resources(use, a->resources, a->record.create_index);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		use->has_device_twice |= (use->devices.groups[i] & a->devices.groups[i]) != 0;
		use->devices.groups[i] |= a->devices.groups[i];
	}
}

static void add_stopping(struct stopping_use *use, const struct allocation *a)
{
	use->with_details += alloc_details_hold_node(a->details);
	use->resources = resources_plus(use->resources, a->resources);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		use->devices.groups[i] |= a->devices.groups[i];
}

// Adds what machines hold of the node, if it is a worker.
static void add_machines(struct verifier *v, const struct node_cell *cell, struct use *use)
{
	const struct vm_worker_cell *worker = vm_worker_cell_of_node(v->state, &cell->id);
	const struct vm_cell *vm;

	if (worker)
		cds_list_for_each_entry (vm, &worker->machines, of_worker)
			add_resources(use, vm->working->holds, vm->working->holds_index);
}

static void check_capacity(struct verifier *v, const struct node_cell *cell, const struct use *use)
{
	const struct node *n = cell->working;
	struct resources capacity = node_capacity(n);
	char id[UUID_TEXT_BYTES];

	uuid_format(&n->id, id);
	expect(v, use->cpu_mhz <= capacity.cpu_mhz || use->newest_cpu < n->register_index,
		"node %s: cpu over-committed: %lu of %u", id, use->cpu_mhz, capacity.cpu_mhz);
	expect(v, use->memory_mb <= capacity.memory_mb || use->newest_memory < n->register_index,
		"node %s: memory over-committed: %lu of %u", id, use->memory_mb,
		capacity.memory_mb);
	expect(v, use->disk_mb <= capacity.disk_mb || use->newest_disk < n->register_index,
		"node %s: disk over-committed: %lu of %u", id, use->disk_mb, capacity.disk_mb);
	expect(v, !use->has_device_twice, "node %s: a device instance is given twice", id);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		expect(v, (use->devices.groups[i] & ~node_instances(n, i)) == 0,
			"node %s: device group %u: an instance that is not there is given", id, i);
}

static struct resources held_by_machines(const struct verifier *v, const struct node_cell *cell)
{
	const struct vm_worker_cell *worker = vm_worker_cell_of_node(v->state, &cell->id);
	const struct vm_cell *vm;
	struct resources sum = {0};

	if (worker)
		cds_list_for_each_entry (vm, &worker->machines, of_worker)
			sum = resources_plus(sum, vm->working->holds);
	return sum;
}

// Everything is published, so both uses are of the same allocations and machines.
static void check_published_use(struct verifier *v, const struct node_cell *cell, uint32_t slot)
{
	struct node_use use = state_node_use(v->state, slot);
	struct resources machines = held_by_machines(v, cell);

	expect(v,
		memcmp(&use.used, &cell->used, sizeof use.used) == 0 &&
			memcmp(&use.machines, &machines, sizeof machines) == 0 &&
			memcmp(&use.devices, &cell->devices_used, sizeof use.devices) == 0 &&
			use.with_details == cell->with_details && use.living == cell->living,
		"slot %u: readers see another use than there is", slot);
}

static void check_sums(struct verifier *v, const struct node_cell *cell, const struct use *use,
	const struct stopping_use *stopping)
{
	struct resources used = cell->used, stops = stopping->resources;
	uint32_t slot = cell->working->slot, with_details = use->with_details;
	struct device_set devices = use->devices;

	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		devices.groups[i] |= stopping->devices.groups[i];
	with_details += stopping->with_details;
	expect(v,
		use->cpu_mhz + stops.cpu_mhz == used.cpu_mhz &&
			use->memory_mb + stops.memory_mb == used.memory_mb &&
			use->disk_mb + stops.disk_mb == used.disk_mb &&
			memcmp(&stops, &cell->stopping, sizeof stops) == 0,
		"slot %u: use does not add up", slot);
	expect(v, memcmp(&devices, &cell->devices_used, sizeof devices) == 0,
		"slot %u: use of devices does not add up", slot);
	expect(v, with_details == cell->with_details,
		"slot %u: %u allocations hold ports, devices or cores, %u counted", slot,
		with_details, cell->with_details);
}

static void check_use(struct verifier *v, const struct node_cell *cell)
{
	const struct alloc_cell *alloc;
	struct use use = {0};
	struct stopping_use stopping = {0};
	uint32_t count = 0, slot = cell->working->slot;

	cds_list_for_each_entry_rcu (alloc, &cell->allocations, on_node) {
		const struct allocation *a = alloc->working;
		count++;
		expect(v, a->node_slot == slot && uuid_equal(&a->node_id, &cell->id),
			"slot %u: an allocation of another node is on its list", slot);
		if (allocation_holds_room(a) && allocation_is_terminal(a))
			add_stopping(&stopping, a);
		else if (allocation_holds_room(a))
			add_use(&use, a);
	}
	add_machines(v, cell, &use);
	check_sums(v, cell, &use, &stopping);
	expect(v, count == cell->allocation_count,
		"slot %u: %u allocations on the list, %u counted", slot, count,
		cell->allocation_count);
	expect(v, use.living == cell->living, "slot %u: %u allocations are living, %u counted",
		slot, use.living, cell->living);
	check_published_use(v, cell, slot);
	verify_ports_cores(v, cell);
	check_capacity(v, cell, &use);
	expect(v, cell->working->status == NODE_READY || use.direct == 0,
		"slot %u: a node that is not ready has living allocations of direct jobs", slot);
}

static void check_node(struct verifier *v, uint32_t slot)
{
	const struct node_cell *cell = &v->state->cells[slot];
	const struct node *n = cell->working;
	const struct record *r = &n->record;

	expect(v, cell->published == n, "slot %u: a change was never published", slot);
	expect(v, n->slot == slot && n->generation != 0 && !r->deleted && n->status < NODE_STATUSES,
		"slot %u: bad record", slot);
	expect(v, uuid_equal(&n->id, &cell->id) && node_cell_find(v->state, &n->id) == cell,
		"slot %u: its id does not lead to it", slot);
	expect(v,
		r->create_index <= n->register_index && n->register_index <= r->modify_index &&
			r->modify_index <= v->state->index,
		"slot %u: indexes out of order", slot);
	expect(v,
		n->node_class->id < v->state->classes.limit &&
			state_class(v->state, n->node_class->id) == n->node_class,
		"slot %u: its class is not in the table", slot);
	expect(v, !n->drain || (n->eligibility == NODE_INELIGIBLE && n->last_drain),
		"slot %u: drains, but takes new work, or does not remember that it began", slot);
	expect(v, node_table_owner(v->state->node_table, slot) < WORKERS_MAX,
		"slot %u: nobody owns its block", slot);
	expect(v, slot % NODE_BLOCK_SLOTS < v->state->block_used[slot / NODE_BLOCK_SLOTS],
		"slot %u: in use, but not handed out", slot);
	v->class_nodes[n->node_class->id]++;
	check_use(v, cell);
	verify_standing(v, cell);
}

static void check_free_slots(struct verifier *v)
{
	const struct slot_list *list = &v->state->free_slots;
	uint32_t gone = 0;

	for (uint32_t i = 0; i < list->count; i++)
		expect(v, v->state->cells[list->slots[i]].gone != NULL,
			"slot %u: listed as free, but it is not", list->slots[i]);
	for (uint32_t slot = 0; slot < state_node_slots(v->state); slot++) {
		const struct node_cell *cell = &v->state->cells[slot];
		if (!cell->gone)
			continue;
		gone++;
		expect(v, !cell->working && cell->published == cell->gone,
			"slot %u: free, but a node is there", slot);
		expect(v, cell->allocation_count == 0, "slot %u: free, but allocations are on it",
			slot);
	}
	expect(v, gone == list->count, "%u slots are free, %u are listed", gone, list->count);
}

static void check_nodes(struct verifier *v)
{
	struct state *state = v->state;
	uint32_t by_status[NODE_STATUSES] = {0}, draining = 0;

	v->class_nodes = memory_take_array(state->classes.limit, sizeof v->class_nodes[0]);
	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		const struct node *n = state->cells[slot].working;
		if (!n)
			continue;
		check_node(v, slot);
		by_status[n->status]++;
		draining += n->drain != NULL;
	}
	expect(v,
		memcmp(by_status, state->counts.nodes, sizeof by_status) == 0 &&
			draining == state->counts.nodes_draining,
		"counts of nodes do not add up");
	verify_standings(v);
	check_free_slots(v);
	uint32_t classes = 0;
	for (uint32_t id = 0; id < state->classes.limit; id++) {
		const struct node_class *c = state_class(state, id);
		classes += c != NULL;
		expect(v, v->class_nodes[id] == (c ? c->nodes : 0),
			"class %u: %u nodes, %u counted", id, v->class_nodes[id], c ? c->nodes : 0);
	}
	expect(v, classes == state->classes.count, "count of classes does not add up");
	free(v->class_nodes);
}

static void check_counter(struct verifier *v, struct job_keep *keep, const struct allocation *a)
{
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	const struct group_counter *counter = job_keep_counter(keep, text_of(group->name));
	uint32_t next = counter ? counter->next : keep->counter_floor;

	expect(v, a->index < next, "job %s: number %u of group %s may be given again", a->job->id,
		a->index, group->name);
}

static void check_job_allocations(struct verifier *v, const struct job_cell *cell)
{
	const struct alloc_cell *alloc;
	uint32_t count = 0, present = 0, live = 0;

	cds_list_for_each_entry_rcu (alloc, &cell->allocations, of_job) {
		const struct allocation *a = alloc->working;
		count++;
		expect(v,
			alloc->job_cell == cell &&
				strcmp(a->job->namespace_name, cell->namespace_name) == 0 &&
				strcmp(a->job->id, cell->id) == 0,
			"job %s: an allocation of another job is on its list", cell->id);
		if (a->record.deleted)
			continue;
		present++;
		if (allocation_is_terminal(a))
			continue;
		live++;
		if (!job_is_direct(a->job))
			continue;
		expect(v, job_cell_keep(cell) != NULL, "job %s: deleted, but its allocations live",
			cell->id);
		if (job_cell_keep(cell) && a->group < a->job->asks.count)
			check_counter(v, job_cell_keep(cell), a);
	}
	expect(v,
		count == cell->allocation_count && present == cell->present_count &&
			live == cell->live_count,
		"job %s: counts of allocations do not add up", cell->id);
	verify_names(v, cell);
}

static void check_versions(
	struct verifier *v, const struct job_cell *cell, const struct job_keep *keep)
{
	expect(v, keep->version_count > 0 && keep->version_count <= JOB_VERSIONS_MAX,
		"job %s: %u versions", cell->id, keep->version_count);
	for (uint32_t i = 0; i < keep->version_count; i++) {
		const struct job *job = keep->versions[i];
		expect(v, job_version_find(v->state, job->record.modify_index) == job,
			"job %s: version %lu is not in the table", cell->id, job->version);
		expect(v, job->references > 0 && job->asks.count == job->task_groups.count,
			"job %s: version %lu: bad record", cell->id, job->version);
		expect(v, job->record.create_index == keep->record.create_index,
			"job %s: version %lu is of a former job", cell->id, job->version);
		if (i > 0)
			expect(v, job->version < keep->versions[i - 1]->version,
				"job %s: versions out of order", cell->id);
	}
	expect(v,
		keep->status == job_status_of(cell, keep) &&
			keep->versions[0]->status == keep->status,
		"job %s: wrong status", cell->id);
	const struct job *newest = keep->versions[0];
	expect(v, (newest->stop && job_is_direct(newest)) == cell->is_stopped_listed,
		"job %s: wrongly listed as stopped", cell->id);
	expect(v, (!newest->stop && job_traits_of(newest)->follows_nodes) == cell->is_system_listed,
		"job %s: wrongly listed as one for every node", cell->id);
}

static void check_jobs(struct verifier *v)
{
	struct state *state = v->state;
	uint64_t cursor = 0;
	uint32_t jobs = 0, marked = 0;
	struct job_cell *cell;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		const struct job_keep *keep = job_cell_keep(cell);
		expect(v, cell->published == cell->working, "job %s: a change was never published",
			cell->id);
		expect(v,
			job_cell_find(state, text_of(cell->namespace_name), text_of(cell->id)) ==
				cell,
			"job %s: its name does not lead to it", cell->id);
		expect(v, sequence_holds(&state->tables[STATE_JOBS].order, cell, cell->index),
			"job %s: out of place", cell->id);
		if (keep)
			check_versions(v, cell, keep);
		check_job_allocations(v, cell);
		if (keep)
			verify_summary(v, cell);
		verify_job_evaluations(v, cell);
		verify_job_deployments(v, cell);
		verify_children(v, cell);
		expect(v,
			cell->is_marked == (cell->working->mark.first_ns != 0) &&
				cell->is_urgent == job_mark_is_urgent(&cell->working->mark),
			"job %s: wrongly listed as marked", cell->id);
		marked += cell->is_marked;
		jobs += keep != NULL;
	}
	expect(v, jobs == state->counts.jobs && marked == state->counts.jobs_marked,
		"counts of jobs do not add up");
}

static void check_allocation(struct verifier *v, const struct alloc_cell *cell)
{
	const struct state *state = v->state;
	const struct allocation *a = cell->working;
	const struct record *r = &a->record;
	char id[UUID_TEXT_BYTES];

	uuid_format(&cell->id, id);
	expect(v, cell->published == a, "allocation %s: a change was never published", id);
	expect(v, uuid_equal(&a->id, &cell->id) && alloc_cell_find(state, &a->id) == cell,
		"allocation %s: its id does not lead to it", id);
	expect(v, r->create_index <= r->modify_index && r->modify_index <= state->index,
		"allocation %s: indexes out of order", id);
	expect(v, sequence_holds(&state->tables[STATE_ALLOCATIONS].order, cell, r->create_index),
		"allocation %s: out of place", id);
	expect(v,
		a->node_slot == NODE_SLOT_NONE || (a->node_slot < state_node_slots(state) &&
							  state->cells[a->node_slot].working),
		"allocation %s: no node at slot %u", id, a->node_slot);
	expect(v,
		a->group < a->job->asks.count &&
			job_version_find(state, a->job->record.modify_index) == a->job,
		"allocation %s: no such job version or group", id);
	expect(v, (allocation_end_cause(a) != END_NONE) == (a->desired != ALLOC_RUN),
		"allocation %s: its states and descriptions disagree", id);
	expect(v,
		cell->is_ended == allocation_is_terminal(a) &&
			(cell->room != ROOM_NONE) == allocation_holds_room(a) &&
			(cell->room == ROOM_LIVING) ==
				(allocation_holds_room(a) && !allocation_is_terminal(a)),
		"allocation %s: holds its node, or not, against its state", id);
	if (r->deleted)
		return;
	expect(v,
		a->client == CLIENT_NONE ||
			(a->client < state->client_count &&
				sequence_holds(&state->clients[a->client]->changes, cell,
					r->modify_index)),
		"allocation %s: not among the changes of its client", id);
	expect(v, cell->counted_status == a->client_status + 1,
		"allocation %s: counted in another state", id);
	expect(v, !cell->eval_cell || uuid_equal(&cell->eval_cell->id, &a->eval_id),
		"allocation %s: counted by another evaluation", id);
	v->evaluated += cell->eval_cell != NULL;
	v->deployed += cell->deployment_cell != NULL;
	v->allocations++;
	v->terminal += allocation_is_terminal(a);
}

static uint32_t count_ended(struct verifier *v, const struct cds_list_head *list, bool of_clients)
{
	const struct alloc_cell *cell;
	uint32_t listed = 0;

	cds_list_for_each_entry (cell, list, terminal) {
		expect(v,
			allocation_is_terminal(cell->working) &&
				uuid_is_zero(&cell->working->eval_id) == of_clients,
			"an allocation is listed as ended that is not, or is another's");
		listed++;
	}
	return listed;
}

static void check_allocations(struct verifier *v)
{
	struct state *state = v->state;
	const struct alloc_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&state->tables[STATE_ALLOCATIONS].order, &cursor)))
		check_allocation(v, cell);
	uint32_t listed = count_ended(v, &state->terminal, true) +
			  count_ended(v, &state->planned_terminal, false);
	expect(v, listed == v->terminal, "%u allocations ended, %u are listed", v->terminal,
		listed);
	expect(v,
		v->allocations == state->counts.allocations &&
			v->terminal == state->counts.allocations_terminal,
		"counts of allocations do not add up");
}

static void check_clients(struct verifier *v)
{
	const struct state *state = v->state;
	uint64_t changes = 0;

	for (uint32_t i = 0; i < state->client_count; i++) {
		const struct client *client = state->clients[i];
		expect(v,
			client->number == i && client_find(state, text_of(client->name)) == client,
			"client %s: its name does not lead to it", client->name);
		changes += client->changes.count;
	}
	expect(v, changes <= v->allocations,
		"clients have more changes than there are allocations");
	expect(v, state->counts.clients == state->client_count, "count of clients does not add up");
}

static void check_requests(struct verifier *v)
{
	const struct state *state = v->state;
	const struct place_request *request;
	uint64_t cursor = 0;
	uint32_t count = 0;

	while ((request = sequence_next(&state->tables[STATE_PLACE_REQUESTS].order, &cursor))) {
		if (request->forgotten_index)
			continue;
		expect(v,
			place_request_find(state, request->client, request->issued_ms,
				request->request) == request,
			"request %lu: its name does not lead to it", request->request);
		expect(v,
			request->count > 0 && request->count <= PLACE_COUNT_MAX &&
				request->index <= state->index,
			"request %lu: bad record", request->request);
		count++;
	}
	expect(v, count == state->counts.place_requests, "count of requests does not add up");
}

static void name_key(const struct kind *kind, const struct cell *cell, char text[static 64])
{
	if (kind->key == KEY_UUID)
		uuid_format(&cell->id, text);
	else
		snprintf(text, 64, "%s", kind->key == KEY_NAME ? cell->name : "");
}

// Whether the record has the cell's key.
static bool has_key_of(const struct kind *kind, const struct cell *cell)
{
	const char *key = (const char *)cell->working + kind->key_offset;

	if (kind->key == KEY_UUID)
		return uuid_equal((const struct uuid *)key, &cell->id);
	return text_equal(text_of(*(char *const *)key), text_of(cell->name));
}

static bool leads_to(struct verifier *v, const struct kind *kind, const struct cell *cell)
{
	struct text name;

	if (kind->key == KEY_UUID)
		return table_find(v->state, cell->table, &cell->id) == cell;
	name = text_of(cell->name);
	return table_find(v->state, cell->table, &name) == cell;
}

static void check_record(
	struct verifier *v, const struct table *table, const struct cell *cell, const char *key)
{
	const struct kind *kind = table->kind;
	const struct record *r = cell->working;

	expect(v,
		r->create_index <= r->modify_index && r->modify_index <= v->state->index &&
			r->table == cell->table,
		"%s %s: indexes out of order", kind->name, key);
	// A record that is made again under a name takes the cell of that name; an id is given once.
	expect(v,
		kind->key == KEY_ONE ||
			(cell->index != 0 && cell->index <= r->create_index &&
				(kind->key == KEY_NAME || cell->index == r->create_index)),
		"%s %s: in the place of another", kind->name, key);
	if (r->deleted)
		return;
	expect(v, kind->is_sound(r) && (kind->key == KEY_ONE || has_key_of(kind, cell)),
		"%s %s: bad record", kind->name, key);
}

static void check_cell(struct verifier *v, const struct table *table, const struct cell *cell)
{
	const struct kind *kind = table->kind;
	char key[64];

	name_key(kind, cell, key);
	expect(v, cell->published == cell->working, "%s %s: a change was never published",
		kind->name, key);
	expect(v, kind->key == KEY_ONE || leads_to(v, kind, cell),
		"%s %s: its key does not lead to it", kind->name, key);
	expect(v, cell->index == 0 || sequence_holds(&table->order, cell, cell->index),
		"%s %s: out of place", kind->name, key);
	if (cell->working)
		check_record(v, table, cell, key);
	bool is_idle = !kind->is_idle || kind->is_idle(cell);
	expect(v, kind->key == KEY_ONE || cell_is_there(cell) || !is_idle || cell->is_in_grave,
		"%s %s: deleted, but not on its way out", kind->name, key);
}

static void check_cells(struct verifier *v, const struct table *table)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	if (table->one)
		check_cell(v, table, table->one);
	else
		cds_lfht_for_each (table->hash.buckets, &iter, node)
			check_cell(v, table, caa_container_of(node, struct cell, by_key));
}

// Checks of single kinds. The other kinds have only the checks that hold for every kind.
static void (*const verify_own[STATE_TABLES])(struct verifier *) = {
	[STATE_NODES] = check_nodes,
	[STATE_JOBS] = check_jobs,
	[STATE_ALLOCATIONS] = check_allocations,
	[STATE_PLACE_REQUESTS] = check_requests,
	[STATE_EVALUATIONS] = verify_evaluations,
	[STATE_DEPLOYMENTS] = verify_deployments,
	[STATE_VMS] = verify_vms,
};

uint32_t state_verify(struct state *state, state_violation *report, void *context)
{
	struct verifier v = {.state = state, .report = report, .context = context};

	state_read_begin();
	expect(&v, state_index(state) == state->index,
		"changes after index %lu were never published", state_index(state));
	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		if (state->tables[i].kind->fields)
			check_cells(&v, &state->tables[i]);
		if (verify_own[i])
			verify_own[i](&v);
	}
	check_clients(&v);
	state_read_end();
	return v.violations;
}
