// Explains why allocations run where they do, or do not run.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/job_file.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static void put_sentences(json_t *holder)
{
	size_t i;
	json_t *sentence;
	json_array_foreach(json_object_get(holder, "Sentences"), i, sentence)
	{
		printf("%s\n", json_string_value(sentence));
	}
}

// "14 nodes lack cpu; node-7 lacks only 200 MHz", "3 nodes: node is down".
static void put_reason(json_t *reason, int indent)
{
	json_t *nearest = json_object_get(reason, "Nearest");
	long long nodes = (long long)field_number(reason, "Nodes");
	const char *text = field_text(reason, "Reason");
	printf("%*s* %lld node%s", indent, "", nodes, nodes == 1 ? "" : "s");
	if (json_is_object(nearest))
		printf(" lack%s %s: the nearest, %s, lacks %lld %s\n", nodes == 1 ? "s" : "", text,
			field_text(nearest, "NodeName"), (long long)field_number(nearest, "Lack"),
			field_text(nearest, "Unit"));
	else if (strcmp(field_text(reason, "Kind"), "filtered") == 0)
		printf(" excluded: %s\n", text);
	else if (strcmp(field_text(reason, "Kind"), "exhausted") == 0)
		printf(" exhausted: %s\n", text);
	else
		printf(": %s\n", text);
}

static void put_reasons(json_t *holder, int indent)
{
	size_t i;
	json_t *reason;
	json_array_foreach(json_object_get(holder, "Reasons"), i, reason)
		put_reason(reason, indent);
}

static void put_snapshot(json_t *snapshot)
{
	if (json_is_object(snapshot))
		printf("  of these %lld are idle and ran snapshot \"%s\" last, %lld are idle and "
		       "ran none, %lld are idle and ran another, %lld run something\n",
			(long long)field_number(snapshot, "NodesIdleWithIt"),
			field_text(snapshot, "ID"),
			(long long)field_number(snapshot, "NodesIdleWithout"),
			(long long)field_number(snapshot, "NodesIdleOther"),
			(long long)field_number(snapshot, "NodesBusy"));
}

static void put_group(json_t *group)
{
	json_t *ask = json_object_get(group, "Ask");
	printf("\nTask Group \"%s\" asks for %lld MHz, %lld MiB memory, %lld MiB disk\n",
		field_text(group, "Group"), (long long)field_number(ask, "CPU"),
		(long long)field_number(ask, "MemoryMB"), (long long)field_number(ask, "DiskMB"));
	printf("  of %lld nodes %lld run it, %lld could take one more\n",
		(long long)field_number(group, "Nodes"),
		(long long)field_number(group, "NodesRunning"),
		(long long)field_number(group, "NodesFitting"));
	put_snapshot(json_object_get(group, "Snapshot"));
	put_reasons(group, 2);
}

static void put_job(json_t *why)
{
	json_t *group;
	size_t i;
	printf("Job \"%s\" is %s.\n", field_text(why, "JobID"), field_text(why, "Status"));
	put_sentences(why);
	json_array_foreach(json_object_get(why, "Groups"), i, group) put_group(group);
}

enum exit_status explain_job(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], id[400], namespace_name[400];
	snprintf(path, sizeof path, "/v1/berth/explain/job/%s?namespace=%s",
		http_escape(arguments[0], id, sizeof id),
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	return http_show(session, path, put_job);
}

static void put_alloc(json_t *why)
{
	printf("Allocation %s, %s.\n", field_text(why, "ID"), field_text(why, "Name"));
	put_sentences(why);
	put_group(json_object_get(why, "Group"));
}

enum exit_status explain_alloc(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/berth/explain/allocation/%s", id);
	return http_show(session, path, put_alloc);
}

static void put_job_on_node(json_t *job)
{
	bool runs = json_is_true(json_object_get(job, "Running"));
	bool fits = json_is_true(json_object_get(job, "Fits"));
	size_t i;
	json_t *reason;
	printf("\nJob \"%s\" group \"%s\" %s\n", field_text(job, "JobID"), field_text(job, "Group"),
		runs   ? "runs here"
		: fits ? "could run here"
		       : "cannot run here:");
	json_array_foreach(json_object_get(job, "Reasons"), i, reason)
	{
		json_t *nearest = json_object_get(reason, "Nearest");
		if (json_is_object(nearest))
			printf("  * it lacks %lld %s of %s\n",
				(long long)field_number(nearest, "Lack"),
				field_text(nearest, "Unit"), field_text(reason, "Reason"));
		else
			printf("  * %s\n", field_text(reason, "Reason"));
	}
}

static void put_node(json_t *why)
{
	json_t *left = json_object_get(why, "Free"), *job;
	size_t i;
	printf("Node %s, %s.\n", field_text(why, "NodeID"), field_text(why, "NodeName"));
	put_sentences(why);
	printf("Free: %lld MHz, %lld MiB memory, %lld MiB disk.\n",
		(long long)field_number(left, "CPU"), (long long)field_number(left, "MemoryMB"),
		(long long)field_number(left, "DiskMB"));
	json_array_foreach(json_object_get(why, "Jobs"), i, job) put_job_on_node(job);
	if (json_is_true(json_object_get(why, "Truncated")))
		printf("\nThere are more jobs than are shown.\n");
}

enum exit_status explain_node(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/berth/explain/node/%s", id);
	return http_show(session, path, put_node);
}
