// Random events of nodes against a naive model: sets and loops written down from rows E4 to E27, which know nothing
// of marks and chains. After every event both say the same.
#include "state/base/prng.h"
#include "tools/simulate/node_fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 9, SNAPSHOTS = 6, STEPS = 1000000, LIVES = 8 };
#define LOST_AFTER 10
#define FLAKY_AFTER 25

static const char *const snapshots[SNAPSHOTS] = {"", "a", "b", "c", "d", "e"};

struct suspension {
	bool pending, asked, signalled; // asked: the loop of row E6 goes on
	bool lost, flaky;
	int64_t lost_at, flaky_at;
};
struct model {
	bool readiness;
	bool healthy[NODES], suspended[NODES], offlined[NODES];
	struct suspension
		why[NODES];    // of suspended ones, and of those that were when they were offlined
	bool says_no[NODES];   // the newest answer of its probe
	bool group[SNAPSHOTS]; // is there
	bool idle[SNAPSHOTS][NODES], busy[SNAPSHOTS][NODES];
	int64_t num_running;
};

static bool m_knows(const struct model *m, uint32_t n)
{
	return m->healthy[n] || m->suspended[n] || m->offlined[n];
}

static void m_leave_group(struct model *m, uint32_t n)
{
	for (uint32_t s = 0; s < SNAPSHOTS; s++)
		m->idle[s][n] = m->busy[s][n] = false;
}

static void m_forget(struct model *m, uint32_t n)
{
	m->healthy[n] = m->suspended[n] = m->offlined[n] = m->says_no[n] = false;
	m->why[n] = (struct suspension){0};
	m_leave_group(m, n);
}

static void m_add(struct model *m, uint32_t n)
{
	if (m->suspended[n]) { // E7, E8; E9: a flaky one is left alone
		m->why[n].lost = false;
		if (m->why[n].signalled && !m->why[n].flaky)
			m->why[n].pending = false;
		if (!m->why[n].pending && !m->why[n].flaky) {
			m->suspended[n] = false;
			m->healthy[n] = true;
		}
	} else if (!m_knows(m, n)) { // E4, E5; E10 and E11: others are left alone
		m->idle[0][n] = true;
		m->healthy[n] = !m->readiness;
		m->suspended[n] = m->readiness;
		m->why[n] = (struct suspension){.pending = m->readiness, .asked = m->readiness};
	}
}

static void m_remove(struct model *m, uint32_t n, int64_t now)
{
	if (m->offlined[n]) { // E16
		m_forget(m, n);
	} else if (m_knows(m, n)) { // E14, E15
		if (m->healthy[n])
			m->why[n] = (struct suspension){0};
		m->healthy[n] = false;
		m->suspended[n] = true;
		m->why[n].lost = true;
		m->why[n].lost_at = now;
		m->why[n].flaky = false;
	}
}

static void m_user_add(struct model *m, uint32_t n)
{
	if (!m->offlined[n])
		return;
	m->offlined[n] = false;
	m->suspended[n] = m->why[n].pending || m->why[n].lost || m->why[n].flaky;
	m->healthy[n] = !m->suspended[n];
}

static void m_user_remove(struct model *m, uint32_t n)
{
	if (m->healthy[n])
		m->why[n] = (struct suspension){0};
	m->offlined[n] |= m->healthy[n] || m->suspended[n];
	m->healthy[n] = m->suspended[n] = false;
}

static void m_sweep_one(struct model *m, uint32_t n, int64_t now)
{
	struct suspension *w = &m->why[n];

	if (w->signalled) // E18
		w->pending = w->signalled = false;
	if (w->lost && now > w->lost_at + LOST_AFTER) { // E19
		m_forget(m, n);
		return;
	}
	if (w->flaky && now > w->flaky_at + FLAKY_AFTER) { // E20
		bool was_busy = false;
		for (uint32_t s = 0; s < SNAPSHOTS; s++)
			was_busy |= m->busy[s][n];
		m_leave_group(m, n);
		(was_busy ? m->busy : m->idle)[0][n] = true;
		*w = (struct suspension){.pending = m->readiness, .asked = m->readiness};
	}
	if (!w->pending && !w->lost && !w->flaky) {
		m->suspended[n] = false;
		m->healthy[n] = true;
	}
}

static void m_sweep(struct model *m, int64_t now)
{
	for (uint32_t n = 0; n < NODES; n++)
		if (m->suspended[n])
			m_sweep_one(m, n, now);
}

static bool m_schedule(struct model *m, uint32_t n, const char *snapshot)
{
	if (!m->healthy[n])
		return false;
	for (uint32_t s = 0; s < SNAPSHOTS; s++) { // E22
		bool left = m->idle[s][n] || m->busy[s][n], is_empty = true;
		m->idle[s][n] = m->busy[s][n] = false;
		for (uint32_t i = 0; i < NODES; i++)
			is_empty &= !m->idle[s][i] && !m->busy[s][i];
		if (left && is_empty && s > 0)
			m->group[s] = false;
	}
	for (uint32_t s = 0; s < SNAPSHOTS; s++)
		if (strcmp(snapshots[s], snapshot) == 0)
			m->group[s] = m->busy[s][n] = true;
	m->num_running++;
	return true;
}

static void m_complete(struct model *m, uint32_t n, bool flaky, int64_t now)
{
	m->num_running--;                          // E26
	for (uint32_t s = 0; s < SNAPSHOTS; s++) { // E23
		m->idle[s][n] |= m->busy[s][n];
		m->busy[s][n] = false;
	}
	if (!m->healthy[n])
		return;
	bool is_lost = m->readiness && m->says_no[n]; // E24
	m->why[n] = (struct suspension){
		.lost = is_lost, .lost_at = now, .flaky = flaky && !is_lost, .flaky_at = now};
	m->suspended[n] = is_lost || flaky;
	m->healthy[n] = !m->suspended[n];
}

