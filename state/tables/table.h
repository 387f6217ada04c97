// What every kind of record has in common (kind.h): its table, and every way in which a record in it changes. For
// state/ only; applier thread unless said otherwise.
#pragma once
#include "state/tables/kind.h"

struct change_list;

// What the next publication and the next burial do (tables.h).
void change_add(struct change_list *, enum state_table, void *cell, struct record *);
// A record of a snapshot is seen, before anybody reads.
void publish_loaded(enum state_table, void *cell, void *record);

void grave_add(struct state *, enum state_table, void *item);

// By key, a struct uuid or a struct text. Any thread under read lock, as those that only find. NULL: there is no cell.
struct cell *table_find(const struct state *, enum state_table, const void *key);
struct cell *table_find_or_add(struct state *, enum state_table, const void *key);
// Of one that has its place already, or of so many new ones.
bool table_has_room_for(const struct state *, enum state_table, const void *key);
bool table_has_room(const struct state *, enum state_table, uint32_t count);
// Whether such a record may be put: 0, -ERROR_CORRUPT or -ERROR_TABLE_FULL.
int table_check(const struct state *, enum state_table, const void *record);
// A new record, or another one in the place of the one of its key. Takes it over, and sets its indexes.
struct cell *table_put(struct state *, enum state_table, void *record);
// The same of a snapshot: seen at once. Its indexes are set; index: of its cell.
struct cell *table_load(struct state *, enum state_table, void *record, uint64_t index);

// A version that may be changed until it is published; after the change cell_follow().
void *cell_revise(struct state *, struct cell *, uint64_t index);
void cell_follow(struct state *, struct cell *);
void cell_delete(struct state *, struct cell *, uint64_t index);
// Nothing refers to a cell without a record any more: into its grave.
void cell_bury_if_idle(struct state *, struct cell *);
static inline bool cell_is_there(const struct cell *cell)
{
	return cell && cell->working && !((const struct record *)cell->working)->deleted;
}

// Of a kind with fields, or with a function for it. Not yet, or not any more, in any cell.
void kind_free(const struct kind *, void *record);
void *kind_create(const struct kind *);
// All of a cell's, published or not, when nobody reads any more.
void cell_free_versions(const struct kind *, void *cell);

// Readers, under read lock. NULL: the record is not there (yet, or any more).
static inline const void *cell_published(const struct cell *cell)
{
	const struct record *r =
		cell ? (const struct record *)__atomic_load_n(&cell->published, __ATOMIC_ACQUIRE)
		     : NULL;
	return r && !r->deleted ? r : NULL;
}
const void *table_published(const struct state *, enum state_table, const void *key);
const void *table_next(const struct state *, enum state_table, uint64_t *cursor);
