// Which allocations make room for a job of higher priority.
#include "placement/direct/victims/victim_score.h"
#include "placement/scheduler/node/preempt.h"
#include "state/base/prng.h"
#include "state/records/allocation_end.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_least_important_make_room_first(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=2000 memory=4096");
	struct job *low = world_job(b.world, "batch low priority=20 cpu=500 memory=500");
	struct job *lower = world_job(b.world, "batch lower priority=10 cpu=100 memory=100");
	struct job *near = world_job(b.world, "batch near priority=45 cpu=900 memory=500");
	struct allocation *victims[2] = {
		world_allocate(b.world, lower, 0, 0, 0), world_allocate(b.world, low, 0, 0, 0)};
	world_allocate(b.world, near, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=500");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_ptr_equal(b.option.preempted[i], victims[i]);
		stack_plan_preempt(b.stack, victims[i], &(struct uuid){{1}});
	}
	asking_place(&b, 0);
	assert_int_equal(b.plan->preemptions.count, 2);
	assert_string_equal(ask(&b, 0), "cpu"); // the rest has too high a priority
	asking_teardown(&b);
}

static void superfluous_victims_stay(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=3400 memory=4096");
	struct job *near = world_job(b.world, "batch near priority=20 cpu=900 memory=100");
	struct job *large = world_job(b.world, "batch large priority=20 cpu=2500 memory=100");
	world_allocate(b.world, near, 0, 0, 0);
	struct allocation *victim = world_allocate(b.world, large, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=100");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	b.world->config.preemption.system = false;
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	asking_teardown(&b);
}

// Machines are never preempted, so that their resources stay taken.
static void machines_make_no_room(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000 memory=4096");
	b.world->machines[0] = (struct resources){.cpu_mhz = 500};
	struct job *low = world_job(b.world, "batch low priority=20 cpu=400");
	struct allocation *victim = world_allocate(b.world, low, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=600");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	struct job *less = world_job(b.world, "system less priority=50 cpu=500");
	asking_begin(&b, STACK_SYSTEM, less);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	asking_teardown(&b);
}

static void groups_that_gave_enough_are_spared(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000 memory=4096");
	world_node(b.world, "cpu=1000 memory=4096");
	struct job *nearer = world_job(b.world, "service nearer priority=20 cpu=500");
	struct job *farther = world_job(b.world, "batch farther priority=20 cpu=490");
	group_of(nearer)->migrate = block(&migrate_description);
	group_of(nearer)->migrate->max_parallel = 1;
	struct allocation *given = world_allocate(b.world, nearer, 0, 0, 0);
	world_allocate(b.world, nearer, 0, 1, 1);
	struct allocation *victim = world_allocate(b.world, farther, 0, 1, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=500");
	asking_begin(&b, STACK_SYSTEM, job);
	stack_plan_preempt(b.stack, given, &(struct uuid){{1}});
	assert_string_equal(ask(&b, 1), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	asking_teardown(&b);
}

static void who_holds_the_port_makes_room(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "net=host/eth0/default/10.0.0.1 ports=443");
	struct job *low = world_job(b.world, "batch low priority=20");
	struct job *high = world_job(b.world, "batch high priority=41");
	struct allocation *victim = world_allocate(b.world, low, 0, 0, 0);
	world_hold_port(victim, "p", 80, "10.0.0.1");
	world_hold_port(world_allocate(b.world, high, 0, 0, 0), "p", 81, "10.0.0.1");
	struct job *job = world_job(b.world, "system sys priority=50");
	struct port *port = ask_port(&ask_network(job, "host")->reserved_ports, "http", 80, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	port->value = 81;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=81");
	port->value = 443;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=443");
	asking_teardown(&b);
}

static void devices_are_freed_where_it_costs_least(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "device.nvidia/gpu/t4=2 device.nvidia/gpu/a100=2");
	struct job *low = world_job(b.world, "batch low priority=20");
	struct job *lower = world_job(b.world, "batch lower priority=10");
	static const struct {
		uint32_t group;
		uint64_t instances;
		bool lower;
	} held[] = {{0, 1, false}, {0, 2, true}, {1, 3, false}};
	struct allocation *a[3];
	for (uint32_t i = 0; i < 3; i++) {
		a[i] = world_allocate(b.world, held[i].lower ? lower : low, 0, 0, i);
		struct device_set devices = {0};
		devices.groups[held[i].group] = held[i].instances;
		allocation_set_devices(a[i], &devices);
	}
	struct job *job = world_job(b.world, "system sys priority=50");
	ask_device(job, "gpu", 2);
	world_job_changed(job);
	asking_begin(&b, STACK_SYSTEM, job);
	// On t4: 10 + 20 of two priorities; on a100: only 20.
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], a[2]);
	assert_int_equal(b.option.devices.groups[1], 3);
	asking_teardown(&b);
}

struct sums {
	int64_t cpu, memory, disk;
};

static void add(struct sums *to, const struct allocation *a, int sign)
{
	to->cpu += sign * (int64_t)a->resources.cpu_mhz;
	to->memory += sign * (int64_t)a->resources.memory_mb;
	to->disk += sign * (int64_t)a->resources.disk_mb;
}

static bool covers(const struct sums *have, const struct resources *ask)
{
	return have->cpu >= ask->cpu_mhz && have->memory >= ask->memory_mb &&
	       have->disk >= ask->disk_mb;
}

static bool may_be_victim(const struct allocation *a, const struct job *job)
{
	return !allocation_is_terminal(a) && strcmp(a->job->id, job->id) != 0 &&
	       a->job->priority <= job->priority - 10;
}

static bool is_victim(const struct asking *b, const struct allocation *a)
{
	for (uint32_t i = 0; i < b->option.preempted_count; i++)
		if (b->option.preempted[i] == a)
			return true;
	return false;
}

// What other jobs (or all) leave of the node, and what victims, or all candidates, give back.
struct room {
	struct sums left, with_victims, with_all, without_last;
};

static struct room room_of(const struct asking *b, const struct job *job, bool strict)
{
	const struct node *n = b->world->nodes[0];
	struct room r = {.left = {n->total.cpu_mhz, n->total.memory_mb, n->total.disk_mb}};
	uint32_t victims = b->option.preempted_count;
	for (const struct world_allocation *w = b->world->allocations; w; w = w->next)
		if (!allocation_is_terminal(&w->record) &&
			(strict || strcmp(w->record.job->id, job->id) != 0))
			add(&r.left, &w->record, -1);
	r.with_victims = r.with_all = r.left;
	for (const struct world_allocation *w = b->world->allocations; w; w = w->next) {
		if (may_be_victim(&w->record, job))
			add(&r.with_all, &w->record, 1);
		if (is_victim(b, &w->record))
			add(&r.with_victims, &w->record, 1);
	}
	r.without_last = r.with_victims;
	if (victims > 0)
		add(&r.without_last, b->option.preempted[victims - 1], -1);
	return r;
}

static uint32_t below(struct prng *prng, uint32_t bound)
{
	return (uint32_t)prng_below(prng, bound);
}

static struct job *random_node(struct asking *b, struct prng *prng)
{
	char words[96];
	snprintf(words, sizeof words, "cpu=%u memory=%u disk=%u", 1000 + below(prng, 3000),
		1000 + below(prng, 3000), 1000 + below(prng, 3000));
	world_node(b->world, words);
	snprintf(words, sizeof words, "system sys priority=50 cpu=%u memory=%u disk=%u",
		below(prng, 3000), below(prng, 3000), below(prng, 1500));
	struct job *job = world_job(b->world, words);
	for (uint32_t i = below(prng, 12); i > 0; i--) {
		snprintf(words, sizeof words, "batch other%u priority=%u cpu=%u memory=%u disk=%u",
			below(prng, 4), 10 * below(prng, 6) + below(prng, 2), below(prng, 900),
			below(prng, 900), below(prng, 400));
		struct job *other = below(prng, 8) ? world_job(b->world, words) : job;
		struct allocation *a = world_allocate(b->world, other, 0, 0, i);
		if (below(prng, 10) == 0)
			a->client_status = ALLOC_COMPLETE;
	}
	return job;
}

static void check_victims(const struct asking *b, const struct job *job, bool strict)
{
	const struct resources *ask = &ARRAY_AT(&job->asks, struct group_ask, 0)->resources;
	struct room r = room_of(b, job, strict), all = room_of(b, job, true);
	if (covers(&all.left, ask)) { // no victim is needed
		assert_int_equal(b->option.outcome, STACK_FITS);
		assert_int_equal(b->option.preempted_count, 0);
		return;
	}
	for (uint32_t i = 0; i < b->option.preempted_count; i++)
		assert_true(may_be_victim(b->option.preempted[i], job));
	if (b->option.outcome == STACK_FITS) {
		assert_true(covers(&r.with_victims, ask));
		assert_true(b->option.preempted_count > 0);
		// The farthest go first, until there is enough: the last victim was needed.
		assert_true(b->option.preempted_count == 1 || !covers(&r.without_last, ask));
	} else {
		// All candidates together are not enough, or there is none.
		bool anybody = memcmp(&r.left, &r.with_all, sizeof r.left) != 0;
		assert_true(!anybody || !covers(&r.with_all, ask));
	}
}

static void be_strict_on_first(struct asking *b)
{
	const struct node *node = b->view.node_at(b->view.context, 0);
	struct uuid id = node->id;
	struct array ids = {&id, 1};
	stack_be_strict_on(b->stack, &ids);
}

static void victims_suffice_and_none_is_left_over(void **state)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct asking b;
		struct prng prng;
		prng_seed(&prng, seed);
		asking_setup(&b);
		struct job *job = random_node(&b, &prng);
		for (uint32_t strict = 0; strict < 2; strict++) {
			asking_begin(&b, STACK_SYSTEM, job);
			if (strict)
				be_strict_on_first(&b);
			ask(&b, 0);
			check_victims(&b, job, strict);
		}
		asking_teardown(&b);
	}
}

