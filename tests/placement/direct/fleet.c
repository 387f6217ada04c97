#include "tests/placement/direct/fleet.h"
#include "placement/constraint/constraint.h"
#include "state/base/memory.h"
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t below(struct fleet *f, uint32_t bound)
{
	return (uint32_t)prng_below(&f->prng, bound);
}
static bool chance(struct fleet *f, uint32_t percent)
{
	return below(f, 100) < percent;
}

static const char *const snapshots[] = {"s0", "s1", "s2"};

void fleet_class_define(struct fleet *f, uint32_t id)
{
	static const char *const datacenters[] = {"dc1", "dc2", "east-1", "east-22"};
	static const char *const pools[] = {"default", "gpu", ""};
	static const char *const arches[] = {"amd64", "arm64"};
	static const char *const versions[] = {"5.10.0", "6.1.7", "6.1.0-rc1"};
	static const char *const types[] = {"gpu", "fpga"};
	static const char *const names[] = {"a100", "t4", "u50"};
	struct node_class *c = &f->classes[id];
	f->attributes[id][0] = (struct attribute){"arch", arches[below(f, 2)]};
	f->attributes[id][1] = (struct attribute){"cores", below(f, 2) ? "16" : "8"};
	f->attributes[id][2] = (struct attribute){"kernel.version", versions[below(f, 3)]};
	f->meta[id][0] = (struct attribute){"rack", below(f, 2) ? "r1,r2" : "r2,r3"};
	*c = (struct node_class){
		.id = id,
		.hash = prng_u64(&f->prng),
		.datacenter = datacenters[below(f, 4)],
		.class_name = below(f, 2) ? "big" : "",
		.pool = pools[below(f, 3)],
		.attribute_count = 3,
		.meta_count = below(f, 2),
		.device_count = chance(f, 50) ? below(f, NODE_DEVICE_GROUPS_MAX + 1) : 0,
		.attributes = f->attributes[id],
		.meta = f->meta[id],
		.devices = f->devices[id],
	};
	for (uint32_t i = 0; i < c->device_count; i++)
		f->devices[id][i] = (struct device_group){below(f, 2) ? "nvidia" : "xilinx",
			types[below(f, 2)], names[below(f, 3)], (uint8_t)(1 + below(f, 8))};
}

bool fleet_class_is_used(const struct fleet *f, uint32_t id)
{
	for (uint32_t i = 0; i < f->slots; i++)
		if (f->nodes[i].present && f->nodes[i].record.node_class == &f->classes[id])
			return true;
	return false;
}

static struct device_set free_devices(const struct fleet_node *n)
{
	struct device_set free = {0};
	const struct node_class *c = n->record.node_class;
	for (uint32_t i = 0; i < c->device_count; i++)
		free.groups[i] =
			((1ull << c->devices[i].instances) - 1) & ~n->devices_used.groups[i];
	return free;
}

static bool is_ready(const struct fleet_node *n)
{
	return n->record.status == NODE_READY && n->record.eligibility == NODE_ELIGIBLE;
}

static void announce(struct fleet *f, uint32_t slot)
{
	const struct fleet_node *n = &f->nodes[slot];
	if (!n->present) {
		fit_index_set(f->index, slot, NULL);
		return;
	}
	struct device_set free = free_devices(n);
	struct fit_input in = {
		.capacity = node_capacity(&n->record),
		.used = n->used,
		.node_class = n->record.node_class->id,
		.class_hash = n->record.node_class->hash,
		.stamp = (uint32_t)n->record.described_index,
		.ready = is_ready(n),
		.snapshot = n->living ? NULL : n->record.snapshot,
	};
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		in.devices_free[i] = (uint8_t)__builtin_popcountll(free.groups[i]);
	fit_index_set(f->index, slot, &in);
}

