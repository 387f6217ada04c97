#include "tools/api/lists/record_walk.h"
#include "state/tables/id_order.h"
#include <stdlib.h>

void record_walk_free(struct record_walk *walk)
{
	free(walk->keys);
	free(walk->ids);
}

struct record_place record_walk_start(const struct record_walk *walk)
{
	return (struct record_place){
		.key = walk->reverse ? UINT64_MAX : 0,
		.id = walk->reverse ? walk->last : walk->first,
	};
}

// The id after this one, or before it; false: there is none.
static bool uuid_move(struct uuid *id, bool down)
{
	for (int i = 15; i >= 0; i--) {
		id->bytes[i] = (uint8_t)(id->bytes[i] + (down ? -1 : 1));
		if (id->bytes[i] != (down ? 0xff : 0))
			return true;
	}
	return false;
}

static bool key_move(uint64_t *key, bool down)
{
	if (*key == (down ? 0 : UINT64_MAX))
		return false;
	*key += down ? UINT64_MAX : 1;
	return true;
}

static void pass_id(const struct record_walk *walk, struct record_place *place,
	const struct uuid *id, struct record_place *at)
{
	*at = (struct record_place){.id = *id};
	place->id = *id;
	place->is_end = !uuid_move(&place->id, walk->reverse);
}

static void pass_key(const struct record_walk *walk, struct record_place *place, uint64_t key,
	struct record_place *at)
{
	*at = (struct record_place){.key = key};
	place->key = key;
	place->is_end = !key_move(&place->key, walk->reverse);
}

static bool is_beyond(const struct record_walk *walk, const struct uuid *id)
{
	return uuid_compare(id, walk->reverse ? &walk->first : &walk->last) *
		       (walk->reverse ? -1 : 1) >
	       0;
}

// Fills the window, unless it has the ids of the place.
static void fill_window(struct record_walk *walk, const struct record_place *place)
{
	if (walk->window_next < walk->window_count && uuid_equal(&walk->window_at, &place->id))
		return;
	walk->window_next = 0;
	walk->window_count = state_ids_from(
		walk->state, walk->table, &place->id, walk->reverse, walk->window, WALK_WINDOW);
	for (uint32_t i = 0; i < walk->window_count; i++)
		if (is_beyond(walk, &walk->window[i]))
			walk->window_count = i;
}

bool record_walk_prepare(struct record_walk *walk, struct record_place *place)
{
	if (walk->by_id && !walk->is_chosen && !place->is_end) {
		fill_window(walk, place);
		place->is_end = walk->window_count == 0;
	}
	return !place->is_end;
}

// Number of chosen records before the place, in ascending order.
static uint32_t chosen_below(const struct record_walk *walk, const struct record_place *place)
{
	uint32_t low = 0, high = walk->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		bool below = walk->by_id ? uuid_compare(&walk->ids[middle], &place->id) < 0
					 : walk->keys[middle] < place->key;
		if (below)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const void *record_of_key(const struct record_walk *walk, uint64_t key)
{
	uint64_t after = key;
	const void *record = state_next(walk->state, walk->table, &after);
	return after == key + 1 ? record : NULL;
}

static bool is_at(const struct record_walk *walk, uint32_t i, const struct record_place *place)
{
	return walk->by_id ? uuid_equal(&walk->ids[i], &place->id) : walk->keys[i] == place->key;
}

static bool step_chosen(struct record_walk *walk, struct record_place *place, const void **record,
	struct record_place *at)
{
	uint32_t i = chosen_below(walk, place);
	bool is_there = i < walk->count && is_at(walk, i, place);
	if (walk->reverse ? i == 0 && !is_there : i == walk->count) {
		place->is_end = true;
		return false;
	}
	i -= walk->reverse && !is_there;
	if (walk->by_id) {
		pass_id(walk, place, &walk->ids[i], at);
		*record = state_record(walk->state, walk->table, &walk->ids[i]);
	} else {
		pass_key(walk, place, walk->keys[i], at);
		*record = record_of_key(walk, walk->keys[i]);
	}
	return true;
}

static bool step_window(struct record_walk *walk, struct record_place *place, const void **record,
	struct record_place *at)
{
	if (walk->window_next == walk->window_count)
		return false;
	const struct uuid *id = &walk->window[walk->window_next++];
	pass_id(walk, place, id, at);
	walk->window_at = place->id;
	*record = state_record(walk->state, walk->table, id);
	return true;
}

static bool step_by_creation(struct record_walk *walk, struct record_place *place,
	const void **record, struct record_place *at)
{
	uint64_t key = place->key;
	if (walk->reverse) {
		key = state_key_before(walk->state, walk->table, key == UINT64_MAX ? key : key + 1);
		*record = key ? record_of_key(walk, key) : NULL;
		place->is_end = key == 0;
	} else {
		*record = state_next(walk->state, walk->table, &key);
		key--;
		place->is_end = *record == NULL;
	}
	if (!place->is_end)
		pass_key(walk, place, key, at);
	return !place->is_end;
}

void record_walk_prefetch(const struct record_walk *walk, uint32_t steps)
{
	if (!walk->prefetch_id || walk->is_chosen)
		return;
	for (uint32_t i = walk->window_next; i < walk->window_count && steps > 0; i++, steps--)
		walk->prefetch_id(walk->state, &walk->window[i]);
}

bool record_walk_step(struct record_walk *walk, struct record_place *place, const void **record,
	struct record_place *at)
{
	if (place->is_end)
		return false;
	return walk->is_chosen ? step_chosen(walk, place, record, at)
	       : walk->by_id   ? step_window(walk, place, record, at)
			       : step_by_creation(walk, place, record, at);
}

bool uuid_bounds(const char *digits, uint32_t size, struct uuid *first, struct uuid *last)
{
	char least[UUID_TEXT_BYTES] = "00000000-0000-0000-0000-000000000000";
	char greatest[UUID_TEXT_BYTES] = "ffffffff-ffff-ffff-ffff-ffffffffffff";
	memcpy(least, digits, size);
	memcpy(greatest, digits, size);
	return uuid_parse(least, first) && uuid_parse(greatest, last);
}
