// Random commands about nodes and what runs on them, through the applier: where every node stands is what a naive model
// makes of the rows E4 to E31, after every command; and the log, and a snapshot, lead to the same state.
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/evaluations.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 6 / BUILD_SLOWNESS, STEPS = 2000, NODES = 5, JOBS = 3, ALLOCATIONS = 1000 };
// Between whole seconds, in which the clock goes on.
#define LOST_AFTER_NS (10 * NS_PER_S + NS_PER_S / 2)
#define FLAKY_AFTER_NS (25 * NS_PER_S + NS_PER_S / 2)

static const char *const jobs[JOBS] = {"plain", "red", "blue"};
static const char *const snapshots[JOBS] = {"", "red", "blue"};

enum place { NOWHERE, HEALTHY, SUSPENDED, OFFLINED };
struct model {
	enum place place;
	bool away; // silent: neither ready nor initializing
	bool pending, asked, signalled, says_no;
	int64_t lost_at, flaky_at; // 0: it is not
	int snapshot;              // of its group
	uint32_t living;
};
struct life {
	struct controller c;
	struct prng prng;
	bool readiness;
	uint64_t sequence;
	struct node_registration nodes[NODES];
	struct model models[NODES];
	uint32_t placed, released;
	int on[ALLOCATIONS + 1]; // by number: the node on which it lives, -1: none
	struct uuid direct[ALLOCATIONS];
	int direct_on
		[ALLOCATIONS]; // the same of those of the direct job, by the order in which they came
	uint32_t direct_count;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static int64_t now_ns(const struct life *l)
{
	return (int64_t)l->c.time.wall_ns;
}

static void settle(struct model *m)
{
	bool waits = m->pending || m->lost_at || m->flaky_at;

	m->place = waits ? SUSPENDED : HEALTHY;
}

static void forget(struct model *m)
{
	*m = (struct model){.away = m->away, .living = m->living};
}

static void add(struct model *m, bool readiness)
{
	if (m->place == NOWHERE) {
		m->pending = m->asked = readiness;
		settle(m);
	} else if (m->place == SUSPENDED && m->lost_at) {
		m->lost_at = 0;
		m->pending &= !m->signalled;
		m->signalled = false;
		settle(m);
	}
}

static void go_away(struct model *m, int64_t now)
{
	if (m->place == OFFLINED) {
		forget(m);
	} else if (m->place != NOWHERE) {
		m->lost_at = now;
		m->flaky_at = 0;
		m->place = SUSPENDED;
	}
}

static void sweep(struct model *m, bool readiness, int64_t now)
{
	if (m->place != SUSPENDED)
		return;
	if (m->signalled)
		m->pending = m->signalled = false;
	if (m->lost_at && now - m->lost_at > LOST_AFTER_NS) {
		forget(m);
		return;
	}
	if (m->flaky_at && now - m->flaky_at > FLAKY_AFTER_NS) {
		m->flaky_at = 0;
		m->snapshot = 0;
		m->pending = m->asked = readiness;
	}
	settle(m);
}

static void answer(struct model *m, bool ready, int64_t backoff_ns)
{
	if (m->place == NOWHERE)
		return;
	m->says_no = !ready;
	if (!m->asked)
		return;
	m->signalled |= ready;
	m->asked = !ready && backoff_ns > 0;
}

static void end_task(struct model *m, bool flaky, bool unready, bool readiness, int64_t now)
{
	m->living--;
	m->says_no |= unready && m->place != NOWHERE;
	if (m->place != HEALTHY)
		return;
	if (readiness && m->says_no)
		m->lost_at = now;
	else if (flaky)
		m->flaky_at = now;
	settle(m);
}

// What it ran of the direct job ends with it, without a word.
static void lose(struct life *l, uint32_t i)
{
	go_away(&l->models[i], now_ns(l));
	for (uint32_t d = 0; d < l->direct_count; d++) {
		if (l->direct_on[d] != (int)i)
			continue;
		l->direct_on[d] = -1;
		l->models[i].living--;
	}
}

static void change_status(struct life *l, uint32_t i)
{
	struct node_registration *n = &l->nodes[i];
	struct model *m = &l->models[i];
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = n};

	switch (below(l, 5)) {
	case 0:
		build_node(n, i + 1, ++l->sequence);
		assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
		if (!m->away)
			add(m, l->readiness);
		return;
	case 1:
	case 2:
		controller_node(&l->c, COMMAND_NODE_RETURNED, n->slot, n->generation);
		if (m->away)
			add(m, l->readiness);
		m->away = false;
		return;
	default:
		controller_node(&l->c, below(l, 2) ? COMMAND_NODE_EXPIRED : COMMAND_NODE_GOODBYE,
			n->slot, n->generation);
		if (!m->away)
			lose(l, i);
		m->away = true;
	}
}

static enum command_outcome run(struct life *l, struct command_node_standing *c)
{
	struct command command = {.type = COMMAND_NODE_STANDING, .standing = c};

