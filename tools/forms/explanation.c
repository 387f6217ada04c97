#include "tools/forms/explanation.h"
#include "placement/constraint/constraint.h"
#include "placement/scheduler/common/snapshot_tier.h"
#include "placement/scheduler/stack/stack.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 1024u

const char *const reason_kind_names[] = {"node", "filtered", "exhausted"};

// A constraint of the job, its group or one of its tasks.
struct checked_constraint {
	char *text; // "${attr.kernel.name} = linux"
	struct compiled_constraint *compiled;
};

// Results for a class of nodes: bit i is set when the class fails constraint i.
struct class_verdict {
	uint64_t serial; // the class's plus one; 0: no results yet
	uint64_t failed;
	const char *reason; // that the stack last gave for a node of the class
};

struct explainer {
	const struct scheduler_view *view;
	const struct job *job;
	uint32_t group;
	struct stack *stack;
	struct group_explanation *out;
	struct checked_constraint *constraints;
	uint32_t constraint_count;
	struct class_verdict *classes; // by id
	uint32_t class_capacity;
	uint32_t first, last; // slots to visit
	uint8_t *running;     // by slot, from first on: has a living instance
};
#define CONSTRAINTS_CHECKED_MAX 64u

static struct reason *reason_for(struct group_explanation *out, int kind, const char *text)
{
	for (uint32_t i = 0; i < out->reason_count; i++)
		if (out->reasons[i].kind == kind && strcmp(out->reasons[i].text, text) == 0)
			return &out->reasons[i];
	if (out->reason_count == out->reason_capacity) {
		out->reason_capacity = out->reason_capacity ? out->reason_capacity * 2 : 16;
		out->reasons =
			memory_resize(out->reasons, out->reason_capacity * sizeof out->reasons[0]);
	}
	struct reason *reason = &out->reasons[out->reason_count++];
	*reason = (struct reason){.kind = kind, .text = text_copy(text_of(text))};
	return reason;
}

static void count_nodes(struct explainer *e, int kind, const char *text)
{
	reason_for(e->out, kind, text)->nodes++;
}

static void count_lack(struct explainer *e, const struct node *node, const char *dimension,
	uint64_t lack, const char *unit)
{
	struct reason *reason = reason_for(e->out, REASON_EXHAUSTED, dimension);
	reason->nodes++;
	if (reason->lack && reason->lack <= lack)
		return;
	free(reason->nearest_name);
	reason->lack = lack;
	reason->unit = unit;
	reason->nearest = node->id;
	reason->nearest_name = text_copy(text_of(node->name));
}

static bool matches_datacenter(const struct job *job, const struct node *node)
{
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		if (glob_matches(
			    *ARRAY_AT(&job->datacenters, char *, i), node->node_class->datacenter))
			return true;
	return false;
}

static bool matches_pool(const struct job *job, const struct node *node)
{
	return strcmp(job->node_pool, "all") == 0 ||
	       strcmp(job->node_pool, node->node_class->pool) == 0;
}

__attribute__((format(printf, 2, 3))) static void refuse_node(
	struct explainer *e, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	reason_for(e->out, REASON_NODE, text)->nodes++;
}

const char *explain_standing(const struct standing *l)
{
	enum node_standing standing = standing_of(l);

	if (standing != NODE_SUSPENDED)
		return node_standing_names[standing];
	if (l->lost_ns)
		return "suspended: it was lost";
	return l->flaky_ns ? "suspended: it is flaky" : "suspended: its probe has not said yes";
}

// False when the node takes no allocations, or none of this job: counts every reason.
static bool node_takes(struct explainer *e, const struct node *node)
{
	if (node_is_usable(node) && stack_targets_node(e->stack, node))
		return true;
	if (node->status != NODE_READY)
		refuse_node(e, "node is %s", node_status_names[node->status]);
	else if (standing_of(&node->standing) != NODE_HEALTHY)
		refuse_node(e, "node is %s", explain_standing(&node->standing));
	if (node->drain)
		refuse_node(e, "node is draining");
	else if (node->eligibility != NODE_ELIGIBLE)
		refuse_node(e, "node is not eligible");
	if (!matches_datacenter(e->job, node))
		refuse_node(e, "datacenter %s is not asked for", node->node_class->datacenter);
	if (!matches_pool(e->job, node))
		refuse_node(e, "node pool %s is not asked for", node->node_class->pool);
	return false;
}

