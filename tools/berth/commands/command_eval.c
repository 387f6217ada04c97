// Evaluations.
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/evaluation_table.h"
#include "tools/berth/views/failures.h"
#include "tools/berth/views/monitor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void collect_evaluation(json_t *evaluation, void *context)
{
	json_array_append(context, evaluation);
}

enum exit_status eval_list(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	char path[HTTP_PATH_BYTES], namespace_name[400], job[400], status[64];
	http_escape(flags->values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	http_escape(flag_given(flags, FLAG_JOB) ? flags->values[FLAG_JOB] : "", job, sizeof job);
	http_escape(flag_given(flags, FLAG_STATUS) ? flags->values[FLAG_STATUS] : "", status,
		sizeof status);
	snprintf(path, sizeof path, "/v1/evaluations?namespace=%s&job=%s&status=%s", namespace_name,
		job, status);
	if (flag_given(flags, FLAG_JSON))
		return http_get_through(session, path);
	json_t *all = json_array();
	enum exit_status result = pages_each(session, path, collect_evaluation, all);
	if (result == STATUS_OK)
		evaluation_table_print(all, flag_given(flags, FLAG_VERBOSE), 0);
	json_decref(all);
	return result;
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
	char id[UUID_TEXT_BYTES], path[HTTP_PATH_BYTES];
	if (count == 0)
		return eval_list(session, arguments, count);
	enum exit_status result = lookup_id(session, &id_eval, arguments[0], id);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_MONITOR))
		return monitor_evaluation(session, id);
	snprintf(path, sizeof path, "/v1/evaluation/%s", id);
	return http_show(session, path, put_evaluation);
}
