// The order in which the reconciler goes through allocations: by the name of the group, the number in the name, the id.
// A plain sort of random ones says the same.
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 2000u
#define MEMBERS_MAX 200u
#define VERSIONS 3u
#define GROUPS 4u

struct jobs {
	struct job *versions[VERSIONS];
	struct allocation allocations[MEMBERS_MAX];
	const struct allocation *given[MEMBERS_MAX], *sorted[MEMBERS_MAX];
	uint32_t count;
};

// Versions have their groups in orders of their own, and not all of them.
static struct job *random_version(struct prng *prng, uint64_t number)
{
	struct job *job = job_create();
	uint32_t first = (uint32_t)prng_below(prng, GROUPS), count = 1 + prng_below(prng, GROUPS);

	job->version = job->job_modify_index = number;
	for (uint32_t i = 0; i < count; i++) {
		char name[2] = {(char)('a' + (first + i) % GROUPS), 0};
		struct task_group *group = array_append(&job->task_groups, sizeof *group);
		record_init(&task_group_description, group);
		group->name = text_copy(text_of(name));
	}
	return job;
}

static void random_jobs(struct prng *prng, struct jobs *j)
{
	uint32_t numbers = prng_below(prng, 3) == 0 ? 100000 : 1 + prng_below(prng, MEMBERS_MAX);

	for (uint32_t i = 0; i < VERSIONS; i++)
		j->versions[i] = random_version(prng, i);
	j->count = (uint32_t)prng_below(prng, MEMBERS_MAX + 1);
	for (uint32_t i = 0; i < j->count; i++) {
		struct job *job = j->versions[prng_below(prng, VERSIONS)];
		j->allocations[i] = (struct allocation){.id = prng_uuid(prng),
			.job = job,
			.group = (uint16_t)prng_below(prng, job->task_groups.count),
			.index = (uint32_t)prng_below(prng, numbers),
			.client_status = (uint8_t)prng_below(prng, ALLOC_UNKNOWN + 1)};
		j->given[i] = j->sorted[i] = &j->allocations[i];
	}
}

static int plain_compare(const void *a, const void *b)
{
	const struct allocation *x = *(const struct allocation *const *)a;
	const struct allocation *y = *(const struct allocation *const *)b;
	int order = strcmp(allocation_group(x)->name, allocation_group(y)->name);

	if (order == 0 && x->index != y->index)
		order = x->index < y->index ? -1 : 1;
	return order ? order : uuid_compare(&x->id, &y->id);
}

static void compare(const struct jobs *j, const struct reconciler *r)
{
	uint32_t at = 0;

	assert_int_equal(r->member_count, j->count);
	for (uint32_t s = 0; s < r->span_count; s++) {
		assert_int_equal(r->spans[s].first, at);
		assert_true(r->spans[s].count > 0);
		for (uint32_t i = 0; i < r->spans[s].count; i++, at++) {
			const struct member *m = &r->members[at];
			const struct allocation *a = j->sorted[at];
			assert_ptr_equal(m->allocation, a);
			assert_string_equal(r->spans[s].group, allocation_group(a)->name);
			assert_int_equal(m->index, a->index);
			assert_int_equal(m->client_status, a->client_status);
			assert_int_equal(m->is_current, a->job == j->versions[VERSIONS - 1]);
		}
	}
	assert_int_equal(at, j->count);
}

static void members_are_in_the_order_of_a_plain_sort(void **state)
{
	struct prng prng;
	uint64_t seed = 20261125;

	printf("seed %llu\n", (unsigned long long)seed);
	prng_seed(&prng, seed);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		static struct jobs j;
		random_jobs(&prng, &j);
		struct reconcile_ask ask = {.job = j.versions[VERSIONS - 1],
			.allocations = j.given,
			.allocation_count = j.count};
		struct reconciler r = {.ask = &ask, .job = ask.job};
		qsort(j.sorted, j.count, sizeof j.sorted[0], plain_compare);
		reconcile_members(&r);
		compare(&j, &r);
		reconcile_members_release(&r);
		for (uint32_t i = 0; i < VERSIONS; i++)
			job_free(j.versions[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_in_the_order_of_a_plain_sort),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
