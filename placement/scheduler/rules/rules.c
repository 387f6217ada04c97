#include "placement/scheduler/rules/rules.h"
#include "placement/feasibility/condition.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool text_is(const char *text, const char *word)
{
	CHECK(word);
	return text && strcmp(text, word) == 0;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

// "" and any text that is no truth value mean yes.
static bool means_yes(const char *value)
{
	static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};
	for (uint32_t i = 0; i < sizeof no / sizeof no[0]; i++)
		if (text_is(value, no[i]))
			return false;
	return true;
}

static void add_property(struct distinct_rules *distinct, const struct constraint *c,
	const char *group, const struct job *job, const struct scheduler_view *view)
{
	distinct->properties = memory_resize(distinct->properties,
		(distinct->property_count + 1) * sizeof *distinct->properties);
	struct property_set *set = &distinct->properties[distinct->property_count++];
	property_set_begin(set, c->l_target, group);
	if (c->r_target && c->r_target[0]) {
		char *end;
		set->limit = strtoll(c->r_target, &end, 10);
		set->usable = *end == 0 && set->limit >= 0;
	}
	property_set_load(set, view, job);
	CHECK(!set->usable || set->limit >= 0);
}

static void add_distinct(struct distinct_rules *distinct, const struct array *constraints,
	const char *group, const struct job *job, const struct scheduler_view *view)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		if (text_is(c->operand, "distinct_hosts"))
			distinct->hosts |= means_yes(c->r_target);
		else if (text_is(c->operand, "distinct_property"))
			add_property(distinct, c, group, job, view);
	}
}

static void distinct_release(struct distinct_rules *distinct)
{
	for (uint32_t i = 0; i < distinct->property_count; i++)
		property_set_release(&distinct->properties[i]);
	free(distinct->properties);
}

void job_rules_compile(struct job_rules *rules, const struct job *job,
	const struct scheduler_view *view, struct arena *arena)
{
	*rules = (struct job_rules){.lowest_boost = -1};
	node_needs_of_job(&rules->needs, job, arena);
	add_distinct(&rules->distinct, &job->constraints, NULL, job, view);
}

void job_rules_release(struct job_rules *rules)
{
	node_needs_release(&rules->needs);
	distinct_release(&rules->distinct);
	*rules = (struct job_rules){0};
}

struct property_set *job_rules_property(struct job_rules *rules, uint32_t at)
{
	return at < rules->distinct.property_count ? &rules->distinct.properties[at] : NULL;
}

static void add_affinities(struct group_rules *g, const struct array *affinities)
{
	for (uint32_t i = 0; i < affinities->count; i++) {
		const struct affinity *a = ARRAY_AT(affinities, struct affinity, i);
		g->affinities = memory_resize(
			g->affinities, (g->affinity_count + 1) * sizeof *g->affinities);
		struct compiled_affinity *to = &g->affinities[g->affinity_count++];
		to->condition = condition_compile(g->job, a->l_target, a->operand, a->r_target);
		to->weight = (double)a->weight;
		g->affinity_weights += fabs(to->weight);
		g->affinity_unique |= to->condition && constraint_is_node_unique(to->condition);
	}
	CHECK(g->affinity_weights >= 0);
}

static bool is_listed(const struct compiled_spread *spread, const char *value)
{
	for (uint32_t i = 0; i < spread->bucket_count; i++)
		if (strcmp(spread->buckets[i].value, value) == 0)
			return true;
	return false;
}

// The unlisted values share what the listed values leave of the count. Of two targets of one value the first counts,
// but both are listed.
static void add_buckets(struct compiled_spread *to, const struct spread *spread, double count)
{
	CHECK(!to->buckets);
	double sum = 0;
	to->buckets = memory_take_array(spread->targets.count + 1, sizeof *to->buckets);
	for (uint32_t i = 0; i < spread->targets.count; i++) {
		const struct spread_target *t = ARRAY_AT(&spread->targets, struct spread_target, i);
		double desired = (double)t->percent / 100.0 * count;
		sum += desired;
		if (!is_listed(to, text_or_empty(t->value)))
			to->buckets[to->bucket_count++] =
				(struct spread_bucket){text_or_empty(t->value), desired};
	}
	if (sum > 0 && sum < count)
		to->buckets[to->bucket_count++] = (struct spread_bucket){NULL, count - sum};
	CHECK(to->bucket_count <= spread->targets.count + 1);
}

static void add_spreads(
	struct group_rules *g, const struct array *spreads, const struct scheduler_view *view)
{
	for (uint32_t i = 0; i < spreads->count; i++) {
		const struct spread *spread = ARRAY_AT(spreads, struct spread, i);
		g->spreads = memory_resize(g->spreads, (g->spread_count + 1) * sizeof *g->spreads);
		struct compiled_spread *to = &g->spreads[g->spread_count++];
		*to = (struct compiled_spread){.weight = (double)spread->weight};
		property_set_begin(&to->counts, spread->attribute, g->group->name);
		property_set_load(&to->counts, view, g->job);
		add_buckets(to, spread, (double)g->group->count);
	}
	CHECK(g->spread_count >= spreads->count);
}

