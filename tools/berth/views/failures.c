#include "tools/berth/views/failures.h"
#include "tools/berth/cli/field.h"
#include <stdio.h>

// Prints one line for each name in a map of counts.
static void put_counts(json_t *counts, const char *before, const char *after, int indent)
{
	const char *name;
	json_t *count;
	json_object_foreach(counts, name, count)
	{
		printf("%*s* %s \"%s\"%s%lld nodes%s\n", indent, "", before, name, after,
			(long long)json_integer_value(count),
			*after == ':' ? " excluded by filter" : "");
	}
}

static void put_empty_datacenters(json_t *available, int indent)
{
	const char *name;
	json_t *count;
	json_object_foreach(available, name, count)
	{
		if (json_integer_value(count) == 0)
			printf("%*s* No nodes are available in datacenter \"%s\"\n", indent, "",
				name);
	}
}

void failures_print_metrics(json_t *metrics, int indent)
{
	if (field_number(metrics, "NodesEvaluated") == 0)
		printf("%*s* No nodes were eligible for evaluation\n", indent, "");
	put_empty_datacenters(json_object_get(metrics, "NodesAvailable"), indent);
	put_counts(json_object_get(metrics, "ClassFiltered"), "Class", ": ", indent);
	put_counts(json_object_get(metrics, "ConstraintFiltered"), "Constraint", ": ", indent);
	if (field_number(metrics, "NodesExhausted") > 0)
		printf("%*s* Resources exhausted on %lld nodes\n", indent, "",
			(long long)field_number(metrics, "NodesExhausted"));
	put_counts(json_object_get(metrics, "ClassExhausted"), "Class", " exhausted on ", indent);
	put_counts(json_object_get(metrics, "DimensionExhausted"), "Dimension", " exhausted on ",
		indent);
}

void failures_print(json_t *failed, json_t *queued, int indent)
{
	const char *group;
	json_t *metrics;
	json_object_foreach(failed, group, metrics)
	{
		long long waiting = (long long)field_number(queued, group);
		if (!waiting)
			waiting = (long long)field_number(metrics, "CoalescedFailures") + 1;
		printf("%*sTask Group \"%s\" (failed to place %lld allocation%s):\n", indent, "",
			group, waiting, waiting == 1 ? "" : "s");
		failures_print_metrics(metrics, indent + 2);
	}
}
