// Evaluations.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/failures.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include "tools/berth/views/monitor.h"
#include <stdio.h>

enum exit_status eval_list(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	char path[HTTP_PATH_BYTES], namespace_name[400], job[400], id[LOOKUP_BYTES] = "";
	enum exit_status result = STATUS_OK;
	if (flag_given(flags, FLAG_JOB))
		result = lookup(session, &kind_job, flags->values[FLAG_JOB], id);
	if (result != STATUS_OK)
		return result;
	http_escape(flags->values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	http_escape(id, job, sizeof job);
	snprintf(path, sizeof path, "/v1/evaluations?namespace=%s&job=%s", namespace_name, job);
	return list_print(session, &list_evaluations, path);
}

static void put_evaluation(json_t *e)
{
	char age[32], modified[32];
	json_t *failed = json_object_get(e, "FailedTGAllocs");
	const char *why = field_text(e, "StatusDescription"), *node = field_text(e, "NodeID");
	const char *blocked = field_text(e, "BlockedEval"), *next = field_text(e, "NextEval");
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(e, "ID"));
	table_pair(&t, "Create Time", "= %s", field_age(field_number(e, "CreateTime"), age));
	table_pair(&t, "Modify Time", "= %s", field_age(field_number(e, "ModifyTime"), modified));
	table_pair(&t, "Status", "= %s", field_text(e, "Status"));
	table_pair(&t, "Status Description", "= %s", *why ? why : field_text(e, "Status"));
	table_pair(&t, "Type", "= %s", field_text(e, "Type"));
	table_pair(&t, "TriggeredBy", "= %s", field_text(e, "TriggeredBy"));
	table_pair(&t, "Job ID", "= %s", field_text(e, "JobID"));
	if (*node)
		table_pair(&t, "Node ID", "= %s", node);
	table_pair(&t, "Priority", "= %lld", (long long)field_number(e, "Priority"));
	if (*field_text(e, "PreviousEval"))
		table_pair(&t, "Previous Eval", "= %s", field_text(e, "PreviousEval"));
	if (*next)
		table_pair(&t, "Next Eval", "= %s", next);
	table_pair(&t, "Placement Failures", "= %s", json_object_size(failed) ? "true" : "false");
	table_print(&t, 0);
	if (!json_object_size(failed))
		return;
	printf("\nFailed Placements\n");
	failures_print(failed, json_object_get(e, "QueuedAllocations"), 0);
	if (*blocked)
		printf("\nEvaluation \"%.8s\" waiting for additional capacity to place remainder\n",
			blocked);
}

enum exit_status eval_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	if (count == 0)
		return eval_list(session, arguments, count);
	const char *id = arguments[0];
	if (flag_given(&session->flags, FLAG_MONITOR))
		return monitor_evaluation(session, id);
	snprintf(path, sizeof path, "/v1/evaluation/%s", id);
	return http_show(session, path, put_evaluation);
}