static bool is_about_other_instances(const struct constraint *c)
{
	return strcmp(c->operand, "distinct_hosts") == 0 ||
	       strcmp(c->operand, "distinct_property") == 0;
}

static void add_constraints(struct explainer *e, const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		struct constraint_error error;
		char text[TEXT_BYTES];
		if (e->constraint_count == CONSTRAINTS_CHECKED_MAX || is_about_other_instances(c))
			continue;
		snprintf(text, sizeof text, "%s %s %s", c->l_target ? c->l_target : "",
			c->operand ? c->operand : "", c->r_target ? c->r_target : "");
		e->constraints[e->constraint_count++] =
			(struct checked_constraint){text_copy(text_of(text)),
				constraint_compile(c->l_target, c->r_target, c->operand, &error)};
	}
}

static struct class_verdict *verdict_of(struct explainer *e, const struct node_class *class)
{
	if (class->id >= e->class_capacity) {
		uint32_t capacity = (class->id + 64) * 2;
		e->classes = memory_resize(e->classes, capacity * sizeof e->classes[0]);
		memset(e->classes + e->class_capacity, 0,
			(capacity - e->class_capacity) * sizeof e->classes[0]);
		e->class_capacity = capacity;
	}
	struct class_verdict *verdict = &e->classes[class->id];
	if (verdict->serial == class->serial + 1)
		return verdict;
	*verdict = (struct class_verdict){.serial = class->serial + 1};
	for (uint32_t i = 0; i < e->constraint_count; i++) {
		const struct compiled_constraint *c = e->constraints[i].compiled;
		if (!c || (!constraint_is_node_unique(c) && !constraint_matches_class(c, class)))
			verdict->failed |= 1ull << i;
	}
	return verdict;
}

static void count_constraints(struct explainer *e, const struct node *node)
{
	uint64_t failed = verdict_of(e, node->node_class)->failed;
	for (uint32_t i = 0; i < e->constraint_count; i++) {
		const struct compiled_constraint *c = e->constraints[i].compiled;
		bool own = c && constraint_is_node_unique(c) && !constraint_matches_node(c, node);
		if (own || (failed >> i & 1))
			count_nodes(e, REASON_FILTERED, e->constraints[i].text);
	}
}

static bool is_constraint(const struct explainer *e, const char *text)
{
	for (uint32_t i = 0; i < e->constraint_count; i++)
		if (strcmp(e->constraints[i].text, text) == 0)
			return true;
	return false;
}

// The stack gives no reason for a class that it refused before: its first reason is counted again.
static void count_filtered(struct explainer *e, const struct node *node, const char *reason)
{
	struct class_verdict *verdict = verdict_of(e, node->node_class);
	if (strcmp(reason, "computed class ineligible") == 0)
		reason = verdict->reason ? verdict->reason : reason;
	verdict->reason = reason;
	if (!is_constraint(e, reason))
		count_nodes(e, REASON_FILTERED, reason);
}

static uint64_t missing(uint32_t ask, uint32_t capacity, uint32_t used)
{
	uint32_t left = capacity > used ? capacity - used : 0;
	return ask > left ? ask - left : 0;
}

// Counts every resource that is short, not only the first. True when any is short.
static bool count_lacks(struct explainer *e, const struct node *node)
{
	struct resources ask = e->out->ask, capacity = node_capacity(node);
	struct resources used = e->view->node_use(e->view->context, node->slot).used;
	const struct {
		const char *dimension, *unit;
		uint64_t lack;
	} lacks[] = {{"cpu", "MHz", missing(ask.cpu_mhz, capacity.cpu_mhz, used.cpu_mhz)},
		{"memory", "MiB", missing(ask.memory_mb, capacity.memory_mb, used.memory_mb)},
		{"disk", "MiB", missing(ask.disk_mb, capacity.disk_mb, used.disk_mb)}};
	bool any = false;
	for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
		if (lacks[i].lack)
			count_lack(e, node, lacks[i].dimension, lacks[i].lack, lacks[i].unit);
		any = any || lacks[i].lack;
	}
	return any;
}

static void count_fitting(struct explainer *e, const struct node *node)
{
	bool is_idle = e->view->node_use(e->view->context, node->slot).living == 0;

	e->out->fitting++;
	if (e->out->snapshot)
		e->out->tiers[snapshot_tier(e->out->snapshot, node->snapshot, is_idle)]++;
}

