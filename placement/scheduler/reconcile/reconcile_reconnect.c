// Step 3g: when an allocation's client is back, either the allocation stays or its replacement does.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"

static bool is_to_move(const struct allocation *a)
{
	const struct desired_transition *t = a->details ? &a->details->transition : NULL;
	return t && (is_wished(&t->migrate) || is_wished(&t->reschedule) ||
			    is_wished(&t->force_reschedule));
}

// The allocation is of an older version than the job.
static bool is_older(const struct allocation *a, const struct job *job)
{
	return a->job->version < job->version ||
	       a->job->record.create_index < job->record.create_index;
}

// Row C11.
static bool stop_unwanted(struct group_pass *g, struct member *m)
{
	CHECK(m->set == SET_RECONNECTING);
	const struct allocation *a = m->allocation;
	if (a->desired == ALLOC_RUN && a->client_status == ALLOC_FAILED)
		stop_member(g, m, STOP_RESCHEDULED);
	else if (a->desired != ALLOC_RUN || is_to_move(a) || is_older(a, g->r->job))
		stop_member(g, m, STOP_NOT_NEEDED);
	else
		return false;
	g->desired->stop++;
	CHECK(m->set == SET_NONE);
	return true;
}

static struct member *find_member(const struct group_pass *g, const struct allocation *a)
{
	uint32_t low = 0, high = g->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct allocation *b = g->members[middle].allocation;
		bool before = b->index != a->index ? b->index < a->index
						   : uuid_compare(&b->id, &a->id) < 0;
		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < g->count && uuid_equal(&g->members[low].allocation->id, &a->id);
	CHECK(!found || low < g->count);
	return found ? &g->members[low] : NULL;
}

static const struct allocation *successor_of(const struct group_pass *g, const struct allocation *a)
{
	const struct scheduler_view *view = g->r->ask->view;
	if (!was_replaced(a))
		return NULL;
	const struct allocation *next =
		view->allocation(view->context, &a->details->next_allocation);
	// A link never leads back, whatever is stored.
	CHECK(!next || !uuid_equal(&next->id, &a->id));
	return next && next->record.create_index > a->record.create_index ? next : NULL;
}

bool was_replaced_since(const struct group_pass *g, const struct allocation *a)
{
	const struct allocation *next = successor_of(g, a);
	return next && a->client_status == ALLOC_UNKNOWN &&
	       next->create_time_ns >= allocation_last_unknown_ns(a);
}

// Finds the replacement that is still wanted. Of a failed replacement nothing is left to stop, and the search goes on
// from it.
static struct member *living_replacement(const struct group_pass *g, const struct allocation *a)
{
	for (const struct allocation *next = successor_of(g, a); next;
		next = successor_of(g, next)) {
		struct member *m = find_member(g, next);
		bool ended = next->client_status == ALLOC_COMPLETE ||
			     next->client_status == ALLOC_LOST ||
			     next->client_status == ALLOC_FAILED;
		if (m && !m->stopped && m->set != SET_LOST && next->desired == ALLOC_RUN && !ended)
			return m;
	}
	return NULL;
}

// The best score among the metrics of the allocation's placement. Returns false when it has no metrics.
static bool best_score(const struct allocation *a, double *score)
{
	if (!a->metrics)
		return false;
	struct alloc_metrics metrics;
	shared_metrics_read(a->metrics, &metrics);
	const struct array *best = &metrics.score_metadata;
	*score = best->count ? ARRAY_AT(best, struct node_score, 0)->norm_score : a->score;
	metrics_release(&metrics);
	return true;
}

static bool scores_better(const struct allocation *a, const struct allocation *than)
{
	double score, other;
	bool has_other = best_score(than, &other);
	return best_score(a, &score) && (!has_other || score > other);
}

static bool replacement_stays(
	const struct allocation *original, const struct allocation *replacement)
{
	CHECK(original != replacement);
	if (is_older(original, replacement->job))
		return true;
	return scores_better(replacement, original) &&
	       (replacement->client_status == ALLOC_RUNNING ||
		       original->client_status != ALLOC_RUNNING);
}

static void choose_survivor(struct group_pass *g, struct member *m)
{
	CHECK(m->set == SET_RECONNECTING);
	struct member *replacement = living_replacement(g, m->allocation);
	if (!replacement)
		return;
	if (replacement_stays(m->allocation, replacement->allocation))
		stop_member(g, m, STOP_NOT_NEEDED);
	else
		stop_member(g, replacement, STOP_RECONNECTED);
	g->desired->stop++;
}

// Turns a reconnecting member into an ordinary one. Only a running allocation is known to be back.
static void keep_member(struct group_pass *g, struct member *m)
{
	CHECK(m->set == SET_RECONNECTING && !m->stopped);
	put_member(g, m, SET_UNTAINTED);
	m->is_back = true;
	if (m->allocation->client_status == ALLOC_RUNNING)
		*APPEND(&g->r->result->reconnects, const struct allocation *) = m->allocation;
}

static const struct allocation *predecessor_of(
	const struct group_pass *g, const struct allocation *a)
{
	const struct scheduler_view *view = g->r->ask->view;
	if (!a->details || uuid_is_zero(&a->details->previous_allocation))
		return NULL;
	const struct allocation *before =
		view->allocation(view->context, &a->details->previous_allocation);
	return before && before->record.create_index < a->record.create_index ? before : NULL;
}

// True when an allocation that this one was to replace runs again, now or since an earlier pass, or moves.
static bool original_goes_on(const struct group_pass *g, const struct allocation *a)
{
	for (const struct allocation *before = predecessor_of(g, a); before;
		before = predecessor_of(g, before)) {
		const struct member *m = find_member(g, before);
		bool goes_on = m && (m->set == SET_UNTAINTED || m->set == SET_MIGRATE);
		bool runs = before->desired == ALLOC_RUN && before->client_status == ALLOC_RUNNING;
		if (goes_on && !m->stopped && (runs || m->is_back))
			return true;
	}
	return false;
}

// A failed replacement of an allocation that goes on is not missed: it is neither stopped nor replaced.
static void forget_failed_replacement(struct group_pass *g, struct member *m)
{
	const struct allocation *a = m->allocation;
	if (m->client_status != ALLOC_FAILED || a->desired != ALLOC_RUN ||
		(m->set != SET_UNTAINTED && m->set != SET_RESCHEDULE) || !original_goes_on(g, a))
		return;
	CHECK(!m->stopped && (!m->later || g->later_count > 0));
	g->later_count -= m->later;
	m->later = false;
	put_member(g, m, SET_NONE);
	g->desired->ignore++;
}

// Step 3g.
void reconcile_reconnecting(struct group_pass *g)
{
	if (may_have(g, SET_RECONNECTING)) {
		FOR_MEMBERS(m, g)
		if (m->set == SET_RECONNECTING && !stop_unwanted(g, m))
			choose_survivor(g, m);
		FOR_MEMBERS(m, g)
		if (m->set == SET_RECONNECTING)
			keep_member(g, m);
	}
	FOR_MEMBERS(m, g)
	forget_failed_replacement(g, m);
}
