// Class sets against a look at every node, while nodes and classes come, change and go.
#include "placement/direct/classes/class_sets.h"
#include "state/base/prng.h"
#include "state/records/nodes/node.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS 400u
#define CLASSES 320u
#define LOOKED_AT \
	24u // so many different things, at most, are seen of classes that are not each by itself

struct world {
	struct prng prng;
	struct fit_index *index;
	struct class_sets *sets;
	struct node_class classes[CLASSES];
	char names[CLASSES][16], shown[CLASSES][24];
	struct attribute shows[CLASSES]; // what is looked at of the class
	bool is_there[SLOTS];
	struct fit_input nodes[SLOTS];
	uint32_t asked, nodes_asked; // classes and nodes that were judged
	uint32_t reach;              // ids of classes are below
	char value[2][16];
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static uint64_t shown_by(const struct node_class *c)
{
	return strtoull(c->attributes[0].value, NULL, 16);
}

static struct look_bytes look_at_what_is_shown(void *context)
{
	const char *looks[] = {"${attr.shows}", LOOKS_OF_ALL};
	return class_looks_order(looks, sizeof looks / sizeof looks[0]);
}

static struct look_bytes look_at_first_nodes(void *context)
{
	const char *looks[] = {"${attr.shows}", LOOK_AT_NETWORKS, LOOKS_OF_ALL};
	return class_looks_order(looks, sizeof looks / sizeof looks[0]);
}

static void speak(void *context, uint32_t slot, struct look_bytes *seen)
{
	const struct world *w = context;
	look_bytes_add(seen, w->nodes[slot].stamp ? "more" : "less");
}

static void judge_hash(
	struct world *w, const struct node_class *c, struct class_judgement *judgement)
{
	w->asked++;
	judgement->affinity = (double)(c->hash / 8 % 5) / 4;
	judgement->verdict = c->hash % 8 == 0   ? CLASS_UNTARGETED
			     : c->hash % 8 <= 2 ? CLASS_REFUSED
						: CLASS_TAKEN;
	judgement->refusal = c->hash / 64 % 2 ? "one" : "two";
	judgement->by_job = c->hash % 8 == 1;
	snprintf(w->value[0], sizeof w->value[0], "few %u", (uint32_t)(c->hash / 128 % 3));
	snprintf(w->value[1], sizeof w->value[1], "many %u", (uint32_t)(c->hash / 128 % 40));
	judgement->values[0] = c->hash % 7 ? w->value[0] : NULL;
	judgement->values[1] = w->value[1];
	judgement->marks[1] = (uint32_t)(c->hash / 128 % 2);
}

// All that a class says follows from what it shows.
static void judge(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	struct node_class seen = *c;

	seen.hash = shown_by(c);
	judge_hash(context, &seen, judgement);
}

// Here the first node has its say, too.
static void judge_by_first(void *context, const struct node_class *c, uint32_t first,
	struct class_judgement *judgement)
{
	const struct world *w = context;
	struct node_class seen = *c;

	seen.hash = shown_by(c);
	if (first != CLASS_WITHOUT_NODES)
		seen.hash += w->nodes[first].stamp * 0x9e3779b97f4a7c15ull;
	judge_hash(context, &seen, judgement);
}

// What is a node's own follows from its stamp and its class.
static const char *judge_own(void *context, uint32_t slot, bool *comes_first)
{
	struct world *w = context;
	const struct fit_input *in = &w->nodes[slot];
	uint64_t own = (w->classes[in->node_class].hash >> 20 ^ in->stamp * 5) % 8;

	w->nodes_asked++;
	if (!w->is_there[slot] || own >= 4)
		return NULL;
	*comes_first = own >= 2;
	return own % 2 ? "one" : "two";
}

// CLASS_WITHOUT_NODES: none is ready and gets as far as its class.
static uint32_t first_of_class(struct world *w, const struct class_ask *ask, uint32_t id)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		bool is_refused_first = false;
		if (!w->is_there[i] || !w->nodes[i].ready || w->nodes[i].node_class != id)
			continue;
		if (ask->by_node)
			(void)ask->by_node(w, i, &is_refused_first);
		if (!is_refused_first)
			return i;
	}
	return CLASS_WITHOUT_NODES;
}

