#include "placement/direct/classes/class_set.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum fit_shortage fit_shortage_of(const struct fit_node *n, const struct resources *room)
{
	uint32_t over = n->place >= FIT_OVER ? n->place : 0;
	CHECK(fit_is_ready(n));
	if (room->cpu_mhz > n->cpu_free || over & FIT_OVER_CPU)
		return SHORT_OF_CPU;
	if (room->memory_mb > n->memory_free || over & FIT_OVER_MEMORY)
		return SHORT_OF_MEMORY;
	if (room->disk_mb > n->disk_free || over & FIT_OVER_DISK)
		return SHORT_OF_DISK;
	return FIT_SHORTAGES;
}

static void begin_values(struct class_set *s)
{
	s->values = memory_take_array(s->ask.values, sizeof s->values[0]);
	s->are_few = memory_take_array(s->ask.values, sizeof s->are_few[0]);
	s->sought = memory_take_array(s->ask.values, sizeof s->sought[0]);
	for (uint32_t i = 0; i < s->ask.values; i++)
		class_values_begin(&s->values[i]);
}

struct class_set *class_set_create(const void *key, uint32_t key_bytes, uint64_t hash,
	const struct class_ask *ask, struct class_kinds *kinds)
{
	struct class_set *s = memory_take(sizeof *s);
	s->kinds = kinds;
	if (kinds)
		kinds->takers++;
	s->hash = hash;
	s->key = memory_take(key_bytes);
	memcpy(s->key, key, key_bytes);
	s->key_bytes = key_bytes;
	s->ask = *ask;
	s->few_most = CLASS_VALUES_FEW;
	s->groups_most = CLASS_GROUPS_FEW;
	CHECK(ask->values <= CLASS_VALUES_MAX);
	CHECK(!kinds || (!ask->by_first && !ask->by_node));
	CHECK(!ask->speech || (kinds && kinds->looks.networks));
	if (ask->values > 0)
		begin_values(s);
	return s;
}

void class_set_destroy(struct class_set *s)
{
	for (uint32_t i = 0; i < s->ask.values; i++)
		class_values_release(&s->values[i]);
	free(s->values);
	free(s->are_few);
	free(s->sought);
	free(s->marks);
	if (s->attached)
		s->release_attached(s->attached);
	if (s->kinds && --s->kinds->takers == 0)
		class_kinds_destroy(s->kinds);
	class_tallies_release(&s->tallies);
	own_refusals_release(&s->own);
	free(s->asides);
	free(s->groups);
	free(s->classes);
	free(s->key);
	free(s);
}

static void make_room(struct class_set *s, uint32_t count)
{
	if (count > s->class_room) {
		uint32_t room = 2 * s->class_room > count ? 2 * s->class_room : count + 64;
		room = (room + 63) & ~63u;
		s->classes = memory_resize(s->classes, room * sizeof s->classes[0]);
		memset(s->classes + s->class_room, 0,
			(room - s->class_room) * sizeof s->classes[0]);
		for (uint32_t i = s->class_room; i < room; i++)
			s->classes[i].first = CLASS_WITHOUT_NODES;
		for (uint32_t i = 0; i < s->group_count; i++) {
			uint64_t **map = &s->groups[i].classes;
			*map = memory_resize(*map, room / 8);
			memset(*map + s->class_room / 64, 0, (room - s->class_room) / 8);
		}
		for (uint32_t i = 0; i < s->ask.values; i++)
			class_values_make_room(&s->values[i], room);
		if (s->ask.values > 0) // written when the class is judged
			s->marks = memory_resize(
				s->marks, (size_t)room * s->ask.values * sizeof s->marks[0]);
		s->class_room = room;
	}
	s->class_count = count > s->class_count ? count : s->class_count;
}

const struct node_class *class_set_class(
	const struct class_set *s, const struct fit_index *x, uint32_t number)
{
	return s->kinds ? class_kinds_class(s->kinds, x, number) : fit_index_class(x, number);
}