static void m_ready(struct model *m, uint32_t n, bool ready, int64_t backoff)
{
	if (!m_knows(m, n))
		return;
	m->says_no[n] = !ready;
	if (!m->why[n].asked || m->healthy[n])
		return;
	m->why[n].signalled |= ready; // E6
	m->why[n].asked = !ready && backoff > 0;
}

static bool m_happens(struct model *m, const struct node_event *e)
{
	switch (e->kind) {
	case NODE_EVENT_ADDED: m_add(m, e->node); break;
	case NODE_EVENT_REMOVED: m_remove(m, e->node, e->at_ns); break;
	case NODE_EVENT_USER_ADDED: m_user_add(m, e->node); break;
	case NODE_EVENT_USER_REMOVED: m_user_remove(m, e->node); break;
	case NODE_EVENT_TASK_SCHEDULED: return m_schedule(m, e->node, e->snapshot);
	case NODE_EVENT_TASK_COMPLETED: m_complete(m, e->node, e->flaky, e->at_ns); return true;
	case NODE_EVENT_READY: m_ready(m, e->node, e->ready, e->backoff_ns); return true;
	default: break;
	}
	m_sweep(m, e->at_ns); // E3
	return true;
}

static enum node_standing m_standing(const struct model *m, uint32_t n)
{
	assert_true(m->healthy[n] + m->suspended[n] + m->offlined[n] <= 1); // E1
	if (m->healthy[n])
		return NODE_HEALTHY;
	if (m->suspended[n])
		return NODE_SUSPENDED;
	return m->offlined[n] ? NODE_OFFLINED : NODE_FORGOTTEN;
}

static void expect_same_node(const struct model *m, const struct node_fleet *f, uint32_t n)
{
	const struct standing *l = &f->nodes[n];
	const struct suspension *w = &m->why[n];

	assert_true(standing_is_sound(l));
	assert_int_equal(standing_of(l), m_standing(m, n));
	if (!m->suspended[n])
		return;
	assert_int_equal(l->lost_ns, w->lost ? w->lost_at : 0);
	assert_int_equal(l->flaky_ns, w->flaky ? w->flaky_at : 0);
	assert_int_equal(standing_is_ready(l), !w->pending || w->signalled);
}

static void expect_same_chain(
	const struct node_groups *g, uint32_t group, bool busy, const bool members[NODES])
{
	uint32_t expected = 0, found = 0;

	for (uint32_t n = 0; n < NODES; n++)
		expected += members[n];
	for (uint32_t n = node_group_first(g, group, busy); n != NODE_GROUP_NO_NODE;
		n = node_group_after(g, n), found++)
		assert_true(members[n]);
	assert_int_equal(found, expected);
	assert_int_equal(node_group_size(g, group, busy), expected);
}

static void expect_same_groups(const struct model *m, const struct node_groups *g)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < SNAPSHOTS; s++) {
		uint32_t group = node_groups_find(g, text_of(snapshots[s]));
		assert_int_equal(group != NODE_GROUP_NONE, m->group[s]);
		if (!m->group[s])
			continue;
		count++;
		expect_same_chain(g, group, false, m->idle[s]);
		expect_same_chain(g, group, true, m->busy[s]);
	}
	assert_int_equal(node_groups_count(g), count);
}

static void expect_same(const struct model *m, const struct node_fleet *f)
{
	uint32_t healthy = 0;

	for (uint32_t n = 0; n < NODES; n++) {
		expect_same_node(m, f, n);
		healthy += m->healthy[n];
	}
	expect_same_groups(m, f->groups);
	assert_int_equal(node_fleet_healthy(f), healthy);
	assert_int_equal(f->running, m->num_running);
}

static struct node_event an_event(struct prng *prng, int64_t now)
{
	return (struct node_event){
		.kind = (enum node_event_kind)(1 + prng_below(prng, NODE_EVENT_KINDS - 1)),
		.at_ns = now,
		.node = (uint32_t)prng_below(prng, NODES),
		.snapshot = snapshots[prng_below(prng, SNAPSHOTS)],
		.flaky = prng_below(prng, 4) == 0,
		.ready = prng_below(prng, 3) != 0,
		.backoff_ns = (int64_t)prng_below(prng, 4)};
}

static void a_million_events_are_as_the_rows_say(void **state)
{
	uint32_t seen[NODE_STANDINGS] = {0};

	(void)state;
	for (uint32_t life = 0; life < LIVES; life++) {
		struct prng prng;
		struct model m = {.readiness = life % 2, .group = {true}};
		const struct standing_limits limits = {LOST_AFTER, FLAKY_AFTER, life % 2};
		struct node_fleet *f = node_fleet_create(NODES, SNAPSHOTS, &limits);
		int64_t now = 1;
		prng_seed(&prng, life + 1);
		for (uint32_t i = 0; i < STEPS / LIVES; i++) {
			struct node_event e = an_event(&prng, now);
			assert_int_equal(node_fleet_happens(f, &e), m_happens(&m, &e));
			expect_same(&m, f);
			seen[m_standing(&m, e.node)]++;
			now += (int64_t)prng_below(&prng, 3);
		}
		node_fleet_free(f);
	}
	for (uint32_t i = 0; i < NODE_STANDINGS; i++)
		assert_true(seen[i] > STEPS / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_events_are_as_the_rows_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
