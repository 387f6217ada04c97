// The table of a kind (kind.h), and every way in which one of its records changes. For state/ only; applier thread
// unless said otherwise.
#pragma once
#include "state/tables/kind.h"

struct change_list;

// Notes a version for the next publication.
void change_add(struct change_list *, enum state_table, void *cell, struct record *);
// Publishes a record of a snapshot at once, while there are no readers yet.
void publish_loaded(enum state_table, void *cell, void *record);
// Notes a deleted thing for the next burial.
void grave_add(struct state *, enum state_table, void *item);

// The hash table of a kind that has is_same. A thing is found by any thread under read lock, unless it is gathered.
void table_hash_add(struct state *, enum state_table, uint64_t hash, struct cds_lfht_node *);
void table_hash_remove(struct state *, enum state_table, uint64_t hash, struct cds_lfht_node *);
struct cds_lfht_node *table_hash_find(const struct state *, enum state_table, uint64_t hash,
	cds_lfht_match_fct matches, const void *key);
// Fetches what adding or finding a thing of this hash will read, while things are gathered.
void table_hash_approach(const struct state *, enum state_table, uint64_t hash);
// How many things that table is to have room for.
uint32_t table_count(const struct state *, enum state_table);
// From now on things of all kinds that have is_same are gathered until all of a kind are added together: only this
// thread finds them meanwhile, or nobody. may_be_same: their keys were not looked up before; false: some have the same.
// In a read section.
void tables_gather(struct state *, bool are_found);
bool table_add_gathered(struct state *, enum state_table, bool may_be_same);

// key: a struct uuid or a struct text. The first may be called by any thread under read lock; NULL: there is no cell.
struct cell *table_find(const struct state *, enum state_table, const void *key);
struct cell *table_find_or_add(struct state *, enum state_table, const void *key);
// Whether the limit allows a record of this key (one that has its place counts already), or so many new ones.
bool table_has_room_for(const struct state *, enum state_table, const void *key);
bool table_has_room(const struct state *, enum state_table, uint32_t count);
// Whether the record may be put. Returns 0, -ERROR_CORRUPT or -ERROR_TABLE_FULL.
int table_check(const struct state *, enum state_table, const void *record);
// Adds the record, or replaces the one of the same key. Takes the record over and sets its indexes.
struct cell *table_put(struct state *, enum state_table, void *record);
// Adds a record of a snapshot, whose indexes are set, and publishes it. index: of its cell.
struct cell *table_load(struct state *, enum state_table, void *record, uint64_t index);

// Returns a version that may be changed until it is published. Call cell_follow() after the change.
void *cell_revise(struct state *, struct cell *, uint64_t index);
void cell_follow(struct state *, struct cell *);
void cell_delete(struct state *, struct cell *, uint64_t index);
// Puts the cell into its grave when its record is deleted and nothing refers to it any more.
void cell_bury_if_idle(struct state *, struct cell *);
static inline bool cell_is_there(const struct cell *cell)
{
	return cell && cell->working && !((const struct record *)cell->working)->deleted;
}

// A record that is in no cell: with its defaults, and its end. Caller frees.
void *kind_create(const struct kind *);
void kind_free(const struct kind *, void *record);
// Frees all versions of a cell, published or not, when there are no readers any more.
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