static uint64_t class_since(const struct class_set *s, const struct fit_index *x, uint32_t number)
{
	return s->kinds ? s->kinds->kinds[number].since : fit_index_class_since(x, number);
}

static uint64_t class_epoch(const struct class_set *s, const struct fit_index *x)
{
	return s->kinds ? s->kinds->class_epoch : fit_index_class_epoch(x);
}

static bool holds_for(const struct class_in_set *c, const struct own_reason *reason)
{
	return reason->comes_first ? !c->by_job : c->verdict == CLASS_TAKEN;
}

static void tally_asides(struct class_set *s, const struct class_in_set *c, uint32_t by)
{
	for (uint32_t at = c->aside; at; at = s->asides[at - 1].next) {
		const struct class_aside *aside = &s->asides[at - 1];
		if (holds_for(c, &s->own.reasons[aside->reason]))
			s->tallies.refused[aside->tally].nodes += by * aside->nodes;
	}
}

// Adds the numbers of a class to the tallies (by = 1), or takes them off (by = -1).
static void tally_class(struct class_set *s, const struct class_in_set *c, uint32_t by)
{
	struct class_tallies *t = &s->tallies;

	if (c->ready == 0 || c->verdict == CLASS_UNJUDGED || c->verdict == CLASS_UNTARGETED)
		return;
	uint32_t nodes = class_in_set_nodes(c);
	t->candidates += by * c->ready;
	t->available[c->available].nodes += by * c->ready;
	tally_asides(s, c, by);
	if (c->verdict == CLASS_REFUSED) {
		t->refused[c->tally].nodes += by * nodes;
		t->refused[c->tally].classes += by * (s->kinds ? c->ready_classes : nodes > 0);
		return;
	}
	for (uint32_t i = 0; i < FIT_SHORTAGES; i++)
		t->shorts[c->tally].nodes[i] += by * c->short_of[i];
	if (c->group < CLASS_GROUPS_MAX)
		s->groups[c->group].ready += by * nodes;
}

// The tally of an aside's nodes, by the name of their class.
static void find_aside_tally(struct class_set *s, struct class_aside *aside, const char *name)
{
	const char *reason = s->own.reasons[aside->reason].text;
	aside->tally = class_tallies_refused(&s->tallies, reason, name, REFUSED_ITSELF);
}

static const char *name_in_tallies(const struct class_set *s, const struct class_in_set *c)
{
	return c->verdict == CLASS_TAKEN     ? s->tallies.shorts[c->tally].class_name
	       : c->verdict == CLASS_REFUSED ? s->tallies.refused[c->tally].class_name
					     : NULL; // not counted before the class is judged
}

static struct class_aside *aside_for(struct class_set *s, struct class_in_set *c, uint32_t reason)
{
	for (uint32_t at = c->aside; at; at = s->asides[at - 1].next)
		if (s->asides[at - 1].reason == reason)
			return &s->asides[at - 1];
	if (s->aside_count == s->aside_room) {
		s->aside_room = s->aside_room ? 2 * s->aside_room : 16;
		s->asides = memory_resize(s->asides, s->aside_room * sizeof s->asides[0]);
	}
	struct class_aside *aside = &s->asides[s->aside_count++];
	*aside = (struct class_aside){.reason = reason, .next = c->aside};
	find_aside_tally(s, aside, name_in_tallies(s, c));
	c->aside = s->aside_count;
	return aside;
}

static void set_aside(struct class_set *s, struct class_in_set *c, uint32_t reason, uint32_t by)
{
	aside_for(s, c, reason)->nodes += by;
	*(s->own.reasons[reason].comes_first ? &c->refused_first : &c->refused_last) += by;
}

static void add_node(struct class_set *s, struct class_in_set *c, uint32_t slot,
	const struct fit_node *n, uint32_t by)
{
	enum fit_shortage shortage = fit_shortage_of(n, &s->ask.room);

	c->ready += by;
	if (!class_set_passes(s, slot))
		set_aside(s, c, s->own.of[slot] - 1u, by);
	else if (shortage != FIT_SHORTAGES)
		c->short_of[shortage] += by;
}

