#include "state/tables/sequence.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/record.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

#define CAPACITY_MIN 16u

struct entry {
	uint64_t key;
	_Atomic(void *) item; // NULL: a hole
};

struct sequence_array {
	struct rcu_head rcu;
	uint32_t capacity;
	_Atomic uint32_t count; // entries, holes included; below it everything is written
	struct entry entries[];
};

static uint32_t *position_of(const struct sequence *s, void *item)
{
	return (uint32_t *)((char *)item + s->position_offset);
}

void sequence_init(struct sequence *s, size_t position_offset)
{
	*s = (struct sequence){.position_offset = position_offset};
}

void sequence_release(struct sequence *s)
{
	free(s->array);
	s->array = NULL;
}

// Moves the remaining items, without the holes, into an array with as much room again. The n appends or removals since
// the last repack pay for copying n items.
static void repack(struct sequence *s)
{
	struct sequence_array *old = s->array;
	uint32_t capacity = s->count < CAPACITY_MIN / 2 ? CAPACITY_MIN : s->count * 2;
	struct sequence_array *new =
		memory_take(sizeof *new + (size_t)capacity * sizeof new->entries[0]);
	uint32_t count = 0;

	new->capacity = capacity;
	for (uint32_t i = 0; old && i < old->count; i++) {
		void *item = old->entries[i].item;
		if (!item)
			continue;
		new->entries[count].key = old->entries[i].key;
		new->entries[count].item = item;
		*position_of(s, item) = count++;
	}
	new->count = count;
	CHECK(count == s->count);
	CHECK(count < capacity);
	publish_pointer((void **)&s->array, new);
	if (old)
		call_rcu(&old->rcu, rcu_free);
}

void sequence_append(struct sequence *s, uint64_t key, void *item)
{
	if (!s->array || s->array->count == s->array->capacity)
		repack(s);

	struct sequence_array *a = s->array;
	uint32_t at = a->count;
	CHECK(at == 0 || a->entries[at - 1].key < key);
	a->entries[at].key = key;
	atomic_store_explicit(&a->entries[at].item, item, memory_order_release);
	*position_of(s, item) = at;
	s->count++;
	atomic_store_explicit(&a->count, at + 1, memory_order_release);
	CHECK(a->entries[at].item == item && s->count <= at + 1);
}

void sequence_remove(struct sequence *s, void *item)
{
	struct entry *entry = &s->array->entries[*position_of(s, item)];

	CHECK(entry->item == item);
	CHECK(s->count > 0);
	atomic_store_explicit(&entry->item, NULL, memory_order_relaxed);
	s->count--;
	if (s->array->capacity > 4 * CAPACITY_MIN && s->count < s->array->capacity / 8)
		repack(s);
}

uint64_t sequence_last_key(const struct sequence *s)
{
	return s->array && s->array->count ? s->array->entries[s->array->count - 1].key : 0;
}

bool sequence_holds(const struct sequence *s, const void *item, uint64_t key)
{
	uint32_t at = *position_of(s, (void *)item);
	return s->array && at < s->array->count && s->array->entries[at].item == item &&
	       s->array->entries[at].key == key;
}

static bool is_first_from(const struct sequence_array *a, uint32_t count, uint32_t at, uint64_t key)
{
	return at <= count && (at == count || a->entries[at].key >= key) &&
	       (at == 0 || a->entries[at - 1].key < key);
}

// Returns the position of the first entry whose key is at least `key`. A walk asks for one entry after the other, so
// the entry after this thread's last answer is tried first. The keys prove it, so the answer may come from any array.
static uint32_t first_from(const struct sequence_array *a, uint32_t count, uint64_t key)
{
	static _Thread_local uint32_t hint;
	uint32_t low = 0, high = count;

	if (is_first_from(a, count, hint + 1, key))
		return ++hint;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->entries[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return hint = low;
}

void *sequence_next(const struct sequence *s, uint64_t *cursor)
{
	const struct sequence_array *a = __atomic_load_n(&s->array, __ATOMIC_ACQUIRE);

	if (!a)
		return NULL;
	uint32_t count = atomic_load_explicit(&a->count, memory_order_acquire);
	for (uint32_t i = first_from(a, count, *cursor); i < count; i++) {
		void *item = atomic_load_explicit(&a->entries[i].item, memory_order_acquire);
		*cursor = a->entries[i].key + 1;
		if (item)
			return item;
	}
	return NULL;
}

uint64_t sequence_key_before(const struct sequence *s, uint64_t key)
{
	const struct sequence_array *a = __atomic_load_n(&s->array, __ATOMIC_ACQUIRE);

	if (!a)
		return 0;
	uint32_t count = atomic_load_explicit(&a->count, memory_order_acquire);
	for (uint32_t i = first_from(a, count, key); i > 0; i--)
		if (atomic_load_explicit(&a->entries[i - 1].item, memory_order_relaxed))
			return a->entries[i - 1].key;
	return 0;
}

void *sequence_find(const struct sequence *s, uint64_t key)
{
	uint64_t cursor = key;
	void *item = sequence_next(s, &cursor);
	return item && cursor == key + 1 ? item : NULL;
}
