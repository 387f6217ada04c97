#include "tests/placement/scheduler/stack/random_run.h"
#include "tests/placement/job_check/job_build.h"
#include <stdio.h>
#include <string.h>

#define FEW_HOSTS 6u
#define PROPERTIES 14u

static void make_node(struct run *r)
{
	char words[768];
	int at = snprintf(words, sizeof words,
		"dc=%s class=%s cpu=%u memory=%u disk=%u attr.arch=%s",
		chance(r, 80) ? "dc1" : "dc2", below(r, 2) ? "large" : "small",
		1000 + 500 * below(r, 5), 1000 + 1000 * below(r, 4), 500 + 500 * below(r, 3),
		chance(r, 80) ? "amd64" : "arm64");
	if (chance(r, 80))
		at += snprintf(words + at, sizeof words - (size_t)at, " meta.rack=r%u",
			below(r, r->racks));
	if (chance(r, 10))
		at += snprintf(words + at, sizeof words - (size_t)at, " no-driver");
	if (chance(r, 5))
		at += snprintf(words + at, sizeof words - (size_t)at, " ineligible");
	if (chance(r, 20))
		at += snprintf(words + at, sizeof words - (size_t)at, " reserved=100/200/50");
	if (chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at, " snapshot=s%u", below(r, 3));
	if (chance(r, r->hosts == FEW_HOSTS ? 100 : 90))
		at += snprintf(words + at, sizeof words - (size_t)at, " attr.unique.hostname=h%u",
			below(r, r->hosts));
	// Classes that are the same to all who look at them.
	if (chance(r, 40))
		at += snprintf(
			words + at, sizeof words - (size_t)at, " meta.serial=%u", below(r, 20));
	for (uint32_t i = 0; i < PROPERTIES && r->asked == OF_MANY; i++)
		at += snprintf(words + at, sizeof words - (size_t)at, " meta.p%u=v%u", i,
			below(r, 3 + 2 * i));
	world_node(r->world, words);
}

static void random_constraint(struct run *r, struct array *to)
{
	static const char *const rows[][3] = {{"${attr.arch}", "=", "amd64"},
		{"${node.class}", "=", "large"}, {"${meta.rack}", "is_set", ""},
		{"${meta.rack}", "!=", "r1"}, {"${attr.unique.hostname}", "regexp", "h[0-3]"},
		{"", "distinct_hosts", ""}, {"${meta.rack}", "distinct_property", "2"},
		{"${node.class}", "distinct_property", "3"},
		{"${attr.unique.hostname}", "distinct_property", ""}};
	const char *const *row = rows[below(r, COUNT(rows))];
	constrain(to, row[0], row[1], row[2]);
}

static void random_affinity(struct run *r, struct array *to)
{
	struct affinity *a = prefer(to);
	a->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 30))
		a->weight = -a->weight;
	if (chance(r, 50)) {
		set(&a->l_target, "${attr.unique.hostname}");
		set(&a->r_target, "h2");
	}
}

static void random_spread(struct run *r, struct array *to)
{
	static const char *const attributes[] = {"${meta.rack}", "${node.class}",
		"${node.datacenter}", "${attr.unique.hostname}", "${node.unique.name}"};
	static const char *const targets[][2] = {{"r1", "r2"}, {"small", "large"}, {"dc1", "dc3"},
		{"h1", "h2"}, {"node-1", "node-2"}};
	uint32_t at = below(r, r->asked == OF_RACKS ? 3 : COUNT(attributes));
	if (r->asked == OF_NODES && chance(r, 60))
		at = 3 + below(r, 2);
	struct spread *s = spread_over(to, attributes[at]);
	s->weight = 1 + below(r, 100);
	for (uint32_t i = 0, left = 100; i < 2 && chance(r, 50); i++) {
		struct spread_target *t = array_append(&s->targets, sizeof *t);
		set(&t->value, targets[at][i]);
		t->percent = chance(r, 20) ? 0 : chance(r, 40) ? left : below(r, left + 1);
		left -= (uint32_t)t->percent;
	}
}