// Returns whether the class is judged.
static bool judge_plainly(
	struct world *w, const struct class_ask *ask, uint32_t id, struct class_judgement *j)
{
	bool by_first = ask->by_first || ask->speech;
	uint32_t first = by_first ? first_of_class(w, ask, id) : 0;
	bool is_judged = first != CLASS_WITHOUT_NODES || ask->by_node;

	if (is_judged)
		(by_first ? judge_by_first : judge)(w, &w->classes[id], first, j);
	return is_judged;
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
	snprintf(w->shown[id], sizeof w->shown[id], "%llx",
		(unsigned long long)(below(w, 4) ? below(w, LOOKED_AT) * 0x9e3779b97f4a7c15ull
						 : prng_u64(&w->prng)));
	w->shows[id] = (struct attribute){"shows", w->shown[id]};
	*c = (struct node_class){.id = id,
		.attributes = &w->shows[id],
		.attribute_count = 1,
		.pool = "default",
		.hash = prng_u64(&w->prng),
		.class_name = w->names[id],
		.datacenter = below(w, 2) ? "dc1" : "dc2"};
}

static void change_node(struct world *w)
{
	uint32_t slot = below(w, SLOTS), id = below(w, below(w, 4) ? 20 : w->reach);

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
		.stamp = below(w, 2),
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

// NULL: the node is as its class.
static const char *own_refusal(struct world *w, const struct class_ask *ask, uint32_t slot,
	const struct class_judgement *of_class)
{
	bool comes_first = false;
	const char *own = ask->by_node ? ask->by_node(w, slot, &comes_first) : NULL;

	return (comes_first ? !of_class->by_job : of_class->verdict == CLASS_TAKEN) ? own : NULL;
}

struct counts {
	uint32_t candidates, dc1, refused[3][2][3], classes[3][2][3], shorts[3][3];
};

static void look_at_all(struct world *w, const struct class_ask *ask, struct counts *c)
{
	bool seen[CLASSES] = {false};

	memset(c, 0, sizeof *c);
	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct fit_input *in = &w->nodes[i];
		const struct node_class *of = &w->classes[in->node_class];
		struct class_judgement judgement = {0};
		if (!w->is_there[i] || !in->ready)
			continue;
		assert_true(judge_plainly(w, ask, of->id, &judgement));
		if (judgement.verdict == CLASS_UNTARGETED)
			continue;
		uint32_t name = (uint32_t)(of->class_name[1] - '0');
		c->candidates++;
		c->dc1 += strcmp(of->datacenter, "dc1") == 0;
		const char *own = own_refusal(w, ask, i, &judgement);
		if (own) {
			c->refused[REFUSED_ITSELF][strcmp(own, "one") == 0][name]++;
			continue;
		}
		if (judgement.verdict == CLASS_REFUSED) {
			bool is_one = strcmp(judgement.refusal, "one") == 0;
			c->refused[judgement.by_job][is_one][name]++;
			c->classes[judgement.by_job][is_one][name] += !seen[of->id];
			seen[of->id] = true;
			continue;
		}
		const char *of_what = shortage(in, &ask->room);
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
		bool is_one = strcmp(r->refusal, "one") == 0;
		if (r->nodes == 0)
			continue;
		c->refused[r->by][is_one][r->class_name[1] - '0'] += r->nodes;
		c->classes[r->by][is_one][r->class_name[1] - '0'] += r->classes;
	}
	for (uint32_t i = 0; i < t->short_count; i++)
		for (uint32_t j = 0; j < FIT_SHORTAGES; j++)
			c->shorts[j][t->shorts[i].class_name[1] - '0'] += t->shorts[i].nodes[j];
}

static bool is_in_group(const struct class_set *s, uint32_t group, uint32_t id)
{
	uint32_t number = class_set_number_of_class(s, id);
	return s->groups[group].classes[number / 64] >> number % 64 & 1;
}

static bool passes(struct world *w, const struct class_set *s, uint32_t slot)
{
	bool ignored;
	return !s->ask.by_node || !s->ask.by_node(w, slot, &ignored);
}