static void no_victims_score_more_than_the_bound(void **state)
{
	struct prng prng;
	prng_seed(&prng, 1);
	for (uint32_t run = 0; run < 20000; run++) {
		struct job jobs[40] = {0};
		struct allocation records[40] = {0};
		const struct allocation *victims[40];
		uint32_t count = 1 + below(&prng, 40), least = below(&prng, 30),
			 span = below(&prng, 60);
		bool are_alike = true;
		for (uint32_t i = 0; i < count; i++) {
			jobs[i].priority = least + (span ? below(&prng, span) : 0);
			are_alike &= jobs[i].priority == least;
			records[i].job = &jobs[i];
			victims[i] = &records[i];
		}
		double score = preemption_score(victims, count);
		assert_true(score <= victim_score_most(least, count));
		if (are_alike && least > 0 && count <= least + 1)
			assert_true(score == victim_score_most(least, count));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_important_make_room_first),
		cmocka_unit_test(superfluous_victims_stay),
		cmocka_unit_test(machines_make_no_room),
		cmocka_unit_test(groups_that_gave_enough_are_spared),
		cmocka_unit_test(who_holds_the_port_makes_room),
		cmocka_unit_test(devices_are_freed_where_it_costs_least),
		cmocka_unit_test(victims_suffice_and_none_is_left_over),
		cmocka_unit_test(no_victims_score_more_than_the_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
