#include "state/tables/table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/tables/buckets.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

void change_add(struct change_list *list, enum state_table table, void *cell, struct record *record)
{
	CHECK(list && table < STATE_TABLES);
	list->items =
		memory_one_more(list->items, list->count, &list->capacity, sizeof list->items[0]);
	record->table = (uint8_t)table;
	list->items[list->count++] = (struct change){table, cell, record};
	CHECK(record->table == table);
}

void grave_add(struct state *state, enum state_table table, void *item)
{
	CHECK(item && table < STATE_TABLES);
	state->graves = memory_one_more(
		state->graves, state->grave_count, &state->grave_capacity, sizeof state->graves[0]);
	state->graves[state->grave_count++] = (struct grave){table, item};
	CHECK(state->grave_count <= state->grave_capacity);
}

void publish_loaded(enum state_table table, void *cell, void *record)
{
	CHECK(table < STATE_TABLES && record);
	((struct record *)record)->table = (uint8_t)table;
	publish_pointer((void **)cell, record);
}

void *kind_create(const struct kind *kind)
{
	CHECK(kind->fields);
	return record_create(kind->fields);
}

void kind_free(const struct kind *kind, void *record)
{
	CHECK(record && (kind->free || kind->fields));
	if (kind->free)
		kind->free(record);
	else
		record_free(kind->fields, record);
}

// Frees unpublished versions, too: then `published` is somewhere behind `working`.
void cell_free_versions(const struct kind *kind, void *which)
{
	const struct cell *cell = which;
	struct record *r = cell->working;

	while (r) {
		struct record *older = r == cell->published ? NULL : r->older;
		kind_free(kind, r);
		r = older;
	}
}

static void *kind_copy(const struct kind *kind, const struct record *from)
{
	CHECK(kind->fields && !from->deleted);
	struct record *r = record_duplicate(kind->fields, from);

	*r = (struct record){
		.create_index = from->create_index, .modify_index = from->modify_index};
	return r;
}

// Moves the contents of `from` into `to`, which nobody else has yet, and frees `from`.
static void replace_contents(const struct kind *kind, struct record *to, struct record *from)
{
	CHECK(to != from && !from->older);
	struct record *older = to->older;

	from->table = to->table;
	record_release(kind->fields, to);
	memcpy(to, from, kind->fields->size);
	to->older = older;
	free(from);
}

uint32_t table_count(const struct state *state, enum state_table table)
{
	const struct table *t = &state->tables[table];
	return t->kind->count ? t->kind->count(state) : t->order.count;
}

void table_hash_add(
	struct state *state, enum state_table table, uint64_t hash, struct cds_lfht_node *node)
{
	struct table *t = &state->tables[table];

	if (t->gathered)
		gathered_note(t->gathered, hash, node);
	else
		cds_lfht_add(t->hash.buckets, hash, node);
}

void table_hash_remove(
	struct state *state, enum state_table table, uint64_t hash, struct cds_lfht_node *node)
{
	struct table *t = &state->tables[table];

	if (!t->gathered || !gathered_forget(t->gathered, hash, node))
		CHECK(cds_lfht_del(t->hash.buckets, node) == 0);
}

struct cds_lfht_node *table_hash_find(const struct state *state, enum state_table table,
	uint64_t hash, cds_lfht_match_fct matches, const void *key)
{
	const struct table *t = &state->tables[table];
	struct cds_lfht_iter iter;
	const struct gathered *g = t->gathered;
	struct cds_lfht_node *node = g && !g->is_list ? gathered_find(g, hash, matches, key) : NULL;

	if (node || (g && g->is_all))
		return node;
	cds_lfht_lookup(t->hash.buckets, hash, matches, key, &iter);
	return cds_lfht_iter_get_node(&iter);
}

void table_hash_approach(const struct state *state, enum state_table table, uint64_t hash)
{
	const struct table *t = &state->tables[table];

	if (t->gathered)
		gathered_approach(t->gathered, hash);
}

void tables_gather(struct state *state, bool are_found)
{
	for (uint32_t i = 0; i < STATE_TABLES; i++) {
		struct table *t = &state->tables[i];
		CHECK(!t->gathered);
		if (!t->kind->is_same)
			continue;
		t->gathered = memory_take(sizeof *t->gathered);
		t->gathered->is_list = !are_found;
		t->gathered->is_all = table_count(state, i) == 0;
	}
}

