#include "tools/berth/views/deployment_view.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/progress.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/cli/terminal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// How long one request waits for a change.
#define WAIT_MS 2000
// Requests for the deployment that rolls a failed one back, and the pause between them.
#define ROLLBACK_LOOKS 20
#define ROLLBACK_PAUSE_MS 250

static bool is_set(json_t *object, const char *member)
{
	return json_is_true(json_object_get(object, member));
}

// The optional columns that some group needs.
struct columns {
	bool auto_revert, canaries;
};

static struct columns columns_of(json_t *groups)
{
	struct columns columns = {0};
	const char *name;
	json_t *group;
	json_object_foreach(groups, name, group)
	{
		columns.auto_revert = columns.auto_revert || is_set(group, "AutoRevert");
		columns.canaries = columns.canaries || field_number(group, "DesiredCanaries") > 0;
	}
	return columns;
}

static void put_headings(struct table *t, struct columns columns)
{
	const char *headings[TABLE_COLUMNS_MAX] = {"Task Group"};
	int count = 1;
	if (columns.auto_revert)
		headings[count++] = "Auto Revert";
	if (columns.canaries)
		headings[count++] = "Promoted";
	headings[count++] = "Desired";
	if (columns.canaries)
		headings[count++] = "Canaries";
	headings[count++] = "Placed";
	headings[count++] = "Healthy";
	headings[count++] = "Unhealthy";
	headings[count++] = "Progress Deadline";
	headings[count] = NULL;
	table_begin(t, headings);
}

static void put_number(struct table *t, json_t *group, const char *member)
{
	table_add_format(t, "%lld", (long long)field_number(group, member));
}

// Prints a time like "2026-11-21T01:53:52.569239783Z" to the second; the year 1 means no time.
static void put_deadline(struct table *t, const char *time)
{
	if (!*time || strncmp(time, "0001-", 5) == 0)
		table_add(t, "N/A");
	else
		table_add_format(t, "%.*sZ", (int)strcspn(time, ".Z"), time);
}