static struct resources random_capacity(struct fleet *f)
{
	uint32_t shape = below(f, f->shapes);
	// Few shapes; or many, all of them different.
	uint32_t spread = f->shapes > 16 ? below(f, 1000) : 0;
	return (struct resources){1000 + 1000 * (shape % 4) + spread,
		2048u * (1 + shape % 3) + spread, chance(f, 5) ? 100 : 10000};
}

void fleet_register(struct fleet *f, uint32_t slot)
{
	struct fleet_node *n = &f->nodes[slot];
	struct node_class *c = &f->classes[below(f, f->class_count)];
	bool knew_devices = n->present && n->record.node_class == c;
	if (!knew_devices) // another class's instances: its allocations lost them
		n->devices_used = (struct device_set){0};
	if (!n->present)
		n->used = (struct resources){0}, n->living = 0;
	uint8_t status = n->present ? n->record.status : NODE_READY;
	n->present = true;
	snprintf(n->name, sizeof n->name, "node-%u%c%chost-%u", slot, 0, 0, below(f, 5));
	n->record = (struct node){
		.slot = slot,
		.described_index = ++f->stamp,
		.status = status,
		.eligibility = NODE_ELIGIBLE,
		.total = random_capacity(f),
		.reserved = {chance(f, 20) ? 100 : 0, 0, 0},
		.node_class = c,
		.name = n->name,
		.snapshot = n->living && n->record.snapshot ? n->record.snapshot
			    : chance(f, 40)                 ? ""
							    : snapshots[below(f, 3)],
		.own_attribute_count = 1,
		.make = "\0=unique.host",
	};
	announce(f, slot);
}

static void drop_allocation(struct fleet *f, uint32_t i)
{
	f->allocations[i] = f->allocations[--f->allocation_count];
}

void fleet_remove(struct fleet *f, uint32_t slot)
{
	f->nodes[slot].present = false;
	for (uint32_t i = 0; i < f->allocation_count;)
		if (f->allocations[i].slot == slot)
			drop_allocation(f, i);
		else
			i++;
	announce(f, slot);
}

void fleet_set_status(
	struct fleet *f, uint32_t slot, enum node_status status, enum node_eligibility eligibility)
{
	f->nodes[slot].record.status = (uint8_t)status;
	f->nodes[slot].record.eligibility = (uint8_t)eligibility;
	announce(f, slot);
}

static char *copy(const char *text)
{
	return text_copy(text_of(text));
}

static void add_constraint(struct array *to, const char *l, const char *operand, const char *r)
{
	struct constraint *c = array_append(to, sizeof *c);
	*c = (struct constraint){copy(l), copy(r), copy(operand)};
}

static void random_constraint(struct fleet *f, struct array *to)
{
	static const char *const rows[][3] = {
		{"${attr.arch}", "=", "amd64"},
		{"${attr.arch}", "!=", "amd64"},
		{"${attr.cores}", ">", "9"},
		{"${attr.kernel.version}", "version", ">= 6"},
		{"${attr.kernel.version}", "semver", "> 6.0.0"},
		{"${meta.rack}", "set_contains", "r2"},
		{"${meta.rack}", "is_set", ""},
		{"${node.class}", "is", "big"},
		{"${node.datacenter}", "set_contains_any", "dc1,dc2,east-2"},
		{"${attr.unique.host}", "!=", "host-1"},
		{"${attr.unique.host}", "set_contains_any", "host-2,host-3,host-20,host-31"},
		{"${node.unique.name}", "<", "node-5"},
		{"${attr.nothing}", "is_not_set", ""},
	};
	uint32_t i = below(f, sizeof rows / sizeof rows[0]);
	add_constraint(to, rows[i][0], rows[i][1], rows[i][2]);
}

