// Random groups with ports, devices, cores, volumes, and constraints and affinities on what is unique to nodes, on
// random fleets: the best node by the index must be the best of all gathered nodes, with the same metrics, and the
// best of a plain loop over all.
#include "placement/direct/classes/own_refusals.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/bytes.h"
#include "state/base/prng.h"
#include "state/records/allocation_end.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include "tests/placement/scheduler/world.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// By the index, by all nodes in columns, and one node after the other.
enum way { BY_INDEX, BY_COLUMNS, PLAINLY, WAYS };

// Some volumes are of one instance each; so many instances have any.
#define INSTANCES 3u

struct run {
	struct prng prng;
	struct world *world;
	struct scheduler_view views[WAYS];
	struct view_fleet *fleet;
	struct plan *plans[WAYS];
	struct stack *stacks[WAYS];
	struct job *job;
	uint32_t placed, first_slot;
	bool likes_nodes; // and spreads its instances
};

static uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static bool chance(struct run *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

static void make_node(struct run *r)
{
	char words[512];
	uint32_t number = r->world->node_count;
	int at = snprintf(words, sizeof words,
		"class=%s cpu=%u memory=%u disk=%u meta.rack=r%u dynamic=9000-900%u",
		below(r, 2) ? "large" : "small", 1000 + 500 * below(r, 4),
		1000 + 1000 * below(r, 3), 400 + 400 * below(r, 2), below(r, 6), 1 + below(r, 3));
	if (chance(r, 60))
		at += snprintf(words + at, sizeof words - (size_t)at, " device.nvidia/gpu/t4=%u",
			1 + below(r, 3));
	if (chance(r, 40))
		at += snprintf(words + at, sizeof words - (size_t)at, " device.nvidia/gpu/a100=%u",
			1 + below(r, 2));
	if (chance(r, 80))
		at += snprintf(words + at, sizeof words - (size_t)at,
			" net=%s/eth0/default/10.0.0.%u", chance(r, 90) ? "host" : "bridge",
			number);
	if (chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at,
			" net=host/eth1/public/10.1.0.%u", number);
	if (chance(r, 60))
		at += snprintf(words + at, sizeof words - (size_t)at,
			" cores=0-%u attr.cpu.numcores=%u", below(r, 4), 1 + below(r, 6));
	if (chance(r, 10))
		at += snprintf(words + at, sizeof words - (size_t)at, " ineligible");
	if (r->likes_nodes && chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at, " snapshot=s%u", below(r, 2));
	if (chance(r, 20))
		at += snprintf(words + at, sizeof words - (size_t)at, " ports=8000");
	if (chance(r, 60))
		at += snprintf(words + at, sizeof words - (size_t)at, " volume.data=/data%s",
			chance(r, 30) ? ":ro" : "");
	for (uint32_t i = 0; i < INSTANCES; i++)
		if (chance(r, 40))
			at += snprintf(words + at, sizeof words - (size_t)at,
				" volume.data[%u]=/data%u", i, i);
	// Classes that are the same to all who look at them.
	if (chance(r, 40))
		at += snprintf(
			words + at, sizeof words - (size_t)at, " meta.serial=%u", below(r, 20));
	snprintf(words + at, sizeof words - (size_t)at, " attr.unique.hostname=h%u", below(r, 9));
	world_node(r->world, words);
}

static void ask_for_port(struct run *r, struct array *ports, const char *label, int64_t value)
{
	struct port *port = array_append(ports, sizeof *port);
	set(&port->label, label);
	if (chance(r, 30))
		set(&port->host_network, "public");
	port->value = value;
}

static void ask_for_network(struct run *r, struct task_group *g)
{
	struct network_ask *n = array_append(&g->networks, sizeof *n);
	if (chance(r, 20))
		set(&n->mode, "bridge");
	if (chance(r, 60))
		ask_for_port(r, &n->reserved_ports, "static", 8000 + below(r, 3));
	for (uint32_t i = below(r, 3); i > 0; i--)
		ask_for_port(r, &n->dynamic_ports, i == 1 ? "one" : "two", 0);
}

static void prefer_value(
	struct run *r, struct array *affinities, const char *attribute, const char *value)
{
	struct affinity *a = prefer(affinities);
	a->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 30))
		a->weight = -a->weight;
	set(&a->l_target, attribute);
	set(&a->r_target, value);
}

static void ask_volume(struct run *r, struct task_group *g)
{
	struct volume_ask *ask = array_append(&g->volumes, sizeof *ask);
	set(&ask->name, "data");
	set(&ask->type, chance(r, 90) ? "host" : "csi");
	set(&ask->source, "data");
	ask->read_only = chance(r, 30);
	ask->per_alloc = chance(r, 40);
}

