#include "placement/direct/classes/class_sets.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

// Sets that nobody has taken go when there are more.
#define SETS_KEPT 256u

struct class_sets {
	const struct fit_index *index;
	struct class_set **items;
	uint32_t count, room;
	uint64_t uses;
};

struct class_sets *class_sets_create(const struct fit_index *index)
{
	struct class_sets *t = memory_take(sizeof *t);
	t->index = index;
	return t;
}

void class_sets_destroy(struct class_sets *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++)
		class_set_destroy(t->items[i]);
	free(t->items);
	free(t);
}

static struct class_set *find_set(
	const struct class_sets *t, const void *key, uint32_t key_bytes, uint64_t hash)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct class_set *s = t->items[i];
		if (s->hash == hash && s->key_bytes == key_bytes &&
			memcmp(s->key, key, key_bytes) == 0)
			return s;
	}
	return NULL;
}

static void drop_oldest(struct class_sets *t)
{
	struct class_set **oldest = NULL;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i]->takers == 0 &&
			(!oldest || t->items[i]->used_at < (*oldest)->used_at))
			oldest = &t->items[i];
	if (!oldest)
		return;
	class_set_destroy(*oldest);
	*oldest = t->items[--t->count];
}

static struct class_set *add_set(struct class_sets *t, struct class_set *set)
{
	if (t->count >= SETS_KEPT)
		drop_oldest(t);
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->items = memory_resize(t->items, t->room * sizeof t->items[0]);
	}
	return t->items[t->count++] = set;
}

struct class_set *class_sets_take(struct class_sets *t, const void *key, uint32_t key_bytes,
	const struct class_ask *ask, class_judge *judge, void *context)
{
	uint64_t hash = hash_bytes(0, key, key_bytes);
	struct class_set *set = find_set(t, key, key_bytes, hash);

	if (!set)
		set = add_set(t, class_set_create(key, key_bytes, hash, ask));
	CHECK(memcmp(&set->ask.room, &ask->room, sizeof ask->room) == 0);
	CHECK(set->ask.values == ask->values && set->ask.by_first == ask->by_first &&
		set->ask.by_node == ask->by_node);
	set->takers++;
	set->used_at = ++t->uses;
	class_set_follow(set, t->index, judge, context);
	return set;
}

void class_sets_give(struct class_sets *t, struct class_set *set)
{
	CHECK(set->takers > 0);
	set->takers--;
}
