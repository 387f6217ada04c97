#include "tools/simulate/node_scenario.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"
#include "tools/simulate/node_fleet.h"
#include <stdlib.h>

// Times are at most this far from 1970, so that the difference of two fits a number.
#define TIME_MOST_NS (INT64_MAX / 4)

struct scenario_event_json {
	struct optional_i64 at_ns;
	int kind;
	char *node, *job, *task, *snapshot;
	bool flaky, ready;
	int64_t backoff_ns;
};
struct scenario_input_json {
	struct optional_i64 now_ns;
	int64_t lost_after_ns, flaky_after_ns;
	bool readiness;
	struct array events; // scenario_event_json
};

// In the order of enum node_event_kind.
static const char *const kind_names[] = {"", "added", "removed", "user-added", "user-removed",
	"task-scheduled", "task-completed", "ready", "sweep", NULL};

static const struct field scenario_event_json_fields[] = {
	{"At", FIELD_OPTIONAL_I64, OF(scenario_event_json, at_ns)},
	{"Kind", FIELD_ENUM, OF(scenario_event_json, kind), NULL, kind_names},
	{"Node", FIELD_STRING, OF(scenario_event_json, node)},
	{"Job", FIELD_STRING, OF(scenario_event_json, job)},
	{"Task", FIELD_STRING, OF(scenario_event_json, task)},
	{"Snapshot", FIELD_STRING, OF(scenario_event_json, snapshot)},
	{"Flaky", FIELD_BOOL, OF(scenario_event_json, flaky)},
	{"Ready", FIELD_BOOL, OF(scenario_event_json, ready)},
	{"Backoff", FIELD_I64, OF(scenario_event_json, backoff_ns), NULL, NULL, FIELD_DURATION},
};
static DESCRIBE(scenario_event_json_description, scenario_event_json);

static const struct field scenario_input_json_fields[] = {
	{"Now", FIELD_OPTIONAL_I64, OF(scenario_input_json, now_ns)},
	{"LostAfter", FIELD_I64, OF(scenario_input_json, lost_after_ns), NULL, NULL,
		FIELD_DURATION},
	{"FlakyAfter", FIELD_I64, OF(scenario_input_json, flaky_after_ns), NULL, NULL,
		FIELD_DURATION},
	{"Readiness", FIELD_BOOL, OF(scenario_input_json, readiness)},
	{"Events", FIELD_ARRAY, OF(scenario_input_json, events), &scenario_event_json_description},
};
static DESCRIBE(scenario_input_json_description, scenario_input_json);

struct run {
	struct scenario_input_json given;
	const char **ids; // of the nodes, in order; a node's number is its index
	uint32_t id_count;
	int64_t shift_ns; // makes every time positive
	struct node_fleet *fleet;
	struct json_report *report;
	struct json_writer *w;
};

static const struct scenario_event_json *event_at(const struct run *r, uint32_t i)
{
	return ARRAY_AT(&r->given.events, struct scenario_event_json, i);
}

static int64_t time_of(const struct run *r, const struct scenario_event_json *e)
{
	return e->at_ns.set ? e->at_ns.value : r->given.now_ns.value;
}

static bool is_missing(const char *text)
{
	return !text || !*text;
}

static void check_time(const struct run *r, const char *path, int64_t time_ns)
{
	if (time_ns < -TIME_MOST_NS || time_ns > TIME_MOST_NS)
		json_sentence(&r->report->errors, "%s: is too far from 1970", path);
}

static void check_not_negative(const struct run *r, const char *path, int64_t ns)
{
	if (ns < 0)
		json_sentence(&r->report->errors, "%s: must not be negative", path);
}

static void check_event(const struct run *r, uint32_t i)
{
	const struct scenario_event_json *e = event_at(r, i);
	char path[64];

	snprintf(path, sizeof path, "Input.Events[%u].At", i);
	check_time(r, path, time_of(r, e));
	snprintf(path, sizeof path, "Input.Events[%u].Backoff", i);
	check_not_negative(r, path, e->backoff_ns);
	if (e->kind == NODE_EVENT_NONE)
		json_sentence(&r->report->errors, "Input.Events[%u].Kind: is missing", i);
	if (e->kind != NODE_EVENT_SWEEP && is_missing(e->node))
		json_sentence(&r->report->errors, "Input.Events[%u].Node: is missing", i);
}

