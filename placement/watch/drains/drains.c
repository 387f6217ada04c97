// The drainer (row C57, docs/spec/watchers.md). Remembers which nodes drain and which jobs have allocations on them;
// looks at a node or job again only when it changed, never at all of them. Looks at a job at most once a second, so
// that all changes in between make one write and one evaluation.
#include "placement/watch/drains/drains.h"
#include "placement/watch/drains/drain_book.h"
#include "placement/watch/drains/drain_survey.h"
#include "placement/watch/drains/migrate_flags.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

#define BATCH_NS NS_PER_S
#define RETRY_NS NS_PER_S
// Drains whose deadlines are this close to the first are forced with it.
#define COALESCE_NS (5 * NS_PER_S)

struct drains {
	struct watch_tools tools;
	struct drain_book book;
	// Watchers' thread only.
	struct heap deadlines; // drain_node.by_deadline, of all draining nodes
	int64_t jobs_due_ns, retry_ns;
};

static bool sooner_of(const struct heap_node *a, const struct heap_node *b)
{
	return CONTAINER_OF(a, const struct drain_node, by_deadline)->deadline_ns <
	       CONTAINER_OF(b, const struct drain_node, by_deadline)->deadline_ns;
}

static void *drains_create(const struct watch_tools *tools)
{
	struct drains *d = memory_take(sizeof *d);

	d->tools = *tools;
	d->jobs_due_ns = d->retry_ns = WATCH_NEVER;
	heap_init(&d->deadlines, sooner_of);
	drain_book_init(&d->book);
	return d;
}

static void drains_destroy(void *context)
{
	struct drains *d = context;

	drain_book_free(&d->book);
	heap_free(&d->deadlines);
	free(d);
}

static bool drains_changed(void *context, const struct state_change *change)
{
	struct drains *d = context;

	switch (change->table) {
	case STATE_NODES: return drain_book_note_node(&d->book, (const struct node *)change->after);
	case STATE_ALLOCATIONS:
		return drain_book_note_allocation(
			&d->book, (const struct allocation *)change->after);
	case STATE_JOBS: return drain_book_note_job(&d->book, (const struct job *)change->after);
	default: return false;
	}
}

static void drains_take_over(void *context)
{
	struct drains *d = context;

	for (uint32_t slot = 0; slot < state_node_slots(d->tools.state); slot++) {
		state_read_begin();
		const struct node *node = state_node_at(d->tools.state, slot);
		if (node && node->drain)
			(void)drain_book_note_node(&d->book, node);
		state_read_end();
	}
}

struct ids {
	struct uuid *items;
	uint32_t count, capacity;
};

static void add_id(struct ids *ids, const struct uuid *id)
{
	if (ids->count == ids->capacity) {
		ids->capacity = ids->capacity ? 2 * ids->capacity : 64;
		ids->items = memory_resize(ids->items, ids->capacity * sizeof *ids->items);
	}
	ids->items[ids->count++] = *id;
}

struct look {
	struct drains *drains;
	bool is_draining, ignores_system;
	int64_t deadline_ns;
	uint32_t left, system_left; // not ended
	struct ids system_unflagged;
};

static bool look_at_allocation(const struct allocation *a, void *context)
{
	struct look *look = context;
	enum drain_kind kind = drain_kind_of(a);

	if (allocation_has_ended(a))
		return true;
	if (kind == DRAIN_LAST) {
		look->system_left++;
		if (a->desired == ALLOC_RUN && !allocation_is_flagged(a))
			add_id(&look->system_unflagged, &a->id);
		return true;
	}
	look->left++;
	if (kind == DRAIN_MIGRATES)
		drain_book_add_job(&look->drains->book, a->job);
	return true;
}

static struct look look_at(struct drains *d, const struct uuid *id)
{
	struct look look = {.drains = d};

	state_read_begin();
	const struct node *node = state_node_by_id(d->tools.state, id);
	if (node && node->drain) {
		look.is_draining = true;
		look.ignores_system = node->drain->ignore_system_jobs;
		look.deadline_ns = drain_deadline(node->drain);
		state_node_allocations(d->tools.state, node->slot, look_at_allocation, &look);
	}
	state_read_end();
	return look;
}

