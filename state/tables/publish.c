#include "state/tables/publish.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/id_order.h"
#include "state/tables/index_wait.h"
#include "state/tables/kind.h"
#include "state/tables/publication_check.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

static const struct kind *kind_of(const struct change *change)
{
	return state_kinds[change->table];
}

static void note_id(struct state *state, const struct change *change, const struct record *before)
{
	bool was_there = before && !before->deleted, is_there = !change->record->deleted;
	const char *id = (const char *)change->record + kind_of(change)->key_offset;

	if (was_there != is_there)
		id_order_note(state->tables[change->table].ids, (const struct uuid *)id, is_there);
}

static void prefetch_record(const struct record *record)
{
	enum { LINE_BYTES = 64, LINES = 4 };

	for (size_t i = 0; i < LINES; i++)
		__builtin_prefetch((const char *)record + i * LINE_BYTES);
}

// A large batch has left the caches by the time it is published, so what comes soon is fetched meanwhile: first the
// cell and the new record, then the old one that it points to.
static void prefetch_changes(const struct change_list *changes, uint32_t at)
{
	enum { AHEAD = 4 };

	if (at + 2 * AHEAD >= changes->count)
		return;
	__builtin_prefetch(changes->items[at + 2 * AHEAD].cell, 1);
	prefetch_record(changes->items[at + 2 * AHEAD].record);
	if (changes->items[at + AHEAD].record->older)
		prefetch_record(changes->items[at + AHEAD].record->older);
}

// The index of the table is stored before the published index, which waiting readers see first.
static void exchange_record(struct state *state, const struct change *change)
{
	const struct kind *kind = kind_of(change);
	struct record *now = change->record;

	if (kind->showing)
		kind->showing(now);
	void *old = uatomic_xchg((void **)change->cell, now);
	CHECK(old == now->older);
	atomic_store_explicit(
		&state->table_index[change->table], now->modify_index, memory_order_relaxed);
	if (kind->noted)
		kind->noted(change->cell, now->modify_index);
	if (kind->published)
		kind->published(state, change->cell, old, now);
	if (kind->has_ids)
		note_id(state, change, old);
	CHECK(*(void **)change->cell == now);
}

// The versions that one publication replaced wait for their grace period together.
struct retired {
	struct rcu_head rcu;
	uint32_t count;
	struct record *records[];
};

static void free_retired(struct rcu_head *head)
{
	struct retired *retired = caa_container_of(head, struct retired, rcu);

	for (uint32_t i = 0; i < retired->count; i++)
		kind_free(state_kinds[retired->records[i]->table], retired->records[i]);
	free(retired);
}

static struct record *retire_record(struct state *state, const struct change *change)
{
	struct record *old = change->record->older;

	CHECK(old->table == change->table);
	if (kind_of(change)->retired)
		kind_of(change)->retired(state, old, change->record);
	return old;
}

static void retire_replaced(struct state *state, const struct change_list *changes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < changes->count; i++)
		count += changes->items[i].record->older != NULL;
	if (count == 0)
		return;
	struct retired *retired =
		memory_take(sizeof *retired + (size_t)count * sizeof retired->records[0]);
	for (uint32_t i = 0; i < changes->count; i++)
		if (changes->items[i].record->older)
			retired->records[retired->count++] =
				retire_record(state, &changes->items[i]);
	CHECK(retired->count == count);
	call_rcu(&retired->rcu, free_retired);
}

void state_observe(struct state *state, struct state_observer *observer)
{
	CHECK(observer->changed);
	observer->next = state->observers;
	state->observers = observer;
}

static const struct record *seen(const struct kind *kind, const struct record *record)
{
	return record && kind->seen ? kind->seen(record) : record;
}

// A record that came and went within one batch was never visible, so observers are not told of it.
static bool is_told(const struct change *change)
{
	CHECK(change->table < STATE_TABLES);
	const struct record *before = change->record->older;
	bool was_there = before && !before->deleted;

	return !kind_of(change)->is_quiet && (was_there || !change->record->deleted);
}

