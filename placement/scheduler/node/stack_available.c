#include "placement/scheduler/node/stack_available.h"
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
static void name_datacenters(const struct job *job, struct alloc_metrics *m)
{
	for (uint32_t i = 0; i < job->datacenters.count; i++) {
		const char *name = *ARRAY_AT(&job->datacenters, char *, i);
		if (!strchr(name, '*'))
			count_add(&m->nodes_available, name, 0);
	}
}

void availability_begin(struct availability *a, struct stack *s)
{
	CHECK(s->job);
	*a = (struct availability){.s = s};
	metrics_release(&s->available);
	s->available = (struct alloc_metrics){0};
	name_datacenters(s->job, &s->available);
}

static void close_run(struct availability *a)
{
	if (a->run)
		count_add(&a->s->available.nodes_available, a->datacenter, a->run);
	a->s->available.nodes_in_pool += a->run;
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
	a->s->available_known = true;
	CHECK(a->run == 0);
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

void stack_nodes_available(struct stack *s, struct alloc_metrics *m)
{
	if (!s->available_known)
		count_all(s);
	for (uint32_t i = 0; i < s->available.nodes_available.count; i++) {
		const struct named_count *count =
			ARRAY_AT(&s->available.nodes_available, struct named_count, i);
		count_add(&m->nodes_available, count->name, count->count);
	}
	m->nodes_in_pool = s->available.nodes_in_pool;
	CHECK(s->available_known);
}
