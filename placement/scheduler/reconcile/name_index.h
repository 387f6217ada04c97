// The numbers in the names of a group's allocations (row C46): which are taken, which come next, which go first.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct number_set {
	uint64_t few;   // the only word of a small set
	uint64_t *more; // the words of others
	uint32_t size;  // the set has no number from here on
};

void number_set_init(struct number_set *, uint32_t size);
void number_set_release(struct number_set *);
void number_set_add(struct number_set *, uint32_t number); // number < size
void number_set_remove(struct number_set *, uint32_t number);
bool number_set_has(const struct number_set *, uint32_t number);
// Moves the n highest of one set to another of the same size.
void number_set_move_highest(struct number_set *from, struct number_set *to, int64_t n);

struct name_index {
	struct number_set taken;
	uint32_t count;   // that the group asks for
	uint32_t free_at; // no number below is free
	uint32_t overlap; // given next when no number is free
};

void name_index_init(struct name_index *, uint32_t count, uint32_t size);
void name_index_release(struct name_index *);
// The lowest number that is free and below count; count when there is none. The number stays free.
uint32_t name_index_lowest_free(struct name_index *);
// Takes the lowest free number; when there is none: 0, 1, 2, …
uint32_t name_index_next(struct name_index *);
void name_index_free(struct name_index *, uint32_t number);
