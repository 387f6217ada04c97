#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/text.h"
#include "tools/hcl/hcl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct hcl_document *read_text(const char *text)
{
	struct hcl_error error = {0};
	struct hcl_document *document = hcl_read(text, (uint32_t)strlen(text), &error);
	if (!document)
		print_error("%u:%u: %s\n", error.line, error.column, error.text);
	assert_non_null(document);
	return document;
}

// The value of the n-th item of a text.
static const struct hcl_value *value_of(const struct hcl_document *document, uint32_t n)
{
	const struct hcl_item *item = hcl_body(document)->first;
	while (n-- > 0)
		item = item->next;
	return &item->value;
}

static void a_block_has_labels_and_items(void **unused)
{
	struct hcl_document *d =
		read_text("namespace \"default\" {\n  policy = \"read\"\n}\nnode {}\n");
	const struct hcl_item *item = hcl_body(d)->first;
	assert_string_equal(item->name, "namespace");
	assert_true(item->is_block);
	assert_int_equal(item->label_count, 1);
	assert_string_equal(item->labels[0], "default");
	const struct hcl_item *policy = item->value.object.first;
	assert_string_equal(policy->name, "policy");
	assert_false(policy->is_block);
	assert_string_equal(policy->value.string, "read");
	assert_int_equal(policy->value.line, 2);
	assert_int_equal(policy->value.column, 12);
	assert_null(policy->next);
	assert_string_equal(item->next->name, "node");
	assert_null(item->next->value.object.first);
	hcl_free(d);
}

static void values_are_of_every_kind(void **unused)
{
	struct hcl_document *d = read_text("a = true, b = false\nc = null d = 1.5e+2 e = -0x10\n"
					   "f = [\"x\", 2, [], {k: 1},]\ng = {\"h i\" = 3}");
	assert_true(value_of(d, 0)->boolean);
	assert_int_equal(value_of(d, 1)->kind, HCL_BOOL);
	assert_false(value_of(d, 1)->boolean);
	assert_int_equal(value_of(d, 2)->kind, HCL_NULL);
	assert_true(value_of(d, 3)->number == 150);
	assert_true(value_of(d, 4)->number == -16);
	const struct hcl_value *element = value_of(d, 5)->list;
	assert_string_equal(element->string, "x");
	assert_true(element->next->number == 2);
	assert_null(element->next->next->list);
	assert_string_equal(element->next->next->next->object.first->name, "k");
	assert_null(element->next->next->next->next);
	assert_string_equal(value_of(d, 6)->object.first->name, "h i");
	hcl_free(d);
}

static void comments_are_skipped(void **unused)
{
	struct hcl_document *d =
		read_text("# one\na = 1 // two \"\n/* three\n * } */ b = /**/ 2\n#");
	assert_true(value_of(d, 0)->number == 1);
	assert_true(value_of(d, 1)->number == 2);
	assert_null(hcl_body(d)->first->next->next);
	hcl_free(d);
}

