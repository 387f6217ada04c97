// What a layout says is written and read back; what cannot be there is refused.
#include "state/base/error.h"
#include "state/log/coder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct thing {
	uint8_t byte;
	int64_t signed_number;
	double ratio;
	struct uuid id;
	struct text name;
	bool flag;
	uint32_t count;
	uint16_t *items;
};

static void thing_code(struct coder *c, void *value)
{
	struct thing *t = value;

	code_u8(c, &t->byte);
	code_i64(c, &t->signed_number);
	code_f64(c, &t->ratio);
	code_uuid(c, &t->id);
	code_text8(c, &t->name);
	code_flag(c, &t->flag);
	code_items(c, (void **)&t->items, &t->count, sizeof t->items[0], sizeof t->items[0]);
	for (uint32_t i = 0; i < t->count; i++)
		code_u16(c, &t->items[i]);
	coder_require(c, t->byte != 13);
}

static uint16_t items[] = {3, 1, 2};
static const struct thing example = {7, -5, 0.25, {{1, 2}}, {"abc", 3}, true, 3, items};
#define FLAG_AT (1u + 8 + 8 + 16 + 4)

// Writes the example, sets one byte of it, and reads it.
static int read_with(size_t at, uint8_t byte, struct thing *read)
{
	uint8_t memory[64];
	struct bytes_writer w = bytes_writer_over(memory, sizeof memory);

	coder_write(thing_code, &example, &w);
	assert_false(w.failed);
	memory[at] = byte;
	struct bytes_reader r = bytes_reader_over(memory, w.size);
	*read = (struct thing){0};
	int error = coder_read(thing_code, read, &r);
	assert_true(error || bytes_left(&r) == 0);
	free(read->items);
	return error;
}

static void what_is_written_is_read_back(void **unused)
{
	struct thing read;

	assert_int_equal(read_with(0, 8, &read), 0);
	assert_int_equal(read.byte, 8);
	assert_int_equal(read.signed_number, -5);
	assert_true(read.ratio == 0.25);
	assert_true(uuid_equal(&read.id, &example.id));
	assert_int_equal(read.name.size, 3);
	assert_true(read.flag);
	assert_int_equal(read.count, 3);
}

static void what_cannot_be_there_is_refused(void **unused)
{
	struct thing read;

	assert_int_equal(read_with(FLAG_AT, 2, &read), -ERROR_CORRUPT); // no flag
	assert_int_equal(read_with(0, 13, &read), -ERROR_CORRUPT);
	assert_int_equal(read_with(FLAG_AT + 1, 4, &read), -ERROR_CORRUPT); // more than there are
	assert_int_equal(read.count, 0);
}

static void fail_twice(struct coder *c, void *value)
{
	coder_fail(c, 0);
	assert_true(coder_has_read(c));
	coder_fail(c, -ERROR_VERSION);
	coder_fail(c, -ERROR_CORRUPT);
	assert_false(coder_has_read(c));
}

static void the_first_error_counts(void **unused)
{
	struct bytes_reader r = bytes_reader_over("", 0);

	assert_int_equal(coder_read(fail_twice, NULL, &r), -ERROR_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(what_cannot_be_there_is_refused),
		cmocka_unit_test(the_first_error_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
