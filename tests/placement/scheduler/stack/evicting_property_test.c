// Random fleets without room: the best node of all for a group that may evict others, with victims, scores and metrics,
// must be what a look at every node finds.
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/records/allocation_end.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include "tests/placement/scheduler/stack/evicting.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t below(struct evicting *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static bool chance(struct evicting *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

static void make_node(struct evicting *r, bool are_alike, uint32_t racks)
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
	if (chance(r, 70))
		at += snprintf(words + at, sizeof words - (size_t)at, " meta.unique.place=p%u",
			below(r, 400));
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

static void make_others(struct evicting *r, bool are_alike)
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

static void hold_more(struct evicting *r, struct allocation *a)
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

static void fill(struct evicting *r)
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

static void random_spread(struct evicting *r, struct task_group *g, const char *attribute)
{
	static const char *const values[] = {"r0", "r1", "large", "h2", "node-3", "p7"};
	struct spread *spread = spread_over(&g->spreads, attribute);
	spread->weight = 50;
	for (uint32_t i = 0; i < COUNT(values) && chance(r, 60); i++) {
		struct spread_target *target = array_append(&spread->targets, sizeof *target);
		set(&target->value, values[i]);
		target->percent = (int64_t)below(r, 40);
	}
}

// Of what is unique to a node.
static void random_own_rules(struct evicting *r, struct task_group *g)
{
	static const char *const properties[] = {
		"${attr.unique.hostname}", "${node.unique.name}", "${meta.unique.place}"};
	static const char *const liked[][2] = {{"${attr.unique.hostname}", "h[1-3]"},
		{"${node.unique.name}", "node-1"}, {"${meta.unique.place}", "p1"}};
	static const char *const limits[] = {"", "2", "4"};
	for (uint32_t i = below(r, 3); i > 0; i--) {
		const char *const *like = liked[below(r, COUNT(liked))];
		struct affinity *a = prefer(&g->affinities);
		set(&a->l_target, like[0]);
		set(&a->operand, "regexp");
		set(&a->r_target, like[1]);
		a->weight = (int64_t)below(r, 100) - 50;
		a->weight += a->weight == 0;
	}
	if (chance(r, 50))
		random_spread(r, g, properties[below(r, COUNT(properties))]);
	if (chance(r, 40))
		constrain(&g->constraints, properties[below(r, COUNT(properties))],
			"distinct_property", limits[below(r, COUNT(limits))]);
}

static void random_rules(struct evicting *r, struct task_group *g)
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

static void ask_ports(struct evicting *r)
{
	struct network_ask *ask = ask_network(r->job, "host");
	if (chance(r, 70))
		ask_port(&ask->reserved_ports, "p", 8000 + below(r, 2), 0);
	if (chance(r, 40))
		ask_port(&ask->dynamic_ports, "q", 0, 0);
}

static void ask_task_ports(struct evicting *r)
{
	struct array *networks = &task_of(r->job)->resources.networks;
	struct network_ask *ask = array_append(networks, sizeof *ask);
	ask_port(&ask->reserved_ports, "t", 7998 + below(r, 2), 0); // no dynamic port meets it
}

static void ask_devices(struct evicting *r)
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
static void ask_hardware(struct evicting *r)
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
static void make_job(struct evicting *r, bool plain)
{
	char words[128];
	snprintf(words, sizeof words, "service web priority=50 dc=dc* cpu=%u memory=%u disk=%u",
		200 + 100 * below(r, 8), 200 + 100 * below(r, 8), 100 * below(r, 2));
	r->job = world_job(r->world, words);
	struct task_group *g = group_of(r->job);
	g->count = 30;
	bool own_first = chance(r, 20);
	if (own_first)
		random_own_rules(r, g);
	if (chance(r, 60))
		random_rules(r, g);
	if (!own_first && chance(r, 30))
		random_own_rules(r, g);
	if (!plain)
		ask_hardware(r);
	world_job_changed(r->job);
}