static void put_group(struct table *t, const char *name, json_t *group, struct columns columns)
{
	bool canaries = field_number(group, "DesiredCanaries") > 0;
	table_add(t, name);
	if (columns.auto_revert)
		table_add(t, is_set(group, "AutoRevert") ? "true" : "false");
	if (columns.canaries)
		table_add(t, !canaries ? "N/A" : is_set(group, "Promoted") ? "true" : "false");
	put_number(t, group, "DesiredTotal");
	if (columns.canaries)
		put_number(t, group, "DesiredCanaries");
	put_number(t, group, "PlacedAllocs");
	put_number(t, group, "HealthyAllocs");
	put_number(t, group, "UnhealthyAllocs");
	put_deadline(t, field_text(group, "RequireProgressBy"));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_groups(json_t *groups)
{
	size_t count = json_object_size(groups), at = 0;
	const char **names = memory_take_array(count + 1, sizeof *names), *name;
	json_t *group;
	struct columns columns = columns_of(groups);
	struct table t;
	json_object_foreach(groups, name, group) names[at++] = name;
	qsort(names, count, sizeof *names, by_text);
	put_headings(&t, columns);
	for (size_t i = 0; i < count; i++)
		put_group(&t, names[i], json_object_get(groups, names[i]), columns);
	table_print(&t, 0);
	free(names);
}

void deployment_print(json_t *deployment, bool whole_id)
{
	printf("ID          = %.*s\n", whole_id ? 36 : 8, field_text(deployment, "ID"));
	printf("Job ID      = %s\n", field_text(deployment, "JobID"));
	printf("Job Version = %lld\n", (long long)field_number(deployment, "JobVersion"));
	printf("Status      = %s\n", field_text(deployment, "Status"));
	printf("Description = %s\n", field_text(deployment, "StatusDescription"));
	printf("\nDeployed\n");
	put_groups(json_object_get(deployment, "TaskGroups"));
}

// A blocked deployment waits at its end for another region.
static bool is_over(const char *status)
{
	static const char *const ends[] = {"successful", "failed", "cancelled", "blocked"};
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (strcmp(status, ends[i]) == 0)
			return true;
	return false;
}

// On a terminal one line that is written over, until the end: the table of a large deployment changes very often.
static void show_progress(struct progress *progress, json_t *deployment)
{
	json_t *groups = json_object_get(deployment, "TaskGroups"), *group;
	int64_t healthy = 0, unhealthy = 0, desired = 0;
	const char *name;
	json_object_foreach(groups, name, group)
	{
		healthy += field_number(group, "HealthyAllocs");
		unhealthy += field_number(group, "UnhealthyAllocs");
		desired += field_number(group, "DesiredTotal");
	}
	progress->total = (uint32_t)desired;
	progress_show(progress, (uint32_t)healthy, (uint32_t)unhealthy);
}

static void put_change(json_t *deployment)
{
	char time[32];
	printf("    \n%s\n", field_time((int64_t)time_wall_ns(&time_source_real), time));
	deployment_print(deployment, false);
	fflush(stdout);
}

// Waits until the deployment is newer than *index and prints it; *end is the deployment once it is over.
static enum exit_status look_at_deployment(struct session *session, const char *id, uint64_t *index,
	struct progress *progress, json_t **end)
{
	char path[HTTP_PATH_BYTES];
	json_t *deployment;
	snprintf(path, sizeof path, "/v1/deployment/%s?index=%llu&stale=&wait=%dms", id,
		(unsigned long long)*index, WAIT_MS);
	enum exit_status result = http_get_json(session, path, &deployment);
	if (result != STATUS_OK)
		return result;
	uint64_t newest = (uint64_t)field_number(deployment, "ModifyIndex");
	bool over = is_over(field_text(deployment, "Status"));
	progress_clear(progress);
	if (newest != *index && (over || !terminal_is_error()))
		put_change(deployment);
	else if (!over && terminal_is_error())
		show_progress(progress, deployment);
	*index = newest;
	if (over)
		*end = deployment;
	else
		json_decref(deployment);
	return STATUS_OK;
}

static enum exit_status follow_deployment(struct session *session, const char *id, json_t **end)
{
	char time[32];
	uint64_t index = 0;
	enum exit_status result = STATUS_OK;
	struct progress progress = {.done = "healthy", .noun = "allocations"};
	printf("==> %s: Monitoring deployment \"%.8s\"\n",
		field_time((int64_t)time_wall_ns(&time_source_real), time), id);
	fflush(stdout);
	*end = NULL;
	while (result == STATUS_OK && !*end)
		result = look_at_deployment(session, id, &index, &progress, end);
	return result;
}

// Finds the deployment of the version that the job went back to; "" when none comes.
static enum exit_status find_rollback(struct session *session, json_t *failed, char id[static 64])
{
	char path[HTTP_PATH_BYTES];
	enum exit_status result = STATUS_OK;
	job_path(session, field_text(failed, "JobID"), "/deployment", path);
	*id = '\0';
	for (int looks = 0; looks < ROLLBACK_LOOKS && result == STATUS_OK && !*id; looks++) {
		struct timespec pause = {.tv_nsec = ROLLBACK_PAUSE_MS * NS_PER_MS};
		json_t *latest;
		nanosleep(&pause, NULL);
		result = http_get_json(session, path, &latest);
		if (result != STATUS_OK)
			break;
		const char *newest = field_text(latest, "ID");
		if (strcmp(newest, field_text(failed, "ID")) != 0)
			snprintf(id, 64, "%s", newest);
		json_decref(latest);
	}
	return result;
}

enum exit_status deployment_monitor(struct session *session, const char *id)
{
	char rollback[64] = "";
	json_t *end;
	enum exit_status result = follow_deployment(session, id, &end);
	if (result != STATUS_OK)
		return result;
	const char *status = field_text(end, "Status");
	bool good = strcmp(status, "successful") == 0 || strcmp(status, "blocked") == 0;
	if (strstr(field_text(end, "StatusDescription"), "rolling back to job version") &&
		!strstr(field_text(end, "StatusDescription"), "not rolling back"))
		result = find_rollback(session, end, rollback);
	json_decref(end);
	if (result == STATUS_OK && *rollback) {
		putchar('\n');
		result = follow_deployment(session, rollback, &end);
		if (result == STATUS_OK)
			json_decref(end);
	}
	return result == STATUS_OK && !good ? STATUS_FAILURE : result;
}
