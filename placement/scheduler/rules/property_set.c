#include "placement/scheduler/rules/property_set.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERS_FIRST 16u

void property_set_begin(struct property_set *s, const char *attribute, const char *group)
{
	*s = (struct property_set){.attribute = attribute ? attribute : "", .group = group};
	s->property = node_property_compile(s->attribute);
	s->usable = true;
	s->limit = 1;
}

void property_set_release(struct property_set *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free((char *)s->counts[i].value);
	free(s->counts);
	free(s->numbers);
	node_property_free(s->property);
	*s = (struct property_set){0};
}

// The place of a value's number, or where it would go.
static uint32_t *find_number(const struct property_set *s, const char *value)
{
	CHECK(s->numbers);
	uint32_t at = (uint32_t)hash_bytes(0, value, (uint32_t)strlen(value)) & s->mask;
	while (s->numbers[at] && strcmp(s->counts[s->numbers[at] - 1].value, value) != 0)
		at = (at + 1) & s->mask;
	return &s->numbers[at];
}

static void grow_numbers(struct property_set *s)
{
	s->mask = s->numbers ? s->mask * 2 + 1 : NUMBERS_FIRST - 1;
	free(s->numbers);
	s->numbers = memory_take_array((size_t)s->mask + 1, sizeof *s->numbers);
	for (uint32_t i = 0; i < s->count; i++)
		*find_number(s, s->counts[i].value) = i + 1;
	CHECK(s->count <= s->mask);
}

uint32_t property_set_number(struct property_set *s, const char *value)
{
	if (!s->numbers || s->count > s->mask / 2)
		grow_numbers(s);
	uint32_t *number = find_number(s, value);
	if (!*number) {
		GROW(s->counts, s->count, s->room);
		s->counts[s->count++] = (struct property_count){.value = text_copy(text_of(value))};
		*number = s->count;
	}
	CHECK(*number > 0 && *number <= s->count);
	return *number - 1;
}

static struct property_range range_with(struct property_range r, int64_t used)
{
	r.least = r.any && r.least < used ? r.least : used;
	r.most = r.any && r.most > used ? r.most : used;
	r.any = true;
	return r;
}

// A settled range stays settled unless a value leaves its end, where others may be or not.
static void follow_range(struct property_set *s, bool counted, int64_t before, int64_t now)
{
	if (s->range_at != s->changes + 1)
		return;
	if (counted && before != now && (before == s->range.least || before == s->range.most))
		return;
	s->range = range_with(s->range, now);
	s->range_at++;
}

static void count_on_node(struct property_set *s, const struct node *node, int used, int cleared)
{
	char id[UUID_TEXT_BYTES];
	const char *value = node ? property_set_value(s, node, id) : NULL;
	if (!value)
		return;
	uint32_t number = property_set_number(s, value);
	struct property_count *c = &s->counts[number];
	int64_t before = property_count_left(c);
	c->used += used;
	c->cleared += cleared;
	s->total += property_count_left(c) - before;
	follow_range(s, c->counted, before, property_count_left(c));
	c->counted = true;
	s->changes++;
	CHECK(s->total >= 0);
}

void property_set_use(struct property_set *s, const struct node *node, int by)
{
	CHECK(by == 1 || by == -1);
	count_on_node(s, node, by, 0);
}

void property_set_clear(struct property_set *s, const struct node *node, int by)
{
	CHECK(by == 1 || by == -1);
	count_on_node(s, node, 0, by);
}

bool property_set_counts(
	const struct property_set *s, const struct job *job, const struct allocation *a)
{
	if (allocation_is_terminal(a) || a->job->record.create_index != job->record.create_index)
		return false;
	const struct task_group *group = allocation_group(a);
	return !s->group || strcmp(s->group, group->name) == 0;
}

struct loading {
	struct property_set *s;
	const struct scheduler_view *view;
	const struct job *job;
};

static bool count_one(const struct allocation *a, void *context)
{
	struct loading *l = context;
	if (property_set_counts(l->s, l->job, a) && a->node_slot != NODE_SLOT_NONE)
		property_set_use(l->s, view_node_in_no_order(l->view, a->node_slot), 1);
	return true;
}

void property_set_load(
	struct property_set *s, const struct scheduler_view *view, const struct job *job)
{
	CHECK(job);
	struct loading l = {s, view, job};
	view->job_allocations(view->context, job->namespace_name, job->id, count_one, &l);
}

const char *property_set_value(
	const struct property_set *s, const struct node *node, char id[UUID_TEXT_BYTES])
{
	return node_property_value(s->property, node, id);
}

int64_t property_set_used(const struct property_set *s, const char *value)
{
	CHECK(value);
	uint32_t number = s->numbers ? *find_number(s, value) : 0;
	return number ? property_count_left(&s->counts[number - 1]) : 0;
}

static struct property_range find_range(const struct property_set *s)
{
	struct property_range r = {0};
	for (uint32_t i = 0; i < s->count; i++)
		if (s->counts[i].counted)
			r = range_with(r, property_count_left(&s->counts[i]));
	CHECK(!r.any || r.least <= r.most);
	return r;
}

struct property_range property_set_range(const struct property_set *s)
{
	return s->range_at == s->changes + 1 ? s->range : find_range(s);
}

void property_set_settle(struct property_set *s)
{
	if (s->range_at == s->changes + 1)
		return;
	s->range = find_range(s);
	s->range_at = s->changes + 1;
	CHECK(s->range_at == s->changes + 1);
}