static void add_device(struct fleet *f, struct task *task)
{
	static const char *const names[] = {"gpu", "fpga", "nvidia/gpu", "xilinx/fpga/u50"};
	struct device_ask *d = array_append(&task->resources.devices, sizeof *d);
	uint32_t i = below(f, 4);
	d->name = copy(names[i]);
	d->count = 1 + below(f, 3);
	if (chance(f, 20))
		add_constraint(&d->constraints, "${device.model}", "!=", "t4");
}

static struct job *random_job(struct fleet *f)
{
	static const char *const globs[] = {"dc1", "dc*", "*", "east-*", "*-1"};
	struct job *job = job_create();
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	job->type = JOB_DIRECT;
	record_init(&task_group_description, group);
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	free(job->id);
	job->id = copy("job");
	free(group->name);
	group->name = copy("group");
	*(char **)array_append(&job->datacenters, sizeof(char *)) =
		copy(globs[chance(f, 60) ? 2 : below(f, 5)]);
	free(job->node_pool);
	job->node_pool = copy(chance(f, 70) ? "all" : below(f, 2) ? "gpu" : "default");
	for (uint32_t i = below(f, 3); i > 0; i--)
		random_constraint(f, below(f, 2)   ? &job->constraints
				     : below(f, 2) ? &group->constraints
						   : &task->constraints);
	task->resources.cpu = chance(f, 4) ? 0 : 1 + below(f, chance(f, 20) ? 3000 : 400);
	task->resources.memory_mb = chance(f, 4) ? 0 : 1 + below(f, chance(f, 20) ? 6000 : 800);
	if (chance(f, 50))
		group->snapshot = copy(snapshots[below(f, 3)]);
	group->disk.size_mb = chance(f, 30) ? 0 : below(f, 2000);
	for (uint32_t i = chance(f, 30) ? 1 + below(f, 3) : 0; i > 0; i--)
		add_device(f, task);
	assert_true(job_derive(job));
	return job;
}

static const struct node_class *class_at(void *context, uint32_t id)
{
	struct fleet *f = context;
	return fleet_class_is_used(f, id) ? &f->classes[id] : NULL;
}
static const struct node *node_at(void *context, uint32_t slot)
{
	struct fleet *f = context;
	return f->nodes[slot].present ? &f->nodes[slot].record : NULL;
}

void fleet_job_create(struct fleet *f, uint32_t i)
{
	struct candidate_source source = {class_at, node_at, f};
	candidate_cache_destroy(f->caches[i]);
	if (f->jobs[i])
		job_free(f->jobs[i]);
	f->jobs[i] = random_job(f);
	f->caches[i] = candidate_cache_create(f->index, &source, f->jobs[i], 0);
	if (i >= f->job_count)
		f->job_count = i + 1;
}

static bool holds(const struct constraint *c, const struct node *n, const struct device_group *d)
{
	struct constraint_error error;
	struct compiled_constraint *compiled =
		constraint_compile(c->l_target, c->r_target, c->operand, &error);
	assert_non_null(compiled);
	bool is = d ? constraint_matches_device(compiled, n->node_class, d)
		    : constraint_matches_node(compiled, n);
	constraint_free(compiled);
	return is;
}

// The first constraint that does not hold, counted from *number; -1 when all hold.
static int first_failing(const struct array *constraints, const struct node *n, int *number)
{
	int failing = -1;
	for (uint32_t i = 0; i < constraints->count; i++, (*number)++)
		if (failing < 0 && !holds(ARRAY_AT(constraints, struct constraint, i), n, NULL))
			failing = *number;
	return failing;
}

static bool device_fits(
	const struct device_ask *ask, const struct node *n, const struct device_group *d)
{
	char full[128], half[64];
	snprintf(half, sizeof half, "%s/%s", d->vendor, d->type);
	snprintf(full, sizeof full, "%s/%s", half, d->name);
	if (strcmp(ask->name, d->type) != 0 && strcmp(ask->name, half) != 0 &&
		strcmp(ask->name, full) != 0)
		return false;
	for (uint32_t i = 0; i < ask->constraints.count; i++)
		if (!holds(ARRAY_AT(&ask->constraints, struct constraint, i), n, d))
			return false;
	return true;
}

