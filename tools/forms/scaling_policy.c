#include "tools/forms/scaling_policy.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"
#include "state/records/shared_strings.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_name(uint64_t seed, const char *name)
{
	return hash_bytes(seed, name, (uint32_t)strlen(name) + 1);
}

struct uuid scaling_policy_id(const struct job *job, const struct task_group *group)
{
	struct uuid id;
	for (uint64_t half = 0; half < 2; half++) {
		uint64_t hash = hash_name(half + 1, job->namespace_name);
		hash = hash_name(hash_name(hash, job->id), group->name);
		memcpy(id.bytes + 8 * half, &hash, sizeof hash);
	}
	// Version and variant of RFC 4122.
	id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x80);
	id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
	return id;
}

static void put_default(json_t *object, const char *name, json_t *value)
{
	json_t *given = json_object_get(object, name);
	bool missing = !given || json_is_null(given) ||
		       (json_is_object(given) && json_object_size(given) == 0) ||
		       (json_is_string(given) && json_string_length(given) == 0);
	if (missing)
		json_object_set(object, name, value);
	json_decref(value);
}

// An autoscaler finds by the target what it scales. The id and the indexes are not the client's to choose: a job that
// was read and is sent again must be the same job.
void scaling_policy_settle(const struct job *job, struct task_group *group, bool says_count)
{
	json_t *scaling = group->scaling ? json_loads(group->scaling, 0, NULL) : NULL;
	if (!json_is_object(scaling)) {
		json_decref(scaling);
		return;
	}
	struct uuid id = scaling_policy_id(job, group);
	char text[UUID_TEXT_BYTES];
	put_default(scaling, "Target",
		json_pack("{s:s?,s:s?,s:s?}", "Namespace", job->namespace_name, "Job", job->id,
			"Group", group->name));
	const json_t *least = json_object_get(scaling, "Min");
	if (!says_count && json_is_integer(least))
		group->count = json_integer_value(least);
	put_default(scaling, "Min", json_integer(group->count));
	put_default(scaling, "Type", json_string("horizontal"));
	json_object_set_new(scaling, "ID", json_string(uuid_format(&id, text)));
	json_object_set_new(scaling, "CreateIndex", json_integer(0));
	json_object_set_new(scaling, "ModifyIndex", json_integer(0));
	free(group->scaling);
	group->scaling = json_dumps(scaling, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(scaling);
}

static void refuse_policy(
	struct json_sentences *refusals, const struct task_group *group, const char *text)
{
	char name[96];
	json_sentence(refusals, "group %s: Scaling policy invalid: %s",
		log_quote(group->name ? group->name : "", name, sizeof name), text);
}

// Every region has its own number of a job of several; one that has none at first is scaled there.
static bool is_counted_elsewhere(const struct job *job, const struct task_group *group)
{
	return job->multiregion && group->count == 0;
}

void scaling_policy_check(
	const struct job *job, const struct task_group *group, struct json_sentences *refusals)
{
	json_t *scaling = group->scaling ? json_loads(group->scaling, 0, NULL) : NULL;
	const json_t *most = json_object_get(scaling, "Max");
	const char *type = json_string_value(json_object_get(scaling, "Type"));
	json_int_t min = json_integer_value(json_object_get(scaling, "Min"));
	json_int_t max = json_is_integer(most) ? json_integer_value(most) : -1;
	char text[128];
	if (!json_is_object(scaling) || job_is_direct(job)) {
		json_decref(scaling);
		return;
	}
	if (!type || strcmp(type, "horizontal") != 0) {
		snprintf(text, sizeof text, "scaling policy type \"%.64s\" is not valid",
			type ? type : "");
		refuse_policy(refusals, group, text);
	}
	if (max < 0)
		refuse_policy(refusals, group, "maximum count must be specified and non-negative");
	else if (max < min)
		refuse_policy(refusals, group, "maximum count must not be less than minimum count");
	if (min < 0)
		refuse_policy(refusals, group, "minimum count must be specified and non-negative");
	if (group->count > max)
		refuse_policy(refusals, group,
			"task group count must not be greater than maximum count in scaling "
			"policy");
	if (group->count < min && !is_counted_elsewhere(job, group))
		refuse_policy(refusals, group,
			"task group count must not be less than minimum count in scaling policy");
	json_decref(scaling);
}
