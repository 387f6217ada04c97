#include "tools/forms/job_logs.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"

// Of a task that does not say how its logs are kept.
#define FILES_USUAL 10
#define FILE_MB_USUAL 10
#define NAME_BYTES 96u

static int64_t log_number(const json_t *rule, const char *member, int64_t usual)
{
	const json_t *value = json_object_get(rule, member);
	return json_is_integer(value) ? json_integer_value(value) : usual;
}

static void refuse_logs(struct json_sentences *refusals, const struct task_group *group,
	const struct task *task, const char *text)
{
	char of_group[NAME_BYTES], of_task[NAME_BYTES];
	json_sentence(refusals, "group %s task %s: %s",
		log_quote(group->name ? group->name : "", of_group, sizeof of_group),
		log_quote(task->name ? task->name : "", of_task, sizeof of_task), text);
}

static void check_task_logs(
	const struct task_group *group, const struct task *task, struct json_sentences *refusals)
{
	json_t *rule =
		task->log_config ? json_loads(task->log_config, JSON_DECODE_ANY, NULL) : NULL;
	int64_t files = log_number(rule, "MaxFiles", FILES_USUAL), storage_mb;
	int64_t file_mb = log_number(rule, "MaxFileSizeMB", FILE_MB_USUAL);
	char text[160];
	json_decref(rule);
	if (files < 1) {
		snprintf(text, sizeof text, "minimum number of files is 1; got %ld", (long)files);
		refuse_logs(refusals, group, task, text);
	}
	if (file_mb < 1) {
		snprintf(text, sizeof text, "minimum file size is 1MB; got %ld", (long)file_mb);
		refuse_logs(refusals, group, task, text);
	}
	if (__builtin_mul_overflow(files, file_mb, &storage_mb))
		storage_mb = INT64_MAX;
	if (storage_mb < group->disk.size_mb)
		return;
	snprintf(text, sizeof text,
		"log storage (%ld MB) must be less than requested disk capacity (%ld MB)",
		(long)storage_mb, (long)group->disk.size_mb);
	refuse_logs(refusals, group, task, text);
}

void job_check_logs(const struct job *job, struct json_sentences *refusals)
{
	for (uint32_t i = 0; !job_is_direct(job) && i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		for (uint32_t k = 0; k < group->tasks.count; k++)
			check_task_logs(group, ARRAY_AT(&group->tasks, struct task, k), refusals);
	}
}
