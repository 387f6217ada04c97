#include "placement/direct/classes/node_values.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

// Each takes about 20 bytes a node; those that nobody has taken go when there are more.
#define PROPERTIES_KEPT 8u

struct node_values_kept {
	const struct fit_index *index;
	struct node_values **items;
	uint32_t count, room;
	uint64_t uses;
};

static uint32_t chain_of(const struct node_values *v, uint32_t hash)
{
	return hash == NODE_WITHOUT_VALUE ? 0 : 1 + (hash & v->mask);
}

static void enter_chain(struct node_values *v, uint32_t slot)
{
	uint32_t *first = &v->first[chain_of(v, v->hash_of[slot])];

	v->next[slot] = *first;
	v->previous[slot] = NODE_VALUES_END;
	if (*first != NODE_VALUES_END)
		v->previous[*first] = slot;
	*first = slot;
}

static void leave_chain(struct node_values *v, uint32_t slot)
{
	uint32_t next = v->next[slot], previous = v->previous[slot];

	if (previous == slot)
		return;
	if (previous == NODE_VALUES_END)
		v->first[chain_of(v, v->hash_of[slot])] = next;
	else
		v->next[previous] = next;
	if (next != NODE_VALUES_END)
		v->previous[next] = previous;
	v->previous[slot] = slot;
}

static void chain_anew(struct node_values *v)
{
	v->mask = 63;
	while (v->mask < v->room)
		v->mask = 2 * v->mask + 1;
	free(v->first);
	v->first = memory_take_array((size_t)v->mask + 2, sizeof v->first[0]);
	memset(v->first, 0xff, ((size_t)v->mask + 2) * sizeof v->first[0]);
	for (uint32_t slot = 0; slot < v->slots; slot++)
		if (v->previous[slot] != slot)
			enter_chain(v, slot);
}

static void make_room(struct node_values *v, uint32_t slots)
{
	if (slots > v->room) {
		v->room = v->room + v->room / 2 > slots ? v->room + v->room / 2 : slots;
		v->hash_of = memory_resize(v->hash_of, v->room * sizeof v->hash_of[0]);
		v->next = memory_resize(v->next, v->room * sizeof v->next[0]);
		v->previous = memory_resize(v->previous, v->room * sizeof v->previous[0]);
		chain_anew(v);
	}
	for (; v->slots < slots; v->slots++)
		v->previous[v->slots] = v->slots;
}

static void read_node(struct node_values *v, const struct fit_index *x, uint32_t slot,
	node_value_hash *hash, void *context)
{
	leave_chain(v, slot);
	if (fit_index_node(x, slot)->place == FIT_ABSENT)
		return;
	v->hash_of[slot] = hash(context, slot);
	enter_chain(v, slot);
}

static void follow(
	struct node_values *v, const struct fit_index *x, node_value_hash *hash, void *context)
{
	uint64_t head = fit_index_head(x), from = v->seen;

	make_room(v, fit_index_slots(x));
	v->seen = head;
	if (head - from > FIT_LOG_CHANGES) {
		for (uint32_t slot = 0; slot < v->slots; slot++)
			if (fit_index_described(x, slot) > from)
				read_node(v, x, slot, hash, context);
		return;
	}
	for (uint64_t i = from; i < head; i++)
		if (fit_index_change(x, i)->described_anew)
			read_node(v, x, fit_index_change(x, i)->slot, hash, context);
}

static void destroy(struct node_values *v)
{
	CHECK(v->takers == 0);
	free(v->property);
	free(v->hash_of);
	free(v->next);
	free(v->previous);
	free(v->first);
	free(v);
}

struct node_values_kept *node_values_kept_create(const struct fit_index *index)
{
	struct node_values_kept *k = memory_take(sizeof *k);
	k->index = index;
	return k;
}

void node_values_kept_destroy(struct node_values_kept *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->count; i++)
		destroy(k->items[i]);
	free(k->items);
	free(k);
}

static void drop_oldest(struct node_values_kept *k)
{
	struct node_values **oldest = NULL;

	for (uint32_t i = 0; i < k->count; i++)
		if (k->items[i]->takers == 0 &&
			(!oldest || k->items[i]->used_at < (*oldest)->used_at))
			oldest = &k->items[i];
	if (!oldest)
		return;
	destroy(*oldest);
	*oldest = k->items[--k->count];
}

static struct node_values *find_or_add(struct node_values_kept *k, const char *property)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (strcmp(k->items[i]->property, property) == 0)
			return k->items[i];
	if (k->count >= PROPERTIES_KEPT)
		drop_oldest(k);
	if (k->count == k->room) {
		k->room = k->room ? 2 * k->room : PROPERTIES_KEPT;
		k->items = memory_resize(k->items, k->room * sizeof k->items[0]);
	}
	struct node_values *v = memory_take(sizeof *v);
	v->property = text_copy(text_of(property));
	return k->items[k->count++] = v;
}

struct node_values *node_values_take(
	struct node_values_kept *k, const char *property, node_value_hash *hash, void *context)
{
	struct node_values *v = find_or_add(k, property);

	v->takers++;
	v->used_at = ++k->uses;
	follow(v, k->index, hash, context);
	return v;
}

void node_values_give(struct node_values *v)
{
	CHECK(v->takers > 0);
	v->takers--;
}

static uint32_t with_hash(const struct node_values *v, uint32_t slot, uint32_t hash)
{
	while (slot != NODE_VALUES_END && v->hash_of[slot] != hash)
		slot = v->next[slot];
	return slot;
}

uint32_t node_values_first(const struct node_values *v, uint32_t hash)
{
	CHECK(v->first || v->slots == 0);
	return v->slots ? with_hash(v, v->first[chain_of(v, hash)], hash) : NODE_VALUES_END;
}

uint32_t node_values_next(const struct node_values *v, uint32_t slot)
{
	CHECK(slot < v->slots && v->previous[slot] != slot);
	return with_hash(v, v->next[slot], v->hash_of[slot]);
}
