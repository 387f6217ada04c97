#include "placement/scheduler/node/stack_available.h"
#include "placement/direct/fleet.h"
#include "placement/scheduler/node/stack_state.h"
#include "state/base/check.h"
#include "state/tables/jobs/job_reevaluations.h"
#include <string.h>

bool stack_targets_node(struct stack *s, const struct node *n)
{
	struct remembered_class *memo = class_memo_of(&s->classes, n->node_class);
	if (memo->targeted == CLASS_UNKNOWN)
		memo->targeted = job_targets_node(s->job, n) ? CLASS_ELIGIBLE : CLASS_INELIGIBLE;
	return memo->targeted == CLASS_ELIGIBLE;
}

// Shows the named datacenters even when they have no nodes.
static void name_datacenters(struct stack *s)
{
	const struct job *job = s->job;
	for (uint32_t i = 0; i < job->datacenters.count; i++) {
		const char *name = *ARRAY_AT(&job->datacenters, char *, i);
		if (!strchr(name, '*'))
			(void)arena_map_item(
				&s->memory, &s->available, sizeof(struct named_count), name);
	}
}

void stack_forget_available(struct stack *s)
{
	CHECK(s->job);
	s->available = (struct array){0};
	s->available_in_pool = 0;
	name_datacenters(s);
	s->available_known = true;
}

void stack_note_available(struct stack *s, const char *datacenter, uint32_t nodes)
{
	CHECK(s->available_known);
	if (nodes) {
		struct named_count *of =
			arena_map_item(&s->memory, &s->available, sizeof *of, datacenter);
		of->count += nodes;
	}
	s->available_in_pool += nodes;
}

void availability_begin(struct availability *a, struct stack *s)
{
	*a = (struct availability){.s = s};
	stack_forget_available(s);
}

static void close_run(struct availability *a)
{
	stack_note_available(a->s, a->datacenter, a->run);
	a->run = 0;
}

void availability_add(struct availability *a, const struct node *n)
{
	const char *datacenter = n->node_class->datacenter;
	if (datacenter != a->datacenter) {
		close_run(a);
		a->datacenter = datacenter;
	}
	a->run++;
}

void availability_end(struct availability *a)
{
	close_run(a);
	CHECK(a->run == 0);
}

static void count_classes(struct stack *s)
{
	const struct fit_index *x = fleet_index(s->view.fleet, s->algorithm)->fit;
	stack_forget_available(s);
	for (uint32_t id = 0; id < fit_index_classes(x); id++) {
		struct node any = {.node_class = (struct node_class *)fit_index_class(x, id)};
		uint32_t nodes = fit_index_class_ready(x, id);
		if (nodes > 0 && job_targets_node(s->job, &any))
			stack_note_available(s, any.node_class->datacenter, nodes);
	}
}

static void count_all(struct stack *s)
{
	struct availability a;
	uint32_t slots = s->view.slots(s->view.context);
	availability_begin(&a, s);
	for (uint32_t slot = 0; slot < slots; slot++) {
		const struct node *n = s->view.node_at(s->view.context, slot);
		if (n && node_is_usable(n) && stack_targets_node(s, n))
			availability_add(&a, n);
	}
	availability_end(&a);
	CHECK(s->available_known);
}

// System jobs change most nodes before they ask, and an index would have to follow.
static void count_available(struct stack *s)
{
	if (s->view.fleet && s->kind == STACK_GENERIC)
		count_classes(s);
	else
		count_all(s);
}

void stack_nodes_available(struct stack *s, struct alloc_metrics *m)
{
	if (!s->available_known)
		count_available(s);
	m->nodes_available = s->available;
	m->nodes_in_pool = s->available_in_pool;
	CHECK(s->available_known);
}
