// Class sets against a look at every node, while nodes and classes come, change and go.
#include "placement/direct/classes/class_sets.h"
#include "state/base/prng.h"
#include "state/records/nodes/node.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS 400u
#define CLASSES 150u

struct world {
	struct prng prng;
	struct fit_index *index;
	struct class_sets *sets;
	struct node_class classes[CLASSES];
	char names[CLASSES][16];
	bool is_there[SLOTS];
	struct fit_input nodes[SLOTS];
	uint32_t asked; // classes that were judged
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

// All that a class says follows from its hash.
static void judge(void *context, const struct node_class *c, struct class_judgement *judgement)
{
	struct world *w = context;

	w->asked++;
	judgement->affinity = (double)(c->hash / 8 % 5) / 4;
	judgement->verdict = c->hash % 8 == 0   ? CLASS_UNTARGETED
			     : c->hash % 8 <= 2 ? CLASS_REFUSED
						: CLASS_TAKEN;
	judgement->refusal = c->hash % 8 == 1 ? "one" : "two";
	judgement->by_job = c->hash % 8 == 1;
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
	struct node_class *c = &w->classes[id];
	snprintf(w->names[id], sizeof w->names[id], "c%u", below(w, 3));
	*c = (struct node_class){.id = id,
		.hash = prng_u64(&w->prng),
		.class_name = w->names[id],
		.datacenter = below(w, 2) ? "dc1" : "dc2"};
}

static void change_node(struct world *w)
{
	uint32_t slot = below(w, SLOTS), id = below(w, below(w, 4) ? 20 : CLASSES);

	w->is_there[slot] = below(w, 10) > 0;
	if (!w->is_there[slot]) {
		fit_index_set(w->index, slot, NULL);
		return;
	}
	if (!is_used(w, id) && below(w, 2))
		define_class(w, id);
	w->nodes[slot] = (struct fit_input){
		.capacity = {1000, 1000, 1000},
		.used = {below(w, 1200), below(w, 1200), below(w, 1200)},
		.node_class = id,
		.class_hash = w->classes[id].hash,
		.class_record = &w->classes[id],
		.ready = below(w, 5) > 0,
	};
	fit_index_set(w->index, slot, &w->nodes[slot]);
}

static const char *shortage(const struct fit_input *in, const struct resources *ask)
{
	if (in->used.cpu_mhz + ask->cpu_mhz > in->capacity.cpu_mhz)
		return "cpu";
	if (in->used.memory_mb + ask->memory_mb > in->capacity.memory_mb)
		return "memory";
	return in->used.disk_mb + ask->disk_mb > in->capacity.disk_mb ? "disk" : NULL;
}

struct counts {
	uint32_t candidates, dc1, refused[2][3], classes[2][3], shorts[3][3];
};

static void look_at_all(struct world *w, const struct resources *ask, struct counts *c)
{
	bool seen[CLASSES] = {false};

	memset(c, 0, sizeof *c);
	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct fit_input *in = &w->nodes[i];
		const struct node_class *of = &w->classes[in->node_class];
		struct class_judgement judgement = {0};
		if (!w->is_there[i] || !in->ready)
			continue;
		judge(w, of, &judgement);
		if (judgement.verdict == CLASS_UNTARGETED)
			continue;
		uint32_t name = (uint32_t)(of->class_name[1] - '0');
		c->candidates++;
		c->dc1 += strcmp(of->datacenter, "dc1") == 0;
		if (judgement.verdict == CLASS_REFUSED) {
			c->refused[judgement.by_job][name]++;
			c->classes[judgement.by_job][name] += !seen[of->id];
			seen[of->id] = true;
			continue;
		}
		const char *of_what = shortage(in, ask);
		if (of_what)
			c->shorts[of_what[0] == 'c' ? 0 : of_what[0] == 'm' ? 1 : 2][name]++;
	}
}

