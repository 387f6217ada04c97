// Allocations in a snapshot, and the metrics that they share or that rest on each other.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/plan.h"
#include "state/snapshot/snapshot_allocation.h"
#include "state/tables/jobs/alloc_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ALLOCATIONS 4u

struct sample {
	struct job *job;
	struct shared_metrics *metrics[ALLOCATIONS];
	const struct alloc_details *details; // of all
	struct bytes_writer written;
};

static void write_all(struct sample *s, const uint32_t *order, uint32_t count)
{
	struct snapshot_metrics *numbers = snapshot_metrics_create();

	s->written = bytes_writer_growing(64);
	for (uint32_t i = 0; i < count; i++) {
		struct allocation a = {.job = s->job,
			.metrics = s->metrics[order[i]],
			.details = (struct alloc_details *)(uintptr_t)s->details};
		allocation_item_encode(&a, numbers, &s->written);
	}
	snapshot_metrics_free(numbers);
}

// Each says what one more name is filtered for, and rests on the one before.
static void begin(struct sample *s, const uint32_t *order, uint32_t count)
{
	*s = (struct sample){.job = job_create()};
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		char name[8];
		struct alloc_metrics m = {.back = i ? 1 : 0};
		snprintf(name, sizeof name, "n%u", i);
		count_add(&m.constraint_filtered, name, i + 1);
		s->metrics[i] = shared_metrics_create(&m, i ? s->metrics[i - 1] : NULL);
		metrics_release(&m);
	}
	write_all(s, order, count);
}

static void end(struct sample *s)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		shared_metrics_release(s->metrics[i]);
	bytes_writer_free(&s->written);
	job_free(s->job);
}

static void check_metrics(const struct allocation *a, uint32_t number)
{
	struct alloc_metrics read;

	shared_metrics_read(a->metrics, &read);
	assert_int_equal(read.constraint_filtered.count, number + 1);
	assert_int_equal(count_get(&read.constraint_filtered, "n0"), 1);
	metrics_release(&read);
}

static void metrics_keep_what_they_rest_on(void **unused)
{
	static const uint32_t order[] = {2, 3, 0, 2, 1};
	struct sample s;
	struct allocation_item items[5];

	begin(&s, order, 5);
	struct snapshot_metrics *read = snapshot_metrics_create();
	struct bytes_reader r = bytes_reader_over(s.written.data, s.written.size);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(allocation_item_decode(&items[i], read, &r), 0);
	assert_int_equal(r.at, s.written.size);
	snapshot_metrics_free(read);
	assert_ptr_equal(items[0].allocation->metrics, items[3].allocation->metrics);
	assert_ptr_equal(
		shared_metrics_base(items[1].allocation->metrics), items[0].allocation->metrics);
	assert_ptr_equal(
		shared_metrics_base(items[0].allocation->metrics), items[4].allocation->metrics);
	for (uint32_t i = 0; i < 5; i++) {
		check_metrics(items[i].allocation, order[i]);
		allocation_free(items[i].allocation);
	}
	end(&s);
}

static void no_shorter_piece_is_an_allocation(void **unused)
{
	static const uint32_t order[] = {3};
	const struct alloc_details details = {.previous_allocation = {{1}}};
	struct sample s;
	struct allocation_item item;

	begin(&s, order, 1);
	bytes_writer_free(&s.written);
	s.details = &details;
	write_all(&s, order, 1);
	for (size_t size = 0; size < s.written.size; size++) {
		struct snapshot_metrics *read = snapshot_metrics_create();
		struct bytes_reader r = bytes_reader_over(s.written.data, size);
		assert_true(allocation_item_decode(&item, read, &r) < 0);
		assert_null(item.allocation);
		snapshot_metrics_free(read);
	}
	end(&s);
}

// The parts that follow are the last byte of one that has none.
static void parts_that_nobody_knows_are_refused(void **unused)
{
	struct job *job = job_create();
	const struct allocation a = {.job = job};
	struct snapshot_metrics *numbers = snapshot_metrics_create();
	struct bytes_writer w = bytes_writer_growing(64);
	struct allocation_item item;

	allocation_item_encode(&a, numbers, &w);
	for (uint32_t parts = 0; parts <= 8; parts += 8) {
		w.data[w.size - 1] = (uint8_t)parts;
		struct bytes_reader r = bytes_reader_over(w.data, w.size);
		assert_int_equal(
			allocation_item_decode(&item, numbers, &r), parts ? -ERROR_CORRUPT : 0);
		assert_true((item.allocation == NULL) == (parts != 0));
		allocation_free(item.allocation);
	}
	bytes_writer_free(&w);
	snapshot_metrics_free(numbers);
	job_free(job);
}

// The base of the last is said to be itself, which is its number in the last four bytes but what it says of itself.
static void metrics_that_rest_on_themselves_are_refused(void **unused)
{
	static const uint32_t order[] = {1};
	struct sample s;
	struct allocation_item item;

	begin(&s, order, 1);
	s.written.size -= shared_metrics_size(s.metrics[0]);
	s.written.data[s.written.size - 4] = 0;
	struct snapshot_metrics *read = snapshot_metrics_create();
	struct bytes_reader r = bytes_reader_over(s.written.data, s.written.size);
	assert_int_equal(allocation_item_decode(&item, read, &r), -ERROR_CORRUPT);
	snapshot_metrics_free(read);
	end(&s);
}

// A chain that is longer than any that a scheduler makes.
static void too_many_bases_are_refused(void **unused)
{
	struct sample s;
	struct allocation_item item;
	static const uint32_t order[] = {1};

	begin(&s, order, 1);
	s.written.size -= shared_metrics_size(s.metrics[0]) + 4;
	for (uint32_t i = 1; i <= METRICS_BASES_MAX + 1; i++) {
		bytes_put_u32(&s.written, i);
		shared_metrics_encode(s.metrics[i <= METRICS_BASES_MAX], &s.written);
	}
	struct snapshot_metrics *read = snapshot_metrics_create();
	struct bytes_reader r = bytes_reader_over(s.written.data, s.written.size);
	assert_int_equal(allocation_item_decode(&item, read, &r), -ERROR_CORRUPT);
	snapshot_metrics_free(read);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_keep_what_they_rest_on),
		cmocka_unit_test(no_shorter_piece_is_an_allocation),
		cmocka_unit_test(parts_that_nobody_knows_are_refused),
		cmocka_unit_test(metrics_that_rest_on_themselves_are_refused),
		cmocka_unit_test(too_many_bases_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
