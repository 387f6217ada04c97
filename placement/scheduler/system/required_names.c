#include "placement/scheduler/system/required_names.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>

struct name_map {
	const struct job *version;
	uint32_t *groups; // of the version → of the job, or NAME_NOT_REQUIRED
};

static const struct task_group *group_at(const struct job *job, uint32_t i)
{
	CHECK(i < job->task_groups.count);
	return ARRAY_AT(&job->task_groups, struct task_group, i);
}

static uint32_t group_instances(const struct task_group *group)
{
	return group->count > 0 ? (uint32_t)group->count : 0;
}

// Orders by the text "<group>[<index>]"; all names have the same prefix.
static int names_by_text(const void *a, const void *b, void *context)
{
	const struct required_name *x = a, *y = b;
	const struct job *job = context;
	if (x->group == y->group) {
		char p[16], q[16];
		snprintf(p, sizeof p, "%u]", x->index);
		snprintf(q, sizeof q, "%u]", y->index);
		return strcmp(p, q);
	}
	// Group names differ, so either one ends first and its '[' is compared with a letter, or two letters differ.
	const char *p = group_at(job, x->group)->name, *q = group_at(job, y->group)->name;
	while (*p && *p == *q)
		p++, q++;
	return (unsigned char)(*p ? *p : '[') - (unsigned char)(*q ? *q : '[');
}

void required_names_init(struct required_names *names, const struct job *job)
{
	*names = (struct required_names){.job = job};
	if (!job)
		return;
	uint32_t groups = job->task_groups.count;
	names->first = memory_take_array(groups + 1, sizeof *names->first);
	for (uint32_t g = 0; g < groups; g++) {
		CHECK(group_instances(group_at(job, g)) < UINT32_MAX - names->count);
		names->count += group_instances(group_at(job, g));
		names->first[g + 1] = names->count;
	}
	names->items = memory_take_array(names->count + 1, sizeof *names->items);
	names->positions = memory_take_array(names->count + 1, sizeof *names->positions);
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t i = names->first[g]; i < names->first[g + 1]; i++)
			names->items[i] = (struct required_name){g, i - names->first[g]};
	if (names->count > 1)
		qsort_r(names->items, names->count, sizeof *names->items, names_by_text,
			(void *)job);
	for (uint32_t i = 0; i < names->count; i++)
		names->positions[names->first[names->items[i].group] + names->items[i].index] = i;
	CHECK(names->first[groups] == names->count);
}

void required_names_release(struct required_names *names)
{
	for (uint32_t i = 0; i < names->map_count; i++)
		free(names->maps[i].groups);
	free(names->maps);
	free(names->items);
	free(names->positions);
	free(names->first);
	*names = (struct required_names){0};
}

// When the prefix of names differs between the versions, none of the old names is required.
static void map_build(struct required_names *names, struct name_map *map, const struct job *version)
{
	CHECK(names->job);
	bool same_prefix =
		strcmp(allocation_name_prefix(names->job), allocation_name_prefix(version)) == 0;
	map->version = version;
	map->groups = memory_take_array(version->task_groups.count + 1, sizeof *map->groups);
	for (uint32_t i = 0; i < version->task_groups.count; i++) {
		int group = job_group_index(names->job, text_of(group_at(version, i)->name));
		map->groups[i] = same_prefix && group >= 0 ? (uint32_t)group : NAME_NOT_REQUIRED;
	}
}

// Few versions of a job have allocations, so a search from the newest map on is short.
static const struct name_map *map_of(struct required_names *names, const struct job *version)
{
	for (uint32_t i = names->map_count; i > 0; i--)
		if (names->maps[i - 1].version == version)
			return &names->maps[i - 1];
	names->maps = memory_resize(names->maps, (names->map_count + 1) * sizeof *names->maps);
	struct name_map *map = &names->maps[names->map_count++];
	map_build(names, map, version);
	CHECK(map->version == version);
	return map;
}

uint32_t required_names_find(struct required_names *names, const struct allocation *a)
{
	CHECK(!names->job || a->group < a->job->task_groups.count);
	if (!names->job)
		return NAME_NOT_REQUIRED;
	uint32_t group = map_of(names, a->job)->groups[a->group];
	if (group == NAME_NOT_REQUIRED || a->index >= names->first[group + 1] - names->first[group])
		return NAME_NOT_REQUIRED;
	return names->positions[names->first[group] + a->index];
}
