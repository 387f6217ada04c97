#include "placement/scheduler/property_set.h"
#include "state/base/memory.h"
#include "state/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define COUNTS_FIRST 16u

void property_set_begin(struct property_set *s, const char *attribute, const char *group)
{
	*s = (struct property_set){.attribute = attribute ? attribute : "", .group = group};
	s->property = node_property_compile(s->attribute);
	s->usable = true;
	s->limit = 1;
}

static void counts_free(struct property_set *s)
{
	for (uint32_t i = 0; s->counts && i <= s->mask; i++)
		free((char *)s->counts[i].value);
	free(s->counts);
	s->counts = NULL;
}

void property_set_release(struct property_set *s)
{
	counts_free(s);
	node_property_free(s->property);
	*s = (struct property_set){0};
}

static struct property_count *find(const struct property_set *s, const char *value)
{
	uint32_t at = (uint32_t)hash_bytes(0, value, (uint32_t)strlen(value)) & s->mask;
	while (s->counts[at].value && strcmp(s->counts[at].value, value) != 0)
		at = (at + 1) & s->mask;
	return &s->counts[at];
}

static void grow(struct property_set *s)
{
	struct property_set wider = *s;
	wider.mask = s->counts ? s->mask * 2 + 1 : COUNTS_FIRST - 1;
	wider.counts = memory_take_array(wider.mask + 1, sizeof *wider.counts);
	for (uint32_t i = 0; s->counts && i <= s->mask; i++)
		if (s->counts[i].value)
			*find(&wider, s->counts[i].value) = s->counts[i];
	free(s->counts);
	*s = wider;
}

static struct property_count *entry_of(struct property_set *s, const struct node *node)
{
	char id[UUID_TEXT_BYTES];
	const char *value = node ? property_set_value(s, node, id) : NULL;
	if (!value)
		return NULL;
	if (!s->counts || s->count > s->mask / 2)
		grow(s);
	struct property_count *entry = find(s, value);
	if (!entry->value) {
		entry->value = text_copy(text_of(value));
		s->count++;
	}
	return entry;
}

void property_set_use(struct property_set *s, const struct node *node, int by)
{
	struct property_count *entry = entry_of(s, node);
	if (!entry)
		return;
	entry->used += by;
	s->changes++;
}

void property_set_clear(struct property_set *s, const struct node *node, int by)
{
	struct property_count *entry = entry_of(s, node);
	if (!entry)
		return;
	entry->cleared += by;
	s->changes++;
}

bool property_set_counts(
	const struct property_set *s, const struct job *job, const struct allocation *a)
{
	if (allocation_is_terminal(a) || a->job->record.create_index != job->record.create_index)
		return false;
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
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
		property_set_use(l->s, l->view->node_at(l->view->context, a->node_slot), 1);
	return true;
}

void property_set_load(
	struct property_set *s, const struct scheduler_view *view, const struct job *job)
{
	struct loading l = {s, view, job};
	view->job_allocations(view->context, job->namespace_name, job->id, count_one, &l);
}

const char *property_set_value(
	const struct property_set *s, const struct node *node, char id[UUID_TEXT_BYTES])
{
	return node_property_value(s->property, node, id);
}

static int64_t left(const struct property_count *entry)
{
	return entry->used > entry->cleared ? entry->used - entry->cleared : 0;
}

int64_t property_set_used(const struct property_set *s, const char *value)
{
	return s->counts ? left(find(s, value)) : 0;
}

bool property_set_range(const struct property_set *s, int64_t *least, int64_t *most)
{
	bool any = false;
	for (uint32_t i = 0; s->counts && i <= s->mask; i++) {
		if (!s->counts[i].value)
			continue;
		int64_t used = left(&s->counts[i]);
		*least = any && *least < used ? *least : used;
		*most = any && *most > used ? *most : used;
		any = true;
	}
	return any;
}