static void check_passing(struct world *w, const struct class_set *s)
{
	uint32_t passing = 0, listed[SLOTS] = {0};

	for (uint32_t i = 0; i < s->own.passing; i++)
		listed[s->own.few[i]]++;
	for (uint32_t i = 0; i < SLOTS; i++) {
		bool is_ready = w->is_there[i] && w->nodes[i].ready;
		assert_int_equal(listed[i], is_ready && passes(w, s, i));
		assert_true(!is_ready || class_set_passes(s, i) == passes(w, s, i));
		passing += is_ready && passes(w, s, i);
	}
	assert_int_equal(s->own.passing, passing);
}

static void check_group(struct world *w, const struct class_set *s, uint32_t group)
{
	const struct class_group *g = &s->groups[group];
	uint64_t bits = 0;
	uint32_t ready = 0;

	for (uint32_t i = 0; i < s->class_room / 64 && !s->kinds; i++)
		bits |= g->classes[i];
	for (uint32_t i = 0; i < SLOTS && s->kinds; i++)
		if (w->is_there[i] && is_in_group(s, group, w->nodes[i].node_class))
			bits |= 1ull << w->nodes[i].node_class % 64;
	// Classes that are gone may have bits.
	assert_true(s->kinds ? (g->bits & bits) == bits : g->bits == bits);
	for (uint32_t i = 0; i < SLOTS; i++)
		ready += w->is_there[i] && w->nodes[i].ready && passes(w, s, i) &&
			 is_in_group(s, group, w->nodes[i].node_class);
	assert_int_equal(g->ready, ready);
}

static uint32_t chain_length(const struct class_values *v, uint32_t number, uint32_t wanted)
{
	uint32_t times = 0;

	for (uint32_t id = v->first[number]; id; id = v->next[id - 1]) {
		assert_int_equal(v->number_of[id - 1], number);
		times += id - 1 == wanted;
	}
	return times;
}

// Of a class that is taken: its values are known, and its group has them.
static void check_values(const struct class_set *s, const struct class_group *g, uint32_t of_fleet,
	const struct class_judgement *judgement)
{
	uint32_t id = class_set_number_of_class(s, of_fleet);

	for (uint32_t i = 0; i < s->ask.values; i++) {
		const struct class_values *v = &s->values[i];
		uint32_t number = class_values_find(v, judgement->values[i]);
		assert_int_equal(v->number_of[id], number);
		assert_int_equal(chain_length(v, number, id), 1);
		assert_int_equal(s->are_few[i], v->count <= s->few_most);
		assert_int_equal(g->marks[i], s->are_few[i] ? number : judgement->marks[i]);
	}
}

static void check_groups(struct world *w, const struct class_set *s)
{
	if (s->has_too_many_groups)
		return;
	for (uint32_t g = 0; g < s->group_count; g++)
		check_group(w, s, g);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct class_judgement judgement = {0};
		uint32_t groups = 0, id = w->nodes[i].node_class;
		if (!w->is_there[i] || !judge_plainly(w, &s->ask, id, &judgement))
			continue;
		for (uint32_t g = 0; g < s->group_count; g++)
			if (is_in_group(s, g, id)) {
				assert_true(s->groups[g].affinity == judgement.affinity);
				check_values(s, &s->groups[g], id, &judgement);
				groups++;
			}
		assert_int_equal(groups, judgement.verdict == CLASS_TAKEN);
	}
}

static void check_set(struct world *w, uint32_t number)
{
	struct class_ask ask = {
		.room = {100 * (number % 8), 60 * (7 - number % 8), 50 * (number % 8)},
		.values = number % 3,
		.by_first = number % 2,
		.by_node = number % 4 > 1 ? judge_own : NULL};
	if (number % 4 == 0) {
		ask.looks = number % 8 ? look_at_first_nodes : look_at_what_is_shown;
		ask.speech = number % 8 ? speak : NULL;
	}
	struct counts is, should;
	struct class_set *s = class_sets_take(w->sets, &number, sizeof number, &ask,
		ask.by_first || ask.speech ? judge_by_first : judge, w);

	look_at_all(w, &ask, &should);
	read_tallies(&s->tallies, &is);
	assert_memory_equal(&is, &should, sizeof is);
	check_groups(w, s);
	if (ask.by_node)
		check_passing(w, s);
	class_sets_give(w->sets, s);
}