static void strings_have_escapes(void **unused)
{
	struct hcl_document *d = read_text("a = \"\\n\\r\\t\\b\\f\\\"\\\\\\/\" b = "
					   "\"\\u00e9\\u20ac\\ud83d\\ude00\\U0001F600\" "
					   "c = \"${attr.x} \\u0041 \xc3\xa9\"");
	assert_string_equal(value_of(d, 0)->string, "\n\r\t\b\f\"\\/");
	assert_string_equal(
		value_of(d, 1)->string, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
	assert_string_equal(value_of(d, 2)->string, "${attr.x} A \xc3\xa9");
	hcl_free(d);
}

static void texts_have_several_lines(void **unused)
{
	struct hcl_document *d = read_text("a = <<END\n  x\n\n y \"\\n\nEND\n"
					   "b = <<-END\n    x\n\n      y\n    END\nc = <<E\nE");
	assert_string_equal(value_of(d, 0)->string, "  x\n\n y \"\\n\n");
	assert_string_equal(value_of(d, 1)->string, "x\n\n  y\n");
	assert_string_equal(value_of(d, 2)->string, "");
	hcl_free(d);
}

static void json_is_the_same_tree(void **unused)
{
	struct hcl_document *d =
		read_text(" {\"namespace\": {\"default\": {\"policy\": \"read\"}}, \"n\": [1]}\n");
	const struct hcl_item *item = hcl_body(d)->first;
	assert_string_equal(item->name, "namespace");
	assert_false(item->is_block);
	assert_string_equal(item->value.object.first->name, "default");
	assert_string_equal(item->value.object.first->value.object.first->value.string, "read");
	assert_true(item->next->value.list->number == 1);
	hcl_free(d);
}

static void mistakes_have_a_place(void **unused)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *complaint;
	} cases[] = {
		{"namespace \"a\" {", 1, 17, "object expected closing RBRACE got: EOF"},
		{"a = 1\nb = x", 2, 5, "nothing is evaluated here: put a text in quotes"},
		{"a", 1, 3, "= or a block's { is expected here"},
		{"a \"b\" = 1", 1, 7, "a block's { is expected here"},
		{"a \"1\" \"2\" \"3\" \"4\" \"5\" {}", 1, 19, "a block has at most four labels"},
		{"a = \"x\n\"", 1, 5, "the string has no closing quote on its line"},
		{"a = \"x", 1, 5, "the string has no closing quote on its line"},
		{"a = \"\xc3\xa9\\x\"", 1, 7, "this is no escape; write a backslash as two"},
		{"a = \"\\u12\"", 1, 6, "this is no escape; write a backslash as two"},
		{"a = \"\\u12x4\"", 1, 6, "this is no escape; write a backslash as two"},
		{"a = \"\\u0000\"", 1, 6, "this is no escape; write a backslash as two"},
		{"a = \"\\ud83d\"", 1, 6, "this is no escape; write a backslash as two"},
		{"a = \"\\ud83d\\u0041\"", 1, 6, "this is no escape; write a backslash as two"},
		{"a = <<END\nx\n", 1, 5, "the text has no line that is its mark alone"},
		{"a = <<\n", 1, 5, "the text has no line that is its mark alone"},
		{"a = [1 2]", 1, 8, "a comma or ] is expected here"},
		{"a = [", 1, 7, "a value is expected here"},
		{"a = 1x", 1, 5, "this is no number"},
		{"a = 1.", 1, 5, "this is no number"},
		{"a = -", 1, 5, "this is no number"},
		{"a = 1e999", 1, 5, "this is no number"},
		{"a = -inf", 1, 5, "this is no number"},
		{"a = =", 1, 5, "a value is expected here"},
		{"a = ?", 1, 5, "nothing begins with this character"},
		{"}", 1, 1, "a name is expected here"},
		{"a { 1 }", 1, 5, "a name or } is expected here"},
		{"{} a", 1, 4, "a name is expected here"},
		{"a = 1 /* ", 1, 7, "the comment has no end"},
		{"a = \"\xff\"", 1, 6, "this is not UTF-8 text"},
		{"\n\xff", 2, 1, "this is not UTF-8 text"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct hcl_error error = {0};
		const char *text = cases[i].text;
		assert_null(hcl_read(text, (uint32_t)strlen(text), &error));
		if (error.line != cases[i].line || error.column != cases[i].column)
			print_error("%s\n", text);
		assert_string_equal(error.text, cases[i].complaint);
		assert_int_equal(error.line, cases[i].line);
		assert_int_equal(error.column, cases[i].column);
	}
	struct hcl_error error;
	assert_null(hcl_read("a\0", 2, &error));
	assert_string_equal(error.text, "this is not UTF-8 text");
}

static void depth_and_size_have_a_limit(void **unused)
{
	char text[2 * JSON_DEPTH_MAX + 8] = "a = ";
	struct hcl_error error;
	for (uint32_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
		memset(text + 4, '[', depth);
		memset(text + 4 + depth, ']', depth);
		struct hcl_document *d = hcl_read(text, 4 + 2 * depth, &error);
		assert_int_equal(d != NULL, depth == JSON_DEPTH_MAX);
		hcl_free(d);
	}
	assert_string_equal(error.text, "this is nested too deep");
	char *large = memory_take(JOB_JSON_BYTES_MAX + 1);
	memset(large, ' ', JOB_JSON_BYTES_MAX + 1);
	struct hcl_document *d = hcl_read(large, JOB_JSON_BYTES_MAX, &error);
	assert_non_null(d);
	hcl_free(d);
	assert_null(hcl_read(large, JOB_JSON_BYTES_MAX + 1, &error));
	assert_string_equal(error.text, "the text is larger than 1 MiB");
	free(large);
}

