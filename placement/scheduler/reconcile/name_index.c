#include "placement/scheduler/reconcile/name_index.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define WORD_BITS 64u

static uint32_t word_count(uint32_t size)
{
	return size / WORD_BITS + 1;
}

static uint64_t bit_of(uint32_t number)
{
	return 1ull << (number % WORD_BITS);
}

static uint64_t *words_of(struct number_set *set)
{
	return word_count(set->size) > 1 ? set->more : &set->few;
}

void number_set_init(struct number_set *set, uint32_t size)
{
	*set = (struct number_set){.size = size};
	if (word_count(size) > 1)
		set->more = memory_take_array(word_count(size), sizeof *set->more);
}

void number_set_release(struct number_set *set)
{
	free(set->more);
	*set = (struct number_set){0};
}

void number_set_add(struct number_set *set, uint32_t number)
{
	CHECK(number < set->size);
	words_of(set)[number / WORD_BITS] |= bit_of(number);
}

void number_set_remove(struct number_set *set, uint32_t number)
{
	CHECK(number < set->size);
	words_of(set)[number / WORD_BITS] &= ~bit_of(number);
}

bool number_set_has(const struct number_set *set, uint32_t number)
{
	const uint64_t *words = word_count(set->size) > 1 ? set->more : &set->few;

	return number < set->size && (words[number / WORD_BITS] & bit_of(number));
}

void number_set_move_highest(struct number_set *from, struct number_set *to, int64_t n)
{
	CHECK(from->size == to->size && n >= 0);
	for (uint32_t w = word_count(from->size); w > 0 && n > 0; w--)
		for (uint64_t *word = &words_of(from)[w - 1]; *word && n > 0; n--) {
			uint64_t highest = 1ull << (WORD_BITS - 1 - __builtin_clzll(*word));
			*word &= ~highest;
			words_of(to)[w - 1] |= highest;
		}
}

void name_index_init(struct name_index *names, uint32_t count, uint32_t size)
{
	*names = (struct name_index){.count = count};
	number_set_init(&names->taken, size > count ? size : count);
	CHECK(names->taken.size >= count);
}

void name_index_release(struct name_index *names)
{
	number_set_release(&names->taken);
}

uint32_t name_index_lowest_free(struct name_index *names)
{
	while (names->free_at < names->count && number_set_has(&names->taken, names->free_at))
		names->free_at++;
	CHECK(names->free_at <= names->count);
	return names->free_at;
}

uint32_t name_index_next(struct name_index *names)
{
	uint32_t number = name_index_lowest_free(names);
	if (number == names->count)
		return names->overlap++;
	number_set_add(&names->taken, number);
	CHECK(number < names->count);
	return number;
}

void name_index_free(struct name_index *names, uint32_t number)
{
	number_set_remove(&names->taken, number);
	if (number < names->free_at)
		names->free_at = number;
	CHECK(!number_set_has(&names->taken, number));
}