static int end_drain(struct drains *d, const struct uuid *id, enum drain_end end)
{
	struct command_node_drain ask = {.node = *id, .end = end};
	struct command command = {.type = COMMAND_NODE_DRAIN, .node_drain = &ask};
	int error = watch_run(&d->tools, &command);
	struct watchers_stats *stats = d->tools.stats;

	if (error == 0)
		watch_count(&d->tools,
			end == DRAIN_COMPLETE ? &stats->drains_completed : &stats->drains_forced,
			1);
	return error;
}

// System jobs leave last. The drain is complete when nothing runs on the node but what it ignores.
static int advance_job(
	struct drains *d, const struct drain_node *node, const struct look *look, bool *done)
{
	if (look->left > 0)
		return 0;
	bool is_complete = look->ignores_system || look->system_left == 0;
	*done |= is_complete || look->system_unflagged.count > 0;
	if (is_complete)
		return end_drain(d, &node->id, DRAIN_COMPLETE);
	return flag_to_migrate(
		&d->tools, look->system_unflagged.items, look->system_unflagged.count);
}

static void forget_node(struct drains *d, struct drain_node *node)
{
	if (heap_holds(&node->by_deadline))
		heap_remove(&d->deadlines, &node->by_deadline);
	drain_book_forget_node(&d->book, node);
}

static void watch_deadline(struct drains *d, struct drain_node *node, int64_t deadline_ns)
{
	if (heap_holds(&node->by_deadline))
		heap_remove(&d->deadlines, &node->by_deadline);
	node->deadline_ns = deadline_ns;
	heap_push(&d->deadlines, &node->by_deadline);
}

static void retry_node(struct drains *d, struct drain_node *node, int64_t now_ns)
{
	drain_book_keep_node(&d->book, node);
	d->retry_ns = now_ns + RETRY_NS;
}

static void settle_node(struct drains *d, struct drain_node *node, int64_t now_ns, bool *done)
{
	struct look look = look_at(d, &node->id);

	if (look.is_draining) {
		watch_deadline(d, node, look.deadline_ns);
		if (look.deadline_ns > now_ns && advance_job(d, node, &look, done) != 0)
			retry_node(d, node, now_ns);
	} else {
		forget_node(d, node);
	}
	free(look.system_unflagged.items);
}

static void settle_nodes(struct drains *d, int64_t now_ns, bool *done)
{
	struct array nodes = drain_book_take_nodes(&d->book);

	d->retry_ns = WATCH_NEVER;
	for (uint32_t i = 0; i < nodes.count; i++)
		settle_node(d, *ARRAY_AT(&nodes, struct drain_node *, i), now_ns, done);
	free(nodes.items);
	watch_gauge(&d->tools, &d->tools.stats->nodes_draining, d->deadlines.count);
}

struct forcing {
	int64_t until_ns; // deadlines up to here count as passed
	bool ignores_system;
	struct ids flags, direct;
};

static bool force_allocation(const struct allocation *a, void *context)
{
	struct forcing *f = context;
	bool is_ignored = f->ignores_system && drain_kind_of(a) == DRAIN_LAST;

	if (is_ignored || allocation_is_terminal(a))
		return true;
	if (job_is_direct(a->job))
		add_id(&f->direct, &a->id);
	else if (!allocation_is_flagged(a))
		add_id(&f->flags, &a->id);
	return true;
}

// False: the node has another drain by now, whose change was noted.
static bool force_node(struct drains *d, const struct uuid *id, struct forcing *f)
{
	state_read_begin();
	const struct node *node = state_node_by_id(d->tools.state, id);
	bool is_due = node && node->drain && drain_deadline(node->drain) <= f->until_ns;
	if (is_due) {
		f->ignores_system = node->drain->ignore_system_jobs;
		state_node_allocations(d->tools.state, node->slot, force_allocation, f);
	}
	state_read_end();
	return is_due;
}

// All nodes whose deadline has passed or is about to pass.
static struct array take_overdue(struct drains *d, int64_t now_ns, struct forcing *f)
{
	struct heap_node *top = heap_top(&d->deadlines);
	struct array nodes = {0};

	if (!top || CONTAINER_OF(top, struct drain_node, by_deadline)->deadline_ns > now_ns)
		return nodes;
	while ((top = heap_top(&d->deadlines))) {
		struct drain_node *node = CONTAINER_OF(top, struct drain_node, by_deadline);
		if (node->deadline_ns > f->until_ns)
			break;
		heap_pop(&d->deadlines);
		if (force_node(d, &node->id, f))
			*(struct drain_node **)array_append(&nodes, sizeof node) = node;
	}
	return nodes;
}

