#include "placement/direct/classes/class_sets.h"
#include "placement/direct/classes/class_groups.h"
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

static void destroy_set(struct class_set *s)
{
	class_groups_release(s);
	class_set_destroy(s);
}

void class_sets_destroy(struct class_sets *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++)
		destroy_set(t->items[i]);
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
	destroy_set(*oldest);
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

// Those of another set that looks at the same, or new ones.
static struct class_kinds *find_kinds(struct class_sets *t, struct look_bytes key)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct class_kinds *kinds = t->items[i]->kinds;
		if (kinds && kinds->key.size == key.size &&
			memcmp(kinds->key.bytes, key.bytes, key.size) == 0) {
			free(key.bytes);
			return kinds;
		}
	}
	return class_kinds_create(key);
}

struct class_set *class_sets_take(struct class_sets *t, const void *key, uint32_t key_bytes,
	const struct class_ask *ask, class_judge *judge, void *context)
{
	uint64_t hash = hash_bytes(0, key, key_bytes);
	struct class_set *set = find_set(t, key, key_bytes, hash);

	if (!set) {
		struct class_kinds *kinds = ask->looks ? find_kinds(t, ask->looks(context)) : NULL;
		set = add_set(t, class_set_create(key, key_bytes, hash, ask, kinds));
	}
	CHECK(memcmp(&set->ask.room, &ask->room, sizeof ask->room) == 0);
	CHECK(set->ask.values == ask->values && set->ask.by_first == ask->by_first &&
		set->ask.by_node == ask->by_node && set->ask.looks == ask->looks);
	set->takers++;
	set->used_at = ++t->uses;
	if (class_set_follow(set, t->index, judge, context))
		class_groups_find(set);
	return set;
}

void class_sets_give(struct class_sets *t, struct class_set *set)
{
	CHECK(set->takers > 0);
	set->takers--;
}