static void open_world(struct world *w, uint64_t seed)
{
	*w = (struct world){.index = fit_index_create(PLACEMENT_BINPACK), .reach = 20};
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

	for (uint64_t seed = 1; seed <= 20 / BUILD_SLOWNESS; seed++) {
		open_world(&w, seed);
		for (uint32_t i = 0; i < 300; i++) {
			// Now and then more than the index remembers.
			uint32_t changes = below(&w, 40) ? below(&w, 30) : FIT_LOG_CHANGES + 100;
			while (changes--)
				change_node(&w);
			check_set(&w, below(&w, 24));
			w.reach = 20 + i;
		}
		close_world(&w);
	}
}

static void fill_world(struct world *w)
{
	open_world(w, 1);
	w->reach = CLASSES - 1;
	for (uint32_t i = 0; i < 500; i++)
		change_node(w);
}

static void a_class_is_judged_once(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}};

	fill_world(&w);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_true(w.asked > 20);
	w.asked = 0;
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_int_equal(w.asked, 0);
	w.nodes[0] = (struct fit_input){.node_class = CLASSES - 1,
		.class_hash = w.classes[CLASSES - 1].hash,
		.class_record = &w.classes[CLASSES - 1],
		.ready = true};
	fit_index_set(w.index, 0, &w.nodes[0]);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_int_equal(w.asked, 1);
	close_world(&w);
}

// However many classes there are, and also those that come later.
static void what_is_the_same_to_all_who_look_is_judged_once(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}, .looks = look_at_what_is_shown};

	open_world(&w, 1);
	for (uint32_t id = 0; id < CLASSES; id++) {
		snprintf(w.shown[id], sizeof w.shown[id], "%x", id % 3);
		w.classes[id].class_name = w.classes[id].datacenter = "one";
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t id = i % CLASSES;
		w.nodes[i] = (struct fit_input){.node_class = id,
			.class_hash = w.classes[id].hash,
			.class_record = &w.classes[id],
			.ready = true};
		fit_index_set(w.index, i, &w.nodes[i]);
		if (i == CLASSES / 2)
			class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	}
	assert_int_equal(w.asked, 3);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_int_equal(w.asked, 3);
	struct class_set *s = class_sets_take(w.sets, "b", 2, &ask, judge, &w);
	assert_int_equal(w.asked, 6);
	assert_int_equal(s->class_count, 3);
	class_sets_give(w.sets, s);
	close_world(&w);
}

static void a_node_is_judged_again_when_it_is_described_anew(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}, .by_node = judge_own};

	fill_world(&w);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	w.nodes_asked = 0;
	for (uint32_t i = 0; i < 2 * FIT_LOG_CHANGES; i++) {
		uint32_t slot = i % SLOTS;
		w.nodes[slot].used.cpu_mhz ^= 1;
		if (w.is_there[slot])
			fit_index_set(w.index, slot, &w.nodes[slot]);
		if (i == 100 || i == 2 * FIT_LOG_CHANGES - 1)
			class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	}
	assert_int_equal(w.nodes_asked, 0);
	uint32_t slot = 0;
	while (!w.is_there[slot])
		slot++;
	w.nodes[slot].stamp++;
	fit_index_set(w.index, slot, &w.nodes[slot]);
	class_sets_give(w.sets, class_sets_take(w.sets, "a", 2, &ask, judge, &w));
	assert_int_equal(w.nodes_asked, 1);
	close_world(&w);
}

#define MANY_SLOTS (2 * OWN_NODES_FEW)

static const char *judge_many(void *context, uint32_t slot, bool *comes_first)
{
	const uint8_t *refused = context;
	static char texts[256][8];

	snprintf(texts[refused[slot]], sizeof texts[0], "%u", refused[slot]);
	return refused[slot] ? texts[refused[slot]] : NULL;
}

static const char *judge_coming_first(void *context, uint32_t slot, bool *comes_first)
{
	*comes_first = true;
	return "1";
}