// Tells every allocation left there to leave at once, and ends the drains.
static void force_overdue(struct drains *d, int64_t now_ns, bool *done)
{
	struct forcing f = {.until_ns = now_ns + COALESCE_NS};
	struct array nodes = take_overdue(d, now_ns, &f);

	int error = flag_to_migrate(&d->tools, f.flags.items, f.flags.count);
	if (error == 0)
		error = release_allocations(&d->tools, f.direct.items, f.direct.count);
	for (uint32_t i = 0; i < nodes.count; i++) {
		struct drain_node *node = *ARRAY_AT(&nodes, struct drain_node *, i);
		if (error != 0 || end_drain(d, &node->id, DRAIN_DEADLINE_REACHED) != 0)
			retry_node(d, node, now_ns);
	}
	*done |= nodes.count > 0;
	free(nodes.items);
	free(f.flags.items);
	free(f.direct.items);
}

// Chooses the job's allocations that may leave now. Returns whether any is on a draining node.
static bool choose_leavers(struct drains *d, const struct drain_job *job, struct ids *flags)
{
	struct drain_survey survey = {0};

	state_read_begin();
	const struct job *newest =
		state_job(d->tools.state, text_of(job->namespace_name), text_of(job->id));
	if (newest)
		drain_survey(d->tools.state, newest, &survey);
	state_read_end();
	for (uint32_t i = 0; i < survey.groups.count; i++) {
		const struct drain_group *g = ARRAY_AT(&survey.groups, struct drain_group, i);
		uint32_t allowance = drain_group_allowance(g);
		for (uint32_t k = 0; k < allowance; k++)
			add_id(flags, ARRAY_AT(&g->drainable, struct uuid, k));
	}
	bool is_draining = survey.draining > 0;
	drain_survey_release(&survey);
	return is_draining;
}

static void settle_jobs(struct drains *d, int64_t now_ns, bool *done)
{
	struct array jobs = drain_book_take_jobs(&d->book);
	struct array left = {0}; // with allocations on nodes that drain
	struct ids flags = {0};

	d->jobs_due_ns = WATCH_NEVER;
	for (uint32_t i = 0; i < jobs.count; i++) {
		struct drain_job *job = *ARRAY_AT(&jobs, struct drain_job *, i);
		if (choose_leavers(d, job, &flags))
			*(struct drain_job **)array_append(&left, sizeof job) = job;
		else
			drain_book_forget_job(&d->book, job);
	}
	if (flag_to_migrate(&d->tools, flags.items, flags.count) != 0) {
		for (uint32_t i = 0; i < left.count; i++)
			drain_book_keep_job(&d->book, *ARRAY_AT(&left, struct drain_job *, i));
		d->jobs_due_ns = now_ns + RETRY_NS;
	}
	*done |= flags.count > 0;
	free(jobs.items);
	free(left.items);
	free(flags.items);
}

static int64_t next_turn(const struct drains *d)
{
	const struct heap_node *top = heap_top(&d->deadlines);
	int64_t due_ns = d->jobs_due_ns < d->retry_ns ? d->jobs_due_ns : d->retry_ns;

	if (top && CONTAINER_OF(top, const struct drain_node, by_deadline)->deadline_ns < due_ns)
		due_ns = CONTAINER_OF(top, const struct drain_node, by_deadline)->deadline_ns;
	return due_ns;
}

static int64_t drains_turn(void *context, int64_t now_ns, bool *done)
{
	struct drains *d = context;

	settle_nodes(d, now_ns, done);
	force_overdue(d, now_ns, done);
	if (d->jobs_due_ns == WATCH_NEVER && drain_book_has_dirty_jobs(&d->book))
		d->jobs_due_ns = now_ns + BATCH_NS;
	if (now_ns >= d->jobs_due_ns)
		settle_jobs(d, now_ns, done);
	return next_turn(d);
}

const struct watcher drain_watcher = {
	.name = "drains",
	.create = drains_create,
	.destroy = drains_destroy,
	.take_over = drains_take_over,
	.changed = drains_changed,
	.turn = drains_turn,
};