	return controller_run(&l->c, &command);
}

static void operate(struct life *l, uint32_t i)
{
	struct model *m = &l->models[i];
	bool offline = below(l, 2);
	struct command_node_standing c = {.action = offline ? STANDING_OFFLINE : STANDING_ONLINE,
		.nodes = &l->nodes[i].node,
		.count = 1};
	bool may = m->place == HEALTHY || m->place == OFFLINED;

	assert_int_equal(run(l, &c), may ? OUTCOME_DONE : OUTCOME_NOT_NOW);
	if (!may)
		return;
	assert_int_equal(c.changed, (m->place == OFFLINED) != offline);
	m->place = OFFLINED;
	if (!offline)
		settle(m);
}

static void probe(struct life *l, uint32_t i)
{
	struct command_node_standing c = {.action = STANDING_PROBED,
		.slot = l->nodes[i].slot,
		.generation = l->nodes[i].generation,
		.sequence = ++l->sequence,
		.ready = below(l, 6) > 0,
		.backoff_ns = below(l, 8)};

	assert_int_equal(run(l, &c), OUTCOME_DONE);
	answer(&l->models[i], c.ready, c.backoff_ns);
	// The same frame once more, and one that was on its way for long.
	c.ready = !c.ready;
	c.sequence -= below(l, 2);
	assert_int_equal(run(l, &c), OUTCOME_DONE);
	assert_int_equal(c.changed, 0);
}

static void sweep_all(struct life *l)
{
	struct uuid ids[NODES];
	struct command_node_standing c = {.action = STANDING_SWEEP, .nodes = ids, .count = NODES};

	for (uint32_t i = 0; i < NODES; i++)
		ids[i] = l->nodes[NODES - 1 - i].node;
	assert_int_equal(run(l, &c), OUTCOME_DONE);
	for (uint32_t i = 0; i < NODES; i++)
		sweep(&l->models[i], l->readiness, now_ns(l));
}

static struct uuid an_eval(struct life *l, const char *job)
{
	struct command command = {
		.type = COMMAND_JOB_EVALUATE, .job_evaluate = {.id = text_of(job)}};

	assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
	return command.job_evaluate.made.id;
}

// What the state says of a node.
static enum node_status status_of(struct life *l, uint32_t i, bool *is_usable)
{
	state_read_begin();
	const struct node *n = state_node_by_id(l->c.state, &l->nodes[i].node);
	enum node_status status = (enum node_status)n->status;
	*is_usable = node_is_usable(n);
	state_read_end();
	return status;
}

static void place(struct life *l, uint32_t i)
{
	struct model *m = &l->models[i];
	uint32_t job = below(l, JOBS);
	bool is_usable;
	enum node_status status = status_of(l, i, &is_usable);

	assert_int_equal(is_usable, status == NODE_READY && m->place == HEALTHY);
	if (!is_usable || m->living > 20 || l->placed == ALLOCATIONS)
		return;
	struct uuid eval = an_eval(l, jobs[job]);
	assert_int_equal(
		place_one(&l->c, &eval, jobs[job], &l->nodes[i], ++l->placed), OUTCOME_DONE);
	l->on[l->placed] = (int)i;
	m->living++;
	if (job > 0)
		m->snapshot = (int)job;
}

// One that lives, 0: there is none.
static uint32_t any_living(struct life *l)
{
	uint32_t start = l->placed ? below(l, l->placed) : 0;

	for (uint32_t i = 0; i < l->placed; i++)
		if (l->on[(start + i) % l->placed + 1] >= 0)
			return (start + i) % l->placed + 1;
	return 0;
}

