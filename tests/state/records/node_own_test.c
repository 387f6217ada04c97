// What is a node's own, against arrays of names and values, with random pairs.
#include "state/base/prng.h"
#include "state/records/nodes/node_own.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS_MAX 12u
#define NAME "rack-7"
#define ADDRESS "192.0.2.1"

struct pair {
	char name[24], value[24];
};
struct naive {
	struct pair attributes[PAIRS_MAX], meta[PAIRS_MAX];
	uint32_t attribute_count, meta_count;
};

static uint32_t choose(struct prng *prng, struct pair *pairs)
{
	uint32_t count = (uint32_t)prng_below(prng, PAIRS_MAX + 1);

	for (uint32_t i = 0; i < count; i++) {
		snprintf(pairs[i].name, sizeof pairs[i].name, "unique.%02u%.*s", i,
			(int)prng_below(prng, 4), "xyz");
		const char *const values[] = {"a value of some size", NAME, ADDRESS};
		snprintf(pairs[i].value, sizeof pairs[i].value, "%.*s", (int)prng_below(prng, 20),
			values[prng_below(prng, 3)]);
	}
	return count;
}

static struct own_rows rows_of(const struct naive *naive)
{
	struct own_rows rows = own_rows_begin(TEXT("1.7.0"), TEXT(NAME), TEXT(ADDRESS));

	for (uint32_t i = 0; i < naive->attribute_count; i++)
		own_rows_add_attribute(&rows, text_of(naive->attributes[i].name),
			text_of(naive->attributes[i].value));
	for (uint32_t i = 0; i < naive->meta_count; i++)
		own_rows_add_meta(
			&rows, text_of(naive->meta[i].name), text_of(naive->meta[i].value));
	return rows;
}

static void walk_shows(struct own_walk walk, const struct pair *pairs, uint32_t count)
{
	struct attribute pair;

	for (uint32_t i = 0; i < count; i++) {
		assert_true(own_walk_next(&walk, &pair));
		assert_string_equal(pair.name, pairs[i].name);
		assert_string_equal(pair.value, pairs[i].value);
	}
	assert_false(own_walk_next(&walk, &pair));
}

static const char *look(const struct pair *pairs, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].value;
	return NULL;
}

static void same(const char *found, const char *wanted)
{
	if (wanted)
		assert_string_equal(found, wanted);
	else
		assert_null(found);
}

static void names_are_found(const struct node *n, const struct naive *naive)
{
	char name[24];

	for (uint32_t i = 0; i < PAIRS_MAX * 4; i++) {
		snprintf(name, sizeof name, "unique.%02u%.*s", i / 4, (int)(i % 4), "xyz");
		same(node_own_attribute(n, name),
			look(naive->attributes, naive->attribute_count, name));
		same(node_own_metadatum(n, name), look(naive->meta, naive->meta_count, name));
	}
}

static void what_is_own_is_found_and_walked(void **unused)
{
	struct prng prng;

	(void)unused;
	prng_seed(&prng, 1);
	for (uint32_t round = 0; round < 2000; round++) {
		struct naive naive;
		struct node node = {0};
		naive.attribute_count = choose(&prng, naive.attributes);
		naive.meta_count = choose(&prng, naive.meta);
		struct own_rows rows = rows_of(&naive);
		own_rows_show(&rows, &node);
		assert_string_equal(node_version(&node), "1.7.0");
		assert_string_equal(node.name, NAME);
		assert_string_equal(node_address(&node), ADDRESS);
		walk_shows(node_own_attributes(&node), naive.attributes, naive.attribute_count);
		walk_shows(node_own_meta(&node), naive.meta, naive.meta_count);
		names_are_found(&node, &naive);
		own_rows_free(&rows);
	}
}

static void a_value_that_the_node_is_known_by_is_stored_once(void **unused)
{
	struct naive naive = {
		.attributes = {{"unique.hostname", NAME}, {"unique.ip-address", ADDRESS}},
		.meta = {{"unique.owner", NAME}},
		.attribute_count = 2,
		.meta_count = 1};
	struct own_rows rows = rows_of(&naive);
	struct node node = {0};

	(void)unused;
	own_rows_show(&rows, &node);
	assert_int_equal(rows.own.size, sizeof NAME + sizeof ADDRESS);
	assert_ptr_equal(node_own_attribute(&node, "unique.hostname"), node.name);
	assert_ptr_equal(node_own_attribute(&node, "unique.ip-address"), node_address(&node));
	assert_ptr_equal(node_own_metadatum(&node, "unique.owner"), node.name);
	own_rows_free(&rows);
}

// One difference, an attribute that becomes metadata, or a pair less makes two of them.
static void another_value_name_or_kind_differs(void **unused)
{
	struct naive naive = {.attributes = {{"unique.a", "1"}, {"unique.b", "2"}},
		.meta = {{"unique.c", "3"}},
		.attribute_count = 2,
		.meta_count = 1};
	struct naive others[6] = {naive, naive, naive, naive, naive, naive};
	struct node a = {0};
	struct own_rows rows = rows_of(&naive);

	(void)unused;
	own_rows_show(&rows, &a);
	others[1].meta[0].value[0] = '4';
	others[2].attributes[1].name[7] = 'd';
	others[3].meta[1] = others[3].meta[0];
	others[3].meta[0] = others[3].attributes[1];
	others[3].attribute_count = 1;
	others[3].meta_count = 2;
	others[4].attribute_count = 1;
	others[5].meta_count = 0;
	for (uint32_t i = 0; i < 6; i++) {
		struct node b = {0};
		struct own_rows other = rows_of(&others[i]);
		own_rows_show(&other, &b);
		assert_int_equal(node_own_equal(&a, &b), i == 0);
		own_rows_free(&other);
	}
	own_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_own_is_found_and_walked),
		cmocka_unit_test(a_value_that_the_node_is_known_by_is_stored_once),
		cmocka_unit_test(another_value_name_or_kind_differs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
