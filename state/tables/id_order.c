#include "state/tables/id_order.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/tables/tables.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Ids stand in blocks of at most so many. A block that overflows is cut into pieces that leave room.
#define BLOCK_IDS_MAX 512u
#define PIECE_IDS 384u
// Changes that are put in their places within a millisecond or two.
#define CHANGES_SOON 8192u
// More changes are not kept: the order is dropped, and made again when somebody asks.
#define CHANGES_MAX (1u << 20)
// Records that one read section visits while the order is made.
#define RECORDS_PER_SECTION 1024u

struct block {
	struct uuid first; // of ids
	struct uuid *ids;  // exactly count
	uint32_t count;
};

struct id_change {
	struct uuid id;
	uint32_t number; // the later of two is right
	bool is_there;
};

struct id_changes {
	struct id_change *items;
	uint32_t count, capacity;
};

struct id_order {
	pthread_mutex_t settle_lock; // whoever changes the blocks
	bool is_made;
	pthread_mutex_t lock; // guards the blocks; nobody holds it for long
	struct block *blocks;
	uint32_t count;

	pthread_mutex_t
		changes_lock; // guards the changes; the applier waits for it, so nobody holds it for long
	struct id_changes changes;
	atomic_bool is_kept;       // changes are noted
	atomic_bool is_settling;   // somebody does, for long
	_Atomic uint32_t awaiting; // changes
};

struct id_order *id_order_create(void)
{
	struct id_order *o = memory_take(sizeof *o);

	CHECK(pthread_mutex_init(&o->settle_lock, NULL) == 0);
	CHECK(pthread_mutex_init(&o->lock, NULL) == 0);
	CHECK(pthread_mutex_init(&o->changes_lock, NULL) == 0);
	return o;
}

static void free_blocks(struct block *blocks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(blocks[i].ids);
	free(blocks);
}

void id_order_destroy(struct id_order *o)
{
	if (!o)
		return;
	free_blocks(o->blocks, o->count);
	free(o->changes.items);
	pthread_mutex_destroy(&o->settle_lock);
	pthread_mutex_destroy(&o->lock);
	pthread_mutex_destroy(&o->changes_lock);
	free(o);
}

static void add_change(struct id_changes *changes, const struct uuid *id, bool is_there)
{
	changes->items = memory_one_more(
		changes->items, changes->count, &changes->capacity, sizeof changes->items[0]);
	changes->items[changes->count] = (struct id_change){*id, changes->count, is_there};
	changes->count++;
}

static struct id_changes take_changes(struct id_order *o)
{
	struct id_changes changes = o->changes;

	o->changes = (struct id_changes){0};
	atomic_store(&o->awaiting, 0);
	return changes;
}

void id_order_note(struct id_order *o, const struct uuid *id, bool is_there)
{
	struct id_changes dropped = {0};

	if (!atomic_load(&o->is_kept))
		return;
	pthread_mutex_lock(&o->changes_lock);
	add_change(&o->changes, id, is_there);
	atomic_store(&o->awaiting, o->changes.count);
	if (o->changes.count == CHANGES_MAX) {
		atomic_store(&o->is_kept, false);
		dropped = take_changes(o);
	}
	pthread_mutex_unlock(&o->changes_lock);
	free(dropped.items);
}

static int compare_changes(const void *a, const void *b)
{
	const struct id_change *x = a, *y = b;
	int order = uuid_compare(&x->id, &y->id);

	return order ? order : x->number < y->number ? -1 : 1;
}

// Sorts changes by id and leaves the last one of each.
static void sort_changes(struct id_changes *changes)
{
	uint32_t kept = 0;

	if (changes->count)
		qsort(changes->items, changes->count, sizeof changes->items[0], compare_changes);
	for (uint32_t i = 0; i < changes->count; i++) {
		if (kept && uuid_equal(&changes->items[kept - 1].id, &changes->items[i].id))
			kept--;
		changes->items[kept++] = changes->items[i];
	}
	changes->count = kept;
}

// Blocks that are being put together.
struct blocks {
	struct block *items;
	uint32_t count, capacity;
};

static void add_block(struct blocks *blocks, struct block block)
{
	blocks->items = memory_one_more(
		blocks->items, blocks->count, &blocks->capacity, sizeof blocks->items[0]);
	CHECK(block.count > 0 && uuid_equal(&block.first, &block.ids[0]));
	blocks->items[blocks->count++] = block;
}

