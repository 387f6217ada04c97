#include "placement/direct/candidate_cache_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct node_class *class_at(void *context, uint32_t node_class)
{
	return NULL;
}
static const struct node *node_at(void *context, uint32_t slot)
{
	return NULL;
}

static struct job *job_of(uint32_t groups)
{
	struct job *job = job_create();
	job->type = JOB_DIRECT;
	for (uint32_t i = 0; i < groups; i++) {
		struct task_group *group = array_append(&job->task_groups, sizeof *group);
		record_init(&task_group_description, group);
	}
	assert_true(job_derive(job));
	return job;
}

struct world {
	struct fit_index *index;
	struct candidate_cache_table *table;
};

static struct world open_world(void)
{
	struct candidate_source source = {class_at, node_at, NULL};
	struct fit_index *index = fit_index_create(PLACEMENT_BINPACK);
	return (struct world){index, candidate_cache_table_create(index, &source)};
}
static void close_world(struct world *w)
{
	candidate_cache_table_destroy(w->table);
	fit_index_destroy(w->index);
}

static void candidates_are_kept_by_job_and_group(void **state)
{
	struct world w = open_world();
	struct job *a = job_of(3), *b = job_of(1);
	struct candidate_cache *caches[] = {candidate_cache_table_get(w.table, a, 0),
		candidate_cache_table_get(w.table, a, 1), candidate_cache_table_get(w.table, a, 2),
		candidate_cache_table_get(w.table, b, 0)};
	assert_int_equal(candidate_cache_table_count(w.table), 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(candidate_cache_table_get(w.table, a, i), caches[i]);
	candidate_cache_table_forget(w.table, a);
	assert_int_equal(candidate_cache_table_count(w.table), 1);
	assert_ptr_equal(candidate_cache_table_get(w.table, b, 0), caches[3]);
	candidate_cache_table_forget(w.table, a); // the table keeps nothing of it
	assert_int_equal(candidate_cache_table_count(w.table), 1);
	close_world(&w);
	job_free(a);
	job_free(b);
}

static void the_least_recently_used_gives_way(void **state)
{
	struct world w = open_world();
	static struct job *jobs[PROSPECTS_MAX + 1];
	struct candidate_cache *first = NULL;
	for (uint32_t i = 0; i <= PROSPECTS_MAX; i++) {
		jobs[i] = job_of(1);
		struct candidate_cache *cache = candidate_cache_table_get(w.table, jobs[i], 0);
		first = i == 0 ? cache : first;
		assert_ptr_equal(
			candidate_cache_table_get(w.table, jobs[0], 0), first); // stays in use
	}
	assert_int_equal(candidate_cache_table_count(w.table), PROSPECTS_MAX);
	candidate_cache_table_forget(w.table, jobs[1]); // the one to drop
	assert_int_equal(candidate_cache_table_count(w.table), PROSPECTS_MAX);
	candidate_cache_table_forget(w.table, jobs[2]);
	assert_int_equal(candidate_cache_table_count(w.table), PROSPECTS_MAX - 1);
	close_world(&w);
	for (uint32_t i = 0; i <= PROSPECTS_MAX; i++)
		job_free(jobs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(candidates_are_kept_by_job_and_group),
		cmocka_unit_test(the_least_recently_used_gives_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
