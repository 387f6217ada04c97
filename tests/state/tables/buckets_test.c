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

#define ENTRIES 5000u

struct thing {
	struct cds_lfht_node node;
	uint32_t key;
};

static int is_same(struct cds_lfht_node *node, const void *other)
{
	return caa_container_of(node, struct thing, node)->key ==
	       caa_container_of(other, struct thing, node)->key;
}

// Few hashes, so that many things have the same one although their keys differ.
static uint64_t hash_of(const struct thing *thing)
{
	return (thing->key % 997) * 0x9e3779b97f4a7c15ull;
}

#define LATER (ENTRIES / 3) // until then many others came, also with the same hash, and lie behind

// What came and went again is not there, and everything else is, before it is added and behind it.
static void what_is_gathered_is_found_until_it_is_forgotten(void **state)
{
	static struct thing things[ENTRIES];
	struct cds_lfht *table = buckets_create(TABLE_BUCKETS_MIN);
	struct gathered gathered = {0};

	assert_null(gathered_find(&gathered, 17, is_same, &things[0].node));
	assert_false(gathered_forget(&gathered, 17, &things[0].node));
	gathered_approach(&gathered, 17);
	for (uint32_t i = 0; i < ENTRIES + LATER; i++) {
		if (i < ENTRIES) {
			things[i].key = i;
			gathered_note(&gathered, hash_of(&things[i]), &things[i].node);
		}
		if (i < LATER || (i - LATER) % 3 != 0)
			continue;
		const struct thing *old = &things[i - LATER];
		assert_true(gathered_forget(&gathered, hash_of(old), &old->node));
	}
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint64_t hash = hash_of(&things[i]);
		gathered_approach(&gathered, hash);
		assert_ptr_equal(gathered_find(&gathered, hash, is_same, &things[i].node),
			i % 3 == 0 ? NULL : &things[i].node);
	}
	assert_false(gathered_forget(&gathered, hash_of(&things[0]), &things[0].node));
	state_read_begin();
	assert_false(gathered_add(&gathered, table, TABLE_BUCKETS_MIN, NULL));
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (i % 3 != 0)
			assert_int_equal(cds_lfht_del(table, &things[i].node), 0);
	state_read_end();
	assert_int_equal(cds_lfht_destroy(table, NULL), 0);
}

// Every entry is in the table, once, whether it has the key of another one or not.
static void check_gathered(struct thing *things, uint64_t buckets, bool is_list, bool all_differ)
{
	struct cds_lfht *table = buckets_create(TABLE_BUCKETS_MIN);
	struct gathered gathered = {.is_list = is_list};

	if (buckets > TABLE_BUCKETS_MIN)
		buckets_widen(table, buckets);
	state_read_begin();
	for (uint32_t i = 0; i < ENTRIES; i++)
		gathered_note(&gathered, hash_of(&things[i]), &things[i].node);
	assert_int_equal(gathered_add(&gathered, table, buckets, is_same), all_differ);
	assert_int_equal(gathered.count, 0);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct cds_lfht_iter iter;
		cds_lfht_lookup(table, hash_of(&things[i]), is_same, &things[i].node, &iter);
		assert_non_null(cds_lfht_iter_get_node(&iter));
	}
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(cds_lfht_del(table, &things[i].node), 0);
	state_read_end();
	assert_int_equal(cds_lfht_destroy(table, NULL), 0);
}

static void what_was_gathered_is_added(void **state)
{
	static const uint64_t buckets[] = {TABLE_BUCKETS_MIN, 4096, 16384};
	static struct thing things[ENTRIES];

	for (size_t i = 0; i < sizeof buckets / sizeof buckets[0]; i++) {
		for (uint32_t j = 0; j < ENTRIES; j++)
			things[j].key = j;
		check_gathered(things, buckets[i], i % 2, true);
		things[ENTRIES - 1].key = 17;
		check_gathered(things, buckets[i], i % 2, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_adds_buckets_reads_items_in_a_read_section),
		cmocka_unit_test(what_is_gathered_is_found_until_it_is_forgotten),
		cmocka_unit_test(what_was_gathered_is_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