// The few are listed while they are few, and have to be found again when they were many.
static void those_that_pass_are_listed_while_they_are_few(void **state)
{
	struct own_refusals o = {0};
	struct prng prng;
	static bool is_in[MANY_SLOTS];
	uint32_t count = 0;

	prng_seed(&prng, 1);
	own_refusals_begin_passing(&o);
	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t slot = (uint32_t)prng_below(&prng, MANY_SLOTS);
		bool grows = i / 10000 % 2 == 0;
		if (is_in[slot] != grows) {
			(grows ? own_refusals_put : own_refusals_take_out)(&o, slot);
			count += grows ? 1 : -1u;
			is_in[slot] = grows;
		}
		assert_int_equal(o.passing, count);
		for (uint32_t k = 0; o.few && i % 100 == 0 && k < count; k++)
			assert_true(is_in[o.few[k]]);
		assert_true(o.few || o.is_lost || count > OWN_NODES_FEW / 2);
	}
	own_refusals_release(&o);
}

static void more_reasons_than_numbers_are_told(void **state)
{
	struct own_refusals o = {0};
	uint8_t refused[] = {0, 1, 2, 1};

	own_refusals_make_room(&o, 4);
	for (uint32_t slot = 0; slot < 4; slot++)
		own_refusals_judge(&o, slot, judge_many, refused);
	assert_true(!o.of[0] && o.of[1] && o.of[2] != o.of[1] && o.of[3] == o.of[1]);
	for (uint32_t i = 1; i <= OWN_REASONS_MAX; i++) {
		refused[0] = (uint8_t)i;
		own_refusals_judge(&o, 0, judge_many, refused);
	}
	assert_false(o.has_too_many_reasons);
	own_refusals_judge(&o, 0, judge_coming_first, NULL);
	assert_true(o.has_too_many_reasons);
	own_refusals_release(&o);
}

// Returns how many classes were judged for it: none, if the set was kept.
static uint32_t take_and_give(struct world *w, uint32_t key)
{
	struct class_ask ask = {.room = {1, 1, 1}};

	w->asked = 0;
	class_sets_give(w->sets, class_sets_take(w->sets, &key, sizeof key, &ask, judge, w));
	return w->asked;
}

static void sets_that_nobody_uses_go(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}};

	fill_world(&w);
	struct class_set *held = class_sets_take(w.sets, "held", 5, &ask, judge, &w);
	for (uint32_t i = 0; i < 1000; i++)
		take_and_give(&w, i);
	assert_ptr_equal(class_sets_take(w.sets, "held", 5, &ask, judge, &w), held);
	class_sets_give(w.sets, held);
	class_sets_give(w.sets, held);
	// Those that were taken last stay.
	assert_int_equal(take_and_give(&w, 1000 - 255), 0);
	assert_true(take_and_give(&w, 1000 - 256) > 0);
	assert_int_equal(take_and_give(&w, 1000 - 255), 0);
	close_world(&w);
}

static void a_key_is_not_the_beginning_of_another(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}};

	open_world(&w, 1);
	struct class_set *longer = class_sets_take(w.sets, "key", 3, &ask, judge, &w);
	struct class_set *shorter = class_sets_take(w.sets, "key", 2, &ask, judge, &w);
	assert_ptr_not_equal(longer, shorter);
	class_sets_give(w.sets, longer);
	class_sets_give(w.sets, shorter);
	close_world(&w);
}

// A hash gives the affinity, and the value of a property.
static void judge_by_hash(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	struct world *w = context;

	snprintf(w->value[0], sizeof w->value[0], "v%u", (uint32_t)(c->hash / 100));
	*judgement = (struct class_judgement){.verdict = CLASS_TAKEN,
		.affinity = (double)(c->hash % 100),
		.values = {w->value[0]}};
}

static void set_class(struct world *w, uint32_t id, uint64_t hash)
{
	static struct node_class many[CLASS_GROUPS_MAX + 1];
	many[id] = (struct node_class){.id = id, .hash = hash, .datacenter = "dc1"};
	fit_index_set(w->index, id,
		&(struct fit_input){.node_class = id,
			.class_hash = hash,
			.class_record = &many[id],
			.ready = true});
}

