// The heap and the table against sorted and plain arrays, with random operations.
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ITEMS = 300, STEPS = 20000 };

struct item {
	struct heap_node order;
	struct lookup_node link;
	uint32_t key;
	bool in;
};

static bool item_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct item *a = CONTAINER_OF(x, const struct item, order);
	const struct item *b = CONTAINER_OF(y, const struct item, order);

	return a->key != b->key ? a->key < b->key : a < b;
}

static struct item *least(struct item *items)
{
	struct item *best = NULL;

	for (uint32_t i = 0; i < ITEMS; i++)
		if (items[i].in && (!best || item_before(&items[i].order, &best->order)))
			best = &items[i];
	return best;
}

static void a_heap_gives_the_least(void **unused)
{
	static struct item items[ITEMS];
	struct heap heap;
	struct prng prng;
	uint32_t count = 0;

	heap_init(&heap, item_before);
	prng_seed(&prng, 1);
	for (uint32_t step = 0; step < STEPS; step++) {
		struct item *item = &items[prng_below(&prng, ITEMS)];
		if (prng_below(&prng, 4) == 0) {
			item = least(items);
			struct heap_node *top = heap_pop(&heap);
			assert_ptr_equal(top, item ? &item->order : NULL);
			count -= item != NULL;
			if (item)
				item->in = false;
		} else if (item->in) {
			heap_remove(&heap, &item->order);
			item->in = false;
			count--;
		} else {
			item->key = (uint32_t)prng_below(&prng, 50);
			heap_push(&heap, &item->order);
			item->in = true;
			count++;
		}
		item = least(items);
		assert_ptr_equal(heap_top(&heap), item ? &item->order : NULL);
		assert_int_equal(heap.count, count);
		if (item)
			assert_true(heap_holds(&item->order));
	}
	heap_free(&heap);
}

static bool lookup_has(const struct lookup *t, const struct item *item)
{
	struct lookup_node *n = lookup_first(t, item->key);

	while (n && n != &item->link)
		n = lookup_next(n);
	return n != NULL;
}

static uint32_t lookup_size(const struct lookup *t, const struct item *items)
{
	uint32_t bucket, count = 0;

	for (struct lookup_node *n = lookup_walk(t, &bucket, NULL); n;
		n = lookup_walk(t, &bucket, n)) {
		assert_true(CONTAINER_OF(n, const struct item, link)->in);
		count++;
	}
	return count;
}

static void a_table_finds_what_is_in_it(void **unused)
{
	static struct item items[ITEMS];
	struct lookup table = {0};
	struct prng prng;
	uint32_t count = 0;

	prng_seed(&prng, 2);
	for (uint32_t i = 0; i < ITEMS; i++)
		items[i].key = (uint32_t)prng_below(&prng, 100); // several keys under one hash
	for (uint32_t step = 0; step < STEPS; step++) {
		struct item *item = &items[prng_below(&prng, ITEMS)];
		assert_int_equal(lookup_has(&table, item), item->in);
		if (item->in)
			lookup_remove(&table, &item->link);
		else
			lookup_add(&table, &item->link, item->key);
		item->in = !item->in;
		count += item->in ? 1 : (uint32_t)-1;
		if (step % 100 == 0)
			assert_int_equal(lookup_size(&table, items), count);
	}
	lookup_free(&table);
}

static void a_walk_may_remove(void **unused)
{
	static struct item items[ITEMS];
	struct lookup table = {0};
	struct lookup_node *n, *next;
	uint32_t bucket, seen = 0;

	for (uint32_t i = 0; i < ITEMS; i++)
		lookup_add(&table, &items[i].link, i % 37);
	for (n = lookup_walk(&table, &bucket, NULL); n; n = next) {
		next = lookup_walk(&table, &bucket, n);
		lookup_remove(&table, n);
		seen++;
	}
	assert_int_equal(seen, ITEMS);
	assert_int_equal(table.count, 0);
	lookup_free(&table);
}

static void names_do_not_run_together(void **unused)
{
	assert_true(hash_names("a", "bc") != hash_names("ab", "c"));
	assert_true(hash_names("a", "") != hash_names("", "a"));
	assert_true(hash_names(NULL, "a") == hash_names("", "a"));
	assert_true(hash_text("v1:1") != hash_text("v1:2"));
}

static void a_large_table_that_is_empty_keeps_no_buckets(void **unused)
{
	static struct item many[2000];
	struct lookup table = {0};

	for (uint32_t i = 0; i < 2000; i++)
		lookup_add(&table, &many[i].link, i);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_non_null(table.buckets);
		lookup_remove(&table, &many[i].link);
	}
	assert_null(table.buckets);
	lookup_add(&table, &many[0].link, 1);
	assert_ptr_equal(lookup_first(&table, 1), &many[0].link);
	lookup_remove(&table, &many[0].link);
	assert_non_null(table.buckets); // few of them may stay
	lookup_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heap_gives_the_least),
		cmocka_unit_test(a_table_finds_what_is_in_it),
		cmocka_unit_test(a_walk_may_remove),
		cmocka_unit_test(a_large_table_that_is_empty_keeps_no_buckets),
		cmocka_unit_test(names_do_not_run_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
