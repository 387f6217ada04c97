// Kinds of classes against a comparison of each class with each other, while nodes and classes come, change and go.
#include "placement/direct/classes/class_kinds.h"
#include "state/base/prng.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS 120u
#define CLASSES 90u

struct world {
	struct prng prng;
	struct fit_index *index;
	struct class_kinds *kinds;
	struct node_class classes[CLASSES];
	struct attribute attributes[CLASSES];
	char values[CLASSES][16];
	bool is_there[SLOTS];
	struct fit_input nodes[SLOTS];
	uint32_t told[SLOTS]; // kinds, by what the log told
	uint64_t known;       // changes that it told of
	bool speaks;          // the first ready node of a class has a say by its stamp
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static bool is_used(const struct world *w, uint32_t id)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (w->is_there[i] && w->nodes[i].node_class == id)
			return true;
	return false;
}

static void define_class(struct world *w, uint32_t id)
{
	snprintf(w->values[id], sizeof w->values[id], "%u", below(w, 30));
	w->attributes[id] = (struct attribute){"k", w->values[id]};
	w->classes[id] = (struct node_class){.id = id,
		.hash = prng_u64(&w->prng),
		.attributes = &w->attributes[id],
		.attribute_count = below(w, 5) > 0};
}

static void change_node(struct world *w)
{
	uint32_t slot = below(w, SLOTS), id = below(w, CLASSES);

	w->is_there[slot] = below(w, 4) > 0;
	if (!w->is_there[slot]) {
		fit_index_set(w->index, slot, NULL);
		return;
	}
	if (!is_used(w, id))
		define_class(w, id);
	w->nodes[slot] = (struct fit_input){.node_class = id,
		.class_hash = w->classes[id].hash,
		.class_record = &w->classes[id],
		.stamp = below(w, 3),
		.ready = below(w, 3) > 0};
	fit_index_set(w->index, slot, &w->nodes[slot]);
}

static const char *value_of(const struct world *w, uint32_t slot)
{
	const struct node_class *c = &w->classes[w->nodes[slot].node_class];
	return c->attribute_count ? c->attributes[0].value : "";
}

static uint32_t first_of_class(const struct world *w, uint32_t id)
{
	uint32_t slot = 0;

	while (!w->is_there[slot] || !w->nodes[slot].ready || w->nodes[slot].node_class != id)
		slot++;
	return slot;
}

static void speak(void *context, uint32_t slot, struct look_bytes *seen)
{
	static const char *const words[] = {"a", "b", NULL};
	const struct world *w = context;
	look_bytes_add(seen, words[w->nodes[slot].stamp]);
}

static bool are_alike(const struct world *w, uint32_t one, uint32_t other)
{
	if (strcmp(value_of(w, one), value_of(w, other)) != 0)
		return false;
	return !w->speaks || w->nodes[first_of_class(w, w->nodes[one].node_class)].stamp ==
				     w->nodes[first_of_class(w, w->nodes[other].node_class)].stamp;
}

static uint32_t ready_classes(const struct world *w, uint32_t kind)
{
	bool is_ready[CLASSES] = {false};
	uint32_t count = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		if (w->is_there[i] && w->nodes[i].ready && w->kinds->of_slot[i] == kind)
			is_ready[w->nodes[i].node_class] = true;
	for (uint32_t id = 0; id < CLASSES; id++)
		count += is_ready[id];
	return count;
}

static void check_slot(const struct world *w, uint32_t slot)
{
	const struct class_kinds *k = w->kinds;
	uint32_t kind = k->of_slot[slot], id = w->nodes[slot].node_class, times = 0;

	assert_int_equal(kind == KIND_NONE, !w->is_there[slot]);
	// A class that nobody speaks for stays what it was.
	if (kind == KIND_NONE || (w->speaks && !w->nodes[slot].ready))
		return;
	if (w->speaks)
		assert_int_equal(k->classes[id].speaker, first_of_class(w, id));
	assert_int_equal(k->of_class[id], kind);
	assert_true(k->kinds[kind].bits >> id % 64 & 1);
	assert_int_equal(k->kinds[kind].ready_classes, ready_classes(w, kind));
	for (uint32_t at = k->kinds[kind].first; at; at = k->classes[at - 1].next)
		times += at - 1 == id;
	assert_int_equal(times, 1);
	assert_non_null(class_kinds_class(k, w->index, kind));
	for (uint32_t i = 0; i < slot; i++)
		if (w->is_there[i] && (w->nodes[i].ready || !w->speaks))
			assert_int_equal(k->of_slot[i] == kind, are_alike(w, i, slot));
}

// A reader of the log knows the kind of each slot at the end.
static void read_log(struct world *w)
{
	uint64_t head = fit_index_head(w->index);
	bool is_behind = w->known < w->kinds->from || head - w->known > FIT_LOG_CHANGES;

	for (uint32_t i = 0; i < SLOTS && is_behind; i++)
		w->told[i] = i < w->kinds->slots ? w->kinds->of_slot[i] : KIND_NONE;
	for (uint64_t i = w->known; i < head && !is_behind; i++) {
		uint32_t slot = fit_index_change(w->index, i)->slot;
		const struct kind_change *change = class_kinds_change(w->kinds, i);
		assert_int_equal(w->told[slot], change->before);
		w->told[slot] = change->after;
	}
	w->known = head;
	for (uint32_t i = 0; i < w->kinds->slots; i++)
		assert_int_equal(w->told[i], w->kinds->of_slot[i]);
}

static void kinds_follow_the_classes(void **state)
{
	static struct world w;
	for (uint64_t seed = 1; seed <= 40 / BUILD_SLOWNESS; seed++) {
		const char *looks[] = {"${attr.k}", seed % 2 ? LOOK_AT_NETWORKS : NULL};
		w = (struct world){
			.index = fit_index_create(PLACEMENT_BINPACK), .speaks = seed % 2};
		w.kinds = class_kinds_create(class_looks_order(looks, 2));
		memset(w.told, 0xff, sizeof w.told); // KIND_NONE
		prng_seed(&w.prng, seed);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t changes = below(&w, 40) ? below(&w, 60) : FIT_LOG_CHANGES + 100;
			while (changes--)
				change_node(&w);
			class_kinds_follow(w.kinds, w.index, w.speaks ? speak : NULL, &w);
			for (uint32_t slot = 0; slot < w.kinds->slots; slot++)
				check_slot(&w, slot);
			if (below(&w, 3))
				read_log(&w);
		}
		// Numbers of kinds that are gone are given again.
		assert_true(w.kinds->count <= 2 * CLASSES);
		class_kinds_destroy(w.kinds);
		fit_index_destroy(w.index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_follow_the_classes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
