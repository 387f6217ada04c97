// Drains a node: begins, follows and ends a drain, and shows what it would do.
#include "state/base/time_source.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/flag_meta.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
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

static enum exit_status set_drain(struct session *session, const char *id, json_t *meta)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply, *request = request_for(&session->flags, id, meta);
	snprintf(path, sizeof path, "/v1/node/%s/drain", id);
	enum exit_status result = http_put_json(session, path, request, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK && flag_given(&session->flags, FLAG_DISABLE))
		printf("Node \"%s\" drain strategy unset\n", id);
	else if (result == STATUS_OK)
		result = put_enabled(session, id);
	json_decref(reply);
	json_decref(request);
	return result;
}

enum exit_status node_drain(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	const char *id = arguments[0];
	const char *wrong = contradiction(flags);
	if (wrong)
		return complain(STATUS_USAGE, "%s", wrong);
	if (flag_given(flags, FLAG_DRY_RUN))
		return what_if_report(session, id, "drain");
	if (!flag_given(flags, FLAG_ENABLE) && !flag_given(flags, FLAG_DISABLE))
		return monitor(session, id);
	json_t *meta = flags_meta(flags);
	if (!meta)
		return STATUS_USAGE;
	if (flag_given(flags, FLAG_MESSAGE))
		json_object_set_new(meta, "message", json_string(flags->values[FLAG_MESSAGE]));
	return set_drain(session, id, meta);
}
