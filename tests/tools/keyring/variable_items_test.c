// Items of variables: they come back, and the largest that are allowed fit into a record.
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/records/variable.h"
#include "tools/keyring/variable_items.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct variable *named(const char *name)
{
	struct variable *variable = record_create(&variable_description);
	variable->name = text_copy(text_of(name));
	return variable;
}

static void add(struct variable_items *items, const char *name, const char *value)
{
	struct string_pair *pair = map_item(&items->items, sizeof *pair, name);
	pair->value = text_copy(text_of(value));
}

static void items_come_back(void **unused)
{
	struct keyring *k = keyring_create();
	struct variable *variable = named("default.a");
	struct variable_items items = {{0}}, read;
	add(&items, "name", "value");
	add(&items, "", "of no name");
	add(&items, "empty", "");
	add(&items, "\xc3\xa4 b", "line\nline");
	assert_true(variable_seal(k, variable, &items));
	assert_int_equal(variable_unseal(k, variable, &read), KEYRING_OPENED);
	assert_true(record_equal(&variable_items_description, &items, &read));
	assert_int_equal(variable_items_bytes(&read), 9 + 10 + 5 + 4 + 9);
	variable_items_release(&read);
	free(variable->name);
	variable->name = text_copy(TEXT("default.b"));
	assert_int_equal(variable_unseal(k, variable, &read), KEYRING_TAMPERED);
	assert_int_equal(read.items.count, 0);
	variable_items_release(&read);
	variable_items_release(&items);
	record_free(&variable_description, variable);
	keyring_destroy(k);
}

// As many items as there can be: names of a byte, then of two, and so on, without values.
static void the_most_items_fit(void **unused)
{
	struct keyring *k = keyring_create();
	struct variable *variable = named("default.a");
	struct variable_items items = {{0}};
	uint64_t bytes = 0;
	for (uint32_t number = 1; bytes + 3 <= VARIABLE_ITEMS_BYTES_MAX; number++) {
		char name[4] = {0};
		uint32_t size = 0;
		for (uint32_t rest = number; rest; rest = (rest - 1) / 127)
			name[size++] = (char)(1 + (rest - 1) % 127);
		struct string_pair *pair = array_append(&items.items, sizeof *pair);
		pair->name = text_copy(text_of(name));
		bytes += size;
	}
	assert_true(map_sort(&items.items, sizeof(struct string_pair)));
	assert_int_equal(variable_items_bytes(&items), bytes);
	assert_true(variable_seal(k, variable, &items));
	assert_true(strlen(variable->sealed) <= VARIABLE_SEALED_MAX);
	variable_items_release(&items);
	record_free(&variable_description, variable);
	keyring_destroy(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_back),
		cmocka_unit_test(the_most_items_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