static void speak_for(struct class_set *s, struct class_in_set *c, uint32_t slot)
{
	c->first = slot;
	c->is_stale = s->has_stale = true;
}

// Only a node that gets as far as its class may speak for it.
static bool may_speak(const struct class_set *s, uint32_t slot, const struct fit_node *n)
{
	return fit_is_ready(n) &&
	       (class_set_passes(s, slot) || !s->own.reasons[s->own.of[slot] - 1].comes_first);
}

static void find_firsts(struct class_set *s, const struct fit_index *x)
{
	uint32_t *firsts = memory_take_array(s->class_count + 1, sizeof firsts[0]);

	memset(firsts, 0xff, s->class_count * sizeof firsts[0]);
	for (uint32_t slot = fit_index_slots(x); slot-- > 0;)
		if (may_speak(s, slot, fit_index_node(x, slot)))
			firsts[fit_index_node(x, slot)->node_class] = slot;
	for (uint32_t i = 0; i < s->class_count; i++)
		if (firsts[i] != s->classes[i].first)
			speak_for(s, &s->classes[i], firsts[i]);
	free(firsts);
	s->has_lost_first = false;
}

static void follow_first(struct class_set *s, const struct fit_change *change, bool spoke)
{
	bool speaks = may_speak(s, change->slot, &change->after);
	struct class_in_set *before = &s->classes[change->before.node_class];
	struct class_in_set *after = &s->classes[change->after.node_class];

	if (spoke && speaks && !change->described_anew)
		return;
	if (spoke && before->first == change->slot) {
		speak_for(s, before, change->slot);
		s->has_lost_first = true;
	}
	if (speaks && change->slot <= after->first)
		speak_for(s, after, change->slot);
}

static void clear_numbers(struct class_set *s)
{
	class_tallies_clear(&s->tallies);
	for (uint32_t i = 0; i < s->group_count; i++)
		s->groups[i].ready = 0;
	for (uint32_t i = 0; i < s->class_count; i++) {
		struct class_in_set *c = &s->classes[i];
		memset(c->short_of, 0, sizeof c->short_of);
		c->ready = c->refused_first = c->refused_last = 0;
	}
	for (uint32_t i = 0; i < s->aside_count; i++)
		s->asides[i].nodes = 0;
}

// Nodes that were not described anew since are as they were judged.
static void judge_nodes(struct class_set *s, const struct fit_index *x, void *context)
{
	for (uint32_t slot = 0; slot < fit_index_slots(x); slot++)
		if (fit_index_described(x, slot) > s->seen)
			own_refusals_judge(&s->own, slot, s->ask.by_node, context);
}

static void find_passing(struct class_set *s, const struct fit_index *x)
{
	own_refusals_begin_passing(&s->own);
	for (uint32_t slot = 0; slot < fit_index_slots(x); slot++)
		if (fit_is_ready(fit_index_node(x, slot)) && class_set_passes(s, slot))
			own_refusals_put(&s->own, slot);
}

static void count_classes(struct class_set *s, const struct fit_index *x)
{
	for (uint32_t slot = 0; slot < fit_index_slots(x); slot++) {
		const struct fit_node *n = fit_index_node(x, slot);
		if (fit_is_ready(n))
			add_node(s, &s->classes[n->node_class], slot, n, 1);
	}
}

static bool is_short(const struct fit_node *n, const struct resources *room)
{
	return room->cpu_mhz > n->cpu_free || room->memory_mb > n->memory_free ||
	       room->disk_mb > n->disk_free || !fit_is_placeable(n);
}