// Tries every assignment of asks to device groups.
static bool devices_fit(const struct job *job, const struct node *n, const uint32_t *free)
{
	const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, 0);
	const struct array *asks = &ARRAY_AT(&g->tasks, struct task, 0)->resources.devices;
	uint32_t ways = 1;
	for (uint32_t i = 0; i < asks->count; i++)
		ways *= NODE_DEVICE_GROUPS_MAX;
	for (uint32_t way = 0; way < ways; way++) {
		int64_t left[NODE_DEVICE_GROUPS_MAX];
		bool good = true;
		for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
			left[i] = free[i];
		for (uint32_t i = 0, w = way; i < asks->count && good;
			i++, w /= NODE_DEVICE_GROUPS_MAX) {
			const struct device_ask *ask = ARRAY_AT(asks, struct device_ask, i);
			uint32_t group = w % NODE_DEVICE_GROUPS_MAX;
			left[group] -= ask->count;
			good = group < n->node_class->device_count && left[group] >= 0 &&
			       device_fits(ask, n, &n->node_class->devices[group]);
		}
		if (good)
			return true;
	}
	return false;
}

static bool is_filtered(const struct job *job, const struct node *n, struct place_refusal *r)
{
	const struct node_class *c = n->node_class;
	const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, 0);
	const struct task *t = ARRAY_AT(&g->tasks, struct task, 0);
	if (fnmatch(*ARRAY_AT(&job->datacenters, char *, 0), c->datacenter, 0) != 0)
		return ++r->filtered_datacenter;
	const char *pool = c->pool[0] ? c->pool : "default";
	if (strcmp(job->node_pool, "all") != 0 && strcmp(job->node_pool, pool) != 0)
		return ++r->filtered_class;
	int number = 0, failing[3];
	failing[0] = first_failing(&job->constraints, n, &number);
	failing[1] = first_failing(&g->constraints, n, &number);
	failing[2] = first_failing(&t->constraints, n, &number);
	for (uint32_t i = 0; i < 3; i++)
		if (failing[i] >= 0)
			return ++r->filtered_constraint[failing[i]];
	uint32_t all[NODE_DEVICE_GROUPS_MAX] = {0};
	for (uint32_t i = 0; i < c->device_count; i++)
		all[i] = c->devices[i].instances;
	return !devices_fit(job, n, all) && ++r->filtered_device;
}

static bool is_exhausted(const struct job *job, const struct fleet_node *n, struct resources used,
	struct place_refusal *r)
{
	struct resources capacity = node_capacity(&n->record);
	if (used.cpu_mhz > capacity.cpu_mhz)
		return ++r->exhausted_cpu;
	if (used.memory_mb > capacity.memory_mb)
		return ++r->exhausted_memory;
	if (used.disk_mb > capacity.disk_mb)
		return ++r->exhausted_disk;
	struct device_set set = free_devices(n);
	uint32_t free[NODE_DEVICE_GROUPS_MAX];
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		free[i] = (uint32_t)__builtin_popcountll(set.groups[i]);
	return !devices_fit(job, &n->record, free) && ++r->exhausted_device;
}

