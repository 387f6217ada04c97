#include "tools/berth/views/drain_monitor.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/pages.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// How long one request waits for an allocation to change before the monitor asks for the node.
#define WAIT_MS 1000
#define REASONS_NS NS_PER_S // between two requests for the drain's reasons to wait

struct drain_monitor {
	struct session *session;
	const char *id;
	json_t *strategy;    // the newest known; NULL: the drain is over
	json_t *seen;        // client status by allocation
	json_t *marked;      // allocations that were told to leave
	json_t *reasons;     // reasons to wait: true once printed
	uint64_t reasons_ns; // when to ask for reasons again; monotonic
	bool ignores_system;
	uint32_t running; // allocations that the drain must move and that still run
	uint64_t index;   // of the newest list of allocations
	bool is_first_look;
};

__attribute__((format(printf, 1, 2))) static void say_event(const char *format, ...)
{
	char time[32];
	va_list arguments;
	printf("%s: ", field_time((int64_t)time_wall_ns(&time_source_real), time));
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static bool has_ended(const char *client_status)
{
	return strcmp(client_status, "complete") == 0 || strcmp(client_status, "failed") == 0 ||
	       strcmp(client_status, "lost") == 0;
}

static bool is_told_to_leave(json_t *allocation)
{
	json_t *transition = json_object_get(allocation, "DesiredTransition");
	return json_is_true(json_object_get(transition, "Migrate"));
}

static bool is_of_system(json_t *allocation)
{
	const char *type = field_text(json_object_get(allocation, "Job"), "Type");
	return strcmp(type, "system") == 0;
}

// Prints what changed since the last list. Allocations that had ended when the monitor began are left out.
static void see_allocation(json_t *allocation, void *context)
{
	struct drain_monitor *m = context;
	const char *id = field_text(allocation, "ID"),
		   *status = field_text(allocation, "ClientStatus");
	const char *before = field_text(m->seen, id);
	bool ended = has_ended(status), draining = is_told_to_leave(allocation);
	bool stops = strcmp(field_text(allocation, "DesiredStatus"), "run") != 0;
	if (!ended && !(m->ignores_system && is_of_system(allocation)))
		m->running++;
	if (m->is_first_look && ended)
		return;
	if (draining && !json_object_get(m->marked, id)) {
		json_object_set_new(m->marked, id, json_true());
		say_event("Alloc \"%s\" %s", id, stops ? "draining" : "marked for migration");
	} else if (stops && json_is_true(json_object_get(m->marked, id))) {
		json_object_set_new(m->marked, id, json_false());
		say_event("Alloc \"%s\" draining", id);
	}
	if (*before && strcmp(before, status) != 0)
		say_event("Alloc \"%s\" status %s -> %s", id, before, status);
	json_object_set_new(m->seen, id, json_string(status));
}

static enum exit_status look_at_allocations(struct drain_monitor *m)
{
	char path[HTTP_PATH_BYTES];
	json_t *allocations, *one;
	size_t i;
	snprintf(path, sizeof path, "/v1/node/%s/allocations?index=%llu&stale=&wait=%dms", m->id,
		(unsigned long long)m->index, WAIT_MS);
	enum exit_status result = http_get_indexed(m->session, path, &allocations, &m->index);
	if (result != STATUS_OK)
		return result;
	m->running = 0;
	json_array_foreach(allocations, i, one) see_allocation(one, m);
	m->is_first_look = false;
	json_decref(allocations);
	return STATUS_OK;
}

static json_t *strategy_of(json_t *node)
{
	json_t *strategy = json_object_get(node, "DrainStrategy");
	return json_is_object(strategy) ? json_incref(strategy) : NULL;
}

static void see_strategy(struct drain_monitor *m, json_t *node)
{
	json_t *strategy = strategy_of(node);
	if (strategy && m->strategy && !json_equal(strategy, m->strategy))
		say_event("Node \"%s\" drain updated", m->id);
	if (strategy)
		m->ignores_system = json_is_true(json_object_get(strategy, "IgnoreSystemJobs"));
	json_decref(m->strategy);
	m->strategy = strategy;
}

static enum exit_status look_at_node(struct drain_monitor *m, json_t **node)
{
	char path[HTTP_PATH_BYTES];
	snprintf(path, sizeof path, "/v1/node/%s?stale=", m->id);
	enum exit_status result = http_get_json(m->session, path, node);
	if (result == STATUS_OK)
		see_strategy(m, *node);
	return result;
}

// Prints a reason once, when two requests in a row name it: one that passes by itself is not worth a line.
static void see_reason(struct drain_monitor *m, const char *text, json_t *now)
{
	json_t *before = json_object_get(m->reasons, text);
	if (before && !json_is_true(before))
		say_event("Waiting: %s", text);
	json_object_set_new(now, text, before ? json_true() : json_false());
}

static enum exit_status look_at_reasons(struct drain_monitor *m)
{
	char path[HTTP_PATH_BYTES];
	json_t *status, *reason, *now;
	size_t i;
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	if (!m->strategy || now_ns < m->reasons_ns)
		return STATUS_OK;
	m->reasons_ns = now_ns + REASONS_NS;
	snprintf(path, sizeof path, "/v1/berth/node/%s/drain", m->id);
	enum exit_status result = http_get_json(m->session, path, &status);
	if (result != STATUS_OK)
		return result;
	now = json_object();
	json_array_foreach(json_object_get(status, "Waiting"), i, reason)
		see_reason(m, field_text(reason, "Reason"), now);
	json_decref(m->reasons);
	m->reasons = now;
	json_decref(status);
	return STATUS_OK;
}

static bool is_canceled(json_t *node)
{
	return strcmp(field_text(json_object_get(node, "LastDrain"), "Status"), "canceled") == 0;
}

// The drain is over. Prints "complete" only for what is complete, not for what is about to be.
static enum exit_status put_end(struct drain_monitor *m, json_t *node)
{
	if (is_canceled(node)) {
		say_event("Node \"%s\" drain was called off", m->id);
		return STATUS_FAILURE;
	}
	say_event("Drain complete for node %s", m->id);
	say_event("All allocations on node \"%s\" have stopped", m->id);
	return STATUS_OK;
}

static enum exit_status follow_drain(struct drain_monitor *m)
{
	enum exit_status result = STATUS_OK;
	bool over = false;
	while (result == STATUS_OK && !over) {
		json_t *node = NULL;
		result = look_at_allocations(m);
		if (result == STATUS_OK)
			result = look_at_node(m, &node);
		if (result == STATUS_OK && m->strategy)
			result = look_at_reasons(m);
		over = result == STATUS_OK && !m->strategy && (!m->running || is_canceled(node));
		if (over)
			result = put_end(m, node);
		json_decref(node);
	}
	return result;
}

enum exit_status drain_monitor(struct session *session, const char *id, json_t *node)
{
	struct drain_monitor m = {.session = session,
		.id = id,
		.seen = json_object(),
		.marked = json_object(),
		.reasons = json_object(),
		.is_first_look = true};
	see_strategy(&m, node);
	enum exit_status result = follow_drain(&m);
	json_decref(m.strategy);
	json_decref(m.seen);
	json_decref(m.marked);
	json_decref(m.reasons);
	return result;
}