static void constrain_hostname(struct run *r, struct array *constraints)
{
	static const char *const patterns[] = {"h[0-6]", "h[3-8]", "h[48]"};
	constrain(constraints, "${attr.unique.hostname}", "regexp", patterns[below(r, 3)]);
}

// What is a node's own.
static void ask_of_nodes(struct run *r, struct task_group *g)
{
	if (chance(r, 50))
		ask_volume(r, g);
	if (chance(r, 40))
		constrain_hostname(r, &g->constraints);
	if (chance(r, 30))
		constrain_hostname(r, &r->job->constraints);
	if (chance(r, 30))
		prefer_value(r, &g->affinities, "${attr.unique.hostname}", "h5");
	if (chance(r, 30))
		constrain(&r->job->constraints, "${meta.rack}", "!=", "r2");
}

static void ask_devices(struct run *r)
{
	static const char *const models[] = {"t4", "a100"};
	for (uint32_t i = chance(r, 30) ? 2 : 1; i > 0; i--) {
		struct device_ask *ask = ask_device(r->job, "gpu", 1 + below(r, 2));
		if (chance(r, 60))
			prefer_value(r, &ask->affinities, "${device.model}", models[below(r, 2)]);
	}
}

// Nodes of a class have other affinities, and spreads come to that.
static void like_nodes(struct run *r, struct task_group *g)
{
	static const char *const attributes[] = {
		"${meta.rack}", "${node.class}", "${node.unique.name}", "${attr.unique.hostname}"};
	static const char *const names[] = {"h5", "h1", "h7"};

	for (uint32_t i = below(r, 3); i < 3; i++)
		prefer_value(r, &g->affinities, "${attr.unique.hostname}", names[i]);
	for (uint32_t i = below(r, 2); i < 2; i++)
		spread_over(&g->spreads, attributes[below(r, 4)])->weight = 1 + below(r, 100);
	if (chance(r, 30))
		set(&g->snapshot, "s0");
}

static void add_second_group(struct run *r)
{
	struct task_group *g = add_group(r->job, "b");
	add_task(g, "t")->resources.cpu = 100;
	if (chance(r, 50))
		ask_for_network(r, g);
	if (chance(r, 50))
		ask_of_nodes(r, g);
	if (chance(r, 50))
		constrain(&g->constraints, "${node.class}", "=", "small");
}

static void make_job(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 5);
	task_of(r->job)->resources.cpu = 100 * below(r, 5);
	task_of(r->job)->resources.memory_mb = 100 * below(r, 5);
	if (chance(r, 40))
		task_of(r->job)->resources.cores = 1 + below(r, 2);
	if (chance(r, 75))
		ask_for_network(r, g);
	if (chance(r, 50))
		ask_devices(r);
	if (chance(r, 25))
		constrain(&g->constraints, "${meta.rack}", "distinct_property", "2");
	if (chance(r, 25))
		spread_over(&g->spreads, "${meta.rack}")->weight = 50;
	if (chance(r, 25))
		constrain(&g->constraints, "${node.class}", "=", "large");
	if (chance(r, 25))
		prefer_value(r, &g->affinities, "${meta.rack}", "r1");
	if (chance(r, 50))
		ask_of_nodes(r, g);
	if (r->likes_nodes)
		like_nodes(r, g);
	if (chance(r, 40))
		add_second_group(r);
	world_job_changed(r->job);
}

static void hold_devices(struct run *r, struct allocation *a, const struct node *n)
{
	struct device_set held = {0};

	for (uint32_t i = 0; i < n->node_class->device_count; i++)
		if (chance(r, 50))
			held.groups[i] = 1ull << below(r, n->node_class->devices[i].instances);
	allocation_set_devices(a, &held);
}

static void hold_ports(struct run *r, struct allocation *a, const struct node *n)
{
	for (uint32_t i = 0; i < node_fittings(n)->network_count; i++)
		if (chance(r, 40))
			world_hold_port(a, "p", (below(r, 2) ? 8000 : 9000) + below(r, 3),
				node_fittings(n)->networks[i].addresses[0].address);
}

static void fill(struct run *r)
{
	struct job *other = world_job(r->world, "service other cpu=300 memory=300");
	uint32_t count = below(r, 2 * r->world->node_count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = below(r, r->world->node_count);
		struct job *job = chance(r, 20) ? r->job : other;
		struct allocation *a = world_allocate(r->world, job, 0, slot, i);
		hold_devices(r, a, r->world->nodes[slot]);
		hold_ports(r, a, r->world->nodes[slot]);
		if (chance(r, 20))
			world_hold_cores(a, "t", below(r, 3), 1 + below(r, 2));
	}
}