bool table_add_gathered(struct state *state, enum state_table table, bool may_be_same)
{
	struct table *t = &state->tables[table];
	struct gathered *gathered = t->gathered;
	uint64_t given = t->hash.given;

	CHECK(gathered);
	t->gathered = NULL;
	bool all_differ = gathered_add(gathered, t->hash.buckets,
		given > TABLE_BUCKETS_MIN ? given : TABLE_BUCKETS_MIN,
		may_be_same ? t->kind->is_same : NULL);
	free(gathered);
	return all_differ;
}

static const struct kind *kind_at(const struct state *state, enum state_table table)
{
	return state->tables[table].kind;
}

static unsigned long key_hash(enum kind_key by, const void *key)
{
	const struct text *name = key;
	return by == KEY_UUID ? uuid_hash(key) : hash_keyed(0, name->data, name->size);
}

static int has_id(struct cds_lfht_node *node, const void *id)
{
	return uuid_equal(&caa_container_of(node, struct cell, by_key)->id, id);
}

static int has_name(struct cds_lfht_node *node, const void *name)
{
	const struct cell *cell = caa_container_of(node, struct cell, by_key);
	return text_equal(text_of(cell->name), *(const struct text *)name);
}

struct cell *table_find(const struct state *state, enum state_table table, const void *key)
{
	enum kind_key by = kind_at(state, table)->key;
	struct cds_lfht_iter iter;

	CHECK(by == KEY_UUID || by == KEY_NAME);
	cds_lfht_lookup(state->tables[table].hash.buckets, key_hash(by, key),
		by == KEY_UUID ? has_id : has_name, key, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
	return node ? caa_container_of(node, struct cell, by_key) : NULL;
}

struct cell *table_find_or_add(struct state *state, enum state_table table, const void *key)
{
	const struct kind *kind = kind_at(state, table);
	struct cell *cell = table_find(state, table, key);
	if (cell)
		return cell;

	CHECK(kind->cell_bytes >= sizeof *cell);
	cell = memory_take(kind->cell_bytes);
	cell->table = (uint8_t)table;
	if (kind->key == KEY_UUID)
		cell->id = *(const struct uuid *)key;
	else
		cell->name = text_copy(*(const struct text *)key);
	if (kind->made)
		kind->made(cell);
	cds_lfht_add(state->tables[table].hash.buckets, key_hash(kind->key, key), &cell->by_key);
	return cell;
}

bool table_has_room(const struct state *state, enum state_table table, uint32_t count)
{
	const struct kind *kind = kind_at(state, table);
	const char *limits = (const char *)&state->limits;
	uint32_t limit = *(const uint32_t *)(limits + kind->limit_offset);

	CHECK(kind->limit_max > 0);
	return limit >= state->tables[table].order.count &&
	       limit - state->tables[table].order.count >= count;
}

bool table_has_room_for(const struct state *state, enum state_table table, const void *key)
{
	const struct cell *cell = table_find(state, table, key);
	return (cell && cell->index) || table_has_room(state, table, 1);
}

// Returns the key of a record; for a name it is *name, which the caller keeps.
static const void *key_of(const struct kind *kind, const void *record, struct text *name)
{
	const char *at = (const char *)record + kind->key_offset;

	if (kind->key == KEY_UUID)
		return at;
	*name = text_of(*(char *const *)at);
	return name;
}

int table_check(const struct state *state, enum state_table table, const void *record)
{
	const struct kind *kind = kind_at(state, table);
	struct text name;

	if (!kind->is_sound(record))
		return -ERROR_CORRUPT;
	if (kind->key == KEY_ONE)
		return 0;
	return table_has_room_for(state, table, key_of(kind, record, &name)) ? 0
									     : -ERROR_TABLE_FULL;
}

static struct cell *cell_of(struct state *state, enum state_table table, const void *record)
{
	const struct kind *kind = kind_at(state, table);
	struct text name;