static void add_pieces(struct blocks *blocks, const struct uuid *ids, uint32_t count)
{
	uint32_t pieces = count <= BLOCK_IDS_MAX ? 1 : (count + PIECE_IDS - 1) / PIECE_IDS;

	for (uint32_t i = 0; count && i < pieces; i++) {
		uint32_t from = (uint32_t)((uint64_t)count * i / pieces);
		uint32_t to = (uint32_t)((uint64_t)count * (i + 1) / pieces);
		struct uuid *own = memory_take_array(to - from, sizeof *own);
		memcpy(own, ids + from, (to - from) * sizeof *own);
		add_block(blocks, (struct block){ids[from], own, to - from});
	}
}

// Puts count changes in their places among the ids of a block.
static void merge_block(
	struct blocks *blocks, struct block block, const struct id_change *changes, uint32_t count)
{
	struct uuid *merged = memory_take_array(block.count + count, sizeof *merged);
	uint32_t total = 0, at = 0;

	for (uint32_t i = 0; i < count; i++) {
		while (at < block.count && uuid_compare(&block.ids[at], &changes[i].id) < 0)
			merged[total++] = block.ids[at++];
		at += at < block.count && uuid_equal(&block.ids[at], &changes[i].id);
		if (changes[i].is_there)
			merged[total++] = changes[i].id;
	}
	while (at < block.count)
		merged[total++] = block.ids[at++];
	CHECK(total <= block.count + count);
	add_pieces(blocks, merged, total);
	free(merged);
}

// Readers see the new blocks from here on. Leaves those that nobody has any more.
static void exchange_blocks(struct id_order *o, struct blocks *blocks)
{
	pthread_mutex_lock(&o->lock);
	struct blocks old = {o->blocks, o->count, o->count};
	o->blocks = blocks->items;
	o->count = blocks->count;
	pthread_mutex_unlock(&o->lock);
	*blocks = old;
}

static void merge_changes(struct id_order *o, struct id_changes *changes)
{
	struct block none = {0}, *old = o->count ? o->blocks : &none;
	struct blocks blocks = {.capacity = o->count + 16};
	struct blocks replaced = {.capacity = 16};
	uint32_t at = 0, count = o->count ? o->count : 1;

	sort_changes(changes);
	blocks.items = memory_take_array(blocks.capacity, sizeof blocks.items[0]);
	replaced.items = memory_take_array(replaced.capacity, sizeof replaced.items[0]);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = at;
		while (at < changes->count &&
			(i + 1 == count ||
				uuid_compare(&changes->items[at].id, &old[i + 1].first) < 0))
			at++;
		if (at > from)
			merge_block(&blocks, old[i], &changes->items[from], at - from);
		if (old[i].count)
			add_block(at > from ? &replaced : &blocks, old[i]);
	}
	CHECK(at == changes->count);
	exchange_blocks(o, &blocks);
	free(blocks.items);
	free_blocks(replaced.items, replaced.count);
}

static const struct uuid *id_of(
	const struct state *state, enum state_table table, const void *record)
{
	return (const struct uuid *)((const char *)record + state->tables[table].kind->key_offset);
}

static const void *next_node(const struct state *state, uint64_t *slot)
{
	const struct node *node = NULL;

	while (!node && *slot < state_node_slots(state)) {
		state_node_prefetch(state, (uint32_t)*slot);
		node = state_node_at(state, (uint32_t)(*slot)++);
	}
	return node;
}

// Whoever publishes sees that changes are kept, or the walk sees what is published.
static void make_order(struct id_order *o, const struct state *state, enum state_table table)
{
	struct id_changes all = {0};
	struct blocks old = {0};
	uint64_t cursor = 0;
	const void *record;

	exchange_blocks(o, &old);
	free_blocks(old.items, old.count);
	atomic_store(&o->is_kept, true);
	atomic_thread_fence(memory_order_seq_cst);
	do {
		state_read_begin();
		for (uint32_t i = 0; i < RECORDS_PER_SECTION; i++) {
			record = table == STATE_NODES ? next_node(state, &cursor)
						      : state_next(state, table, &cursor);
			if (!record)
				break;
			add_change(&all, id_of(state, table, record), true);
		}
		state_read_end();
	} while (record);
	merge_changes(o, &all);
	free(all.items);
	o->is_made = true;
}

// About how many records there are.
static uint32_t record_count(const struct state *state, enum state_table table)
{
	struct state_counts counts;

	state_counts(state, &counts);
	return table == STATE_NODES         ? state_node_slots(state)
	       : table == STATE_ALLOCATIONS ? counts.allocations
	       : table == STATE_EVALUATIONS ? counts.evaluations
					    : counts.deployments;
}

