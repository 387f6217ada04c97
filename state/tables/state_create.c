#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include "state/tables/buckets.h"
#include "state/tables/client.h"
#include "state/tables/id_order.h"
#include "state/tables/index_wait.h"
#include "state/tables/kind.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/publication_check.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

static bool hash_create(struct table_hash *hash)
{
	hash->buckets = buckets_create(TABLE_BUCKETS_MIN); // more by widener.c
	return hash->buckets;
}

static void hash_destroy(struct table_hash *hash)
{
	if (hash->buckets)
		CHECK(cds_lfht_destroy(hash->buckets, NULL) == 0);
}

static void limit_set(struct state *state, const struct kind *kind)
{
	uint32_t *limit = (uint32_t *)((char *)&state->limits + kind->limit_offset);

	if (kind->limit_max == 0)
		return;
	if (*limit == 0)
		*limit = kind->limit_max;
	CHECK(*limit <= kind->limit_max);
	CHECK(*limit > 0);
}

static bool table_create(struct state *state, enum state_table at)
{
	struct table *table = &state->tables[at];
	const struct kind *kind = state_kinds[at];
	bool is_keyed = kind->key == KEY_UUID || kind->key == KEY_NAME;

	CHECK(kind && (is_keyed == (kind->fields && kind->key != KEY_ONE)));
	table->kind = kind;
	limit_set(state, kind);
	sequence_init(
		&table->order, is_keyed ? offsetof(struct cell, position) : kind->position_offset);
	table->ids = kind->has_ids ? id_order_create() : NULL;
	if (kind->key == KEY_ONE) {
		table->one = memory_take(kind->cell_bytes);
		table->one->table = (uint8_t)at;
		table->one->working = kind_create(kind);
		publish_loaded(at, table->one, table->one->working);
	}
	return (!(is_keyed || kind->is_hashed) || hash_create(&table->hash)) &&
	       (!kind->has_other_hash || hash_create(&table->other));
}

struct state *state_create(const struct state_limits *limits)
{
	struct state *state = memory_take(sizeof *state);
	bool is_whole = true;

	state->limits = *limits;
	CHECK(limits->clients > 0 && limits->clients <= CLIENTS_MAX);
	pthread_mutex_init(&state->summary_lock, NULL);
	CDS_INIT_LIST_HEAD(&state->terminal);
	CDS_INIT_LIST_HEAD(&state->planned_terminal);
	CDS_INIT_LIST_HEAD(&state->stopped);
	CDS_INIT_LIST_HEAD(&state->marked);
	CDS_INIT_LIST_HEAD(&state->marked_urgently);
	CDS_INIT_LIST_HEAD(&state->system);
	CDS_INIT_LIST_HEAD(&state->orphans);
	state->unpublished_from = 1;
	state->index_wait = index_wait_create();
	clients_init(state);
	for (uint32_t i = 0; i < STATE_TABLES; i++)
		is_whole &= table_create(state, i);
	is_whole &= nodes_create(state);
	state->plan_memory = memory_take(sizeof *state->plan_memory);
	if (is_whole)
		return state;
	state_destroy(state);
	return NULL;
}

static void destroy_cell(struct state *state, struct cell *cell)
{
	CHECK(cell->table < STATE_TABLES);
	const struct table *table = &state->tables[cell->table];

	if (table->kind->released)
		table->kind->released(state, cell);
	cell_free_versions(table->kind, cell);
	if (table->kind->key == KEY_NAME)
		free(cell->name);
	free(cell);
}

// Walks the hash table, because some cells are in no sequence.
static void destroy_cells(struct state *state, struct table *table)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	if (table->one)
		destroy_cell(state, table->one);
	if (!table->hash.buckets)
		return;
	cds_lfht_first(table->hash.buckets, &iter);
	while ((node = cds_lfht_iter_get_node(&iter))) {
		cds_lfht_next(table->hash.buckets, &iter);
		CHECK(cds_lfht_del(table->hash.buckets, node) == 0);
		destroy_cell(state, caa_container_of(node, struct cell, by_key));
	}
}

// Destroys a table before the tables that its records refer to.
static void destroy_tables(struct state *state)
{
	state_read_begin();
	for (uint32_t i = STATE_TABLES; i-- > 0;) {
		struct table *table = &state->tables[i];
		if (table->kind->destroy)
			table->kind->destroy(state);
		else
			destroy_cells(state, table);
	}
	state_read_end();
	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		hash_destroy(&state->tables[i].hash);
		hash_destroy(&state->tables[i].other);
		sequence_release(&state->tables[i].order);
		id_order_destroy(state->tables[i].ids);
	}
}

void state_destroy(struct state *state)
{
	if (!state)
		return;
	rcu_barrier(); // waits for resting slots
	destroy_tables(state);
	clients_destroy(state);
	index_wait_destroy(state->index_wait);
	pthread_mutex_destroy(&state->summary_lock);
	if (state->plan_memory->checker)
		state->plan_memory->free(state->plan_memory->checker);
	free(state->plan_memory);
	free(state->observed);
	free(state->graves);
	publication_checks_free(state->checks);
	free(state);
}

struct summary state_summary_now(const struct state *state)
{
	struct summary summary = {state->counts, state->forgotten_ms};
	uint64_t nodes = nodes_count(state);

	summary.counts.node_classes = state->classes.count;
	summary.counts.variables = state->tables[STATE_VARIABLES].order.count;
	summary.counts.bytes_nodes = nodes * sizeof(struct node_cell) + state->bytes_records +
				     state->classes.bytes + state->strings.bytes;
	return summary;
}

bool state_can_hold(const struct state *state, const struct job *job, char *why, size_t size)
{
	struct state_counts counts;
	state_counts(state, &counts);
	uint32_t nodes = 0;
	for (uint32_t i = 0; i < NODE_STATUSES; i++)
		nodes += counts.nodes[i];
	int64_t instances = job_instances(job, nodes);
	if (instances <= (int64_t)state->limits.allocations)
		return true;
	snprintf(why, size,
		"Count of all groups together is %ld instances, more than the %u that "
		"limits.allocations allows",
		instances, state->limits.allocations);
	return false;
}

void state_counts(const struct state *state, struct state_counts *counts)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&state->summary_lock;

	pthread_mutex_lock(lock);
	*counts = state->published.counts;
	pthread_mutex_unlock(lock);
}