static void read_tallies(const struct class_tallies *t, struct counts *c)
{
	memset(c, 0, sizeof *c);
	c->candidates = t->candidates;
	for (uint32_t i = 0; i < t->available_count; i++)
		if (strcmp(t->available[i].datacenter, "dc1") == 0)
			c->dc1 += t->available[i].nodes;
	for (uint32_t i = 0; i < t->refused_count; i++) {
		const struct refused_tally *r = &t->refused[i];
		assert_string_equal(r->refusal, r->by_job ? "one" : "two");
		c->refused[r->by_job][r->class_name[1] - '0'] += r->nodes;
		c->classes[r->by_job][r->class_name[1] - '0'] += r->classes;
	}
	for (uint32_t i = 0; i < t->short_count; i++)
		for (uint32_t j = 0; j < FIT_SHORTAGES; j++)
			c->shorts[j][t->shorts[i].class_name[1] - '0'] += t->shorts[i].nodes[j];
}

static bool is_in_group(const struct class_set *s, uint32_t group, uint32_t id)
{
	const struct class_group *g = &s->groups[group];
	bool is_in = g->classes[id / 64] >> id % 64 & 1;
	assert_true(!is_in || g->bits >> id % 64 & 1);
	return is_in;
}

static void check_groups(struct world *w, const struct class_set *s)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct class_judgement judgement = {0};
		uint32_t groups = 0;
		if (!w->is_there[i])
			continue;
		judge(w, &w->classes[w->nodes[i].node_class], &judgement);
		for (uint32_t g = 0; g < s->group_count; g++)
			if (is_in_group(s, g, w->nodes[i].node_class)) {
				assert_true(s->groups[g].affinity == judgement.affinity);
				groups++;
			}
		assert_int_equal(groups, judgement.verdict == CLASS_TAKEN);
	}
}

static void check_set(struct world *w, uint32_t number)
{
	struct class_ask ask = {{100 * number, 300, 50 * number}, number % 3};
	struct counts is, should;
	struct class_set *s = class_sets_take(w->sets, &number, sizeof number, &ask, judge, w);

	look_at_all(w, &ask.room, &should);
	read_tallies(&s->tallies, &is);
	assert_memory_equal(&is, &should, sizeof is);
	check_groups(w, s);
	class_sets_give(w->sets, s);
}

static void open_world(struct world *w, uint64_t seed)
{
	*w = (struct world){.index = fit_index_create(PLACEMENT_BINPACK)};
	w->sets = class_sets_create(w->index);
	prng_seed(&w->prng, seed);
	for (uint32_t id = 0; id < CLASSES; id++)
		define_class(w, id);
}

static void close_world(struct world *w)
{
	class_sets_destroy(w->sets);
	fit_index_destroy(w->index);
}

static void numbers_follow_the_nodes(void **state)
{
	static struct world w;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		open_world(&w, seed);
		for (uint32_t i = 0; i < 300; i++) {
			// Now and then more than the index remembers.
			uint32_t changes = below(&w, 40) ? below(&w, 30) : FIT_LOG_CHANGES + 100;
			while (changes--)
				change_node(&w);
			check_set(&w, below(&w, 6));
		}
		close_world(&w);
	}
}

static void a_class_is_judged_once(void **state)
{
	static struct world w;
	struct class_ask ask = {{1, 1, 1}, 0};

	open_world(&w, 1);
	for (uint32_t i = 0; i < 500; i++)
		change_node(&w);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_true(w.asked > 20);
	w.asked = 0;
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_int_equal(w.asked, 0);
	close_world(&w);
}

static void sets_that_nobody_uses_go(void **state)
{
	static struct world w;
	struct class_ask ask = {{1, 1, 1}, 0};

	open_world(&w, 1);
	struct class_set *held = class_sets_take(w.sets, "held", 5, &ask, judge, &w);
	for (uint32_t i = 0; i < 1000; i++)
		class_sets_give(w.sets, class_sets_take(w.sets, &i, sizeof i, &ask, judge, &w));
	assert_int_equal(class_sets_count(w.sets), 256);
	assert_ptr_equal(class_sets_take(w.sets, "held", 5, &ask, judge, &w), held);
	class_sets_give(w.sets, held);
	class_sets_give(w.sets, held);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_follow_the_nodes),
		cmocka_unit_test(a_class_is_judged_once),
		cmocka_unit_test(sets_that_nobody_uses_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