bool state_ids_settle_soon(const struct state *state, enum state_table table)
{
	const struct id_order *o = state->tables[table].ids;

	if (atomic_load(&o->is_settling))
		return false;
	return (atomic_load(&o->is_kept) ? atomic_load(&o->awaiting)
					 : record_count(state, table)) <= CHANGES_SOON;
}

void state_ids_settle(struct state *state, enum state_table table)
{
	struct id_order *o = state->tables[table].ids;

	CHECK(o && !state_is_reading());
	pthread_mutex_lock(&o->settle_lock);
	bool is_long = !state_ids_settle_soon(state, table);
	if (is_long)
		atomic_store(&o->is_settling, true);
	while (!o->is_made || !atomic_load(&o->is_kept))
		make_order(o, state, table);
	pthread_mutex_lock(&o->changes_lock);
	struct id_changes changes = take_changes(o);
	pthread_mutex_unlock(&o->changes_lock);
	if (changes.count)
		merge_changes(o, &changes);
	if (is_long)
		atomic_store(&o->is_settling, false);
	pthread_mutex_unlock(&o->settle_lock);
	free(changes.items);
}

// Number of ids of the block that are less than the id, or equal to it when that counts.
static uint32_t ids_below(const struct block *block, const struct uuid *id, bool equal_counts)
{
	uint32_t low = 0, high = block->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = uuid_compare(&block->ids[middle], id);
		if (order < 0 || (order == 0 && equal_counts))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Number of blocks that begin at or before the id.
static uint32_t blocks_up_to(const struct id_order *o, const struct uuid *id)
{
	uint32_t low = 0, high = o->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (uuid_compare(&o->blocks[middle].first, id) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t copy_up(
	const struct id_order *o, const struct uuid *from, struct uuid *ids, uint32_t room)
{
	uint32_t block = blocks_up_to(o, from), count = 0, at = 0;

	if (block > 0)
		at = ids_below(&o->blocks[--block], from, false);
	for (; block < o->count && count < room; block++, at = 0)
		while (at < o->blocks[block].count && count < room)
			ids[count++] = o->blocks[block].ids[at++];
	return count;
}

static uint32_t copy_down(
	const struct id_order *o, const struct uuid *from, struct uuid *ids, uint32_t room)
{
	uint32_t block = blocks_up_to(o, from), count = 0;
	uint32_t at = block ? ids_below(&o->blocks[block - 1], from, true) : 0;

	while (block > 0 && count < room) {
		while (at > 0 && count < room)
			ids[count++] = o->blocks[block - 1].ids[--at];
		block--;
		at = block ? o->blocks[block - 1].count : 0;
	}
	return count;
}

uint32_t state_ids_from(struct state *state, enum state_table table, const struct uuid *from,
	bool reverse, struct uuid *ids, uint32_t room)
{
	struct id_order *o = state->tables[table].ids;

	pthread_mutex_lock(&o->lock);
	uint32_t count = (reverse ? copy_down : copy_up)(o, from, ids, room);
	pthread_mutex_unlock(&o->lock);
	CHECK(count <= room);
	return count;
}

// Number of ids that are less than the id, or equal to it when that counts.
static uint32_t rank(const struct id_order *o, const struct uuid *id, bool equal_counts)
{
	uint32_t block = blocks_up_to(o, id), count = 0;

	for (uint32_t i = 0; i + 1 < block; i++)
		count += o->blocks[i].count;
	return block ? count + ids_below(&o->blocks[block - 1], id, equal_counts) : 0;
}

uint32_t state_ids_between(struct state *state, enum state_table table, const struct uuid *first,
	const struct uuid *last)
{
	struct id_order *o = state->tables[table].ids;

	pthread_mutex_lock(&o->lock);
	uint32_t below = rank(o, first, false), up_to = rank(o, last, true);
	pthread_mutex_unlock(&o->lock);
	return up_to > below ? up_to - below : 0;
}

uint64_t state_ids_bytes(struct state *state, enum state_table table)
{
	struct id_order *o = state->tables[table].ids;
	uint64_t bytes = 0;

	pthread_mutex_lock(&o->lock);
	for (uint32_t i = 0; i < o->count; i++)
		bytes += sizeof o->blocks[i] + o->blocks[i].count * sizeof o->blocks[i].ids[0];
	pthread_mutex_unlock(&o->lock);
	return bytes + atomic_load(&o->awaiting) * sizeof(struct id_change);
}