static void affinities_that_make_too_many_groups_are_mixed(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}, .values = 1};

	open_world(&w, 1);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t id = 0; id <= CLASS_GROUPS_FEW; id++)
			set_class(&w, id, round % 2 ? 100 * (id + 1) : id);
		struct class_set *s = class_sets_take(w.sets, "a", 2, &ask, judge_by_hash, &w);
		// So many affinities; then so many values, which tell no groups apart any more.
		assert_int_equal(s->mixes_affinities, round % 2 == 0);
		assert_false(s->has_too_many_groups);
		assert_int_equal(s->group_count, 1);
		assert_true(s->groups[0].affinity == 0);
		assert_int_equal(s->groups[0].ready, CLASS_GROUPS_FEW + 1);
		class_sets_give(w.sets, s);
	}
	close_world(&w);
}

static void judge_by_marks(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	struct world *w = context;

	snprintf(w->value[0], sizeof w->value[0], "v%u", (uint32_t)c->hash);
	*judgement = (struct class_judgement){.verdict = CLASS_TAKEN,
		.values = {w->value[0]},
		.marks = {(uint32_t)c->hash % 2000}};
}

static void too_many_groups_are_told_until_they_are_fewer(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}, .values = 1};

	open_world(&w, 1);
	// The last round has few again.
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t wanted = round == 0   ? CLASS_GROUPS_MAX + 1
				  : round == 1 ? CLASS_GROUPS_MAX
					       : CLASS_GROUPS_FEW;
		for (uint32_t id = 0; id <= CLASS_GROUPS_MAX; id++)
			set_class(&w, id, 2000 * round + id % wanted);
		struct class_set *s = class_sets_take(w.sets, "a", 2, &ask, judge_by_marks, &w);
		assert_int_equal(s->has_too_many_groups, round == 0);
		assert_int_equal(s->group_count, round < 2 ? CLASS_GROUPS_MAX : CLASS_GROUPS_FEW);
		assert_int_equal(s->mixes_affinities, round == 0);
		class_sets_give(w.sets, s);
	}
	close_world(&w);
}

static void judge_by_values(void *context, const struct node_class *c, uint32_t unused,
	struct class_judgement *judgement)
{
	struct world *w = context;

	snprintf(w->value[0], sizeof w->value[0], "v%u", (uint32_t)(c->hash % 8));
	snprintf(w->value[1], sizeof w->value[1], "w%u", (uint32_t)(c->hash / 8));
	*judgement = (struct class_judgement){
		.verdict = CLASS_TAKEN, .values = {w->value[0], w->value[1]}, .marks = {1, 1}};
}

// The first has 8, the second as many as are needed for one group too many.
static void values_that_make_too_many_groups_are_not_few(void **state)
{
	static struct world w;
	struct class_ask ask = {.room = {1, 1, 1}, .values = 2};

	open_world(&w, 1);
	for (uint32_t id = 0; id <= CLASS_GROUPS_FEW; id++)
		set_class(&w, id, id);
	struct class_set *s = class_sets_take(w.sets, "a", 2, &ask, judge_by_values, &w);
	assert_true(s->are_few[0]);
	assert_false(s->are_few[1]);
	assert_false(s->has_too_many_groups);
	assert_int_equal(s->group_count, 8);
	class_sets_give(w.sets, s);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_follow_the_nodes),
		cmocka_unit_test(a_class_is_judged_once),
		cmocka_unit_test(what_is_the_same_to_all_who_look_is_judged_once),
		cmocka_unit_test(a_node_is_judged_again_when_it_is_described_anew),
		cmocka_unit_test(those_that_pass_are_listed_while_they_are_few),
		cmocka_unit_test(more_reasons_than_numbers_are_told),
		cmocka_unit_test(sets_that_nobody_uses_go),
		cmocka_unit_test(a_key_is_not_the_beginning_of_another),
		cmocka_unit_test(affinities_that_make_too_many_groups_are_mixed),
		cmocka_unit_test(too_many_groups_are_told_until_they_are_fewer),
		cmocka_unit_test(values_that_make_too_many_groups_are_not_few),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
