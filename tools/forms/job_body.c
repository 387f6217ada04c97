#include "tools/forms/job_body.h"
#include "placement/job_check/job_check.h"
#include <stdio.h>
#include <stdlib.h>

static void note_mistake(const char *text, void *context)
{
	json_sentence(context, "%s", text);
}

static void check_job(struct job_body *request)
{
	const struct job *job = request->job;
	job_check(job, note_mistake, &request->invalid);
	if (request->invalid.count == 0 && !job_derive(request->job))
		json_sentence(&request->invalid, "what a task group asks for is out of bounds");
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

// Completes the scaling block of a group: an autoscaler finds by its target what it scales.
static void settle_scaling(const struct job *job, struct task_group *group)
{
	json_t *scaling = group->scaling ? json_loads(group->scaling, 0, NULL) : NULL;
	if (!json_is_object(scaling)) {
		json_decref(scaling);
		return;
	}
	put_default(scaling, "Target",
		json_pack("{s:s?,s:s?,s:s?}", "Namespace", job->namespace_name, "Job", job->id,
			"Group", group->name));
	put_default(scaling, "Type", json_string("horizontal"));
	free(group->scaling);
	group->scaling = json_dumps(scaling, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(scaling);
}

// A plugin's block is not kept, so the task would run as one that nobody can reach.
static void refuse_plugins(struct job_body *request, json_t *job)
{
	size_t i, k;
	json_t *group, *task;
	json_array_foreach(json_object_get(job, "TaskGroups"), i, group)
	{
		json_array_foreach(json_object_get(group, "Tasks"), k, task)
		{
			if (json_is_object(json_object_get(task, "CSIPluginConfig")))
				json_sentence(&request->invalid,
					"Job.TaskGroups[%zu].Tasks[%zu].CSIPluginConfig: there are "
					"no "
					"plugins for volumes; leave the block out",
					i, k);
		}
	}
}

static void read_job(struct job_body *request, json_t *value, const char *namespace_name)
{
	request->job = job_create();
	json_read_record(&job_type_description, request->job, value, "Job", &request->report);
	if (request->report.errors.count)
		return;
	if (namespace_name && *namespace_name) {
		free(request->job->namespace_name);
		request->job->namespace_name = text_copy(text_of(namespace_name));
	}
	job_canonicalize(request->job);
	for (uint32_t i = 0; i < request->job->task_groups.count; i++)
		settle_scaling(
			request->job, ARRAY_AT(&request->job->task_groups, struct task_group, i));
	check_job(request);
	refuse_plugins(request, value);
}

bool job_body_read(const char *body, size_t size, const char *namespace_name,
	struct job_body *request, char *message, size_t message_size)
{
	*request = (struct job_body){0};
	json_t *root = json_parse(body, size, message, message_size);
	if (!root)
		return false;
	json_read_bool(root, "EnforceIndex", &request->enforce_index, &request->report);
	json_read_u64(root, "JobModifyIndex", &request->job_modify_index, &request->report);
	json_read_bool(root, "PreserveCounts", &request->preserve_counts, &request->report);
	json_read_u64(root, "EvalPriority", &request->eval_priority, &request->report);
	json_read_bool(root, "Diff", &request->diff, &request->report);
	json_t *value = json_object_get(root, "Job");
	if (json_is_object(value))
		read_job(request, value, namespace_name);
	else
		json_sentence(&request->report.errors,
			"Job: must be specified: the body is {\"Job\": {…}}");
	json_decref(root);
	return true;
}

void job_body_free(struct job_body *request)
{
	job_free(request->job);
	for (uint32_t i = 0; i < request->invalid.count && i < JSON_SENTENCES_MAX; i++)
		free(request->invalid.texts[i]);
	json_report_free(&request->report);
	*request = (struct job_body){0};
}

bool job_body_is_valid(const struct job_body *request)
{
	return request->report.errors.count == 0 && request->invalid.count == 0;
}
