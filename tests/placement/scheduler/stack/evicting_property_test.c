// Random fleets without room: the best node of all for a group that may evict others, with victims, scores and metrics,
// must be what a look at every node finds.
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/prng.h"
#include "state/records/allocation_end.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OTHERS 8u
#define VICTIMS_MAX 64u

// Where an instance failed before, some of them twice: more than there are nodes, at times.
#define PENALTIES 40u

struct run {
	struct prng prng;
	struct world *world;
	struct scheduler_view view;
	struct view_fleet *fleet;
	struct job *job, *others[OTHERS];
	// The first is asked; of the second every node is looked at.
	struct plan *plans[2];
	struct stack *stacks[2];
	uint32_t first_slot, placed, with_victims, refused;
	bool is_by_index;
};

struct answer {
	struct stack_option option;
	const struct allocation *victims[VICTIMS_MAX];
	struct alloc_metrics metrics;
};

static uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static bool chance(struct run *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

static void make_node(struct run *r, bool are_alike, uint32_t racks)
{
	char words[512];
	int at = snprintf(words, sizeof words,
		"dc=dc1 class=%s cpu=%u memory=%u disk=1000 attr.arch=%s attr.unique.hostname=h%u",
		below(r, 2) ? "large" : "small", are_alike ? 1000 : 1000 + 500 * below(r, 3),
		are_alike ? 1000 : 1000 + 500 * below(r, 3), chance(r, 90) ? "amd64" : "arm64",
		below(r, 6));
	if (chance(r, 80))
		at += snprintf(
			words + at, sizeof words - (size_t)at, " meta.rack=r%u", below(r, racks));
	if (chance(r, 5))
		at += snprintf(words + at, sizeof words - (size_t)at, " no-driver");
	if (chance(r, 5))
		at += snprintf(words + at, sizeof words - (size_t)at, " ineligible");
	if (chance(r, 60))
		at += snprintf(words + at, sizeof words - (size_t)at, " snapshot=s%u", below(r, 3));
	if (chance(r, 70))
		at += snprintf(words + at, sizeof words - (size_t)at, " cores=0-%u", below(r, 4));
	if (chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at, " dynamic=8000-800%u",
			1 + below(r, 2));
	if (chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at,
			" device.nvidia/gpu/t4=2 device-attr.size=%u", 8 << below(r, 2));
	// Classes that are the same to all who look at them.
	if (chance(r, 40))
		at += snprintf(
			words + at, sizeof words - (size_t)at, " meta.serial=%u", below(r, 20));
	if (chance(r, 20))
		snprintf(words + at, sizeof words - (size_t)at,
			" device.nvidia/gpu/v100=%u device-attr.size=16", 1 + below(r, 2));
	world_node(r->world, words);
}

static void make_others(struct run *r, bool are_alike)
{
	for (uint32_t i = 0; i < OTHERS; i++) {
		char words[128];
		snprintf(words, sizeof words, "%s other%u priority=%u cpu=%u memory=%u disk=%u",
			below(r, 2) ? "service" : "batch", i, 10 * (1 + below(r, 6)),
			are_alike ? 300 : 50 + 50 * below(r, 12),
			are_alike ? 300 : 50 + 50 * below(r, 12), 50 * below(r, 3));
		r->others[i] = world_job(r->world, words);
		if (chance(r, 60)) {
			group_of(r->others[i])->migrate = block(&migrate_description);
			group_of(r->others[i])->migrate->max_parallel = 1 + below(r, 2);
		}
	}
}

static void hold_more(struct run *r, struct allocation *a)
{
	if (chance(r, 4))
		a->client_status = ALLOC_FAILED;
	else if (chance(r, 4))
		a->desired = ALLOC_STOP;
	else if (chance(r, 15))
		world_hold_port(a, "p", 7998 + below(r, 4),
			node_fittings(r->world->nodes[a->node_slot])
				->networks[0]
				.addresses[0]
				.address);
	else if (chance(r, 20))
		allocation_set_devices(a, &(struct device_set){{1u << below(r, 2)}});
	else if (chance(r, 10))
		world_hold_cores(a, "t", below(r, 3), 1);
}

static void fill(struct run *r)
{
	uint32_t own = chance(r, 70) ? 3 : 15;
	for (uint32_t slot = 0; slot < r->world->node_count; slot++) {
		int64_t cpu = r->world->nodes[slot]->total.cpu_mhz;
		bool are_stopping = chance(r, 20); // the node is idle, but has no room yet
		for (uint32_t i = 0; cpu > 100 && i < 8; i++) {
			struct job *job = chance(r, own) ? r->job : r->others[below(r, OTHERS)];
			struct allocation *a = world_allocate(r->world, job, 0, slot, i);
			cpu -= a->resources.cpu_mhz;
			hold_more(r, a);
			if (are_stopping)
				a->desired = ALLOC_STOP;
		}
		if (chance(r, 5))
			r->world->machines[slot] = (struct resources){.cpu_mhz = 100};
	}
}

static void random_spread(struct run *r, struct task_group *g, const char *attribute)
{
	static const char *const values[] = {"r0", "r1", "large"};
	struct spread *spread = spread_over(&g->spreads, attribute);
	spread->weight = 50;
	for (uint32_t i = 0; i < COUNT(values) && chance(r, 60); i++) {
		struct spread_target *target = array_append(&spread->targets, sizeof *target);
		set(&target->value, values[i]);
		target->percent = (int64_t)below(r, 40);
	}
}

static void random_rules(struct run *r, struct task_group *g)
{
	static const char *const rows[][3] = {{"${attr.arch}", "=", "amd64"},
		{"${node.class}", "=", "large"}, {"${attr.unique.hostname}", "regexp", "h[0-3]"},
		{"", "distinct_hosts", ""}, {"${meta.rack}", "distinct_property", "6"},
		{"${meta.rack}", "distinct_property", "1"},
		{"${attr.unique.hostname}", "distinct_property", "4"}};
	if (chance(r, 50)) {
		const char *const *row = rows[below(r, COUNT(rows))];
		constrain(&g->constraints, row[0], row[1], row[2]);
	}
	if (chance(r, 25)) {
		struct affinity *a = prefer(&g->affinities);
		a->weight = (int64_t)below(r, 100) - 50;
		a->weight += a->weight == 0;
	}
	if (chance(r, 25))
		random_spread(r, g, "${meta.rack}");
	if (chance(r, 10))
		random_spread(r, g, "${node.class}");
	if (chance(r, 25))
		set(&g->snapshot, "s1");
}

static void ask_ports(struct run *r)
{
	struct network_ask *ask = ask_network(r->job, "host");
	if (chance(r, 70))
		ask_port(&ask->reserved_ports, "p", 8000 + below(r, 2), 0);
	if (chance(r, 40))
		ask_port(&ask->dynamic_ports, "q", 0, 0);
}

static void ask_task_ports(struct run *r)
{
	struct array *networks = &task_of(r->job)->resources.networks;
	struct network_ask *ask = array_append(networks, sizeof *ask);
	ask_port(&ask->reserved_ports, "t", 7998 + below(r, 2), 0); // no dynamic port meets it
}

static void ask_devices(struct run *r)
{
	struct device_ask *ask =
		ask_device(r->job, chance(r, 70) ? "gpu" : "nvidia/gpu/t4", 1 + below(r, 2));
	if (chance(r, 50)) {
		struct affinity *a = prefer(&ask->affinities);
		set(&a->l_target, "${device.attr.size}");
		set(&a->r_target, "8");
		a->weight = 50 - 100 * (int64_t)below(r, 2);
	}
}

// Something besides room.
static void ask_hardware(struct run *r)
{
	struct task *task = task_of(r->job);
	if (chance(r, 50))
		ask_ports(r);
	if (chance(r, 20))
		ask_task_ports(r);
	if (chance(r, 50))
		ask_devices(r);
	if (chance(r, 20))
		task->resources.cores = 1;
	if (chance(r, 20))
		task->resources.memory_max_mb = 2 * task->resources.memory_mb;
}

// plain: only room is asked for.
static void make_job(struct run *r, bool plain)
{
	char words[128];
	snprintf(words, sizeof words, "service web priority=50 dc=dc* cpu=%u memory=%u disk=%u",
		200 + 100 * below(r, 8), 200 + 100 * below(r, 8), 100 * below(r, 2));
	r->job = world_job(r->world, words);
	struct task_group *g = group_of(r->job);
	g->count = 30;
	if (chance(r, 60))
		random_rules(r, g);
	if (!plain)
		ask_hardware(r);
	world_job_changed(r->job);
}

// Such groups are found by bounds, without a look at all nodes.
static bool has_bounds(struct job *job)
{
	const struct task_group *g = group_of(job);
	for (uint32_t i = 0; i < g->constraints.count; i++) {
		const struct constraint *c = ARRAY_AT(&g->constraints, struct constraint, i);
		if (strcmp(c->operand, "distinct_property") == 0 && strstr(c->l_target, "unique"))
			return false;
	}
	return true;
}

// Asks for something else of nodes.
static void differ_in_one(struct run *r, struct job *job)
{
	struct task *task = task_of(job);
	struct array *networks = &group_of(job)->networks, *devices = &task->resources.devices;
	switch (group_of(job)->snapshot && chance(r, 80) ? 4 : below(r, 6)) {
	case 0: task->resources.cores = !task->resources.cores; break;
	case 1:
		if (networks->count) {
			struct network_ask *n = networks->items;
			ask_port(&n->reserved_ports, "other", 8000, 0);
		}
		break;
	case 2:
		if (networks->count) {
			struct network_ask *n = networks->items;
			for (uint32_t i = 0; i < n->reserved_ports.count; i++)
				ARRAY_AT(&n->reserved_ports, struct port, i)->value ^= 1;
		}
		break;
	case 3:
		for (uint32_t i = 0; i < devices->count; i++) {
			struct device_ask *ask = ARRAY_AT(devices, struct device_ask, i);
			if (ask->affinities.count)
				ARRAY_AT(&ask->affinities, struct affinity, 0)->weight *= -1;
		}
		break;
	case 4: set(&group_of(job)->snapshot, "s2"); break;
	default:
		if (task->resources.networks.count) {
			struct network_ask *n = task->resources.networks.items;
			ARRAY_AT(&n->reserved_ports, struct port, 0)->value ^= 1;
		}
	}
}

// Another job of the same kind asks before, or of nearly the same: what is kept for the kind must hold for both.
static void ask_for_twin(struct run *r)
{
	const struct stack_request request = {.preferred_slot = NODE_SLOT_NONE};
	struct job *twin = job_copy(r->job);
	struct plan *plan = plan_create();
	struct stack *s = stack_create(STACK_GENERIC, &r->view, plan);
	struct alloc_metrics metrics = {0};
	struct stack_option option;
	set(&twin->id, r->others[0]->id);
	if (chance(r, 50))
		differ_in_one(r, twin);
	world_job_changed(twin);
	stack_set_job(s, twin);
	(void)stack_select(s, &request, &option, &metrics);
	alloc_details_release(option.details);
	metrics_release(&metrics);
	stack_destroy(s);
	plan_free(plan);
	job_free(twin);
}

static void begin(struct run *r, uint64_t seed)
{
	*r = (struct run){.world = world_create()};
	prng_seed(&r->prng, seed);
	bool are_alike = chance(r, 40);
	r->world->config.algorithm = below(r, 2) ? ALGORITHM_SPREAD : ALGORITHM_BINPACK;
	r->world->config.preemption.service = true;
	uint32_t nodes = 1 + below(r, chance(r, 30) ? 300 : 30);
	uint32_t racks = chance(r, 70) ? 4 : 40; // more than few values of a property
	for (uint32_t i = 0; i < nodes; i++)
		make_node(r, are_alike, racks);
	make_others(r, are_alike);
	make_job(r, chance(r, 40));
	fill(r);
	r->view = world_view(r->world);
	r->fleet = view_fleet_create();
	if (chance(r, 70))
		view_fleet_begin(r->fleet, &r->view);
	if (chance(r, 50))
		ask_for_twin(r);
	r->is_by_index = r->view.fleet && has_bounds(r->job);
	r->first_slot = below(r, nodes);
	for (uint32_t i = 0; i < 2; i++) {
		r->plans[i] = plan_create();
		r->stacks[i] = stack_create(STACK_GENERIC, &r->view, r->plans[i]);
		stack_break_ties(r->stacks[i], r->first_slot);
		stack_set_job(r->stacks[i], r->job);
	}
}

static void end(struct run *r)
{
	for (uint32_t i = 0; i < 2; i++) {
		stack_destroy(r->stacks[i]);
		plan_free(r->plans[i]);
	}
	view_fleet_destroy(r->fleet);
	world_destroy(r->world);
}

static void look_at_node(struct stack *s, const struct stack_request *request, const struct node *n,
	const char *refusal, struct stack_option *o)
{
	struct group_rules *g = stack_group(s, request->group);
	option_begin(o, n);
	if (!refusal)
		refusal = stack_check_distinct(s, g, n);
	if (refusal) {
		o->outcome = STACK_FILTERED;
		o->reason = refusal;
	} else if (stack_fit(s, g, n, true, o)) {
		stack_rank(s, g, request, o);
	}
}

static void keep_answer(struct answer *a, struct stack_option *o)
{
	alloc_details_release(a->option.details);
	a->option = *o;
	a->option.preempted = a->victims;
	assert_in_range(o->preempted_count, 0, VICTIMS_MAX);
	if (o->preempted_count)
		memcpy(a->victims, o->preempted, o->preempted_count * sizeof *a->victims);
}

static void offer(struct answer *a, struct stack_option *o)
{
	stack_count(o, &a->metrics);
	if (o->outcome == STACK_FITS && (!a->option.node || option_is_better(o, &a->option)))
		keep_answer(a, o);
	else
		alloc_details_release(o->details);
}

static const struct node *candidate_at(struct run *r, struct stack *s, uint32_t slot)
{
	const struct node *n = r->world->nodes[slot % r->world->node_count];
	return n && node_is_usable(n) && stack_targets_node(s, n) ? n : NULL;
}

// The boosts of the node's values, of which the lowest is that of values that no bucket wants.
static void note_lowest(struct group_rules *g, const struct node *n)
{
	char id[UUID_TEXT_BYTES];

	for (uint32_t i = 0; i < g->spread_count; i++) {
		const struct compiled_spread *spread = &g->spreads[i];
		const char *value = property_set_value(&spread->counts, n, id);
		const struct spread_bucket *bucket =
			value && spread->bucket_count ? spread_bucket_of(spread, value) : NULL;
		if (!bucket)
			continue;
		double boost = spread_boost(spread, property_set_used(&spread->counts, value),
			bucket, spread_unlisted(spread));
		if (boost < *g->lowest_boost) // never true of NaN
			*g->lowest_boost = boost;
	}
}

static void look_at_all(struct run *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	struct group_rules *g = stack_group(s, request->group);
	candidate_columns_remember_classes(s);
	// The memo says but once why a class is refused.
	const char **refusals = memory_take_array(r->world->node_count, sizeof *refusals);
	for (uint32_t slot = 0; slot < r->world->node_count; slot++) {
		const struct node *n = candidate_at(r, s, slot);
		refusals[slot] = n ? stack_check_static(s, g, n, request->name_index) : NULL;
		if (n && !refusals[slot])
			note_lowest(g, n);
	}
	for (uint32_t i = 0; i < r->world->node_count; i++) {
		struct stack_option o;
		const struct node *n = candidate_at(r, s, r->first_slot + i);
		if (!n)
			continue;
		look_at_node(s, request, n, refusals[n->slot], &o);
		offer(a, &o);
	}
	free(refusals);
}

static void forget(struct answer *a)
{
	metrics_release(&a->metrics);
	a->metrics = (struct alloc_metrics){0};
}

static bool look_at_preferred(struct run *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	struct stack_option o;
	const struct node *n = request->preferred_slot != NODE_SLOT_NONE
				       ? candidate_at(r, s, request->preferred_slot)
				       : NULL;
	if (!n)
		return false;
	look_at_node(
		s, request, n, stack_check_static(s, stack_group(s, request->group), n, 0), &o);
	offer(a, &o);
	if (!a->option.node)
		forget(a);
	return a->option.node;
}

// The first pass is what a stack that never evicts finds.
static void ask_naive(struct run *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	s->preemption = false;
	if (stack_select(s, request, &a->option, &a->metrics))
		return;
	s->preemption = true;
	forget(a);
	option_begin(&a->option, NULL);
	if (!look_at_preferred(r, request, a))
		look_at_all(r, request, a);
}

static void ask_stack(struct run *r, const struct stack_request *request, struct answer *a)
{
	struct stack_option o;
	if (stack_select(r->stacks[0], request, &o, &a->metrics))
		keep_answer(a, &o);
}

static void check_counts(const struct array *counts, const struct array *wanted)
{
	assert_int_equal(counts->count, wanted->count);
	for (uint32_t i = 0; i < counts->count; i++) {
		const struct named_count *count = ARRAY_AT(counts, struct named_count, i);
		assert_string_equal(count->name, ARRAY_AT(wanted, struct named_count, i)->name);
		assert_int_equal(count->count, ARRAY_AT(wanted, struct named_count, i)->count);
	}
}

static void check_scores(const struct array *scores, const struct array *wanted)
{
	assert_int_equal(scores->count, wanted->count);
	for (uint32_t i = 0; i < scores->count; i++) {
		const struct node_score *s = ARRAY_AT(scores, struct node_score, i),
					*w = ARRAY_AT(wanted, struct node_score, i);
		assert_memory_equal(&s->node_id, &w->node_id, sizeof s->node_id);
		assert_memory_equal(&s->norm_score, &w->norm_score, sizeof s->norm_score);
		assert_int_equal(s->scores.count, w->scores.count);
		for (uint32_t k = 0; k < s->scores.count; k++)
			assert_memory_equal(&ARRAY_AT(&s->scores, struct named_number, k)->number,
				&ARRAY_AT(&w->scores, struct named_number, k)->number,
				sizeof(double));
	}
}

static void check_metrics(const struct alloc_metrics *m, const struct alloc_metrics *wanted)
{
	assert_int_equal(m->nodes_evaluated, wanted->nodes_evaluated);
	assert_int_equal(m->nodes_filtered, wanted->nodes_filtered);
	assert_int_equal(m->nodes_exhausted, wanted->nodes_exhausted);
	check_counts(&m->constraint_filtered, &wanted->constraint_filtered);
	check_counts(&m->dimension_exhausted, &wanted->dimension_exhausted);
	check_counts(&m->class_filtered, &wanted->class_filtered);
	check_counts(&m->class_exhausted, &wanted->class_exhausted);
	check_scores(&m->score_metadata, &wanted->score_metadata);
}

static void check_option(const struct answer *got, const struct answer *wanted)
{
	const struct stack_option *o = &got->option, *w = &wanted->option;
	assert_int_equal(o->slot, w->slot);
	assert_memory_equal(&o->score, &w->score, sizeof o->score);
	assert_memory_equal(o->scores, w->scores, sizeof o->scores);
	assert_int_equal(o->recorded, w->recorded);
	assert_int_equal(o->preempted_count, w->preempted_count);
	for (uint32_t i = 0; i < o->preempted_count; i++)
		assert_ptr_equal(got->victims[i], wanted->victims[i]);
}

static void place(struct run *r, struct stack *s, struct plan *plan, const struct answer *a)
{
	struct plan_placement p = {.slot = a->option.slot,
		.node_id = a->option.node->id,
		.resources = a->option.resources,
		.devices = a->option.devices,
		.details = alloc_details_share(a->option.details),
		.metrics = PLAN_NO_METRICS};
	p.id.bytes[0] = 0xb0;
	p.id.bytes[15] = (uint8_t)(r->placed + 1);
	for (uint32_t i = 0; i < a->option.preempted_count; i++)
		stack_plan_preempt(s, a->victims[i], &p.id);
	stack_plan_place(s, &p);
	CHECK(plan->placements.count > 0);
}

static void check_placement(struct run *r, struct answer *got, struct answer *wanted)
{
	struct alloc_metrics told;
	check_option(got, wanted);
	uint32_t number = stack_keep_metrics(r->stacks[0], &got->metrics);
	shared_metrics_read(
		*ARRAY_AT(&r->plans[0]->metrics, struct shared_metrics *, number), &told);
	// Without victims the stack looks for ports and devices where it would place; this model, once nothing fits.
	if (got->option.preempted_count || stack_group(r->stacks[0], 0)->plain)
		check_metrics(&told, &wanted->metrics);
	metrics_release(&told);
	place(r, r->stacks[0], r->plans[0], wanted);
	place(r, r->stacks[1], r->plans[1], wanted);
	r->placed++;
	r->with_victims += got->option.preempted_count > 0;
}

static void check_instance(struct run *r)
{
	struct uuid penalties[PENALTIES];
	struct stack_request request = {.preferred_slot = NODE_SLOT_NONE,
		.penalty_nodes = penalties,
		.penalty_count = chance(r, 20) ? below(r, PENALTIES + 1) : 0};
	for (uint32_t i = 0; i < PENALTIES; i++)
		penalties[i] = r->world->nodes[below(r, r->world->node_count)]->id;
	if (chance(r, 10))
		request.preferred_slot = below(r, r->world->node_count);
	struct answer got = {0}, wanted = {0};
	option_begin(&got.option, NULL);
	ask_stack(r, &request, &got);
	ask_naive(r, &request, &wanted);
	assert_int_equal(!got.option.node, !wanted.option.node);
	if (wanted.option.node) {
		check_placement(r, &got, &wanted);
	} else {
		check_metrics(&got.metrics, &wanted.metrics);
		r->refused++;
	}
	alloc_details_release(got.option.details);
	alloc_details_release(wanted.option.details);
	metrics_release(&got.metrics);
	metrics_release(&wanted.metrics);
}

static bool is_planned(const struct array *stops, const struct allocation *a)
{
	for (uint32_t i = 0; i < stops->count; i++)
		if (uuid_equal(&ARRAY_AT(stops, struct plan_stop, i)->id, &a->id))
			return true;
	return false;
}

static void change_plan(struct run *r)
{
	const struct world_allocation *a = r->world->allocations;
	bool is_own = chance(r, 50);
	for (uint32_t at = below(r, r->world->allocation_count + 1); a && at > 0; at--)
		a = a->next;
	while (a && is_own && a->record.job != r->job)
		a = a->next;
	if (!a || is_planned(&r->plans[0]->preemptions, &a->record) ||
		is_planned(&r->plans[0]->stops, &a->record))
		return;
	for (uint32_t i = 0; i < 2; i++)
		if (a->record.job == r->job)
			stack_plan_stop(r->stacks[i], &a->record, STOP_NOT_NEEDED, false, NULL);
		else if (allocation_holds_room(&a->record))
			stack_plan_preempt(r->stacks[i], &a->record, &(struct uuid){{1}});
}

static void be_strict_somewhere(struct run *r)
{
	struct uuid id = r->world->nodes[below(r, r->world->node_count)]->id;
	struct array ids = {&id, 1};
	for (uint32_t i = 0; i < 2; i++)
		stack_be_strict_on(r->stacks[i], &ids);
}

static void the_best_of_all_nodes_with_victims(void **state)
{
	uint32_t with_victims = 0, refused = 0, by_index = 0, by_looks = 0;
	for (uint64_t seed = 0; seed < 2000 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed);
		if (chance(&r, 20))
			be_strict_somewhere(&r);
		for (uint32_t i = 0; i < 20; i++) {
			check_instance(&r);
			if (chance(&r, 20))
				change_plan(&r);
		}
		with_victims += r.with_victims;
		refused += r.refused;
		bool is_plain = stack_group(r.stacks[0], 0)->plain;
		const struct candidate_columns *evicting = r.stacks[0]->evicting[0];
		if (r.is_by_index && evicting)
			assert_non_null(evicting->bounds);
		by_index += r.is_by_index ? r.with_victims : 0;
		by_looks += r.is_by_index && !is_plain ? r.with_victims : 0;
		end(&r);
	}
	assert_true(with_victims > 1000 / BUILD_SLOWNESS && refused > 100 / BUILD_SLOWNESS);
	assert_true(by_index > 2000 / BUILD_SLOWNESS && by_looks > 1000 / BUILD_SLOWNESS);
}

