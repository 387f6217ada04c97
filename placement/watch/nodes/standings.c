// Counts the standing of the nodes once a second and logs changes, in the words of row E29, with the number of looks
// before that saw no node come or go (row E30).
#include "placement/watch/nodes/standings.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/node.h"
#include <stdatomic.h>
#include <stdlib.h>

#define LOOK_NS NS_PER_S

struct standings {
	struct watch_tools tools;
	struct node_standings newest;
	_Atomic uint32_t changes; // nodes that came or went since the last look
	uint64_t unchanged;       // looks since a node came or went
	int64_t look_ns;          // time of the next look
};

static void *standings_create(const struct watch_tools *tools)
{
	struct standings *s = memory_take(sizeof *s);

	s->tools = *tools;
	return s;
}

static void standings_destroy(void *context)
{
	free(context);
}

static void standings_take_over(void *context)
{
}

static bool is_away(const struct node *node)
{
	return node->status == NODE_DOWN || node->status == NODE_DISCONNECTED ||
	       node->record.deleted;
}

// The next look comes soon enough for these numbers.
static bool standings_changed(void *context, const struct state_change *change)
{
	struct standings *s = context;
	const struct node *before = (const struct node *)change->before;
	const struct node *after = (const struct node *)change->after;

	if (change->table == STATE_NODES &&
		(!before || is_away(before) != is_away(after) ||
			before->standing.offlined != after->standing.offlined))
		atomic_fetch_add(&s->changes, 1);
	return false;
}

struct node_standings node_standings_of(const struct state_counts *counts)
{
	struct node_standings s = {
		.healthy = counts->nodes_standing[NODE_HEALTHY],
		.running = counts->nodes_running,
		.suspended = counts->nodes_standing[NODE_SUSPENDED],
	};

	// Lost nodes with work count as running, too.
	s.free = s.healthy > s.running ? s.healthy - s.running : 0;
	return s;
}

static bool is_as_before(const struct node_standings *a, const struct node_standings *b)
{
	return a->healthy == b->healthy && a->free == b->free && a->running == b->running &&
	       a->suspended == b->suspended;
}

static void count_standings(struct standings *s)
{
	struct state_counts counts;

	state_counts(s->tools.state, &counts);
	struct node_standings now = node_standings_of(&counts);
	bool has_changes = atomic_exchange(&s->changes, 0) > 0;
	watch_count(&s->tools,
		has_changes ? &s->tools.stats->looks_changed : &s->tools.stats->looks_unchanged, 1);
	s->unchanged += !has_changes;
	if (!has_changes && is_as_before(&now, &s->newest))
		return;
	log_info("nodes",
		"status=\"now have %u healthy (%u free, %u running), and %u suspended\" "
		"unchanged=%llu",
		now.healthy, now.free, now.running, now.suspended,
		(unsigned long long)s->unchanged);
	s->newest = now;
	if (has_changes)
		s->unchanged = 0;
}

static int64_t standings_turn(void *context, int64_t now_ns, bool *done)
{
	struct standings *s = context;

	// The clock may have been set back.
	if (now_ns < s->look_ns && s->look_ns - now_ns <= LOOK_NS)
		return s->look_ns;
	count_standings(s);
	s->look_ns = now_ns + LOOK_NS;
	return s->look_ns;
}

const struct watcher standing_watcher = {
	.name = "standings",
	.create = standings_create,
	.destroy = standings_destroy,
	.take_over = standings_take_over,
	.changed = standings_changed,
	.turn = standings_turn,
};