// Of kinds no node is refused for what is its own. This is most of what a new kind of group takes.
static void count_kinds(struct class_set *s, const struct fit_index *x)
{
	const struct fit_node *nodes = fit_index_node(x, 0);
	const uint32_t *of_slot = s->kinds->of_slot;
	const struct resources room = s->ask.room;

	for (uint32_t slot = 0; slot < s->kinds->slots; slot++) {
		const struct fit_node *n = &nodes[slot];
		if (!fit_is_ready(n))
			continue;
		struct class_in_set *c = &s->classes[of_slot[slot]];
		c->ready++;
		if (is_short(n, &room))
			c->short_of[fit_shortage_of(n, &room)]++;
	}
	for (uint32_t i = 0; i < s->class_count; i++)
		s->classes[i].ready_classes = s->kinds->kinds[i].ready_classes;
}

static void count_all(struct class_set *s, const struct fit_index *x, void *context)
{
	clear_numbers(s);
	if (s->ask.by_node) {
		judge_nodes(s, x, context);
		find_passing(s, x);
	}
	(s->kinds ? count_kinds : count_classes)(s, x);
	for (uint32_t i = 0; i < s->class_count; i++)
		tally_class(s, &s->classes[i], 1);
	// Changes that nobody counted may have been of nodes that speak for others.
	for (uint32_t i = 0; i < s->class_count && s->ask.by_first; i++)
		speak_for(s, &s->classes[i], CLASS_WITHOUT_NODES);
	s->has_lost_first = s->ask.by_first;
	s->is_counted = true;
}

// number: of the node's class in the set. Of a kind the number of classes is already that behind all changes.
static void count_node(
	struct class_set *s, uint32_t number, uint32_t slot, const struct fit_node *n, uint32_t by)
{
	if (!fit_is_ready(n) || number == KIND_NONE) // it came and went between two changes
		return;
	CHECK(number < s->class_count);
	struct class_in_set *c = &s->classes[number];
	tally_class(s, c, -1u);
	add_node(s, c, slot, n, by);
	if (s->kinds)
		c->ready_classes = s->kinds->kinds[number].ready_classes;
	tally_class(s, c, 1);
}

// The same of kinds, of which single nodes say nothing.
static void count_change_of_kinds(
	struct class_set *s, const struct fit_change *c, const struct kind_change *kinds)
{
	count_node(s, kinds->before, c->slot, &c->before, -1u);
	count_node(s, kinds->after, c->slot, &c->after, 1);
}

static void count_change(struct class_set *s, const struct fit_change *c, void *context)
{
	bool passed = s->ask.by_node && fit_is_ready(&c->before) && !s->own.of[c->slot];
	bool spoke = s->ask.by_first && may_speak(s, c->slot, &c->before);

	count_node(s, c->before.node_class, c->slot, &c->before, -1u);
	if (s->ask.by_node && c->described_anew)
		own_refusals_judge(&s->own, c->slot, s->ask.by_node, context);
	count_node(s, c->after.node_class, c->slot, &c->after, 1);
	if (s->ask.by_first)
		follow_first(s, c, spoke);
	bool passes = s->ask.by_node && fit_is_ready(&c->after) && !s->own.of[c->slot];
	if (passed != passes)
		(passes ? own_refusals_put : own_refusals_take_out)(&s->own, c->slot);
}

static void count_changes(struct class_set *s, const struct fit_index *x, void *context)
{
	uint64_t head = fit_index_head(x);

	if (!s->is_counted || head - s->seen > FIT_LOG_CHANGES ||
		(s->kinds && s->seen < s->kinds->from))
		count_all(s, x, context);
	else if (s->kinds)
		for (uint64_t i = s->seen; i < head; i++)
			count_change_of_kinds(
				s, fit_index_change(x, i), class_kinds_change(s->kinds, i));
	else
		for (uint64_t i = s->seen; i < head; i++)
			count_change(s, fit_index_change(x, i), context);
	s->seen = head;
	if (s->own.is_lost)
		find_passing(s, x);
	if (s->has_lost_first)
		find_firsts(s, x);
}

static void forget_judgement(struct class_set *s, uint32_t id)
{
	struct class_in_set *c = &s->classes[id];

	tally_class(s, c, -1u);
	if (c->verdict == CLASS_TAKEN && c->group < CLASS_GROUPS_MAX)
		s->groups[c->group].classes[id / 64] &= ~(1ull << id % 64);
	c->verdict = CLASS_UNJUDGED;
}