static void random_group(struct run *r, struct task_group *g)
{
	struct task *task = ARRAY_AT(&g->tasks, struct task, 0);
	g->count = 1 + below(r, 8);
	g->disk.size_mb = chance(r, 30) ? 200 : 0;
	task->resources.cpu = 100 * below(r, 6);
	task->resources.memory_mb = 100 * below(r, 8);
	if (chance(r, 40))
		random_constraint(r, chance(r, 50) ? &g->constraints : &task->constraints);
	if (chance(r, 25))
		random_affinity(r, chance(r, 50) ? &g->affinities : &task->affinities);
	if (chance(r, 25))
		random_spread(r, &g->spreads);
	if (chance(r, 50))
		set(&g->snapshot, below(r, 3) ? "s0" : "s1");
	if (chance(r, 20)) {
		struct network_ask *n = array_append(&g->networks, sizeof *n);
		struct port *port = array_append(&n->reserved_ports, sizeof *port);
		set(&port->label, "p");
		port->value = 8000 + below(r, 2);
	}
}

static void make_job(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	if (chance(r, 20))
		set(ARRAY_AT(&r->job->datacenters, char *, 0), "dc1");
	random_group(r, group_of(r->job));
	if (chance(r, 50)) {
		struct task_group *second = add_group(r->job, "b");
		add_task(second, "t");
		random_group(r, second);
	}
	if (chance(r, 30))
		random_constraint(r, &r->job->constraints);
	if (chance(r, 20))
		random_affinity(r, &r->job->affinities);
	if (chance(r, 20))
		random_spread(r, &r->job->spreads);
	world_job_changed(r->job);
}

// A plain group whose classes are told apart by their racks.
static void make_job_of_racks(struct run *r)
{
	static const char *const limits[] = {"", "2", "3"};
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 2);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 100 * below(r, 6);
	if (chance(r, 60))
		constrain(
			&g->constraints, "${meta.rack}", "distinct_property", limits[below(r, 3)]);
	if (chance(r, 60))
		random_spread(r, &g->spreads);
	if (chance(r, 30))
		random_spread(r, &r->job->spreads);
	if (chance(r, 30))
		prefer(&g->affinities)->weight = (int64_t)below(r, 100) + 1;
	else if (chance(r, 30))
		random_affinity(r, &g->affinities);
	if (chance(r, 30))
		constrain(&g->constraints, "", "distinct_hosts", "");
	world_job_changed(r->job);
}

static void constrain_nodes(struct run *r, struct array *to)
{
	static const char *const rows[][2] = {{"${attr.unique.hostname}", ""},
		{"${attr.unique.hostname}", "2"}, {"${node.unique.name}", "2"},
		{"${node.unique.id}", ""}, {"${meta.rack}", "3"}};
	const char *const *row = rows[below(r, COUNT(rows))];
	constrain(to, row[0], "distinct_property", row[1]);
}

// A group whose nodes are told apart by what is their own, and maybe by their racks, too.
static void make_job_of_nodes(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 9);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 100 * below(r, 6);
	if (chance(r, 50))
		constrain_nodes(r, &g->constraints);
	if (chance(r, 30))
		constrain_nodes(r, &r->job->constraints);
	if (chance(r, 60))
		random_spread(r, &g->spreads);
	if (chance(r, 30))
		random_spread(r, &r->job->spreads);
	if (chance(r, 30))
		prefer(&g->affinities)->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 20))
		constrain(&g->constraints, "${attr.unique.hostname}", "!=", "h3");
	if (chance(r, 20))
		constrain(&g->constraints, "", "distinct_hosts", "");
	world_job_changed(r->job);
}

// Of few values each, which together make more groups of classes than are searched; so may affinities for them.
static void make_job_of_many(struct run *r)
{
	char property[32];
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 9);
	uint32_t end = below(r, 2) ? 6 : PROPERTIES;
	uint32_t likes = below(r, 3); // 0: none of the values, 1: too, 2: instead of spreads
	for (uint32_t i = below(r, 3); i < end; i++) {
		snprintf(property, sizeof property, "${meta.p%u}", i);
		if (chance(r, 20))
			constrain(&g->constraints, property, "distinct_property", "3");
		else if (likes < 2)
			spread_over(&g->spreads, property)->weight = 1 + below(r, 100);
		struct affinity *a = likes > 0 ? prefer(&g->affinities) : NULL;
		if (!a)
			continue;
		a->weight = chance(r, 70) ? 1 + below(r, 100) : -1 - (int64_t)below(r, 100);
		set(&a->l_target, property);
		set(&a->operand, "regexp");
		set(&a->r_target, "v[02468]");
	}
	world_job_changed(r->job);
}

static void like(struct run *r, struct array *to)
{
	char value[32];
	struct affinity *a = prefer(to);
	bool by_name = chance(r, 30);
	a->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 40))
		a->weight = -a->weight;
	set(&a->l_target, by_name ? "${node.unique.name}" : "${attr.unique.hostname}");
	snprintf(value, sizeof value, by_name ? "node-%u" : "h%u", below(r, by_name ? 100 : 4));
	set(&a->r_target, value);
	if (!by_name && chance(r, 50)) {
		set(&a->operand, "regexp");
		set(&a->r_target, "h[0-9]*[1-3]$");
	}
}

