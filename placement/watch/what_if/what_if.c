#include "placement/watch/what_if/what_if.h"
#include "placement/scheduler/scheduler.h"
#include "placement/watch/drains/drain_survey.h"
#include "placement/watch/what_if/altered_view.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/evaluation.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

const char *const what_if_kind_names[] = {"drain", "down", NULL};
const char *const what_if_outcome_names[] = {"moves", "no-room", "later", "stops", "stays", NULL};

struct running {
	struct altered_view view;
	const struct job *job; // job being scheduled; NULL: purged
	struct what_if *out;
	bool has_followup; // its scheduler wants to look again later
	struct array failed_groups;
};

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct running *r = context;
	*view = altered_view_of(&r->view);
	return 0;
}

// The view below stays open.
static void end_view(void *context)
{
}

static struct what_if_item *find_item(const struct what_if *out, const struct uuid *id)
{
	for (uint32_t i = 0; i < out->items.count; i++) {
		struct what_if_item *item = ARRAY_AT(&out->items, struct what_if_item, i);
		if (uuid_equal(&item->allocation->id, id))
			return item;
	}
	return NULL;
}

static void note_placement(struct running *r, const struct plan_placement *p)
{
	const struct scheduler_view *below = &r->view.below;
	struct what_if_item *item =
		p->details ? find_item(r->out, &p->details->previous_allocation) : NULL;

	if (!item)
		return;
	item->outcome = WHAT_IF_MOVES;
	item->to = below->node_by_id(below->context, &p->node_id);
	item->score = p->score;
	item->replacement = p->id;
}

static void note_preemptions(struct running *r, const struct plan *plan)
{
	const struct scheduler_view *below = &r->view.below;

	for (uint32_t i = 0; i < plan->preemptions.count; i++) {
		const struct plan_stop *stop = ARRAY_AT(&plan->preemptions, struct plan_stop, i);
		struct what_if_preempted one = {
			below->allocation(below->context, &stop->id), stop->preempted_by};
		if (one.allocation)
			*(struct what_if_preempted *)array_append(&r->out->preempted, sizeof one) =
				one;
	}
}

static void count_placed(struct plan_result *result, const struct job *job, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		if (job && p->group < job->task_groups.count)
			count_add(&result->placed_by_group,
				ARRAY_AT(&job->task_groups, struct task_group, p->group)->name, 1);
	}
}

static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct running *r = context;

	for (uint32_t i = 0; i < plan->stops.count; i++) {
		struct what_if_item *item =
			find_item(r->out, &ARRAY_AT(&plan->stops, struct plan_stop, i)->id);
		if (item)
			item->outcome = WHAT_IF_STOPS;
	}
	for (uint32_t i = 0; i < plan->placements.count; i++)
		note_placement(r, ARRAY_AT(&plan->placements, struct plan_placement, i));
	note_preemptions(r, plan);
	altered_view_apply(&r->view, plan, r->job);
	*result = (struct plan_result){
		.alloc_index = plan->snapshot_index + 1,
		.placements_committed = plan->placements.count,
		.placements_planned = plan->placements.count,
		.stops_committed = plan->stops.count + plan->preemptions.count,
		.updates_committed = plan->updates.count,
		.deployment_updates_committed = plan->deployment_updates.count,
	};
	count_placed(result, r->job, plan);
	return 0;
}

static void release_groups(struct array *groups)
{
	struct evaluation *e = evaluation_create();

	e->failed_groups = *groups; // freed as part of an evaluation
	evaluation_free(e);
	*groups = (struct array){0};
}

// The final evaluation holds what could not be placed.
static int update_eval(void *context, const struct evaluation *e)
{
	struct running *r = context;
	struct evaluation *copy = evaluation_copy(e);

	release_groups(&r->failed_groups);
	r->failed_groups = copy->failed_groups;
	copy->failed_groups = (struct array){0};
	evaluation_free(copy);
	return 0;
}

static int create_eval(void *context, const struct evaluation *e)
{
	struct running *r = context;
	r->has_followup |= e->wait_until_ns > 0;
	return 0;
}

static bool is_same_job(const struct job *a, const struct job *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->namespace_name, b->namespace_name) == 0;
}

static const char *group_of(const struct allocation *a)
{
	return allocation_group(a)->name;
}

static bool has_failed(const struct array *groups, const char *name)
{
	for (uint32_t i = 0; i < groups->count; i++)
		if (strcmp(ARRAY_AT(groups, struct failed_group, i)->group, name) == 0)
			return true;
	return false;
}

// Sets the remaining outcomes of the job's allocations after its scheduler ran.
static void conclude(struct running *r, const struct job *of)
{
	for (uint32_t i = 0; i < r->out->items.count; i++) {
		struct what_if_item *item = ARRAY_AT(&r->out->items, struct what_if_item, i);
		bool has_place = item->outcome == WHAT_IF_MOVES;
		if (!is_same_job(item->allocation->job, of) || has_place)
			continue;
		if (!job_traits_of(of)->follows_nodes &&
			has_failed(&r->failed_groups, group_of(item->allocation)))
			item->outcome = WHAT_IF_NO_ROOM;
		else if (item->outcome == WHAT_IF_STOPS && r->has_followup)
			item->outcome = WHAT_IF_LATER;
	}
	if (r->failed_groups.count == 0)
		return;
	struct what_if_failure *failure = array_append(&r->out->failures, sizeof *failure);
	failure->job = of;
	failure->groups = r->failed_groups;
	r->failed_groups = (struct array){0};
}

