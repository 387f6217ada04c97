// Quotas against a naive model: direct jobs of three namespaces place and release at random, quotas and namespaces are
// described anew; a placement is refused exactly when the sum over what lives would be too much. Then successors, by
// the log and by a snapshot, refuse the same.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SPACES = 3, QUOTAS = 2, STEPS = 1500, LIVING_MAX = 256, NODES = 8 };

static const struct resources asks[SPACES] = {{100, 50, 0}, {30, 200, 0}, {70, 70, 0}};

struct model {
	struct controller c;
	struct prng prng;
	int quota_of[SPACES];     // -1: none
	int64_t limit[QUOTAS][3]; // cpu, memory, instances; 0: none
	struct uuid living[SPACES][LIVING_MAX];
	uint32_t count[SPACES];
	uint64_t request;
	uint32_t placed, refused;
};

static uint32_t draw(struct model *m, uint32_t below)
{
	return (uint32_t)(prng_u64(&m->prng) % below);
}

static void space_name(int space, char name[static 16])
{
	snprintf(name, 16, "space-%d", space);
}

static void put_quota(struct model *m, int at)
{
	struct quota *q = record_create(&quota_description);
	struct command command = {.type = COMMAND_QUOTA, .quota = {q}};
	char name[16];

	snprintf(name, sizeof name, "quota-%d", at);
	q->name = text_copy(text_of(name));
	struct quota_limit *limit = array_append(&q->limits, sizeof *limit);
	*limit = (struct quota_limit){0};
	for (int i = 0; i < 3; i++)
		m->limit[at][i] = draw(m, 3) == 0 ? 0 : i < 2 ? 1 + draw(m, 3000) : 1 + draw(m, 30);
	limit->resources.cpu_mhz = m->limit[at][0];
	limit->resources.memory_mb = m->limit[at][1];
	limit->resources.instances = m->limit[at][2];
	assert_int_equal(controller_run(&m->c, &command), OUTCOME_DONE);
}

static void put_space(struct model *m, int space, int quota)
{
	struct job_namespace *n = record_create(&job_namespace_description);
	struct command command = {.type = COMMAND_NAMESPACE, .namespace = {n}};
	char name[16];

	space_name(space, name);
	n->name = text_copy(text_of(name));
	if (quota >= 0) {
		snprintf(name, sizeof name, "quota-%d", quota);
		n->quota = text_copy(text_of(name));
	}
	assert_int_equal(controller_run(&m->c, &command), OUTCOME_DONE);
	m->quota_of[space] = quota;
}

static void put_job(struct model *m, int space)
{
	struct job *job = build_job("j", &asks[space], 1);
	char name[16];

	space_name(space, name);
	free(job->namespace_name);
	job->namespace_name = text_copy(text_of(name));
	assert_int_equal(controller_job(&m->c, job), OUTCOME_DONE);
}

static bool has_room(const struct model *m, int space)
{
	int64_t used[3] = {asks[space].cpu_mhz, asks[space].memory_mb, 1};
	int quota = m->quota_of[space];

	for (int i = 0; i < SPACES && quota >= 0; i++) {
		used[0] += m->quota_of[i] == quota ? m->count[i] * (int64_t)asks[i].cpu_mhz : 0;
		used[1] += m->quota_of[i] == quota ? m->count[i] * (int64_t)asks[i].memory_mb : 0;
		used[2] += m->quota_of[i] == quota ? m->count[i] : 0;
	}
	for (int i = 0; i < 3 && quota >= 0; i++)
		if (m->limit[quota][i] && used[i] > m->limit[quota][i])
			return false;
	return true;
}

static enum command_outcome place(struct model *m, struct controller *c, int space, struct uuid *id)
{
	char name[16];
	space_name(space, name);
	struct command_place place = {.client = TEXT("tester"),
		.issued_ms = controller_now_ms(c),
		.request = ++m->request,
		.count = 1,
		.namespace_name = text_of(name),
		.job = TEXT("j"),
		.group = TEXT("g0")};
	struct command command = {.type = COMMAND_PLACE, .place = &place};
	enum command_outcome outcome = controller_run(c, &command);

	*id = place.items[0].allocation;
	return outcome;
}

static void place_one(struct model *m, int space)
{
	struct uuid id;
	bool expected = has_room(m, space);

	if (m->count[space] == LIVING_MAX)
		return;
	assert_int_equal(
		place(m, &m->c, space, &id), expected ? OUTCOME_DONE : OUTCOME_QUOTA_EXHAUSTED);
	m->placed += expected;
	m->refused += !expected;
	if (expected)
		m->living[space][m->count[space]++] = id;
}

static void release_one(struct model *m, int space)
{
	if (!m->count[space])
		return;
	uint32_t at = draw(m, m->count[space]);
	struct command_release result;
	assert_int_equal(
		controller_release(&m->c, &m->living[space][at], 1, &result), OUTCOME_DONE);
	m->living[space][at] = m->living[space][--m->count[space]];
}

static void step(struct model *m)
{
	int space = (int)draw(m, SPACES);
	uint32_t what = draw(m, 100);

	if (what < 70)
		place_one(m, space);
	else if (what < 94)
		release_one(m, space);
	else if (what < 97)
		put_quota(m, (int)draw(m, QUOTAS));
	else
		put_space(m, space, (int)draw(m, QUOTAS + 1) - 1);
}

static void expect_successor(struct model *m, struct controller *next)
{
	controller_open(next);
	controller_verify(next);
	for (int space = 0; space < SPACES; space++) {
		struct uuid id;
		if (!has_room(m, space))
			assert_int_equal(place(m, next, space, &id), OUTCOME_QUOTA_EXHAUSTED);
	}
	controller_free(next);
}

static void a_placement_is_refused_when_it_is_too_much(void **unused)
{
	struct model *m = memory_take(sizeof *m);
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
	struct controller next;

	print_message("seed %llu\n", (unsigned long long)seed);
	prng_seed(&m->prng, seed);
	controller_init(&m->c, (struct state_limits){.nodes = NODES});
	controller_open(&m->c);
	for (uint32_t i = 1; i <= NODES; i++)
		controller_register(&m->c, i, NULL);
	for (int i = 0; i < QUOTAS; i++)
		put_quota(m, i);
	for (int i = 0; i < SPACES; i++) {
		put_space(m, i, i % QUOTAS);
		put_job(m, i);
	}
	for (int i = 0; i < STEPS; i++) {
		step(m);
		if (i % 100 == 0)
			controller_verify(&m->c);
	}
	assert_true(m->placed > 20 && m->refused > 20);
	controller_verify(&m->c);
	controller_init(&next, (struct state_limits){.nodes = NODES});
	controller_seed(&next, 7);
	assert_int_equal(controller_replay(&next, &m->c.log, m->c.log.count), 0);
	expect_successor(m, &next);
	struct bytes_writer image = controller_image(&m->c);
	controller_init(&next, (struct state_limits){.nodes = NODES});
	controller_seed(&next, 8);
	assert_int_equal(controller_load(&next, &image), 0);
	expect_successor(m, &next);
	bytes_writer_free(&image);
	controller_free(&m->c);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_placement_is_refused_when_it_is_too_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