static void keep_values(struct class_set *s, uint32_t id, const struct class_judgement *judgement)
{
	for (uint32_t i = 0; i < s->ask.values; i++) {
		class_set_marks(s, id)[i] = judgement->marks[i];
		class_values_put(&s->values[i], id, judgement->values[i]);
	}
}

// Values that nobody asks for stay as they are: there may be a thousand bytes of them.
static void begin_judgement(const struct class_set *s, struct class_judgement *judgement)
{
	memset(judgement, 0, offsetof(struct class_judgement, values));
	memset(judgement->values, 0, s->ask.values * sizeof judgement->values[0]);
	memset(judgement->marks, 0, s->ask.values * sizeof judgement->marks[0]);
}

static void judge_class(struct class_set *s, uint32_t id, const struct fit_index *x,
	class_judge *judge, void *context)
{
	struct class_in_set *c = &s->classes[id];
	const struct node_class *node_class = class_set_class(s, x, id);
	struct class_judgement judgement;

	begin_judgement(s, &judgement);
	forget_judgement(s, id);
	uint32_t first = s->kinds ? class_kinds_speaker(s->kinds, id) : c->first;
	judge(context, node_class, first, &judgement);
	CHECK(judgement.verdict != CLASS_UNJUDGED);
	CHECK(!judgement.by_job || judgement.verdict == CLASS_REFUSED);
	c->is_stale = false;
	s->judged++;
	c->since = class_since(s, x, id);
	c->verdict = judgement.verdict;
	c->by_job = judgement.by_job;
	c->affinity = judgement.affinity;
	c->group = CLASS_GROUPS_MAX;
	c->available = class_tallies_available(&s->tallies, node_class->datacenter);
	if (c->verdict == CLASS_REFUSED)
		c->tally = class_tallies_refused(&s->tallies, judgement.refusal,
			node_class->class_name,
			judgement.by_job ? REFUSED_BY_JOB : REFUSED_BY_GROUP);
	if (c->verdict == CLASS_TAKEN) {
		c->tally = class_tallies_short(&s->tallies, node_class->class_name);
		keep_values(s, id, &judgement);
	}
	for (uint32_t at = c->aside; at; at = s->asides[at - 1].next)
		find_aside_tally(s, &s->asides[at - 1], node_class->class_name);
	tally_class(s, c, 1);
}

static bool is_to_be_judged(const struct class_set *s, uint32_t id, const struct fit_index *x)
{
	const struct class_in_set *c = &s->classes[id];

	// Nodes that are all refused before their class is asked are counted in it nevertheless.
	bool is_asked = !s->ask.by_first || s->ask.by_node || c->first != CLASS_WITHOUT_NODES;
	if (s->ask.speech && s->kinds->kinds[id].ready_classes == 0)
		is_asked = false;
	if (!class_set_class(s, x, id) || !is_asked)
		return false;
	return c->is_stale || class_since(s, x, id) != c->since;
}

static void judge_new_classes(
	struct class_set *s, const struct fit_index *x, class_judge *judge, void *context)
{
	for (uint32_t id = 0; id < s->class_count; id++)
		if (is_to_be_judged(s, id, x))
			judge_class(s, id, x, judge, context);
	s->has_stale = false;
	s->class_epoch = class_epoch(s, x);
}

bool class_set_follow(
	struct class_set *s, const struct fit_index *x, class_judge *judge, void *context)
{
	if (s->kinds)
		class_kinds_follow(s->kinds, x, s->ask.speech, context);
	make_room(s, s->kinds ? s->kinds->count : fit_index_classes(x));
	if (s->ask.by_node)
		own_refusals_make_room(&s->own, fit_index_slots(x));
	count_changes(s, x, context);
	bool is_new = s->class_epoch != class_epoch(s, x) || s->has_stale;
	if (is_new)
		judge_new_classes(s, x, judge, context);
	return is_new;
}