static void begin(struct run *r, uint64_t seed, uint32_t nodes, bool likes_nodes)
{
	*r = (struct run){
		.world = world_create(), .fleet = view_fleet_create(), .likes_nodes = likes_nodes};
	prng_seed(&r->prng, seed);
	r->world->config.algorithm = below(r, 2) ? ALGORITHM_SPREAD : ALGORITHM_BINPACK;
	for (uint32_t i = nodes ? nodes : 1 + below(r, chance(r, 10) ? 250 : 40); i > 0; i--)
		make_node(r);
	make_job(r);
	fill(r);
	r->first_slot = seed % 2 ? 0 : below(r, r->world->node_count);
	for (uint32_t way = 0; way < WAYS; way++) {
		r->views[way] = world_view(r->world);
		if (way == BY_INDEX)
			view_fleet_begin(r->fleet, &r->views[way]);
		r->plans[way] = plan_create();
		r->stacks[way] = stack_create(STACK_GENERIC, &r->views[way], r->plans[way]);
		stack_break_ties(r->stacks[way], r->first_slot);
		stack_set_job(r->stacks[way], r->job);
	}
}

static void end(struct run *r)
{
	for (uint32_t way = 0; way < WAYS; way++) {
		stack_destroy(r->stacks[way]);
		plan_free(r->plans[way]);
	}
	view_fleet_destroy(r->fleet);
	world_destroy(r->world);
}

// What the best of all is and is given, the best scores, and what the others lack.
struct plain_answer {
	struct stack_option best;
	struct array scores; // as metrics keep them
	int64_t filtered, exhausted;
	struct alloc_metrics metrics;
};

static void plain_answer_release(struct plain_answer *plain)
{
	plain->metrics.score_metadata = plain->scores;
	metrics_release(&plain->metrics);
	alloc_details_release(plain->best.details);
}

static void offer(const struct run *r, struct plain_answer *plain, struct stack_option *o)
{
	struct stack_option *best = &plain->best;
	bool is_first = o->slot - r->first_slot < best->slot - r->first_slot;
	double tier = o->scores[SCORE_SNAPSHOT], other = best->scores[SCORE_SNAPSHOT];
	bool better = !best->node || tier > other ||
		      (tier == other &&
			      (o->score > best->score || (o->score == best->score && is_first)));
	option_keep_scores(o, &plain->scores);
	alloc_details_release(better ? best->details : o->details);
	if (better)
		*best = *o;
}

static void look_at_all(
	struct run *r, uint32_t group, uint32_t name_index, struct plain_answer *plain)
{
	struct stack *s = r->stacks[PLAINLY];
	struct stack_request request = {.group = group, .preferred_slot = NODE_SLOT_NONE};
	*plain = (struct plain_answer){.best.slot = NODE_SLOT_NONE};
	for (uint32_t i = 0; i < r->world->node_count; i++) {
		struct stack_option o;
		if (r->world->nodes[i]->eligibility == NODE_INELIGIBLE)
			continue;
		bool fits = stack_select_node(s, group, name_index, i, &o);
		plain->filtered += o.outcome == STACK_FILTERED;
		plain->exhausted += o.outcome == STACK_EXHAUSTED;
		if (o.outcome == STACK_EXHAUSTED)
			count_add(&plain->metrics.dimension_exhausted, o.reason, 1);
		if (!fits)
			continue;
		stack_rank(s, stack_group(s, group), &request, &o);
		offer(r, plain, &o);
	}
}

static void check_same(const struct record_type *type, const void *a, const void *b)
{
	struct bytes_writer w = bytes_writer_growing(256), v = bytes_writer_growing(256);
	record_encode(type, a, &w);
	record_encode(type, b, &v);
	assert_int_equal(w.size, v.size);
	assert_memory_equal(w.data, v.data, w.size);
	bytes_writer_free(&w);
	bytes_writer_free(&v);
}

static void place(struct run *r, uint32_t group, struct stack_option *o)
{
	struct plan_placement p = {.slot = o->slot,
		.node_id = o->node->id,
		.group = (uint16_t)group,
		.resources = o->resources,
		.devices = o->devices,
		.metrics = PLAN_NO_METRICS};
	p.id.bytes[15] = (uint8_t)++r->placed;
	for (uint32_t way = 0; way < WAYS; way++) {
		p.details = alloc_details_share(o->details);
		stack_plan_place(r->stacks[way], &p);
	}
	alloc_details_release(o->details);
}