static void look_at(struct explainer *e, const struct node *node)
{
	struct stack_option option = {0};
	if (!node_takes(e, node))
		return;
	if (stack_select_node(e->stack, e->group, 0, node->slot, &option)) {
		alloc_details_release(option.details);
		count_fitting(e, node);
		return;
	}
	count_constraints(e, node);
	bool short_of = count_lacks(e, node);
	if (option.outcome == STACK_FILTERED)
		count_filtered(e, node, option.reason);
	else if (option.outcome == STACK_EXHAUSTED && !short_of)
		count_nodes(e, REASON_EXHAUSTED, option.reason);
}

static bool note_running(const struct allocation *a, void *context)
{
	struct explainer *e = context;
	const char *group = allocation_group(a)->name;
	if (!allocation_is_terminal(a) && a->node_slot >= e->first && a->node_slot < e->last &&
		strcmp(a->job->id, e->job->id) == 0 && strcmp(group, e->out->group) == 0 &&
		strcmp(a->job->namespace_name, e->job->namespace_name) == 0)
		e->running[a->node_slot - e->first] = 1;
	return true;
}

// Types that run on every node have at most one instance on each.
static bool runs_once_a_node(const struct job *job)
{
	return job_traits_of(job)->is_on_every_node;
}

static int by_nodes(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;
	if (x->nodes != y->nodes)
		return x->nodes < y->nodes ? 1 : -1;
	return strcmp(x->text, y->text);
}

static void begin_explaining(struct explainer *e, const struct task_group *group)
{
	e->constraints = memory_take_array(CONSTRAINTS_CHECKED_MAX, sizeof e->constraints[0]);
	add_constraints(e, &e->job->constraints);
	add_constraints(e, &group->constraints);
	for (uint32_t i = 0; i < group->tasks.count; i++)
		add_constraints(e, &ARRAY_AT(&group->tasks, struct task, i)->constraints);
	e->running = memory_take_array(e->last - e->first + 1, 1);
	// A node has fewer allocations than a job can have.
	if (e->last == e->first + 1)
		e->view->node_allocations(e->view->context, e->first, note_running, e);
	else
		e->view->job_allocations(
			e->view->context, e->job->namespace_name, e->job->id, note_running, e);
}

static void end_explaining(struct explainer *e)
{
	for (uint32_t i = 0; i < e->constraint_count; i++) {
		free(e->constraints[i].text);
		constraint_free(e->constraints[i].compiled);
	}
	free(e->constraints);
	free(e->classes);
	free(e->running);
}

void explain_group(const struct scheduler_view *view, const struct job *job, uint32_t group,
	uint32_t first, uint32_t last, struct group_explanation *out)
{
	const struct task_group *asked = ARRAY_AT(&job->task_groups, struct task_group, group);
	*out = (struct group_explanation){.group = asked->name,
		.ask = ARRAY_AT(&job->asks, struct group_ask, group)->resources,
		.snapshot = asked->snapshot && *asked->snapshot && !runs_once_a_node(job)
				    ? asked->snapshot
				    : NULL};
	struct plan *plan = plan_create();
	uint32_t slots = view->slots(view->context);
	struct explainer e = {.view = view,
		.job = job,
		.group = group,
		.out = out,
		.first = first,
		.last = last < slots ? last : slots};
	e.stack = stack_create(runs_once_a_node(job) ? STACK_SYSTEM : STACK_GENERIC, view, plan);
	stack_set_job(e.stack, job);
	begin_explaining(&e, asked);
	for (uint32_t slot = e.first; slot < e.last; slot++) {
		const struct node *node = view->node_at(view->context, slot);
		if (!node)
			continue;
		out->nodes++;
		out->running += e.running[slot - e.first];
		if (!e.running[slot - e.first] || !runs_once_a_node(job))
			look_at(&e, node);
	}
	end_explaining(&e);
	stack_destroy(e.stack);
	plan_free(plan);
	if (out->reason_count)
		qsort(out->reasons, out->reason_count, sizeof out->reasons[0], by_nodes);
}

void group_explanation_free(struct group_explanation *g)
{
	for (uint32_t i = 0; i < g->reason_count; i++) {
		free(g->reasons[i].text);
		free(g->reasons[i].nearest_name);
	}
	free(g->reasons);
	*g = (struct group_explanation){0};
}
