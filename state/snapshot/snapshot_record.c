#include "state/snapshot/snapshot_record.h"
#include "state/base/error.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

bool record_item_encode(
	const struct kind *kind, const struct cell *cell, uint64_t index, struct bytes_writer *w)
{
	const struct record *r =
		state_version_at(__atomic_load_n(&cell->published, __ATOMIC_ACQUIRE), index);

	if (!r || r->modify_index == 0)
		return false;
	bytes_put_u8(w, cell->table);
	bytes_put_u64(w, cell->index);
	bytes_put_u64(w, r->create_index);
	bytes_put_u64(w, r->modify_index);
	record_encode(kind->fields, r, w);
	return true;
}

// Records come in the order of their cells, and no cell is newer than its record.
static bool are_indexes_sound(
	const struct state *state, enum state_table at, uint64_t index, const struct record *record)
{
	const struct table *table = &state->tables[at];
	bool is_next = index > sequence_last_key(&table->order);

	if (table->one)
		is_next = index == 0 && ((struct record *)table->one->working)->modify_index == 0;
	if (table->kind->key == KEY_UUID)
		is_next = is_next && index == record->create_index;
	return is_next && index <= record->create_index && record->create_index > 0 &&
	       record->create_index <= record->modify_index && record->modify_index <= state->index;
}

static bool is_twice(const struct state *state, enum state_table at, const void *record)
{
	const struct kind *kind = state->tables[at].kind;
	const char *key = (const char *)record + kind->key_offset;
	struct text name;

	if (kind->key == KEY_ONE)
		return false;
	if (kind->key == KEY_UUID)
		return table_find(state, at, key) != NULL;
	name = text_of(*(char *const *)key);
	const struct cell *cell = table_find(state, at, &name);
	return cell && cell->working; // a namespace's cell comes with its jobs
}

static int check_item(
	const struct state *state, enum state_table at, uint64_t index, const struct record *record)
{
	const struct kind *kind = state->tables[at].kind;
	int error = are_indexes_sound(state, at, index, record) ? table_check(state, at, record)
								: -ERROR_CORRUPT;

	if (!error && is_twice(state, at, record))
		error = -ERROR_CORRUPT;
	return !error && kind->check_loaded ? kind->check_loaded(state, record) : error;
}

int record_item_load(struct state *state, enum state_table at, struct bytes_reader *r)
{
	const struct kind *kind = state->tables[at].kind;
	uint64_t index = bytes_take_u64(r), create_index = bytes_take_u64(r),
		 modify_index = bytes_take_u64(r);
	struct record *record = kind_create(kind);
	int error = record_decode(kind->fields, record, r);

	record->create_index = create_index;
	record->modify_index = modify_index;
	if (!error)
		error = check_item(state, at, index, record);
	if (error)
		kind_free(kind, record);
	else
		table_load(state, at, record, index);
	return error;
}
