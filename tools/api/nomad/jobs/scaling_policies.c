// Scaling policies: the "scaling" blocks of task groups; their place gives their id.
#include "tools/api/lists/record_list.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/access.h"
#include "tools/forms/scaling_policy.h"
#include <jansson.h>
#include <stdlib.h>

// Default for a missing member of a block.
#define HORIZONTAL "horizontal"

static bool is_scaled(const struct task_group *group)
{
	return group->scaling && strcmp(group->scaling, "null") != 0;
}

static void put_head(struct json_writer *w, const struct job *job, const struct task_group *group,
	json_t *scaling)
{
	const char *type = json_string_value(json_object_get(scaling, "Type"));
	struct uuid id = scaling_policy_id(job, group);
	json_put_uuid(w, "ID", &id);
	json_put_bool(w, "Enabled", !json_is_false(json_object_get(scaling, "Enabled")));
	json_put_string(w, "Type", type && *type ? type : HORIZONTAL);
	json_open_object(w, "Target");
	json_put_string(w, "Namespace", job->namespace_name);
	json_put_string(w, "Job", job->id);
	json_put_string(w, "Group", group->name);
	json_end_object(w);
	json_put_u64(w, "CreateIndex", job->record.create_index);
	json_put_u64(w, "ModifyIndex", job->job_modify_index);
}

static void put_stub(struct json_writer *w, const struct job *job, const struct task_group *group)
{
	json_t *scaling = json_loads(group->scaling, 0, NULL);
	json_begin_object(w);
	put_head(w, job, group, scaling);
	json_end_object(w);
	json_decref(scaling);
}

// The default lower bound is 0, the default upper bound the group's count.
static int64_t bound_of(json_t *scaling, const char *member, int64_t otherwise)
{
	json_t *bound = json_object_get(scaling, member);
	return json_is_integer(bound) ? json_integer_value(bound) : otherwise;
}

static void put_policy(struct json_writer *w, const struct job *job, const struct task_group *group)
{
	json_t *scaling = json_loads(group->scaling, 0, NULL);
	json_t *policy = json_object_get(scaling, "Policy");
	char *text = policy ? json_dumps(policy, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_begin_object(w);
	put_head(w, job, group, scaling);
	json_put_string(w, "Namespace", job->namespace_name);
	json_put_i64(w, "Min", bound_of(scaling, "Min", 0));
	json_put_i64(w, "Max", bound_of(scaling, "Max", group->count));
	json_put_raw(w, "Policy", text);
	json_end_object(w);
	free(text);
	json_decref(scaling);
}

// The group whose policy has the path's id, and its job; NULL for an unknown id. Under read lock.
static const struct task_group *policy_of(const struct request *request, const struct job **job)
{
	struct uuid wanted;
	uint64_t cursor = 0;
	if (!uuid_parse(request->ids[0], &wanted))
		return NULL;
	while ((*job = state_next(request->api->settings.state, STATE_JOBS, &cursor))) {
		for (uint32_t i = 0; !(*job)->stop && i < (*job)->task_groups.count; i++) {
			const struct task_group *group =
				ARRAY_AT(&(*job)->task_groups, struct task_group, i);
			if (!is_scaled(group))
				continue;
			struct uuid id = scaling_policy_id(*job, group);
			if (uuid_equal(&id, &wanted))
				return group;
		}
	}
	return NULL;
}

void scaling_policy_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	const struct job *job;
	state_read_begin();
	const struct task_group *group = policy_of(request, &job);
	if (group && !request_may_in(request, job->namespace_name)) {
		reply_denied(reply);
	} else if (group) {
		put_policy(reply_json(request, reply), job, group);
		reply_index(reply, job->job_modify_index);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "policy not found");
		reply_index(reply, state_index(state));
	}
	state_read_end();
}

// A stopped job has no policies.
static bool is_wanted(const struct record_list *list, const void *record)
{
	const struct job *job = record;
	bool scaled = false;
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		scaled = scaled || is_scaled(ARRAY_AT(&job->task_groups, struct task_group, i));
	return scaled && !job->stop && record_list_has_namespace(list, job->namespace_name) &&
	       (!*list->job || strcmp(list->job, job->id) == 0);
}

static void write_policies(
	struct json_writer *w, const struct record_list *list, const void *record)
{
	const struct job *job = record;
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		if (is_scaled(group))
			put_stub(w, job, group);
	}
}

static const char *namespace_of_policies(const void *record)
{
	return ((const struct job *)record)->namespace_name;
}

const struct record_kind scaling_policy_list = {.table = STATE_JOBS,
	.namespace_of = namespace_of_policies,
	.shown_with = ACL_LIST_SCALING_POLICIES,
	.is_wanted = is_wanted,
	.write = write_policies,
	.has_no_filter = true};
