#include "placement/job_check/job_region.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

int job_region_index(const struct job *job, const char *region)
{
	for (uint32_t i = 0; job->multiregion && i < job->multiregion->regions.count; i++) {
		const struct job_region *r =
			ARRAY_AT(&job->multiregion->regions, struct job_region, i);
		if (text_equal(text_of(r->name), text_of(region)))
			return (int)i;
	}
	return -1;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = text_copy(text_of(value));
}

static void take_datacenters(struct array *datacenters, const struct array *of_region)
{
	if (of_region->count == 0)
		return;
	for (uint32_t i = 0; i < datacenters->count; i++)
		free(*ARRAY_AT(datacenters, char *, i));
	free(datacenters->items);
	*datacenters = (struct array){0};
	for (uint32_t i = 0; i < of_region->count; i++)
		*(char **)array_append(datacenters, sizeof(char *)) =
			text_copy(text_of(*ARRAY_AT(of_region, char *, i)));
}

static void take_meta(struct array *meta, const struct array *of_region)
{
	for (uint32_t i = 0; i < of_region->count; i++) {
		const struct string_pair *pair = ARRAY_AT(of_region, struct string_pair, i);
		struct string_pair *own = map_item(meta, sizeof *own, pair->name);
		set_text(&own->value, pair->value);
	}
}

bool job_take_region(struct job *job, const char *region)
{
	int at = job_region_index(job, region);

	if (at < 0)
		return false;
	const struct job_region *r = ARRAY_AT(&job->multiregion->regions, struct job_region, at);
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		if (group->count == 0)
			group->count = r->count;
	}
	take_datacenters(&job->datacenters, &r->datacenters);
	if (r->node_pool && *r->node_pool)
		set_text(&job->node_pool, r->node_pool);
	take_meta(&job->meta, &r->meta);
	set_text(&job->region, region);
	return true;
}
