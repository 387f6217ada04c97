#include "tools/forms/explanation.h"
#include "placement/feasibility/node_needs.h"
#include "placement/scheduler/common/reasons.h"
#include "placement/scheduler/common/snapshot_tier.h"
#include "placement/scheduler/stack/stack.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 1024u

const char *const reason_kind_names[] = {"node", "filtered", "exhausted"};

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
	struct node_needs of_job, of_group;
	struct arena memory; // of these
	struct reasons texts;
	struct class_verdict *classes; // by id
	uint32_t class_capacity;
	uint32_t first, last; // slots to visit
	uint8_t *running;     // by slot, from first on: has a living instance
};

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
	if (!job_takes_datacenter(e->job, node->node_class->datacenter))
		refuse_node(e, "datacenter %s is not asked for", node->node_class->datacenter);
	if (!job_takes_pool(e->job, node->node_class->pool))
		refuse_node(e, "node pool %s is not asked for", node->node_class->pool);
	return false;
}

// The rules of the job, then those of its group and tasks; NULL after the last.
static struct compiled_rule *rule_at(const struct explainer *e, uint32_t i)
{
	uint32_t of_job = e->of_job.rules.count;
	if (i < of_job)
		return &e->of_job.rules.items[i];
	return i - of_job < e->of_group.rules.count ? &e->of_group.rules.items[i - of_job] : NULL;
}

static const char *rule_text(struct explainer *e, struct compiled_rule *rule)
{
	char text[RULE_TEXT_BYTES];
	if (!rule->text) {
		compiled_rule_print(rule, text);
		rule->text = reasons_keep(&e->texts, text);
	}
	return rule->text;
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
	const struct node any = {.node_class = (struct node_class *)class};
	for (uint32_t i = 0; i < JOB_CONSTRAINTS_MAX && rule_at(e, i); i++)
		if (compiled_rule_refuses(rule_at(e, i), &any, RULES_OF_CLASS))
			verdict->failed |= 1ull << i;
	return verdict;
}

static void count_constraints(struct explainer *e, const struct node *node)
{
	uint64_t failed = verdict_of(e, node->node_class)->failed;
	for (uint32_t i = 0; i < JOB_CONSTRAINTS_MAX && rule_at(e, i); i++)
		if ((failed >> i & 1) || compiled_rule_refuses(rule_at(e, i), node, RULES_OF_NODE))
			count_nodes(e, REASON_FILTERED, rule_text(e, rule_at(e, i)));
}

static bool is_constraint(struct explainer *e, const char *text)
{
	struct compiled_rule *rule;
	for (uint32_t i = 0; (rule = rule_at(e, i)); i++)
		if (strcmp(rule_text(e, rule), text) == 0)
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

static void begin_explaining(struct explainer *e)
{
	node_needs_of_job(&e->of_job, e->job, &e->memory);
	node_needs_of_group(&e->of_group, e->job, e->group, &e->memory);
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
	node_needs_release(&e->of_job);
	node_needs_release(&e->of_group);
	arena_release(&e->memory);
	reasons_release(&e->texts);
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
	begin_explaining(&e);
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
