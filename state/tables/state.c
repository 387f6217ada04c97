#include "state/tables/state.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/node_slots.h"
#include "state/tables/publish.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// --- Creation ------------------------------------------------------------------------------------

// Blocks of slots belong to workers: with each worker's last block half empty, more slots than
// nodes are needed.
static uint32_t slots_for(uint32_t nodes)
{
	uint64_t blocks = (nodes + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS + WORKERS_MAX;
	uint64_t slots = blocks * NODE_BLOCK_SLOTS;

	return slots < NODES_MAX ? (uint32_t)slots : NODES_MAX;
}

static struct cds_lfht *table_create(void)
{
	return cds_lfht_new(TABLE_BUCKETS_MIN, TABLE_BUCKETS_MIN, 0, 0, NULL); // see table_room.c
}

static uint32_t count_nodes(const struct state *state)
{
	uint32_t nodes = 0;

	for (int i = 0; i < NODE_STATUSES; i++)
		nodes += state->counts.nodes[i];
	return nodes;
}

static void limits_check(const struct state_limits *limits)
{
	CHECK(limits->nodes > 0 && limits->nodes <= NODES_MAX);
	CHECK(limits->jobs > 0 && limits->jobs <= JOBS_MAX);
	CHECK(limits->allocations > 0 && limits->allocations <= ALLOCATIONS_MAX);
	CHECK(limits->place_requests > 0 && limits->place_requests <= PLACE_REQUESTS_MAX);
	CHECK(limits->clients > 0 && limits->clients <= CLIENTS_MAX);
	CHECK(limits->evaluations <= EVALUATIONS_MAX);
	CHECK(limits->deployments <= DEPLOYMENTS_MAX);
	CHECK(limits->vms <= VMS_MAX && limits->vm_workers <= VM_WORKERS_MAX);
}

static struct scheduler_config *default_config(void)
{
	struct scheduler_config *config = memory_take(sizeof *config);

	record_init(&scheduler_config_description, config);
	return config;
}

struct state *state_create(const struct state_limits *limits)
{
	limits_check(limits);
	struct state *state = memory_take(sizeof *state);

	state->limits = *limits;
	if (state->limits.evaluations == 0)
		state->limits.evaluations = EVALUATIONS_MAX;
	if (state->limits.deployments == 0)
		state->limits.deployments = DEPLOYMENTS_MAX;
	if (state->limits.vms == 0)
		state->limits.vms = VMS_MAX;
	if (state->limits.vm_workers == 0)
		state->limits.vm_workers = VM_WORKERS_MAX;
	state->slots_max = slots_for(limits->nodes);
	pthread_mutex_init(&state->summary_lock, NULL);
	sequence_init(&state->job_order, offsetof(struct job_cell, position));
	sequence_init(&state->version_order, offsetof(struct job, position));
	sequence_init(&state->allocation_order, offsetof(struct alloc_cell, position));
	sequence_init(&state->request_order, offsetof(struct place_request, position));
	sequence_init(&state->eval_order, offsetof(struct eval_cell, position));
	sequence_init(&state->deployment_order, offsetof(struct deployment_cell, position));
	CDS_INIT_LIST_HEAD(&state->terminal);
	CDS_INIT_LIST_HEAD(&state->planned_terminal);
	CDS_INIT_LIST_HEAD(&state->stopped);
	CDS_INIT_LIST_HEAD(&state->marked);
	CDS_INIT_LIST_HEAD(&state->system);
	CDS_INIT_LIST_HEAD(&state->orphans);
	state->config.published = state->config.working = default_config();
	classes_init(&state->classes);
	strings_init(&state->strings);
	clients_init(state);
	state->unpublished_from = 1;
	state->block_used =
		memory_take_array(state->slots_max / NODE_BLOCK_SLOTS, sizeof state->block_used[0]);
	state->watch = watch_create();
	state->nodes = state->rooms[0].table = table_create();
	state->jobs = state->rooms[1].table = table_create();
	state->allocations = state->rooms[2].table = table_create();
	state->requests = state->rooms[3].table = table_create();
	state->evaluations = state->rooms[4].table = table_create();
	state->deployments = state->rooms[5].table = table_create();
	vm_tables_init(&state->vms);
	state->vms.by_name = state->rooms[6].table = table_create();
	state->vms.instances = state->rooms[7].table = table_create();
	state->vms.workers = state->rooms[8].table = table_create();
	state->vms.worker_nodes = state->rooms[9].table = table_create();
	state->node_table = node_table_create(state->slots_max);
	state->node_groups = node_groups_create(state->slots_max, NODE_GROUPS_MAX);
	state->plan_memory = memory_take(sizeof *state->plan_memory);
	state->cells = memory_map((size_t)state->slots_max * sizeof state->cells[0]);
	if (state->cells && state->node_table && state->node_groups && state->nodes &&
		state->jobs && state->allocations && state->requests && state->evaluations &&
		state->deployments && state->vms.by_name && state->vms.instances &&
		state->vms.workers && state->vms.worker_nodes)
		return state;
	state_destroy(state);
	return NULL;
}

// --- Destruction ---------------------------------------------------------------------------------

// What nobody published yet is freed too: then `published` is somewhere behind `working`.
static void free_versions(struct record *working, const struct record *published)
{
	while (working) {
		struct record *older = working == published ? NULL : working->older;
		free(working);
		working = older;
	}
}

static void free_allocation_versions(struct alloc_cell *cell)
{
	struct allocation *a = cell->working;

	while (a) {
		struct allocation *older =
			a == cell->published ? NULL : (struct allocation *)a->record.older;
		allocation_free(a);
		a = older;
	}
}

static void destroy_allocations(struct state *state)
{
	uint64_t cursor = 0;
	struct alloc_cell *cell;

	while ((cell = sequence_next(&state->allocation_order, &cursor))) {
		CHECK(cds_lfht_del(state->allocations, &cell->by_id) == 0);
		free_allocation_versions(cell);
		free(cell);
	}
}

static void free_evaluation_versions(struct eval_cell *cell)
{
	struct evaluation *e = cell->working;

	while (e) {
		struct evaluation *older =
			e == cell->published ? NULL : (struct evaluation *)e->record.older;
		evaluation_free(e);
		e = older;
	}
}

static void destroy_evaluations(struct state *state)
{
	uint64_t cursor = 0;
	struct eval_cell *cell;

	while ((cell = sequence_next(&state->eval_order, &cursor))) {
		CHECK(cds_lfht_del(state->evaluations, &cell->by_id) == 0);
		free_evaluation_versions(cell);
		free(cell);
	}
}

static void free_keeps(struct job_cell *cell)
{
	struct job_keep *keep = cell->working;

	while (keep) {
		struct job_keep *older =
			keep == cell->published ? NULL : (struct job_keep *)keep->record.older;
		job_keep_free(keep);
		keep = older;
	}
}

static void free_deployment_versions(struct deployment_cell *cell)
{
	struct deployment *d = cell->working;

	while (d) {
		struct deployment *older =
			d == cell->published ? NULL : (struct deployment *)d->record.older;
		deployment_free(d);
		d = older;
	}
}

static void destroy_deployments(struct state *state)
{
	uint64_t cursor = 0;
	struct deployment_cell *cell;

	while ((cell = sequence_next(&state->deployment_order, &cursor))) {
		CHECK(cds_lfht_del(state->deployments, &cell->by_id) == 0);
		free_deployment_versions(cell);
		free(cell);
	}
}

static void destroy_jobs(struct state *state)
{
	uint64_t cursor = 0;
	struct job_cell *cell;
	struct job *job;

	while ((cell = sequence_next(&state->job_order, &cursor))) {
		CHECK(cds_lfht_del(state->jobs, &cell->by_name) == 0);
		free_keeps(cell);
		free(cell->namespace_name);
		free(cell->id);
		free(cell);
	}
	cursor = 0;
	while ((job = sequence_next(&state->version_order, &cursor)))
		job_free(job);
}

static void destroy_requests(struct state *state)
{
	uint64_t cursor = 0;
	struct place_request *request;

	while ((request = sequence_next(&state->request_order, &cursor))) {
		if (!request->forgotten_index)
			CHECK(cds_lfht_del(state->requests, &request->by_key) == 0);
		free(request);
	}
}

static void destroy_nodes(struct state *state)
{
	for (uint32_t slot = 0; state->cells && slot < state_node_slots(state); slot++) {
		struct node_cell *cell = &state->cells[slot];
		struct node *newest = cell->working ? cell->working : cell->gone;
		free_versions((struct record *)cell->report_working, (struct record *)cell->report);
		if (!newest)
			continue;
		if (newest != cell->published || !newest->record.deleted)
			CHECK(cds_lfht_del(state->nodes, &cell->by_id) == 0);
		free_versions(&newest->record, (struct record *)cell->published);
	}
	memory_unmap(state->cells, (size_t)state->slots_max * sizeof state->cells[0]);
}

static void table_destroy(struct cds_lfht *table)
{
	if (table)
		CHECK(cds_lfht_destroy(table, NULL) == 0);
}

void state_destroy(struct state *state)
{
	if (!state)
		return;
	rcu_barrier(); // slots that rest
	state_read_begin();
	if (state->node_table)
		destroy_nodes(state);
	destroy_allocations(state);
	destroy_evaluations(state);
	destroy_deployments(state);
	destroy_jobs(state);
	destroy_requests(state);
	vm_tables_destroy(state);
	state_read_end();
	table_destroy(state->vms.by_name);
	table_destroy(state->vms.instances);
	table_destroy(state->vms.workers);
	table_destroy(state->vms.worker_nodes);
	table_destroy(state->nodes);
	table_destroy(state->jobs);
	table_destroy(state->allocations);
	table_destroy(state->requests);
	table_destroy(state->evaluations);
	table_destroy(state->deployments);
	sequence_release(&state->job_order);
	sequence_release(&state->version_order);
	sequence_release(&state->allocation_order);
	sequence_release(&state->request_order);
	sequence_release(&state->eval_order);
	sequence_release(&state->deployment_order);
	free_versions(&state->config.working->record, (struct record *)state->config.published);
	free(state->observed);
	clients_destroy(state);
	classes_destroy(&state->classes);
	strings_destroy(&state->strings);
	node_table_destroy(state->node_table);
	node_groups_destroy(state->node_groups);
	watch_destroy(state->watch);
	pthread_mutex_destroy(&state->summary_lock);
	if (state->plan_memory->checker)
		state->plan_memory->free(state->plan_memory->checker);
	free(state->plan_memory);
	free(state->block_used);
	free(state->free_slots.slots);
	free(state->graves);
	free(state);
}

// --- Nodes ---------------------------------------------------------------------------------------

// Between a purge and its publication two cells may have the id of a node that registered anew: one
// that readers see, one that the applier works on.
static int working_id_matches(struct cds_lfht_node *node, const void *id)
{
	const struct node_cell *cell = caa_container_of(node, struct node_cell, by_id);
	return cell->working && uuid_equal(&cell->id, id);
}

static int published_id_matches(struct cds_lfht_node *node, const void *id)
{
	const struct node_cell *cell = caa_container_of(node, struct node_cell, by_id);
	const struct node *n = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return n && !n->record.deleted && uuid_equal(&n->id, id);
}

static struct node_cell *find_cell(
	const struct state *state, const struct uuid *id, cds_lfht_match_fct matches)
{
	struct cds_lfht_iter iter;

	cds_lfht_lookup(state->nodes, uuid_hash(id), matches, id, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct node_cell, by_id) : NULL;
}

struct node_cell *node_cell_find(const struct state *state, const struct uuid *id)
{
	return find_cell(state, id, working_id_matches);
}

void node_slot_reserve(struct state *state, uint32_t slot, uint16_t owner)
{
	struct node_table *table = state->node_table;
	uint32_t block = slot / NODE_BLOCK_SLOTS;

	CDS_INIT_LIST_HEAD(&state->cells[slot].allocations);
	if (block >= state->block_count) {
		CHECK(block == state->block_count);
		state->block_count++;
		atomic_store_explicit(&table->block_owner[block], owner, memory_order_relaxed);
	}
	if (slot % NODE_BLOCK_SLOTS >= state->block_used[block])
		state->block_used[block] = (uint16_t)(slot % NODE_BLOCK_SLOTS + 1);
	if (slot >= table->slots_used)
		atomic_store_explicit(&table->slots_used, slot + 1, memory_order_release);
}

struct node_cell *node_cell_open(
	struct state *state, uint32_t slot, uint16_t owner, const struct uuid *id)
{
	struct node_cell *cell = &state->cells[slot];

	CHECK(!cell->working);
	if (node_slot_is_free(state, slot))
		node_slot_take(state, slot);
	else
		node_slot_reserve(state, slot, owner);
	cell->id = *id;
	cds_lfht_add(state->nodes, uuid_hash(id), &cell->by_id);
	return cell;
}

void state_count_node(struct state *state, const struct node *n, int change)
{
	const struct node_lifecycle *l = &n->lifecycle;
	enum node_standing standing = lifecycle_standing(l);
	bool is_suspended = standing == NODE_SUSPENDED;

	state->counts.nodes[n->status] += (uint32_t)change;
	state->counts.nodes_standing[standing] += (uint32_t)change;
	if (is_suspended && l->lost_ns)
		state->counts.nodes_lost += (uint32_t)change;
	if (is_suspended && l->flaky_ns)
		state->counts.nodes_flaky += (uint32_t)change;
	if (is_suspended && l->readiness != READINESS_GIVEN)
		state->counts.nodes_unready += (uint32_t)change;
	if (n->eligibility == NODE_INELIGIBLE)
		state->counts.nodes_ineligible += (uint32_t)change;
	if (n->drain)
		state->counts.nodes_draining += (uint32_t)change;
}

void state_node_changed(struct state *state, uint32_t slot)
{
	if (state->placer)
		state->placer->node_changed(state->placer->context, slot);
}

struct node_cell *state_node_cell(struct state *state, uint32_t slot)
{
	return &state->cells[slot];
}

struct node_table *state_node_table(struct state *state)
{
	return state->node_table;
}

uint32_t state_node_slots(const struct state *state)
{
	return atomic_load_explicit(&state->node_table->slots_used, memory_order_acquire);
}

const struct node *state_node_at(const struct state *state, uint32_t slot)
{
	if (slot >= state_node_slots(state))
		return NULL;
	const struct node *n = __atomic_load_n(&state->cells[slot].published, __ATOMIC_ACQUIRE);
	return n && !n->record.deleted ? n : NULL;
}

// Cells twice as far ahead as the records that they point to, whose first two lines are all that a scan
// looks at.
#define NODES_AHEAD 12u

void state_node_prefetch(const struct state *state, uint32_t slot)
{
	if (slot + 2 * NODES_AHEAD >= state_node_slots(state))
		return;
	const struct node_cell *cell = &state->cells[slot + 2 * NODES_AHEAD];
	__builtin_prefetch(&cell->published);
	__builtin_prefetch(&cell->published_use);
	const char *record = (const char *)__atomic_load_n(
		&state->cells[slot + NODES_AHEAD].published, __ATOMIC_RELAXED);
	__builtin_prefetch(record);
	__builtin_prefetch(record + 64);
}

const struct node *state_node_by_id(const struct state *state, const struct uuid *id)
{
	const struct node_cell *cell = find_cell(state, id, published_id_matches);
	const struct node *n = cell ? __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE) : NULL;
	// The slot may have been given to another node since.
	return n && !n->record.deleted && uuid_equal(&n->id, id) ? n : NULL;
}

// --- Counts --------------------------------------------------------------------------------------

struct summary state_summary_now(const struct state *state)
{
	struct summary summary = {state->counts, state->forgotten_ms};
	uint64_t nodes = count_nodes(state);

	summary.counts.node_classes = state->classes.count;
	summary.counts.bytes_nodes = nodes * sizeof(struct node_cell) + state->bytes_records +
				     state->classes.bytes + state->strings.bytes;
	return summary;
}

void state_counts(const struct state *state, struct state_counts *counts)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&state->summary_lock;

	pthread_mutex_lock(lock);
	*counts = state->published.counts;
	pthread_mutex_unlock(lock);
}
