// Items in the order of a growing key (an index of the state): a sorted array with holes. The applier appends and
// removes; any thread walks the array under RCU and can go on later from a key alone.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sequence_array;

struct sequence {
	struct sequence_array *array; // RCU; NULL while nothing was ever appended
	uint32_t count;               // items; applier only
	size_t position_offset;       // of an item's uint32_t that holds its position; applier only
};

void sequence_init(struct sequence *, size_t position_offset);
void sequence_release(struct sequence *); // no readers any more

// Applier thread only. key must be greater than every key before.
void sequence_append(struct sequence *, uint64_t key, void *item);
void sequence_remove(struct sequence *, void *item);
uint64_t sequence_last_key(const struct sequence *); // 0 when nothing was appended
// Whether the item and its key are at the item's position; for checking.
bool sequence_holds(const struct sequence *, const void *item, uint64_t key);

// Under read lock. The first item whose key is at least *cursor; moves *cursor past it. NULL at the
// end.
void *sequence_next(const struct sequence *, uint64_t *cursor);
// Under read lock. The greatest key of an item that is less than `key`; 0: there is none.
uint64_t sequence_key_before(const struct sequence *, uint64_t key);
// Under read lock. The item with exactly this key, or NULL.
void *sequence_find(const struct sequence *, uint64_t key);