static bool check_expected(const struct run *r)
{
	check_time(r, "Input.Now", r->given.now_ns.value);
	check_not_negative(r, "Input.LostAfter", r->given.lost_after_ns);
	check_not_negative(r, "Input.FlakyAfter", r->given.flaky_after_ns);
	for (uint32_t i = 0; i < r->given.events.count; i++)
		check_event(r, i);
	return r->report->errors.count == 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_ids(struct run *r)
{
	uint32_t named = 0;

	r->ids = memory_take_array(r->given.events.count + 1, sizeof r->ids[0]);
	for (uint32_t i = 0; i < r->given.events.count; i++)
		if (!is_missing(event_at(r, i)->node))
			r->ids[named++] = event_at(r, i)->node;
	qsort(r->ids, named, sizeof r->ids[0], by_text);
	for (uint32_t i = 0; i < named; i++)
		if (r->id_count == 0 || strcmp(r->ids[r->id_count - 1], r->ids[i]) != 0)
			r->ids[r->id_count++] = r->ids[i];
}

static uint32_t node_of(const struct run *r, const char *id)
{
	const char **found = bsearch(&id, r->ids, r->id_count, sizeof r->ids[0], by_text);

	return found ? (uint32_t)(found - r->ids) : 0;
}

// Time 0 marks "never", so that all times are shifted until the first is positive.
static void find_shift(struct run *r)
{
	int64_t first = 1;

	for (uint32_t i = 0; i < r->given.events.count; i++)
		if (time_of(r, event_at(r, i)) < first)
			first = time_of(r, event_at(r, i));
	r->shift_ns = 1 - first;
}

static void write_standing(const struct run *r, const char *key, enum node_standing standing)
{
	json_open_array(r->w, key);
	for (uint32_t i = 0; i < r->id_count; i++)
		if (standing_of(&r->fleet->nodes[i]) == standing)
			json_write_string(r->w, r->ids[i]);
	json_end_array(r->w);
}

static void write_suspended(const struct run *r)
{
	json_open_array(r->w, "Suspended");
	for (uint32_t i = 0; i < r->id_count; i++) {
		const struct standing *l = &r->fleet->nodes[i];
		if (standing_of(l) != NODE_SUSPENDED)
			continue;
		json_begin_object(r->w);
		json_put_string(r->w, "Node", r->ids[i]);
		json_put_bool(r->w, "Lost", l->lost_ns != 0);
		json_put_bool(r->w, "Flaky", l->flaky_ns != 0);
		json_put_bool(r->w, "Ready", standing_is_ready(l));
		json_end_object(r->w);
	}
	json_end_array(r->w);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void write_members(const struct run *r, uint32_t group, bool busy)
{
	const struct node_groups *g = r->fleet->groups;
	uint32_t *members = memory_take_array(r->id_count + 1, sizeof members[0]);
	uint32_t count = 0;

	for (uint32_t node = node_group_first(g, group, busy); node != NODE_GROUP_NO_NODE;
		node = node_group_after(g, node))
		members[count++] = node;
	qsort(members, count, sizeof members[0], by_number);
	json_open_array(r->w, busy ? "Busy" : "Idle");
	for (uint32_t i = 0; i < count; i++)
		json_write_string(r->w, r->ids[members[i]]);
	json_end_array(r->w);
	free(members);
}

static void write_groups(const struct run *r)
{
	const struct node_groups *g = r->fleet->groups;
	const char **names = memory_take_array(node_groups_count(g), sizeof names[0]);
	uint32_t count = 0, cursor = 0, group;

	while ((group = node_groups_next(g, &cursor)) != NODE_GROUP_NONE)
		names[count++] = node_group_snapshot(g, group);
	qsort(names, count, sizeof names[0], by_text);
	json_open_object(r->w, "Groups");
	for (uint32_t i = 0; i < count; i++) {
		group = node_groups_find(g, text_of(names[i]));
		json_open_object(r->w, names[i]);
		write_members(r, group, false);
		write_members(r, group, true);
		json_end_object(r->w);
	}
	json_end_object(r->w);
	free(names);
}

static void write_fleet(const struct run *r)
{
	int64_t free_nodes = (int64_t)node_fleet_healthy(r->fleet) - r->fleet->running;

	json_begin_object(r->w);
	write_standing(r, "Healthy", NODE_HEALTHY);
	write_suspended(r);
	write_standing(r, "Offlined", NODE_OFFLINED);
	write_groups(r);
	json_put_i64(r->w, "Free", free_nodes > 0 ? free_nodes : 0);
	json_put_i64(r->w, "Running", r->fleet->running);
	json_end_object(r->w);
}

static bool happens(const struct run *r, uint32_t i)
{
	const struct scenario_event_json *given = event_at(r, i);
	struct node_event e = {.kind = (enum node_event_kind)given->kind,
		.at_ns = time_of(r, given) + r->shift_ns,
		.node = is_missing(given->node) ? 0 : node_of(r, given->node),
		.snapshot = given->snapshot ? given->snapshot : "",
		.flaky = given->flaky,
		.ready = given->ready,
		.backoff_ns = given->backoff_ns};

	if (node_fleet_happens(r->fleet, &e))
		return true;
	json_sentence(&r->report->errors,
		"Input.Events[%u]: node \"%.128s\" is not healthy, no task can be scheduled on it",
		i, given->node);
	return false;
}

static bool run_events(struct run *r)
{
	uint32_t count = r->given.events.count;
	const struct standing_limits limits = {.lost_after_ns = r->given.lost_after_ns,
		.flaky_after_ns = r->given.flaky_after_ns,
		.readiness = r->given.readiness};
	bool done = true;

	collect_ids(r);
	find_shift(r);
	r->fleet = node_fleet_create(r->id_count, count + 1, &limits);
	if (!r->fleet) {
		json_sentence(&r->report->errors, "Input.Events: memory is short");
		return false;
	}
	json_begin_array(r->w);
	for (uint32_t i = 0; i < count && (done = happens(r, i)); i++)
		write_fleet(r);
	json_end_array(r->w);
	return done;
}

bool node_scenario_run(json_t *input, struct json_report *report, struct json_writer *w)
{
	struct run r = {.report = report, .w = w};

	json_read_exact(&scenario_input_json_description, &r.given, input, "Input", report);
	bool done = report->errors.count == 0 && check_expected(&r) && run_events(&r);
	node_fleet_free(r.fleet);
	free(r.ids);
	record_release(&scenario_input_json_description, &r.given);
	return done;
}