	if (kind->key == KEY_ONE)
		return state->tables[table].one;
	return table_find_or_add(state, table, key_of(kind, record, &name));
}

static void make_working(struct state *state, struct cell *cell, struct record *record)
{
	CHECK(record != cell->working);
	record->older = cell->working;
	cell->working = record;
	change_add(state->changes, cell->table, cell, record);
}

static void cell_enter(struct state *state, struct cell *cell, uint64_t index)
{
	const struct kind *kind = kind_at(state, cell->table);

	if (cell->index || kind->key == KEY_ONE)
		return;
	cell->index = index;
	CHECK(index > 0);
	sequence_append(&state->tables[cell->table].order, index, cell);
	if (kind->entered)
		kind->entered(state, cell);
}

void cell_follow(struct state *state, struct cell *cell)
{
	CHECK(cell->working);
	const struct kind *kind = kind_at(state, cell->table);

	if (kind->follow)
		kind->follow(state, cell);
}

struct cell *table_put(struct state *state, enum state_table table, void *record)
{
	const struct kind *kind = kind_at(state, table);
	struct cell *cell = cell_of(state, table, record);
	struct record *r = record, *old = cell->working;

	CHECK(state->index >= state->unpublished_from);
	r->modify_index = state->index;
	r->create_index =
		cell_is_there(cell) && old->create_index ? old->create_index : state->index;
	if (kind->replaced)
		kind->replaced(cell, record);
	if (old && old->modify_index >= state->unpublished_from)
		replace_contents(kind, old, r);
	else
		make_working(state, cell, r);
	cell_enter(state, cell, state->index);
	cell_follow(state, cell);
	CHECK(cell_is_there(cell) && cell->published != cell->working);
	return cell;
}

struct cell *table_load(struct state *state, enum state_table table, void *record, uint64_t index)
{
	const struct kind *kind = kind_at(state, table);
	struct cell *cell = cell_of(state, table, record);

	if (kind->replaced)
		kind->replaced(cell, record);
	if (kind->key == KEY_ONE)
		kind_free(kind, cell->working);
	CHECK(kind->key == KEY_ONE || !cell->working);
	cell->working = record;
	cell_enter(state, cell, index);
	cell_follow(state, cell);
	publish_loaded(table, cell, record);
	if (kind->published)
		kind->published(state, cell, NULL, record);
	CHECK(cell->published == record);
	return cell;
}

void *cell_revise(struct state *state, struct cell *cell, uint64_t index)
{
	struct record *old = cell->working;

	CHECK(old && index >= old->modify_index);
	if (old->modify_index < state->unpublished_from)
		make_working(state, cell, kind_copy(kind_at(state, cell->table), old));
	((struct record *)cell->working)->modify_index = index;
	return cell->working;
}

void cell_delete(struct state *state, struct cell *cell, uint64_t index)
{
	CHECK(cell_is_there(cell));
	((struct record *)cell_revise(state, cell, index))->deleted = true;
	cell_follow(state, cell);
	cell_bury_if_idle(state, cell);
	CHECK(!cell_is_there(cell));
}

void cell_bury_if_idle(struct state *state, struct cell *cell)
{
	const struct kind *kind = kind_at(state, cell->table);

	if (cell->is_in_grave || cell_is_there(cell) || (kind->is_idle && !kind->is_idle(cell)))
		return;
	cell->is_in_grave = true;
	grave_add(state, cell->table, cell);
}

const void *table_published(const struct state *state, enum state_table table, const void *key)
{
	return cell_published(table_find(state, table, key));
}

const void *state_record(const struct state *state, enum state_table table, const struct uuid *id)
{
	switch (table) {
	case STATE_NODES: return state_node_by_id(state, id);
	case STATE_ALLOCATIONS: return state_allocation(state, id);
	default: CHECK(kind_at(state, table)->key == KEY_UUID);
	}
	return table_published(state, table, id);
}

const void *state_next(const struct state *state, enum state_table table, uint64_t *cursor)
{
	const struct kind *kind = kind_at(state, table);
	const struct cell *cell;

	while ((cell = sequence_next(&state->tables[table].order, cursor))) {
		const struct record *record = cell_published(cell);
		if (record)
			return kind->seen ? kind->seen(record) : record;
	}
	return NULL;
}

uint64_t state_key_before(const struct state *state, enum state_table table, uint64_t cursor)
{
	CHECK(table < STATE_TABLES);
	return sequence_key_before(&state->tables[table].order, cursor);
}

uint64_t state_key_of(const struct state *state, enum state_table table, const struct uuid *id)
{
	const struct record *record = state_record(state, table, id);
	return record ? record->create_index : 0;
}
