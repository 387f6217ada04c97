#include "tools/forms/job_body.h"
#include "placement/job_check/job_check.h"
#include "tools/forms/scaling_policy.h"
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

static void read_policies(struct job_body *request, const json_t *job)
{
	const json_t *groups = json_object_get(job, "TaskGroups");
	for (uint32_t i = 0; i < request->job->task_groups.count; i++) {
		const json_t *count = json_object_get(json_array_get(groups, i), "Count");
		struct task_group *group =
			ARRAY_AT(&request->job->task_groups, struct task_group, i);
		scaling_policy_settle(request->job, group, count && !json_is_null(count));
		scaling_policy_check(request->job, group, &request->invalid);
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
	read_policies(request, value);
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
