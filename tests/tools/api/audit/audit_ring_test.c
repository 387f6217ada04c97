// The newest lines of the audit log in memory.
#include "tools/api/audit/audit_ring.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct audit_line line_of(unsigned status, const char *asked)
{
	return (struct audit_line){.time_ns = status,
		.who = "alice",
		.from = "127.0.0.1:5",
		.asked = asked,
		.route = "/v1/jobs",
		.status = status};
}

static void lines_are_read_as_they_were_added(void **unused)
{
	struct audit_ring *ring = audit_ring_create();
	struct audit_note note;
	struct audit_line line = line_of(200, "GET /v1/jobs");
	assert_false(audit_ring_read(ring, 0, &note));
	assert_false(audit_ring_add(ring, &line, 7));
	audit_ring_listen(ring, true);
	line = line_of(403, "GET /v1/job/x");
	assert_true(audit_ring_add(ring, &line, 5));
	audit_ring_listen(ring, false);
	assert_int_equal(audit_ring_head(ring), 2);
	assert_true(audit_ring_read(ring, 1, &note));
	assert_string_equal(note.who, "alice");
	assert_string_equal(note.from, "127.0.0.1:5");
	assert_string_equal(note.asked, "GET /v1/job/x");
	assert_string_equal(note.route, "/v1/jobs");
	assert_int_equal(note.status, 403);
	assert_int_equal(note.time_ns, 403);
	assert_int_equal(note.index, 7); // not before that of the line before
	assert_false(audit_ring_read(ring, 2, &note));
	audit_ring_destroy(ring);
	audit_ring_destroy(NULL);
}

static void old_lines_give_way(void **unused)
{
	struct audit_ring *ring = audit_ring_create();
	struct audit_note note;
	uint32_t count = AUDIT_RING_LINES + 10;
	for (uint32_t i = 0; i < count; i++) {
		struct audit_line line = line_of(i, "GET /v1/jobs");
		(void)audit_ring_add(ring, &line, 100 + i / 2);
	}
	assert_false(audit_ring_read(ring, 9, &note));
	assert_true(audit_ring_read(ring, 10, &note));
	assert_int_equal(note.status, 10);
	assert_true(audit_ring_read(ring, count - 1, &note));
	assert_int_equal(note.status, count - 1);
	for (uint64_t index = 90; index < 100 + count / 2 + 2; index++) {
		uint64_t naive = 10;
		while (naive < count && audit_ring_read(ring, naive, &note) && note.index < index)
			naive++;
		if (audit_ring_find(ring, index) != naive)
			fail_msg("index %llu", (unsigned long long)index);
		index += index > 110 && index < 100 + count / 2 - 10 ? 37 : 0;
	}
	audit_ring_destroy(ring);
}

static void long_texts_are_cut(void **unused)
{
	struct audit_ring *ring = audit_ring_create();
	struct audit_note note;
	char huge[4096];
	memset(huge, 'x', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	struct audit_line line = line_of(200, huge);
	(void)audit_ring_add(ring, &line, 1);
	assert_true(audit_ring_read(ring, 0, &note));
	assert_int_equal(strlen(note.asked), AUDIT_ASKED_BYTES - 1);
	audit_ring_destroy(ring);
}

static void *add_many(void *context)
{
	for (unsigned i = 0; i < 2000; i++) {
		struct audit_line line = line_of(i, "GET /v1/jobs");
		(void)audit_ring_add(context, &line, i);
	}
	return NULL;
}

static void threads_may_add_and_read_together(void **unused)
{
	struct audit_ring *ring = audit_ring_create();
	struct audit_note note;
	pthread_t threads[3];
	uint64_t seen = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, ring), 0);
	for (uint64_t next = 0; next < 6000; next++) {
		while (audit_ring_head(ring) <= next)
			;
		if (audit_ring_read(ring, next, &note)) {
			assert_true(note.index >= seen);
			assert_string_equal(note.asked, "GET /v1/jobs");
			seen = note.index;
		}
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	audit_ring_destroy(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_as_they_were_added),
		cmocka_unit_test(old_lines_give_way),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(threads_may_add_and_read_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
