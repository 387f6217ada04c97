#include "tools/simulate/node_fleet.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct node_fleet *node_fleet_create(
	uint32_t count, uint32_t groups_max, const struct standing_limits *limits)
{
	struct node_fleet *f = memory_take(sizeof *f);

	f->limits = standing_limits_or_defaults(limits);
	f->count = count;
	f->nodes = memory_take_array(count + 1, sizeof f->nodes[0]);
	for (uint32_t i = 0; i < count; i++)
		f->nodes[i].forgotten = true;
	f->groups = node_groups_create(count + 1, groups_max);
	if (f->groups)
		return f;
	node_fleet_free(f);
	return NULL;
}

void node_fleet_free(struct node_fleet *f)
{
	if (!f)
		return;
	node_groups_destroy(f->groups);
	free(f->nodes);
	free(f);
}

uint32_t node_fleet_healthy(const struct node_fleet *f)
{
	uint32_t healthy = 0;

	for (uint32_t i = 0; i < f->count; i++)
		healthy += standing_of(&f->nodes[i]) == NODE_HEALTHY;
	return healthy;
}

static bool added(struct node_fleet *f, const struct node_event *e)
{
	standing_added(&f->nodes[e->node], f->limits.readiness);
	if (!node_groups_has(f->groups, e->node))
		node_groups_join(f->groups, e->node, TEXT(""), false);
	return true;
}

static bool removed(struct node_fleet *f, const struct node_event *e)
{
	standing_removed(&f->nodes[e->node], e->at_ns);
	if (f->nodes[e->node].forgotten)
		node_groups_leave(f->groups, e->node);
	return true;
}

static bool user_added(struct node_fleet *f, const struct node_event *e)
{
	standing_online(&f->nodes[e->node]);
	return true;
}

static bool user_removed(struct node_fleet *f, const struct node_event *e)
{
	standing_offline(&f->nodes[e->node]);
	return true;
}

static bool task_scheduled(struct node_fleet *f, const struct node_event *e)
{
	if (standing_of(&f->nodes[e->node]) != NODE_HEALTHY)
		return false;
	node_groups_schedule(f->groups, e->node, text_of(e->snapshot));
	f->running++;
	return true;
}

static bool task_completed(struct node_fleet *f, const struct node_event *e)
{
	f->running--;
	if (!node_groups_has(f->groups, e->node))
		return true;
	node_groups_set_busy(f->groups, e->node, false);
	standing_completed(&f->nodes[e->node], e->flaky, f->limits.readiness, e->at_ns);
	return true;
}

static bool ready(struct node_fleet *f, const struct node_event *e)
{
	standing_probed(&f->nodes[e->node], e->ready, e->backoff_ns);
	return true;
}

static bool no_event(struct node_fleet *f, const struct node_event *e)
{
	(void)f, (void)e;
	return true;
}

static void sweep_nodes(struct node_fleet *f, int64_t now_ns)
{
	for (uint32_t i = 0; i < f->count; i++) {
		enum standing_sweep swept = standing_swept(&f->nodes[i], &f->limits, now_ns);
		if (swept == SWEEP_FORGOTTEN)
			node_groups_leave(f->groups, i);
		else if (swept == SWEEP_REJOINED)
			node_groups_rejoin(f->groups, i);
	}
}

static const struct {
	bool (*happens)(struct node_fleet *, const struct node_event *);
	bool sweeps;
} kinds[NODE_EVENT_KINDS] = {
	[NODE_EVENT_NONE] = {no_event, false},
	[NODE_EVENT_ADDED] = {added, true},
	[NODE_EVENT_REMOVED] = {removed, true},
	[NODE_EVENT_USER_ADDED] = {user_added, true},
	[NODE_EVENT_USER_REMOVED] = {user_removed, true},
	[NODE_EVENT_TASK_SCHEDULED] = {task_scheduled, false},
	[NODE_EVENT_TASK_COMPLETED] = {task_completed, false},
	[NODE_EVENT_READY] = {ready, false},
	[NODE_EVENT_SWEEP] = {no_event, true},
};

bool node_fleet_happens(struct node_fleet *f, const struct node_event *e)
{
	if (!kinds[e->kind].happens(f, e))
		return false;
	if (kinds[e->kind].sweeps)
		sweep_nodes(f, e->at_ns);
	return true;
}
