#include "placement/direct/classes/class_groups.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void class_groups_release(struct class_set *s)
{
	for (uint32_t i = 0; i < s->group_count; i++) {
		free(s->groups[i].classes);
		free(s->groups[i].best);
		free(s->groups[i].marks);
	}
	s->group_count = 0;
}

// What the classes of a group have in common, besides their affinity.
static void find_marks(struct class_set *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->ask.values; i++)
		s->sought[i] =
			s->are_few[i] ? s->values[i].number_of[id] : class_set_marks(s, id)[i];
}

static bool is_sought(const struct class_set *s, const struct class_group *g, double affinity)
{
	uint32_t values = s->ask.values;
	return g->affinity == affinity &&
	       (values == 0 || memcmp(g->marks, s->sought, values * sizeof g->marks[0]) == 0);
}

// Returns the number of the group of a class; CLASS_GROUPS_MAX when there is no room for one more.
static uint32_t group_of(struct class_set *s, uint32_t id)
{
	bool are_mixed = s->mixes_affinities || s->ask.rates_nodes;
	double affinity = are_mixed ? 0 : s->classes[id].affinity;

	find_marks(s, id);
	for (uint32_t i = 0; i < s->group_count; i++)
		if (is_sought(s, &s->groups[i], affinity))
			return i;
	if (s->group_count == s->groups_most)
		return CLASS_GROUPS_MAX;
	s->groups = memory_one_more(s->groups, s->group_count, &s->group_room, sizeof s->groups[0]);
	struct class_group *g = &s->groups[s->group_count];
	*g = (struct class_group){.affinity = affinity, .classes = memory_take(s->class_room / 8)};
	if (s->ask.values > 0) {
		g->marks = memory_take_array(s->ask.values, sizeof g->marks[0]);
		memcpy(g->marks, s->sought, s->ask.values * sizeof g->marks[0]);
	}
	return s->group_count++;
}

static void put_in_group(struct class_set *s, uint32_t id)
{
	struct class_in_set *c = &s->classes[id];

	if (c->verdict != CLASS_TAKEN || c->group < CLASS_GROUPS_MAX)
		return;
	c->group = group_of(s, id);
	if (c->group == CLASS_GROUPS_MAX) {
		s->has_too_many_groups = true;
		return;
	}
	s->groups[c->group].classes[id / 64] |= 1ull << id % 64;
	s->groups[c->group].ready += class_in_set_nodes(c);
}

// Returns whether other properties have few values than before.
static bool count_values(struct class_set *s)
{
	bool has_changed = false;

	for (uint32_t i = 0; i < s->ask.values; i++) {
		bool are_few = s->values[i].count <= s->few_most;
		has_changed |= are_few != s->are_few[i];
		s->are_few[i] = are_few;
	}
	return has_changed;
}

static void forget_groups(struct class_set *s)
{
	class_groups_release(s);
	s->has_too_many_groups = false;
	for (uint32_t id = 0; id < s->class_count; id++)
		s->classes[id].group = CLASS_GROUPS_MAX;
}

// The values of the property that has the most of the few are no longer few. Returns whether there was one.
static bool lower_few(struct class_set *s)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->ask.values; i++)
		if (s->are_few[i] && s->values[i].count > most)
			most = s->values[i].count;
	if (most <= 1)
		return false;
	s->few_most = most - 1;
	return true;
}

// Begins anew with all values that are few. Nodes need ratings where affinities are mixed.
static void begin_groups(struct class_set *s, bool mixes_affinities, uint32_t most)
{
	s->mixes_affinities = mixes_affinities;
	s->groups_most = most;
	s->few_most = CLASS_VALUES_FEW;
	forget_groups(s);
}

// Whether there may be fewer groups than there were, or so many.
static bool make_fewer(struct class_set *s)
{
	if (lower_few(s))
		return true;
	if (s->mixes_affinities && s->groups_most == CLASS_GROUPS_MAX)
		return false;
	begin_groups(
		s, !s->mixes_affinities, s->mixes_affinities ? CLASS_GROUPS_MAX : s->groups_most);
	return true;
}

static void group_classes(struct class_set *s)
{
	// There may be fewer by now.
	if (s->mixes_affinities || s->groups_most == CLASS_GROUPS_MAX)
		begin_groups(s, false, CLASS_GROUPS_FEW);
	do {
		if (count_values(s))
			forget_groups(s);
		for (uint32_t id = 0; id < s->class_count && !s->has_too_many_groups; id++)
			put_in_group(s, id);
	} while (s->has_too_many_groups && make_fewer(s));
}

static void find_bits(const struct class_set *s, struct class_group *g)
{
	g->bits = 0;
	for (uint32_t i = 0; i < s->class_room / 64; i++)
		for (uint64_t left = g->classes[i]; left; left &= left - 1)
			g->bits |= class_set_bits(s, 64 * i + (uint32_t)__builtin_ctzll(left));
}

void class_groups_find(struct class_set *s)
{
	group_classes(s);
	for (uint32_t i = 0; i < s->group_count; i++)
		find_bits(s, &s->groups[i]);
}