// Ports, and devices without affinities, are noticed on nodes that are tried.
static bool tries_nothing(const struct task_group *g)
{
	bool rated = false, devices = false;
	for (uint32_t i = 0; i < g->tasks.count; i++) {
		const struct array *asks = &ARRAY_AT(&g->tasks, struct task, i)->resources.devices;
		for (uint32_t j = 0; j < asks->count; j++) {
			devices = true;
			rated |= ARRAY_AT(asks, struct device_ask, j)->affinities.count > 0;
		}
	}
	return g->networks.count == 0 && (!devices || rated);
}

// Which ports are given depends on how many nodes were asked before.
static void check_given(const struct task_group *g, const struct plain_answer *plain,
	const struct stack_option *o, const struct alloc_metrics *m)
{
	assert_true(o->score == plain->best.score);
	assert_memory_equal(&o->resources, &plain->best.resources, sizeof o->resources);
	assert_true(device_set_is_equal(&o->devices, &plain->best.devices));
	assert_int_equal(o->details != NULL, plain->best.details != NULL);
	if (o->details && g->networks.count == 0)
		check_same(&alloc_details_description, o->details, plain->best.details);
	assert_int_equal(m->score_metadata.count, plain->scores.count);
	for (uint32_t i = 0; i < plain->scores.count; i++)
		assert_true(ARRAY_AT(&m->score_metadata, struct node_score, i)->norm_score ==
			    ARRAY_AT(&plain->scores, struct node_score, i)->norm_score);
}

static void check_plain(const struct task_group *g, const struct plain_answer *plain,
	const struct stack_option *o, const struct alloc_metrics *m)
{
	assert_int_equal(o->slot, plain->best.slot);
	assert_int_equal(m->nodes_filtered, plain->filtered);
	if (!o->node) {
		assert_int_equal(m->nodes_exhausted, plain->exhausted);
		assert_int_equal(
			m->dimension_exhausted.count, plain->metrics.dimension_exhausted.count);
		for (uint32_t i = 0; i < m->dimension_exhausted.count; i++) {
			const struct named_count *count =
				ARRAY_AT(&m->dimension_exhausted, struct named_count, i);
			assert_int_equal(count->count,
				count_get(&plain->metrics.dimension_exhausted, count->name));
		}
	} else {
		check_given(g, plain, o, m);
		assert_in_range(m->nodes_exhausted, tries_nothing(g) ? plain->exhausted : 0,
			plain->exhausted);
	}
}

// Returns whether there was a node.
static bool check_best(struct run *r)
{
	uint32_t group = below(r, r->job->task_groups.count);
	struct stack_request request = {.group = group,
		.name_index = below(r, INSTANCES),
		.preferred_slot = NODE_SLOT_NONE};
	struct stack_option options[2];
	struct alloc_metrics metrics[2] = {{0}, {0}};
	struct plain_answer plain;
	look_at_all(r, group, request.name_index, &plain);
	for (uint32_t way = BY_INDEX; way <= BY_COLUMNS; way++)
		(void)select_keeping(r->stacks[way], &request, &options[way], &metrics[way]);
	check_plain(ARRAY_AT(&r->job->task_groups, struct task_group, group), &plain,
		&options[BY_INDEX], &metrics[BY_INDEX]);
	assert_int_equal(options[BY_INDEX].slot, options[BY_COLUMNS].slot);
	check_same(&metrics_description, &metrics[BY_INDEX], &metrics[BY_COLUMNS]);
	alloc_details_release(options[BY_COLUMNS].details);
	bool found = options[BY_INDEX].node;
	if (found)
		place(r, group, &options[BY_INDEX]);
	metrics_release(&metrics[BY_INDEX]);
	metrics_release(&metrics[BY_COLUMNS]);
	plain_answer_release(&plain);
	return found;
}

// A look at a single node, after which it speaks for its class.
static void ask_one(struct run *r)
{
	uint32_t slot = below(r, r->world->node_count);
	for (uint32_t way = 0; way < WAYS; way++) {
		struct stack_option o;
		if (stack_select_node(r->stacks[way], 0, 0, slot, &o))
			alloc_details_release(o.details);
	}
}

// Properties are not worth the index in a small fleet.
static bool is_by_index(const struct task_group *g)
{
	for (uint32_t i = 0; i < g->constraints.count; i++)
		if (strcmp(ARRAY_AT(&g->constraints, struct constraint, i)->operand,
			    "distinct_property") == 0)
			return false;
	return g->spreads.count == 0;
}