static void end_one(struct life *l)
{
	uint32_t number = any_living(l), i = (uint32_t)l->on[number];
	bool is_usable;

	if (number == 0)
		return;
	enum node_status status = status_of(l, i, &is_usable);
	struct alloc_update_item item = {.allocation = placed_id(number),
		.client_status = below(l, 2) ? ALLOC_COMPLETE : ALLOC_FAILED,
		.flaky = below(l, 4) == 0,
		.unready = below(l, 5) == 0};
	struct command_alloc_update update = {.slot = l->nodes[i].slot,
		.generation = l->nodes[i].generation,
		.sequence = ++l->sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	bool may = status == NODE_READY || status == NODE_INITIALIZING;
	assert_int_equal(
		controller_run(&l->c, &command), may ? OUTCOME_DONE : OUTCOME_NODE_NOT_ALLOWED);
	if (!may)
		return;
	end_task(&l->models[i], item.flaky, item.unready, l->readiness, now_ns(l));
	l->on[number] = -1;
}

// Where a placer puts it; it has no snapshot.
static void place_direct(struct life *l)
{
	struct command_place place;

	if (l->direct_count == ALLOCATIONS)
		return;
	if (controller_place(&l->c, "client", "direct", 1 + l->direct_count, 1, &place) !=
		OUTCOME_DONE)
		return;
	for (uint32_t i = 0; i < NODES; i++) {
		struct model *m = &l->models[i];
		if (l->nodes[i].slot != place.items[0].node_slot)
			continue;
		assert_int_equal(m->place, HEALTHY);
		assert_false(m->away);
		m->living++;
		l->direct_on[l->direct_count] = (int)i;
	}
	l->direct[l->direct_count++] = place.items[0].allocation;
}

static void release_direct(struct life *l)
{
	// The newest, more likely living, or any.
	uint32_t some = l->direct_count > 8 && below(l, 4) > 0 ? 8 : l->direct_count;

	if (l->direct_count == 0)
		return;
	uint32_t which = l->direct_count - 1 - below(l, some);
	assert_int_equal(controller_release(&l->c, &l->direct[which], 1, NULL), OUTCOME_DONE);
	if (l->direct_on[which] < 0)
		return;
	end_task(&l->models[l->direct_on[which]], false, false, l->readiness, now_ns(l));
	l->direct_on[which] = -1;
	l->released++;
}

static enum place place_of(const struct standing *l)
{
	static const enum place places[NODE_STANDINGS] = {[NODE_HEALTHY] = HEALTHY,
		[NODE_SUSPENDED] = SUSPENDED,
		[NODE_OFFLINED] = OFFLINED,
		[NODE_FORGOTTEN] = NOWHERE};

	return places[standing_of(l)];
}

static bool is_since(int64_t found_ns, int64_t at_ns)
{
	return at_ns == 0 ? found_ns == 0 : found_ns >= at_ns && found_ns - at_ns < NS_PER_S / 4;
}

static void expect_same(struct life *l, uint32_t i)
{
	const struct model *m = &l->models[i];

	state_read_begin();
	const struct node *n = state_node_by_id(l->c.state, &l->nodes[i].node);
	const struct standing *standing = &n->standing;
	assert_int_equal(place_of(standing), m->place);
	assert_true(is_since(standing->lost_ns, m->lost_at));
	assert_true(is_since(standing->flaky_ns, m->flaky_at));
	assert_int_equal(standing->readiness != READINESS_GIVEN, m->pending);
	assert_int_equal(standing->readiness == READINESS_SIGNALLED, m->signalled);
	assert_string_equal(n->snapshot, snapshots[m->snapshot]);
	assert_int_equal(l->c.state->cells[n->slot].living > 0, m->living > 0);
	state_read_end();
}

static void step(struct life *l)
{
	uint32_t i = below(l, NODES), what = below(l, 100);

	advance_ms(&l->c, below(l, 3) * 1000);
	if (what < 10)
		change_status(l, i);
	else if (what < 16)
		operate(l, i);
	else if (what < 32)
		probe(l, i);
	else if (what < 48)
		sweep_all(l);
	else if (what < 68)
		place(l, i);
	else if (what < 76)
		place_direct(l);
	else if (what < 84)
		release_direct(l);
	else
		end_one(l);
	for (i = 0; i < NODES; i++)
		expect_same(l, i);
}

static void begin(struct life *l, uint64_t seed)
{
	const struct resources asks = {.cpu_mhz = 1, .memory_mb = 1, .disk_mb = 1};

	*l = (struct life){.sequence = CONTROLLER_WALL_MS + 1000000, .readiness = seed % 2};
	prng_seed(&l->prng, seed);
	memset(l->on, 0xff, sizeof l->on);
	controller_init(&l->c, (struct state_limits){0});
	l->c.standing = (struct standing_limits){LOST_AFTER_NS, FLAKY_AFTER_NS, l->readiness};
	controller_open(&l->c);
	for (uint32_t i = 0; i < NODES; i++) {
		controller_register(&l->c, i + 1, &l->nodes[i]);
		add(&l->models[i], l->readiness);
	}
	for (uint32_t i = 0; i < JOBS; i++) {
		struct job *job = build_scheduled_job(jobs[i], JOB_SERVICE);
		struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);
		group->snapshot = text_copy(text_of(snapshots[i]));
		assert_int_equal(register_job(&l->c, job, NULL), OUTCOME_DONE);
	}
	assert_int_equal(controller_job(&l->c, build_job("direct", &asks, 1)), OUTCOME_DONE);
}

static void expect_much(const struct life *l, uint64_t seed)
{
	print_message("seed %lu: %u placed, %u directly, %u of them released\n",
		(unsigned long)seed, l->placed, l->direct_count, l->released);
	assert_true(l->placed > STEPS / 50);
	assert_true(l->released > 10);
}

static void nodes_stand_as_the_rows_say_and_again_after_a_restart(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life l;

		begin(&l, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(&l);
			if (i % 50 == 0)
				controller_verify(&l.c);
			if (i % 500 == 499)
				expect_restores(&l.c);
		}
		expect_much(&l, seed);
		controller_free(&l.c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_stand_as_the_rows_say_and_again_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