// Nodes of a class have different affinities, and there are spreads of classes and of single nodes.
static void make_job_of_liked(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 9);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 100 * below(r, 6);
	for (uint32_t i = below(r, 3); i < 3; i++)
		like(r, chance(r, 80) ? &g->affinities : &r->job->affinities);
	if (chance(r, 30))
		random_affinity(r, &g->affinities);
	random_spread(r, &g->spreads);
	if (chance(r, 50))
		random_spread(r, &r->job->spreads);
	if (chance(r, 40))
		constrain_nodes(r, &g->constraints);
	if (chance(r, 30))
		constrain(&g->constraints, "${attr.unique.hostname}", "!=", "h3");
	if (chance(r, 20))
		constrain(&g->constraints, "", "distinct_hosts", "");
	if (chance(r, 40))
		set(&g->snapshot, "s0");
	world_job_changed(r->job);
}

static void fill(struct run *r)
{
	struct job *other = world_job(r->world, "service other cpu=300 memory=300");
	uint32_t count = below(r, 2 * r->world->node_count);
	for (uint32_t i = 0; i < count; i++) {
		struct job *job = chance(r, 30) ? r->job : other;
		uint32_t group = below(r, job->task_groups.count);
		uint32_t slot = below(r, r->world->node_count);
		struct allocation *a = world_allocate(r->world, job, group, slot, i);
		if (chance(r, 10))
			a->client_status = ALLOC_FAILED;
		else if (chance(r, 5))
			world_hold_port(a, "p", 8000 + below(r, 2),
				node_fittings(r->world->nodes[slot])
					->networks[0]
					.addresses[0]
					.address);
	}
}

static void make_job_of_six_in_a_rack(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 10;
	ARRAY_AT(&g->tasks, struct task, 0)->resources.memory_mb = 10;
	constrain(&g->constraints, "${meta.rack}", "distinct_property", "6");
	world_job_changed(r->job);
}

void random_run_begin(struct run *r, uint64_t seed, enum asked asked)
{
	*r = (struct run){.asked = asked, .world = world_create()};
	prng_seed(&r->prng, seed);
	r->world->config.algorithm = below(r, 2) ? ALGORITHM_SPREAD : ALGORITHM_BINPACK;
	uint32_t nodes = 1 + below(r, chance(r, 3) ? 300 : 30);
	r->racks = asked == ANYTHING && chance(r, 60) ? 4 : 20 + below(r, 40);
	if (asked != ANYTHING)
		nodes = 100 + below(r, 80);
	if (asked == OF_LIKED && chance(r, 50))
		r->racks = 4;
	r->hosts =
		(asked == OF_NODES || asked == OF_LIKED) && chance(r, 70) ? 2 * nodes : FEW_HOSTS;
	if (asked == SIX_IN_A_RACK)
		r->racks = 60;
	for (uint32_t i = 0; i < nodes; i++)
		make_node(r);
	static void (*const makers[])(struct run *) = {make_job, make_job_of_racks,
		make_job_of_six_in_a_rack, make_job_of_nodes, make_job_of_many, make_job_of_liked};
	makers[asked](r);
	fill(r);
	r->view = world_view(r->world);
	r->fleet = view_fleet_create();
	if (chance(r, 70))
		view_fleet_begin(r->fleet, &r->view);
	r->plan = plan_create();
	r->plan->eval_id.bytes[0] = (uint8_t)seed;
	r->stack = stack_create(STACK_GENERIC, &r->view, r->plan);
	uint32_t first_slot = seed % 2 ? 0 : below(r, r->world->node_count);
	stack_break_ties(r->stack, first_slot);
	stack_set_job(r->stack, r->job);
	if (asked != ANYTHING) {
		r->twin_plan = plan_create();
		r->twin = stack_create(STACK_GENERIC, &r->view, r->twin_plan);
		stack_break_ties(r->twin, first_slot);
		stack_set_job(r->twin, r->job);
	}
	r->naive = (struct naive){r->world, r->plan, r->job, first_slot, -1};
}

void random_run_end(struct run *r)
{
	stack_destroy(r->twin);
	plan_free(r->twin_plan);
	stack_destroy(r->stack);
	view_fleet_destroy(r->fleet);
	plan_free(r->plan);
	world_destroy(r->world);
}
