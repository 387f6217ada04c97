#include "state/base/prng.h"
#include "tools/json/json_writer.h"
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(struct json_writer *w, const char *text)
{
	char *written = json_writer_take(w);
	assert_string_equal(written, text);
	free(written);
}

static void writes_values_with_commas(void **unused)
{
	struct json_writer w = {0};
	json_begin_object(&w);
	json_put_string(&w, "A", "x");
	json_put_i64(&w, "B", -5);
	json_put_u64(&w, "C", UINT64_MAX);
	json_put_bool(&w, "D", true);
	json_put_null(&w, "E");
	json_write_key(&w, "F");
	json_begin_array(&w);
	json_begin_object(&w);
	json_end_object(&w);
	json_begin_array(&w);
	json_end_array(&w);
	json_write_i64(&w, INT64_MIN);
	json_write_u64(&w, 0);
	json_end_array(&w);
	json_end_object(&w);
	expect(&w, "{\"A\":\"x\",\"B\":-5,\"C\":18446744073709551615,\"D\":true,\"E\":null,"
		   "\"F\":[{},[],-9223372036854775808,0]}");
}

static void indents_when_asked(void **unused)
{
	struct json_writer w = {.pretty = true};
	json_begin_object(&w);
	json_write_key(&w, "A");
	json_begin_array(&w);
	json_write_u64(&w, 1);
	json_write_u64(&w, 2);
	json_end_array(&w);
	json_write_key(&w, "B");
	json_begin_object(&w);
	json_end_object(&w);
	json_end_object(&w);
	expect(&w, "{\n    \"A\": [\n        1,\n        2\n    ],\n    \"B\": {}\n}");
}

static void escapes_what_must_be(void **unused)
{
	struct json_writer w = {0};
	json_write_string(&w, "\"\\\b\f\n\r\t\x01\x7f/\xc3\xa9");
	expect(&w, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f/\xc3\xa9\"");
	json_write_string(&w, "a\xff\xc3(b");
	expect(&w, "\"a\xef\xbf\xbd\xef\xbf\xbd(b\"");
	json_write_string(&w, NULL);
	expect(&w, "\"\"");
}

static void writes_identities_and_times(void **unused)
{
	struct json_writer w = {0};
	struct uuid zero = {{0}}, id;
	assert_true(uuid_parse("00112233-4455-6677-8899-aabbccddeeff", &id));
	json_begin_array(&w);
	json_write_uuid(&w, &zero);
	json_write_uuid(&w, &id);
	json_write_time(&w, 0);
	json_write_time(&w, 1795225432524212451);
	json_write_time(&w, -1);
	json_end_array(&w);
	expect(&w, "[\"\",\"00112233-4455-6677-8899-aabbccddeeff\",\"1970-01-01T00:00:00Z\","
		   "\"2026-11-21T01:43:52.524212451Z\",\"1969-12-31T23:59:59.999999999Z\"]");
}

static bool wants_some(const void *context, const char *name, size_t size)
{
	return memchr(context, name[0], strlen(context)) && size == 1;
}

static void write_members(struct json_writer *w)
{
	json_begin_object(w);
	json_put_string(w, "a", "1");
	json_open_object(w, "b");
	json_put_u64(w, "a", 2);
	json_put_null(w, "c");
	json_end_object(w);
	json_open_array(w, "c");
	json_begin_object(w);
	json_put_f64(w, "b", 0.5);
	json_end_object(w);
	json_write_time(w, 0);
	json_end_array(w);
	json_write_key(w, "d");
	json_write_raw(w, text_of("{\"b\":7}"));
	json_end_object(w);
}

// Of the outermost object only; what is in its members is whole.
static void leaves_out_members_that_nobody_wants(void **unused)
{
	static const char *const wanted[][2] = {
		{"a", "{\"a\":\"1\"}"},
		{"b", "{\"b\":{\"a\":2,\"c\":null}}"},
		{"ac", "{\"a\":\"1\",\"c\":[{\"b\":0.5},\"1970-01-01T00:00:00Z\"]}"},
		{"bd", "{\"b\":{\"a\":2,\"c\":null},\"d\":{\"b\":7}}"},
		{"x", "{}"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		struct json_writer w = {.wants = wants_some, .wants_context = wanted[i][0]};
		for (int twice = 0; twice < 2; twice++) {
			json_writer_restart(&w);
			write_members(&w);
			assert_int_equal(w.size, strlen(wanted[i][1]));
			assert_memory_equal(w.data, wanted[i][1], w.size);
		}
		json_writer_free(&w);
	}
}

// Eight bytes are looked at together: one that must be escaped is found at every place, and nothing else is.
static void finds_what_must_be_escaped_anywhere(void **unused)
{
	for (uint32_t c = 1; c < 256; c++)
		for (uint32_t at = 0; at < 19; at++) {
			char text[20] = "abcdefghijklmnopqrs", key[20];
			struct json_writer w = {0}, k = {0};
			text[at] = (char)c;
			json_write_string(&w, text);
			char *written = json_writer_take(&w);
			bool escapes = c < 0x20 || c == '"' || c == '\\' || c >= 0x80;
			assert_int_equal(strlen(written) != sizeof text + 1, escapes);
			memcpy(key, text, sizeof key);
			json_begin_object(&k);
			json_put_null(&k, key);
			char *with_key = json_writer_take(&k);
			assert_memory_equal(with_key + 1, written, strlen(written));
			free(with_key);
			free(written);
		}
}

static void numbers_read_back_exactly(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 7);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = prng_u64(&prng);
		double value;
		memcpy(&value, &bits, sizeof value);
		struct json_writer w = {0};
		json_write_f64(&w, value);
		char *text = json_writer_take(&w);
		if (isfinite(value))
			assert_true(strtod(text, NULL) == value);
		else
			assert_string_equal(text, "null");
		free(text);
	}
}

// Whatever bytes a string is made of, what is written parses, and plain ones come back unchanged.
static void strings_always_parse(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 11);
	for (int i = 0; i < 20000; i++) {
		char bytes[24];
		uint32_t size = (uint32_t)prng_below(&prng, sizeof bytes);
		bool ascii = prng_below(&prng, 2);
		for (uint32_t at = 0; at < size; at++)
			bytes[at] = (char)(1 + prng_below(&prng, ascii ? 127 : 255));
		struct json_writer w = {.pretty = prng_below(&prng, 2)};
		json_begin_array(&w);
		json_write_text(&w, (struct text){bytes, size});
		json_end_array(&w);
		char *text = json_writer_take(&w);
		json_t *root = json_loads(text, 0, NULL);
		assert_non_null(root);
		json_t *value = json_array_get(root, 0);
		if (ascii) {
			assert_int_equal(json_string_length(value), size);
			assert_memory_equal(json_string_value(value), bytes, size);
		}
		json_decref(root);
		free(text);
	}
}

static void clearing_keeps_the_position(void **unused)
{
	struct json_writer w = {0};
	json_begin_array(&w);
	json_write_u64(&w, 1);
	json_writer_clear(&w);
	json_write_u64(&w, 2);
	json_end_array(&w);
	expect(&w, ",2]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_values_with_commas),
		cmocka_unit_test(indents_when_asked),
		cmocka_unit_test(escapes_what_must_be),
		cmocka_unit_test(writes_identities_and_times),
		cmocka_unit_test(leaves_out_members_that_nobody_wants),
		cmocka_unit_test(finds_what_must_be_escaped_anywhere),
		cmocka_unit_test(numbers_read_back_exactly),
		cmocka_unit_test(strings_always_parse),
		cmocka_unit_test(clearing_keeps_the_position),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
