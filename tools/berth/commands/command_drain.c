// Drains a node: begins, follows and ends a drain, and shows what it would do.
#include "state/base/time_source.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/flag_meta.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/node_targets.h"
#include "tools/berth/views/drain_monitor.h"
#include "tools/berth/views/what_if.h"
#include <stdio.h>

#define DEADLINE_DEFAULT "1h"

static enum exit_status get_node(struct session *session, const char *id, json_t **node)
{
	char path[HTTP_PATH_BYTES];
	snprintf(path, sizeof path, "/v1/node/%s", id);
	return http_get_json(session, path, node);
}

// The deadline in nanoseconds or as text; the controller checks it.
static json_t *deadline_of(const struct flags *flags)
{
	const char *given = flags->values[FLAG_DEADLINE];
	if (flag_given(flags, FLAG_FORCE))
		return json_integer(-1);
	if (flag_given(flags, FLAG_NO_DEADLINE))
		return json_integer(0);
	return json_string(given ? given : DEADLINE_DEFAULT);
}

static json_t *strategy_of(const struct flags *flags)
{
	if (flag_given(flags, FLAG_DISABLE))
		return json_null();
	return json_pack("{s:o,s:b}", "Deadline", deadline_of(flags), "IgnoreSystemJobs",
		(int)flag_given(flags, FLAG_IGNORE_SYSTEM));
}

static json_t *request_for(const struct flags *flags, const char *id, json_t *meta)
{
	bool eligible = flag_given(flags, FLAG_DISABLE) && !flag_given(flags, FLAG_KEEP_INELIGIBLE);
	return json_pack("{s:s,s:o,s:b,s:o}", "NodeID", id, "DrainSpec", strategy_of(flags),
		"MarkEligible", (int)eligible, "Meta", meta);
}

// Names flags that contradict each other.
static const char *contradiction(const struct flags *flags)
{
	bool enable = flag_given(flags, FLAG_ENABLE), disable = flag_given(flags, FLAG_DISABLE);
	bool dry_run = flag_given(flags, FLAG_DRY_RUN);
	int deadlines = flag_given(flags, FLAG_DEADLINE) + flag_given(flags, FLAG_FORCE) +
			flag_given(flags, FLAG_NO_DEADLINE);
	if (enable + disable + dry_run > 1)
		return "only one of --enable, --disable and --dry-run may be given";
	if (!enable && !disable && !dry_run && !flag_given(flags, FLAG_MONITOR))
		return "one of --enable, --disable, --monitor and --dry-run is needed";
	if (deadlines > 1)
		return "only one of --deadline, --force and --no-deadline may be given";
	if (!enable && (deadlines || flag_given(flags, FLAG_IGNORE_SYSTEM)))
		return "--deadline, --force, --no-deadline and --ignore-system go with --enable";
	if (!disable && flag_given(flags, FLAG_KEEP_INELIGIBLE))
		return "--keep-ineligible goes with --disable";
	return NULL;
}

static enum exit_status monitor(struct session *session, const char *id)
{
	json_t *node;
	enum exit_status result = get_node(session, id, &node);
	if (result != STATUS_OK)
		return result;
	if (json_is_object(json_object_get(node, "DrainStrategy")))
		result = drain_monitor(session, id, node);
	else
		printf("No drain strategy set\n");
	json_decref(node);
	return result;
}

static enum exit_status put_enabled(struct session *session, const char *id)
{
	char time[32];
	json_t *node;
	if (flag_given(&session->flags, FLAG_DETACH)) {
		printf("Node \"%s\" drain strategy set\n", id);
		return STATUS_OK;
	}
	enum exit_status result = get_node(session, id, &node);
	if (result != STATUS_OK)
		return result;
	field_time((int64_t)time_wall_ns(&time_source_real), time);
	printf("%s: Ctrl-C to stop monitoring: will not cancel the node drain\n", time);
	printf("%s: Node \"%s\" drain strategy set\n", time, id);
	fflush(stdout);
	result = drain_monitor(session, id, node);
	json_decref(node);
	return result;
}

static enum exit_status send_drain(
	struct session *session, const char *id, json_t *meta, json_t **reply)
{
	char path[HTTP_PATH_BYTES];
	json_t *request = request_for(&session->flags, id, json_deep_copy(meta));
	snprintf(path, sizeof path, "/v1/node/%s/drain", id);
	enum exit_status result = http_put_json(session, path, request, reply);
	json_decref(request);
	return result;
}

static enum exit_status set_drain(struct session *session, const char *id, json_t *meta)
{
	json_t *reply;
	enum exit_status result = send_drain(session, id, meta, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK && flag_given(&session->flags, FLAG_DISABLE))
		printf("Node \"%s\" drain strategy unset\n", id);
	else if (result == STATUS_OK)
		result = put_enabled(session, id);
	json_decref(reply);
	return result;
}

static enum exit_status set_one_of_many(struct session *session, const char *id, void *meta)
{
	json_t *reply;
	enum exit_status result = send_drain(session, id, meta, &reply);
	json_decref(reply);
	return result;
}

static enum exit_status set_many(struct session *session, json_t *ids, json_t *meta)
{
	bool disable = flag_given(&session->flags, FLAG_DISABLE);
	enum exit_status result = node_targets_each(session, ids,
		disable ? "no longer told to drain" : "told to drain", set_one_of_many, meta);
	if (result != STATUS_OK || disable || flag_given(&session->flags, FLAG_DETACH))
		return result;
	return node_targets_drained(session, ids);
}

static enum exit_status change_drains(struct session *session, json_t *ids)
{
	const struct flags *flags = &session->flags;
	json_t *meta = flags_meta(flags);
	if (!meta)
		return STATUS_USAGE;
	if (flag_given(flags, FLAG_MESSAGE))
		json_object_set_new(meta, "message", json_string(flags->values[FLAG_MESSAGE]));
	enum exit_status result =
		json_array_size(ids) == 1
			? set_drain(session, json_string_value(json_array_get(ids, 0)), meta)
			: set_many(session, ids, meta);
	json_decref(meta);
	return result;
}

enum exit_status node_drain(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	bool dry_run = flag_given(flags, FLAG_DRY_RUN);
	bool changes = flag_given(flags, FLAG_ENABLE) || flag_given(flags, FLAG_DISABLE);
	json_t *ids;
	const char *wrong = contradiction(flags);
	if (wrong)
		return complain(STATUS_USAGE, "%s", wrong);
	enum exit_status result = node_targets(session, arguments, count, &ids);
	if (result != STATUS_OK)
		return result;
	const char *first = json_string_value(json_array_get(ids, 0));
	if (changes && !dry_run)
		result = change_drains(session, ids);
	else if (json_array_size(ids) > 1 && dry_run)
		result = complain(STATUS_USAGE, "--dry-run is for one node");
	else if (json_array_size(ids) > 1)
		result = node_targets_drained(session, ids);
	else
		result =
			dry_run ? what_if_report(session, first, "drain") : monitor(session, first);
	json_decref(ids);
	return result;
}