// Asks for something else of nodes.
static void differ_in_one(struct evicting *r, struct job *job)
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
static void ask_for_twin(struct evicting *r)
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
	(void)select_keeping(s, &request, &option, &metrics);
	alloc_details_release(option.details);
	metrics_release(&metrics);
	stack_destroy(s);
	plan_free(plan);
	job_free(twin);
}

static void begin(struct evicting *r, uint64_t seed)
{
	*r = (struct evicting){.world = world_create()};
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
	r->is_by_index = r->view.fleet;
	r->first_slot = below(r, nodes);
	evicting_open_stacks(r);
}

static void the_best_of_all_nodes_with_victims(void **state)
{
	uint32_t with_victims = 0, refused = 0, by_index = 0, by_looks = 0, by_own = 0;
	for (uint64_t seed = 0; seed < 2000 / BUILD_SLOWNESS; seed++) {
		struct evicting r;
		begin(&r, seed);
		if (chance(&r, 20))
			evicting_be_strict_somewhere(&r);
		for (uint32_t i = 0; i < 20; i++) {
			evicting_check_instance(&r);
			if (chance(&r, 20))
				evicting_change_plan(&r);
		}
		with_victims += r.with_victims;
		refused += r.refused;
		bool is_plain = stack_group(r.stacks[0], 0)->plain;
		const struct candidate_columns *evicting = r.stacks[0]->evicting[0];
		if (r.is_by_index && evicting)
			assert_non_null(evicting->bounds);
		by_index += r.is_by_index ? r.with_victims : 0;
		by_looks += r.is_by_index && !is_plain ? r.with_victims : 0;
		by_own += r.is_by_index && evicting && evicting->own_count > 0 ? r.with_victims : 0;
		evicting_end(&r);
	}
	assert_true(with_victims > 1000 / BUILD_SLOWNESS && refused > 100 / BUILD_SLOWNESS);
	assert_true(by_index > 2000 / BUILD_SLOWNESS && by_looks > 1000 / BUILD_SLOWNESS);
	assert_true(by_own > 500 / BUILD_SLOWNESS);
}

static void like_a_node(struct task_group *g)
{
	struct affinity *a = prefer(&g->affinities);
	set(&a->l_target, "${node.unique.name}");
	set(&a->r_target, "node-61");
	a->weight = 100;
}

static void spread_over_nodes(struct task_group *g)
{
	spread_over(&g->spreads, "${node.unique.name}")->weight = 100;
}

static void be_one_a_node(struct task_group *g)
{
	constrain(&g->constraints, "${node.unique.name}", "distinct_property", "1");
}

static void be_two_a_host(struct task_group *g)
{
	constrain(&g->constraints, "${attr.unique.hostname}", "distinct_property", "2");
	spread_over(&g->spreads, "${node.class}")->weight = 100;
}

// Nodes that are full of less important work, two of each name of a host.
static void begin_full(struct evicting *r, void (*rule)(struct task_group *))
{
	*r = (struct evicting){.world = world_create(), .fleet = view_fleet_create()};
	prng_seed(&r->prng, 1);
	r->world->config.preemption.service = true;
	for (uint32_t i = 0; i < 3; i++) {
		char words[64];
		snprintf(words, sizeof words, "service low%u priority=%u cpu=%u", i, 10 + 10 * i,
			1000 / (i + 1));
		r->others[i] = world_job(r->world, words);
	}
	for (uint32_t i = 0; i < 200; i++) {
		char words[64];
		snprintf(words, sizeof words,
			"cpu=1000 memory=1000 class=%s attr.unique.hostname=h%u",
			i % 5 ? "small" : "large", i / 2);
		world_node(r->world, words);
		for (uint32_t j = 0; j < i % 3 + 1; j++)
			(void)world_allocate(r->world, r->others[i % 3], 0, i, j);
	}
	r->job = world_job(r->world, "service web priority=50 cpu=300");
	group_of(r->job)->count = 20;
	rule(group_of(r->job));
	world_job_changed(r->job);
	r->view = world_view(r->world);
	view_fleet_begin(r->fleet, &r->view);
	evicting_open_stacks(r);
}