#define RACKS 20u // more than few values of a property

// A full node in each rack; an instance of the job uses the first rack, on a node that takes no more.
static struct allocation *use_first_rack(struct run *r)
{
	struct job *low = world_job(r->world, "service low priority=20 cpu=1000");
	struct job *higher = world_job(r->world, "service higher priority=30 cpu=1000");
	r->job = world_job(r->world, "service web priority=50 cpu=1000");
	group_of(r->job)->count = 5;
	constrain(&group_of(r->job)->constraints, "${meta.rack}", "distinct_property", "1");
	world_job_changed(r->job);
	for (uint32_t i = 0; i < RACKS; i++) {
		char words[64];
		snprintf(words, sizeof words, "cpu=1000 memory=1000 meta.rack=r%u", i);
		world_node(r->world, words);
		(void)world_allocate(r->world, i > 0 ? higher : low, 0, i, i);
	}
	world_node(r->world, "cpu=1000 memory=1000 meta.rack=r0 ineligible");
	return world_allocate(r->world, r->job, 0, RACKS, 0);
}

static void a_value_that_comes_back_is_in_question_again(void **state)
{
	const struct stack_request request = {.preferred_slot = NODE_SLOT_NONE};
	struct run r = {.world = world_create(), .fleet = view_fleet_create()};
	struct allocation *own = use_first_rack(&r);
	struct plan *plan = plan_create();
	struct alloc_metrics metrics = {0};
	struct stack_option option;
	r.world->config.preemption.service = true;
	r.view = world_view(r.world);
	view_fleet_begin(r.fleet, &r.view);
	struct stack *s = stack_create(STACK_GENERIC, &r.view, plan);
	stack_set_job(s, r.job);
	assert_true(stack_select(s, &request, &option, &metrics));
	assert_int_equal(option.slot, 1);
	metrics_release(&metrics);
	metrics = (struct alloc_metrics){0};
	stack_plan_stop(s, own, STOP_NOT_NEEDED, false, NULL);
	assert_true(stack_select(s, &request, &option, &metrics));
	assert_int_equal(option.slot, 0);
	metrics_release(&metrics);
	stack_destroy(s);
	plan_free(plan);
	view_fleet_destroy(r.fleet);
	world_destroy(r.world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_nodes_with_victims),
		cmocka_unit_test(a_value_that_comes_back_is_in_question_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