// Finds the last spread over the same attribute. In this order the group's spreads come before the job's, which are
// the first `of_job` in the list.
static const struct compiled_spread *last_over(
	const struct group_rules *g, const struct compiled_spread *spread, uint32_t of_job)
{
	CHECK(of_job <= g->spread_count);
	const struct compiled_spread *last = spread;
	for (uint32_t i = 0; i < g->spread_count; i++) {
		const struct compiled_spread *next = &g->spreads[(of_job + i) % g->spread_count];
		if (strcmp(next->counts.attribute, spread->counts.attribute) == 0)
			last = next;
	}
	return last;
}

// As in Nomad, which keeps them by attribute, the targets and weight of the last spread over an attribute apply to all
// over it.
static void settle_attributes(struct group_rules *g, uint32_t of_job)
{
	CHECK(of_job <= g->spread_count);
	struct compiled_spread *settled = memory_take_array(g->spread_count + 1, sizeof *settled);
	for (uint32_t i = 0; i < g->spread_count; i++) {
		const struct compiled_spread *last = last_over(g, &g->spreads[i], of_job);
		settled[i] = g->spreads[i];
		settled[i].weight = last->weight;
		settled[i].bucket_count = last->bucket_count;
		settled[i].buckets =
			memory_take_array(last->bucket_count + 1, sizeof *last->buckets);
		memcpy(settled[i].buckets, last->buckets,
			last->bucket_count * sizeof *last->buckets);
	}
	for (uint32_t i = 0; i < g->spread_count; i++) {
		free(g->spreads[i].buckets);
		g->spreads[i] = settled[i];
	}
	free(settled);
}

static void share_weights(struct group_rules *g, uint32_t of_job)
{
	double sum = 0;
	if (g->spread_count == 0)
		return;
	for (uint32_t i = 0; i < g->spread_count; i++)
		sum += g->spreads[i].weight;
	settle_attributes(g, of_job);
	for (uint32_t i = 0; i < g->spread_count && sum > 0; i++)
		g->spreads[i].weight /= sum;
}

static bool oversubscribes(const struct group_rules *g, const struct scheduler_view *view)
{
	return node_pool_oversubscribes(
		view->pool(view->context, g->job->node_pool), view->config(view->context));
}

static void look_at_tasks(struct group_rules *g, const struct scheduler_view *view)
{
	for (uint32_t i = 0; i < g->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&g->group->tasks, struct task, i);
		add_distinct(&g->distinct, &task->constraints, g->group->name, g->job, view);
		add_affinities(g, &task->affinities);
		g->task_networks |= task->resources.networks.count > 0;
		g->cores |= task->resources.cores > 0;
		g->memory_max |= task->resources.memory_max_mb > 0;
	}
	g->memory_max = g->memory_max && oversubscribes(g, view);
}

struct group_rules *group_rules_create(struct job_rules *of_job, const struct job *job,
	uint32_t group, const struct scheduler_view *view, struct arena *arena)
{
	CHECK(group < job->task_groups.count && group < job->asks.count);
	struct group_rules *g = arena_take(arena, sizeof *g);
	g->job = job;
	g->group = ARRAY_AT(&job->task_groups, struct task_group, group);
	g->number = group;
	g->lowest_boost = &of_job->lowest_boost;
	g->ask = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	node_needs_of_group(&g->needs, job, group, arena);
	add_distinct(&g->distinct, &g->group->constraints, g->group->name, job, view);
	add_affinities(g, &job->affinities);
	add_affinities(g, &g->group->affinities);
	look_at_tasks(g, view);
	add_spreads(g, &job->spreads, view);
	add_spreads(g, &g->group->spreads, view);
	share_weights(g, job->spreads.count);
	if (g->group->snapshot && g->group->snapshot[0])
		g->snapshot = g->group->snapshot;
	g->plain =
		!group_asks_ports(g) && !g->cores && !g->memory_max && g->needs.devices.count == 0;
	CHECK(g->spread_count == job->spreads.count + g->group->spreads.count);
	return g;
}

void group_rules_release(struct group_rules *g)
{
	if (!g)
		return;
	node_needs_release(&g->needs);
	distinct_release(&g->distinct);
	for (uint32_t i = 0; i < g->affinity_count; i++)
		constraint_free(g->affinities[i].condition);
	for (uint32_t i = 0; i < g->spread_count; i++) {
		property_set_release(&g->spreads[i].counts);
		free(g->spreads[i].buckets);
	}
	free(g->affinities);
	free(g->spreads);
}

struct property_set *group_rules_property(struct group_rules *g, uint32_t at)
{
	if (at < g->distinct.property_count)
		return &g->distinct.properties[at];
	at -= g->distinct.property_count;
	return at < g->spread_count ? &g->spreads[at].counts : NULL;
}
