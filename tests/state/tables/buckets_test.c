// A table that gets more buckets is read and changed meanwhile.
#include "state/tables/buckets.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

// An item on a page of its own that nobody may touch until somebody does.
static struct cds_lfht_node *item;
static volatile sig_atomic_t touched, touched_in_section;

static void note_touch(int number, siginfo_t *info, void *context)
{
	touched = 1;
	touched_in_section = rcu_read_ongoing();
	if (mprotect(item, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE) != 0)
		_exit(1);
}

static void lock_item(void)
{
	assert_int_equal(mprotect(item, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE), 0);
}

static void who_adds_buckets_reads_items_in_a_read_section(void **state)
{
	struct sigaction action = {.sa_sigaction = note_touch, .sa_flags = SA_SIGINFO}, before;
	struct cds_lfht *table = buckets_create(TABLE_BUCKETS_MIN);

	item = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(item != MAP_FAILED);
	assert_non_null(table);
	state_read_begin();
	cds_lfht_node_init(item);
	cds_lfht_add(table, TABLE_BUCKETS_MIN, item); // will be in the first new bucket
	state_read_end();
	lock_item();
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	buckets_widen(table, 2 * TABLE_BUCKETS_MIN);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_true(touched);
	assert_true(touched_in_section);
	assert_false(state_is_reading());
	assert_false(rcu_read_ongoing());
	state_read_begin();
	assert_int_equal(cds_lfht_del(table, item), 0);
	state_read_end();
	assert_int_equal(cds_lfht_destroy(table, NULL), 0);
	assert_int_equal(munmap(item, (size_t)sysconf(_SC_PAGESIZE)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_adds_buckets_reads_items_in_a_read_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