struct fleet_answer fleet_naive(const struct fleet *f, const struct job *job)
{
	struct fleet_answer a = {.slot = PLACER_NO_NODE, .score = -1};
	uint32_t best_tier = 0;
	struct resources ask = ARRAY_AT(&job->asks, struct group_ask, 0)->resources;
	const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, 0);
	a.refusal.constraint_count = job->constraints.count + g->constraints.count +
				     ARRAY_AT(&g->tasks, struct task, 0)->constraints.count;
	for (uint32_t slot = 0; slot < f->slots; slot++) {
		const struct fleet_node *n = &f->nodes[slot];
		if (!n->present)
			continue;
		a.refusal.nodes_seen++;
		if (!is_ready(n)) {
			a.refusal.nodes_not_ready++;
			continue;
		}
		if (is_filtered(job, &n->record, &a.refusal))
			continue;
		a.feasible++;
		struct resources used = resources_plus(n->used, ask);
		if (is_exhausted(job, n, used, &a.refusal))
			continue;
		double score = placement_score(f->algorithm, node_capacity(&n->record), used);
		const char *last = n->record.snapshot;
		uint32_t tier = !g->snapshot || !g->snapshot[0] || n->living ? 0
				: !last[0]                                   ? 2
				: strcmp(last, g->snapshot) == 0             ? 3
									     : 1;
		if (a.slot == PLACER_NO_NODE || tier > best_tier ||
			(tier == best_tier && score > a.score)) {
			best_tier = tier;
			a.score = score;
			a.slot = slot;
		}
	}
	return a;
}

struct fleet_answer fleet_ask(struct fleet *f, uint32_t job)
{
	struct fleet_answer a = {.slot = PLACER_NO_NODE, .score = -1};
	struct fit_candidate c;
	if (candidate_cache_best(f->caches[job], &c)) {
		a.slot = c.slot;
		a.score = c.score;
	} else {
		candidate_cache_refusal(f->caches[job], &a.refusal);
	}
	a.feasible = candidate_cache_feasible(f->caches[job]);
	return a;
}

void fleet_allocate(struct fleet *f, uint32_t job, uint32_t slot)
{
	if (f->allocation_count == FLEET_ALLOCATIONS_MAX)
		fleet_release(f, 0);
	struct fleet_node *n = &f->nodes[slot];
	struct fleet_allocation *a = &f->allocations[f->allocation_count++];
	struct device_set free = free_devices(n);
	*a = (struct fleet_allocation){
		slot, ARRAY_AT(&f->jobs[job]->asks, struct group_ask, 0)->resources};
	assert_true(candidate_cache_devices(f->caches[job], slot, &free, &a->devices));
	const struct task_group *g = ARRAY_AT(&f->jobs[job]->task_groups, struct task_group, 0);
	n->record.snapshot = g->snapshot && g->snapshot[0] ? snapshots[g->snapshot[1] - '0'] : "";
	n->living++;
	n->used = resources_plus(n->used, a->resources);
	assert_true(resources_fit(n->used, node_capacity(&n->record)));
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		assert_int_equal(a->devices.groups[i] & ~free.groups[i], 0);
		n->devices_used.groups[i] |= a->devices.groups[i];
	}
	announce(f, slot);
}

void fleet_release(struct fleet *f, uint32_t i)
{
	struct fleet_allocation a = f->allocations[i];
	struct fleet_node *n = &f->nodes[a.slot];
	n->living--;
	n->used = resources_minus(n->used, a.resources);
	for (uint32_t g = 0; g < NODE_DEVICE_GROUPS_MAX; g++)
		n->devices_used.groups[g] &= ~a.devices.groups[g];
	drop_allocation(f, i);
	announce(f, a.slot);
}

struct fleet *fleet_create(uint64_t seed, enum placement_algorithm algorithm, uint32_t slots,
	uint32_t classes, uint32_t shapes)
{
	struct fleet *f = memory_take(sizeof *f);
	prng_seed(&f->prng, seed);
	f->algorithm = algorithm;
	f->slots = slots;
	f->class_count = classes;
	f->shapes = shapes;
	f->index = fit_index_create(algorithm);
	for (uint32_t i = 0; i < classes; i++)
		fleet_class_define(f, i);
	return f;
}

void fleet_destroy(struct fleet *f)
{
	for (uint32_t i = 0; i < f->job_count; i++) {
		candidate_cache_destroy(f->caches[i]);
		job_free(f->jobs[i]);
	}
	fit_index_destroy(f->index);
	free(f);
}