static void nothing_is_gathered_where_single_nodes_are_told_apart(void **state)
{
	static void (*const rules[])(struct task_group *) = {
		like_a_node, spread_over_nodes, be_one_a_node, be_two_a_host};
	for (uint32_t i = 0; i < COUNT(rules); i++) {
		struct evicting r;
		begin_full(&r, rules[i]);
		for (uint32_t k = 0; k < 20; k++) {
			evicting_check_instance(&r);
			if (chance(&r, 20))
				evicting_change_plan(&r);
		}
		assert_true(r.with_victims > 10);
		assert_int_equal(r.stacks[0]->gathered, 0);
		assert_true(r.stacks[0]->evicting[0]->row_count < 100);
		evicting_end(&r);
	}
}

// Each of them adds another weight.
#define LIKED 7u

// More sums of affinities than are worth a search each.
static void every_sum_of_affinities_is_bounded(void **state)
{
	struct evicting r = {.world = world_create(), .fleet = view_fleet_create()};
	char words[256];
	prng_seed(&r.prng, 1);
	r.world->config.preemption.service = true;
	r.others[0] = world_job(r.world, "service low priority=20 cpu=1000");
	r.job = world_job(r.world, "service web priority=50 cpu=1000");
	group_of(r.job)->count = 20;
	for (uint32_t k = 0; k < LIKED; k++) {
		struct affinity *a = prefer(&group_of(r.job)->affinities);
		snprintf(words, sizeof words, "${meta.m%u}", k);
		set(&a->l_target, words);
		set(&a->r_target, "1");
		a->weight = 1 << k;
	}
	for (uint32_t i = 0; i < 1 << LIKED; i++) {
		int at = snprintf(words, sizeof words, "cpu=1000 memory=1000");
		for (uint32_t k = 0; k < LIKED; k++)
			at += snprintf(words + at, sizeof words - (size_t)at, " meta.m%u=%u", k,
				(i * 37 >> k) & 1);
		world_node(r.world, words);
		(void)world_allocate(r.world, r.others[0], 0, i, i);
	}
	world_job_changed(r.job);
	r.view = world_view(r.world);
	view_fleet_begin(r.fleet, &r.view);
	evicting_open_stacks(&r);
	for (uint32_t k = 0; k < 20; k++)
		evicting_check_instance(&r);
	assert_int_equal(r.with_victims, 20);
	assert_non_null(r.stacks[0]->evicting[0]->bounds);
	assert_true(r.stacks[0]->evicting[0]->row_count < 1 << LIKED);
	evicting_end(&r);
}

#define RACKS 20u // more than few values of a property

// A full node in each rack; an instance of the job uses the first rack, on a node that takes no more.
static struct allocation *use_first_rack(struct evicting *r)
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
	struct evicting r = {.world = world_create(), .fleet = view_fleet_create()};
	struct allocation *own = use_first_rack(&r);
	struct plan *plan = plan_create();
	struct alloc_metrics metrics = {0};
	struct stack_option option;
	r.world->config.preemption.service = true;
	r.view = world_view(r.world);
	view_fleet_begin(r.fleet, &r.view);
	struct stack *s = stack_create(STACK_GENERIC, &r.view, plan);
	stack_set_job(s, r.job);
	assert_true(select_keeping(s, &request, &option, &metrics));
	assert_int_equal(option.slot, 1);
	metrics_release(&metrics);
	metrics = (struct alloc_metrics){0};
	stack_plan_stop(s, own, STOP_NOT_NEEDED, false, NULL);
	assert_true(select_keeping(s, &request, &option, &metrics));
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
		cmocka_unit_test(nothing_is_gathered_where_single_nodes_are_told_apart),
		cmocka_unit_test(every_sum_of_affinities_is_bounded),
		cmocka_unit_test(a_value_that_comes_back_is_in_question_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