struct sample {
	char *text;
	size_t size;
	FILE *file;
	struct prng prng;
};

static void write_gap(struct sample *s)
{
	static const char *const gaps[] = {" ", "\t", "\n", " # x\n", "/* } */", " // \"\n"};
	fputs(gaps[prng_below(&s->prng, 6)], s->file);
}

static uint64_t write_value(struct sample *s, uint32_t depth);

// Writes items; returns a sum over all that they say.
static uint64_t write_items(struct sample *s, uint32_t depth)
{
	uint64_t sum = 0;
	for (uint64_t i = prng_below(&s->prng, 4); i > 0; i--) {
		uint64_t name = prng_below(&s->prng, 100);
		fprintf(s->file, "n%lu", (unsigned long)name);
		write_gap(s);
		sum = sum * 31 + name;
		if (prng_below(&s->prng, 2)) {
			fputs("\"l\"{", s->file);
			sum = sum * 31 + (depth < 4 ? write_items(s, depth + 1) : 0);
			fputs("}", s->file);
		} else {
			fputs("=", s->file);
			sum = sum * 31 + write_value(s, depth + 1);
		}
		write_gap(s);
	}
	return sum;
}

static uint64_t write_value(struct sample *s, uint32_t depth)
{
	uint64_t number = prng_below(&s->prng, 1000), sum = 7;
	switch (prng_below(&s->prng, depth < 4 ? 4 : 2)) {
	case 0: fprintf(s->file, "%lu", (unsigned long)number); return number;
	case 1: fprintf(s->file, "\"v%lu\"", (unsigned long)number); return number + 1;
	case 2:
		fputs("[", s->file);
		for (uint64_t i = prng_below(&s->prng, 3); i > 0; i--) {
			sum = sum * 31 + write_value(s, depth + 1);
			fputs(",", s->file);
		}
		fputs("]", s->file);
		return sum;
	default:
		fputs("{", s->file);
		sum += write_items(s, depth + 1);
		fputs("}", s->file);
		return sum;
	}
}

static uint64_t sum_of_value(const struct hcl_value *value);

static uint64_t sum_of_items(const struct hcl_body *body)
{
	uint64_t sum = 0;
	for (const struct hcl_item *item = body->first; item; item = item->next) {
		sum = sum * 31 + strtoul(item->name + 1, NULL, 10);
		sum = sum * 31 + (item->is_block ? sum_of_items(&item->value.object)
						 : sum_of_value(&item->value));
	}
	return sum;
}

static uint64_t sum_of_value(const struct hcl_value *value)
{
	uint64_t sum = 7;
	switch (value->kind) {
	case HCL_NUMBER: return (uint64_t)value->number;
	case HCL_STRING: return strtoul(value->string + 1, NULL, 10) + 1;
	case HCL_LIST:
		for (const struct hcl_value *v = value->list; v; v = v->next)
			sum = sum * 31 + sum_of_value(v);
		return sum;
	case HCL_OBJECT: return sum + sum_of_items(&value->object);
	default: fail();
	}
	return 0;
}

static void what_is_written_is_read(void **unused)
{
	struct sample s = {0};
	uint64_t seed = 20261126;
	print_message("seed %lu\n", (unsigned long)seed);
	prng_seed(&s.prng, seed);
	for (uint32_t round = 0; round < 2000; round++) {
		s.file = open_memstream(&s.text, &s.size);
		uint64_t sum = write_items(&s, 0);
		fclose(s.file);
		struct hcl_document *d = read_text(s.text);
		assert_int_equal(sum_of_items(hcl_body(d)), sum);
		hcl_free(d);
		free(s.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_has_labels_and_items),
		cmocka_unit_test(values_are_of_every_kind),
		cmocka_unit_test(comments_are_skipped),
		cmocka_unit_test(strings_have_escapes),
		cmocka_unit_test(texts_have_several_lines),
		cmocka_unit_test(json_is_the_same_tree),
		cmocka_unit_test(mistakes_have_a_place),
		cmocka_unit_test(depth_and_size_have_a_limit),
		cmocka_unit_test(what_is_written_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
