#include "tools/berth/views/what_if.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/views/failures.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *outcome, *words;
} outcomes[] = {
	{"moves", "moves"},
	{"no-room", "fits nowhere"},
	{"later", "moves later"},
	{"stops", "stops"},
	{"stays", "stays"},
};

static const char *words_of(const char *outcome)
{
	for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
		if (strcmp(outcomes[i].outcome, outcome) == 0)
			return outcomes[i].words;
	return outcome;
}

static void put_summary(json_t *result)
{
	json_t *counts = json_object_get(result, "Outcomes");
	const char *before = ": ";
	char id[16];

	printf("Node %s, %s, if it %s", field_short(field_text(result, "NodeID"), id),
		field_text(result, "NodeName"),
		strcmp(field_text(result, "Kind"), "down") == 0 ? "died" : "were drained");
	for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
		int64_t count = field_number(counts, outcomes[i].outcome);
		if (count == 0)
			continue;
		printf("%s%lld %s", before, (long long)count, outcomes[i].words);
		before = ", ";
	}
	printf("%s.\n", before[0] == ':' ? ": nothing runs there" : "");
}

static void put_allocations(json_t *result)
{
	static const char *const headings[] = {
		"Allocation", "Job", "Group", "Outcome", "To node", "Name", "Preempts", NULL};
	char id[16], to[16];
	struct table table;
	json_t *item;
	size_t i;

	if (json_array_size(json_object_get(result, "Allocations")) == 0)
		return;
	printf("\n");
	table_begin(&table, headings);
	json_array_foreach(json_object_get(result, "Allocations"), i, item)
	{
		bool finishes = json_is_true(json_object_get(item, "LeftToFinish"));
		table_add(&table, field_short(field_text(item, "ID"), id));
		table_add(&table, field_text(item, "JobID"));
		table_add(&table, field_text(item, "TaskGroup"));
		table_add_format(&table, "%s%s", words_of(field_text(item, "Outcome")),
			finishes ? ", unless it ends before the deadline" : "");
		table_add(&table, field_short(field_text(item, "ToNodeID"), to));
		table_add(&table, field_text(item, "ToNodeName"));
		table_add_format(&table, "%lld", (long long)field_number(item, "Preempts"));
	}
	table_print(&table, 0);
}

static void put_failures(json_t *result)
{
	json_t *failure;
	size_t i;

	json_array_foreach(json_object_get(result, "Failures"), i, failure)
	{
		printf("\nJob \"%s\" group \"%s\" does not fit:\n", field_text(failure, "JobID"),
			field_text(failure, "TaskGroup"));
		failures_print_metrics(json_object_get(failure, "Metrics"), 2);
	}
}

static void put_preempted(json_t *result)
{
	json_t *victim;
	size_t i;
	char id[16];

	json_array_foreach(json_object_get(result, "Preempted"), i, victim)
	{
		if (i == 0)
			printf("\nStopped elsewhere to make room:\n");
		printf("  %s of job \"%s\" (priority %lld)\n",
			field_short(field_text(victim, "ID"), id), field_text(victim, "JobID"),
			(long long)field_number(victim, "JobPriority"));
	}
}

enum exit_status what_if_report(struct session *session, const char *id, const char *kind)
{
	char path[HTTP_PATH_BYTES];
	json_t *result;

	snprintf(path, sizeof path, "/v1/berth/node/%s/what-if?kind=%s", id, kind);
	enum exit_status status = http_get_json(session, path, &result);
	if (status != STATUS_OK)
		return status;
	if (field_number(json_object_get(result, "Outcomes"), "no-room") > 0)
		status = STATUS_REFUSED;
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(result);
	} else {
		put_summary(result);
		put_allocations(result);
		put_failures(result);
		put_preempted(result);
	}
	json_decref(result);
	return status;
}