static struct evaluation *evaluation_for(
	const struct job *of, const struct job *newest, enum what_if_kind kind, struct prng *prng)
{
	struct evaluation *e = evaluation_create();

	e->id = prng_uuid(prng);
	e->namespace_name = text_copy(text_of(of->namespace_name));
	e->job_id = text_copy(text_of(of->id));
	e->priority = newest ? newest->priority : of->priority;
	e->type = newest ? newest->type : of->type;
	e->triggered_by = kind == WHAT_IF_DRAIN ? TRIGGER_NODE_DRAIN : TRIGGER_NODE_UPDATE;
	e->job_modify_index = newest ? newest->job_modify_index : 0;
	e->status = EVAL_PENDING;
	return e;
}

static void run_job(struct running *r, const struct job *of, enum what_if_kind kind,
	struct prng *prng, int64_t now_ns)
{
	const struct scheduler_view *below = &r->view.below;
	struct scheduler_settings settings = {
		.planner = {r, begin_view, end_view, submit_plan, update_eval, create_eval,
			update_eval},
		.prng = prng,
		.now_ns = now_ns,
	};

	r->job = below->job(below->context, of->namespace_name, of->id);
	r->has_followup = false;
	if (job_is_direct(r->job ? r->job : of))
		return;
	struct evaluation *e = evaluation_for(of, r->job, kind, prng);
	e->create_time_ns = e->modify_time_ns = now_ns;
	CHECK(scheduler_process(&settings, e) == 0); // this planner refuses nothing
	evaluation_free(e);
	conclude(r, of);
}

struct collecting {
	struct running *running;
	enum what_if_kind kind;
};

static bool collect_allocation(const struct allocation *a, void *context)
{
	struct collecting *c = context;

	if (allocation_has_ended(a) || a->desired != ALLOC_RUN)
		return true;
	bool is_direct = job_is_direct(a->job);
	*(struct what_if_item *)array_append(
		&c->running->out->items, sizeof(struct what_if_item)) = (struct what_if_item){
		.allocation = a,
		// Its client may ask for another; no scheduler does.
		.outcome = is_direct && c->kind == WHAT_IF_DOWN ? WHAT_IF_STOPS : WHAT_IF_STAYS,
		.finishes = c->kind == WHAT_IF_DRAIN && drain_kind_of(a) == DRAIN_ENDS,
	};
	if (c->kind == WHAT_IF_DRAIN && !is_direct)
		altered_view_flag(&c->running->view, a);
	return true;
}

static int by_priority(const void *left, const void *right)
{
	const struct job *a = ((const struct what_if_item *)left)->allocation->job;
	const struct job *b = ((const struct what_if_item *)right)->allocation->job;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	int by_namespace = strcmp(a->namespace_name, b->namespace_name);
	int by_id = by_namespace ? by_namespace : strcmp(a->id, b->id);
	return by_id ? by_id
		     : uuid_compare(&((const struct what_if_item *)left)->allocation->id,
			       &((const struct what_if_item *)right)->allocation->id);
}

static struct node as_it_might_be(
	const struct node *node, enum what_if_kind kind, const struct drain_strategy *drain)
{
	struct node as = *node;

	as.eligibility = NODE_INELIGIBLE;
	if (kind == WHAT_IF_DRAIN)
		as.drain = drain;
	else
		as.status = NODE_DOWN;
	return as;
}

static void run_jobs(struct running *r, enum what_if_kind kind, struct prng *prng, int64_t now_ns)
{
	const struct job *before = NULL;

	for (uint32_t i = 0; i < r->out->items.count; i++) {
		const struct job *job =
			ARRAY_AT(&r->out->items, struct what_if_item, i)->allocation->job;
		if (!before || !is_same_job(before, job))
			run_job(r, job, kind, prng, now_ns);
		before = job;
	}
}

void what_if(const struct scheduler_view *view, const struct node *node, enum what_if_kind kind,
	struct prng *prng, int64_t now_ns, struct what_if *out)
{
	struct drain_strategy drain = {.started_at_ns = now_ns};
	struct node as = as_it_might_be(node, kind, &drain);
	struct running r = {.out = out};
	struct collecting c = {&r, kind};

	*out = (struct what_if){0};
	altered_view_init(&r.view, view, &as);
	view->node_allocations(view->context, node->slot, collect_allocation, &c);
	if (out->items.count > 1)
		qsort(out->items.items, out->items.count, sizeof(struct what_if_item), by_priority);
	run_jobs(&r, kind, prng, now_ns);
	release_groups(&r.failed_groups);
	altered_view_release(&r.view);
}

void what_if_release(struct what_if *out)
{
	for (uint32_t i = 0; i < out->failures.count; i++)
		release_groups(&ARRAY_AT(&out->failures, struct what_if_failure, i)->groups);
	free(out->items.items);
	free(out->failures.items);
	free(out->preempted.items);
	*out = (struct what_if){0};
}
