#include "tools/berth/commands/node_targets.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/progress.h"
#include <stdio.h>
#include <time.h>

#define LOOK_NS (500 * NS_PER_MS)

static void add_found(json_t *node, void *ids)
{
	json_array_append(ids, json_object_get(node, "ID"));
}

static enum exit_status find_by_filter(struct session *session, json_t *ids)
{
	char path[4 * HTTP_PATH_BYTES], escaped[3 * HTTP_PATH_BYTES];
	const char *filter = session->flags.values[FLAG_FILTER];
	snprintf(path, sizeof path, "/v1/nodes?filter=%s",
		http_escape(filter, escaped, sizeof escaped));
	return pages_each(session, path, add_found, ids);
}

enum exit_status node_targets(
	struct session *session, const char **arguments, int count, json_t **ids)
{
	enum exit_status result = STATUS_OK;
	bool by_filter = flag_given(&session->flags, FLAG_FILTER);
	if (by_filter == (count > 0))
		return complain(STATUS_USAGE, "either nodes or --filter is needed");
	*ids = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(*ids, json_string(arguments[i]));
	if (by_filter)
		result = find_by_filter(session, *ids);
	if (result == STATUS_OK && json_array_size(*ids) == 0)
		result = complain(
			STATUS_NOT_FOUND, "no node fits %s", session->flags.values[FLAG_FILTER]);
	if (result == STATUS_OK)
		return STATUS_OK;
	json_decref(*ids);
	*ids = NULL;
	return result;
}

enum exit_status node_targets_each(
	struct session *session, json_t *ids, const char *done, node_act *act, void *context)
{
	struct progress progress = {
		.done = done, .noun = "nodes", .total = (uint32_t)json_array_size(ids)};
	uint32_t failed = 0, count = 0;
	enum exit_status last = STATUS_OK;
	for (; count < progress.total; count++) {
		enum exit_status one =
			act(session, json_string_value(json_array_get(ids, count)), context);
		failed += one != STATUS_OK;
		last = one != STATUS_OK ? one : last;
		if (progress.total > 1)
			progress_show(&progress, count + 1 - failed, failed);
		// The other requests would wait for their answers as long.
		if (one == STATUS_UNREACHABLE)
			break;
	}
	progress_clear(&progress);
	if (progress.total > 1 && count == progress.total)
		printf("%u of %u nodes %s\n", count - failed, progress.total, done);
	return last;
}

static void note_draining(json_t *node, void *draining)
{
	json_object_set_new(draining, field_text(node, "ID"), json_true());
}

static enum exit_status count_drained(struct session *session, json_t *ids, uint32_t *drained)
{
	json_t *draining = json_object(), *id;
	size_t i;
	enum exit_status result =
		pages_each(session, "/v1/nodes?filter=Drain%3D%3Dtrue", note_draining, draining);
	*drained = 0;
	json_array_foreach(ids, i, id) *drained +=
		!json_object_get(draining, json_string_value(id));
	json_decref(draining);
	return result;
}

enum exit_status node_targets_drained(struct session *session, json_t *ids)
{
	struct progress progress = {
		.done = "drained", .noun = "nodes", .total = (uint32_t)json_array_size(ids)};
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	uint32_t drained;
	enum exit_status result = count_drained(session, ids, &drained);
	while (result == STATUS_OK && drained < progress.total) {
		progress_show(&progress, drained, 0);
		nanosleep(&pause, NULL);
		result = count_drained(session, ids, &drained);
	}
	progress_clear(&progress);
	if (result == STATUS_OK)
		printf("%u of %u nodes drained\n", drained, progress.total);
	return result;
}