static void check_gathered(const struct run *r)
{
	bool all_by_index = true;
	for (uint32_t i = 0; i < r->job->task_groups.count; i++)
		all_by_index &= is_by_index(ARRAY_AT(&r->job->task_groups, struct task_group, i));
	assert_true(!all_by_index || r->stacks[BY_INDEX]->gathered == 0);
}

static void the_best_of_all_nodes(void **state)
{
	uint32_t found = 0, not_found = 0, by_index = 0;
	for (uint64_t seed = 0; seed < 300 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, 0, false);
		if (seed % 4 == 0)
			ask_one(&r);
		uint32_t left = 12;
		while (left > 0 && check_best(&r))
			left--;
		found += 12 - left;
		not_found += left > 0;
		by_index += r.stacks[BY_INDEX]->gathered == 0;
		// A node that was asked by itself may have said something else of its class's networks.
		if (seed % 4 != 0)
			check_gathered(&r);
		assert_true(r.stacks[BY_COLUMNS]->gathered > 0);
		end(&r);
	}
	assert_true(found > 300 / BUILD_SLOWNESS && not_found > 50 / BUILD_SLOWNESS);
	assert_true(by_index > 100 / BUILD_SLOWNESS);
}

static void the_best_where_spreads_meet_what_is_liked(void **state)
{
	for (uint64_t seed = 0; seed < 80 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, 60, true);
		for (uint32_t left = 12; left > 0 && check_best(&r);)
			left--;
		assert_int_equal(r.stacks[BY_INDEX]->gathered, 0);
		end(&r);
	}
}

// More than are looked at one by one.
static void the_best_of_many_that_pass(void **state)
{
	for (uint64_t seed = 0; seed < 6; seed += BUILD_SLOWNESS) {
		struct run r;
		begin(&r, seed, 6 * OWN_NODES_FEW / 5 + 400 * (uint32_t)seed, false);
		for (uint32_t left = 8; left > 0 && check_best(&r);)
			left--;
		end(&r);
	}
}

static void ask_model(struct task *task, const char *model)
{
	struct device_ask *ask = array_append(&task->resources.devices, sizeof *ask);
	record_init(&device_ask_description, ask);
	set(&ask->name, "gpu");
	ask->count = 1;
	struct affinity *a = prefer(&ask->affinities);
	a->weight = 50;
	set(&a->l_target, "${device.model}");
	set(&a->r_target, model);
}

// Groups that are the same but for the devices that they like better.
static void each_group_gets_the_devices_that_it_prefers(void **state)
{
	struct run r = {.world = world_create(), .fleet = view_fleet_create()};
	for (uint32_t i = 0; i < 16; i++)
		world_node(r.world, i < 8 ? "device.nvidia/gpu/t4=2" : "device.nvidia/gpu/a100=2");
	r.job = world_job(r.world, "service web");
	ask_model(task_of(r.job), "t4");
	struct task_group *b = add_group(r.job, "b");
	struct task *second = add_task(b, "t");
	b->disk.size_mb = group_of(r.job)->disk.size_mb;
	set(&second->driver, task_of(r.job)->driver);
	second->resources = (struct task_resources){.cpu = task_of(r.job)->resources.cpu,
		.memory_mb = task_of(r.job)->resources.memory_mb};
	ask_model(second, "a100");
	world_job_changed(r.job);
	r.views[BY_INDEX] = world_view(r.world);
	view_fleet_begin(r.fleet, &r.views[BY_INDEX]);
	r.plans[BY_INDEX] = plan_create();
	r.stacks[BY_INDEX] = stack_create(STACK_GENERIC, &r.views[BY_INDEX], r.plans[BY_INDEX]);
	stack_set_job(r.stacks[BY_INDEX], r.job);
	for (uint32_t group = 0; group < 2; group++) {
		struct stack_request request = {.group = group, .preferred_slot = NODE_SLOT_NONE};
		struct stack_option o;
		struct alloc_metrics m = {0};
		assert_true(select_keeping(r.stacks[BY_INDEX], &request, &o, &m));
		assert_int_equal(o.slot, 8 * group);
		alloc_details_release(o.details);
		metrics_release(&m);
	}
	assert_int_equal(r.stacks[BY_INDEX]->gathered, 0);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_of_all_nodes),
		cmocka_unit_test(the_best_where_spreads_meet_what_is_liked),
		cmocka_unit_test(the_best_of_many_that_pass),
		cmocka_unit_test(each_group_gets_the_devices_that_it_prefers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