// Returns the number of changes that observers are told of.
static uint32_t observe_changes(struct state *state, const struct change_list *changes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->items[i];
		const struct record *before = change->record->older, *after = change->record;
		const struct kind *kind = kind_of(change);
		if (!is_told(change))
			continue;
		bool anew = kind->shown_anew && before && !before->deleted && !after->deleted &&
			    kind->shown_anew(before, after);
		before = seen(kind, before && before->deleted ? NULL : before);
		after = after->deleted && kind->seen_gone ? kind->seen_gone(before)
			: after->deleted                  ? after
							  : seen(kind, after);
		state->observed = memory_one_more(state->observed, count, &state->observed_capacity,
			sizeof state->observed[0]);
		state->observed[count++] =
			(struct state_change){change->table, before, after, anew};
	}
	return count;
}

static void tell_observers(struct state *state, const struct change_list *changes, uint64_t index)
{
	bool is_recovery = state->placer == NULL;

	if (is_recovery || !state->observers || changes->count == 0)
		return;
	uint32_t count = observe_changes(state, changes);
	for (struct state_observer *o = state->observers; o && count > 0; o = o->next)
		o->changed(o->context, state->observed, count, index);
	for (uint32_t i = 0; i < count; i++)
		if (state->observed[i].after->deleted &&
			state_kinds[state->observed[i].table]->seen_gone)
			free((struct record *)state->observed[i].after);
}

static void settle_changes(struct state *state, const struct change_list *changes)
{
	for (uint32_t i = 0; i < changes->count; i++)
		if (kind_of(&changes->items[i])->settled)
			kind_of(&changes->items[i])->settled(state, changes->items[i].record);
	state->is_unsettled = false;
}

void state_publish(struct state *state, struct change_list *changes, uint64_t index,
	const struct summary *summary)
{
	CHECK(index >= state->published_index);
	for (uint32_t i = 0; i < changes->count; i++) {
		prefetch_changes(changes, i);
		exchange_record(state, &changes->items[i]);
	}
	if (state->is_unsettled)
		settle_changes(state, changes);

	pthread_mutex_lock(&state->summary_lock);
	state->published = *summary;
	atomic_store_explicit(&state->published_index, index, memory_order_release);
	pthread_mutex_unlock(&state->summary_lock);
	index_wait_wake(state->index_wait);
	tell_observers(state, changes, index);
	publication_check_take(state, changes, index, summary);

	// Records are retired only now: a snapshot that saw the previous index began its read section before this, and
	// that keeps the versions that it follows.
	atomic_thread_fence(memory_order_seq_cst);
	retire_replaced(state, changes);
	changes->count = 0;
	state_bury(state);
}

static void cell_free(struct rcu_head *head)
{
	struct cell *cell = caa_container_of(head, struct cell, rcu);
	const struct kind *kind = state_kinds[cell->table];

	CHECK(kind->fields);
	if (cell->working)
		kind_free(kind, cell->working);
	if (kind->key == KEY_NAME)
		free(cell->name);
	free(cell);
}

// A cell whose record was made again meanwhile leaves its grave.
static bool bury_cell(struct state *state, const struct kind *kind, struct cell *cell)
{
	struct table *table = &state->tables[cell->table];

	if (cell->published != cell->working)
		return false;
	cell->is_in_grave = false;
	if (cell_is_there(cell) || (kind->is_idle && !kind->is_idle(cell)))
		return true;
	CHECK(cds_lfht_del(table->hash.buckets, &cell->by_key) == 0);
	if (cell->index)
		sequence_remove(&table->order, cell);
	if (kind->buried)
		kind->buried(state, cell);
	if (kind->released)
		kind->released(state, cell);
	CHECK(!cell_is_there(cell) && !cell->is_in_grave);
	call_rcu(&cell->rcu, cell_free);
	return true;
}

static bool bury_item(struct state *state, const struct grave *grave)
{
	const struct kind *kind = state_kinds[grave->table];
	return kind->bury ? kind->bury(state, grave->item) : bury_cell(state, kind, grave->item);
}

// A snapshot that begins after the count is read here sees the index that was published before. At that index
// everything that is buried here is deleted already.
void state_bury(struct state *state)
{
	uint32_t kept = 0;

	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&state->snapshots) > 0)
		return;
	// Burying one thing may add another at the end.
	for (uint32_t i = 0; i < state->grave_count; i++) {
		struct grave grave = state->graves[i];
		if (!bury_item(state, &grave))
			state->graves[kept++] = grave;
	}
	state->grave_count = kept;
	CHECK(state->grave_count <= state->grave_capacity);
}
