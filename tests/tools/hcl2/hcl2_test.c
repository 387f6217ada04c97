// Expressions and their values, which are compared as JSON, and mistakes and their places.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tools/hcl2/functions/functions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct hcl2_scope plain = {.unknown_is_text = true};

// The value as JSON, or the first mistake as "LINE,COLUMN". The run's memory.
static const char *outcome(struct hcl2_run *run, const char *text)
{
	struct writer w = {.run = run};
	bool finite;
	const struct hcl2_node *node = hcl2_parse_expression(run, "test", text_of(text));
	const struct hcl2_value *value = node ? hcl2_evaluate(run, &plain, node) : NULL;
	if (value && !run->mistake_count) {
		value_write_json(&w, value, &finite);
		return writer_text(&w).data;
	}
	assert_int_not_equal(run->mistake_count, 0);
	uint32_t line = 0, column = 0;
	if (run->mistakes[0].at.source)
		hcl2_place(run->mistakes[0].at.source, run->mistakes[0].at.from, &line, &column);
	assert_non_null(hcl2_mistakes_text(run));
	return hcl2_print(run, "%u,%u", line, column);
}

struct row {
	const char *text, *outcome;
};

static void check_rows(const struct row *rows)
{
	for (; rows->text; rows++) {
		struct hcl2_run run;
		hcl2_run_begin(&run);
		const char *found = outcome(&run, rows->text);
		if (strcmp(found, rows->outcome) != 0)
			print_error("%s\n", rows->text);
		assert_string_equal(found, rows->outcome);
		hcl2_run_end(&run);
	}
}

static void operators_compute(void **unused)
{
	static const struct row rows[] = {
		{"2 + 3 * 4 - 6 / 3", "12"},
		{"(2 + 3) * 4", "20"},
		{"-7 % 3", "-1"},
		{"7 % 0", "7"},
		{"-(3 - 5)", "2"},
		{"--2", "2"},
		{"0.1 + 0.2", "0.3"},
		{"123456789012345678901234567890 * 10", "1234567890123456789012345678900"},
		{"\"3\" + 1", "4"},
		{"\"1\" == 1", "false"},
		{"[1, 2] == [1, 2]", "true"},
		{"[1, 2] == [1, 3]", "false"},
		{"{a = 1} == {a = 1}", "true"},
		{"null == null", "true"},
		{"1 != 2 && !(1 > 2) || false", "true"},
		{"1 <= 1 && 2 >= 3", "false"},
		{"true ? 1 : \"x\"", "\"1\""},
		{"false ? \"x\" : null", "null"},
		{"true ? {a = 1} : {b = \"x\"}", "{\"a\":\"1\"}"},
		{"true ? 1 : nothing.at.all[0]", "\"1\""},
		{"1 ? 2 : 3", "1,1"},
		{"true ? [1] : \"x\"", "1,8"},
		{"1 + [2]", "1,5"},
		{"0 / 0", "1,1"},
		{"null + 1", "1,1"},
		{"1 & 2", "1,3"},
		{0},
	};
	check_rows(rows);
}

static void collections_are_made_and_looked_into(void **unused)
{
	static const struct row rows[] = {
		{"[1, \"a\", [true],]", "[1,\"a\",[true]]"},
		{"{ a = 1, \"b c\" : 2\n  (\"d\") = 3\n 4 = 5, true = 6 }",
			"{\"4\":5,\"a\":1,\"b c\":2,\"d\":3,\"true\":6}"},
		{"{a = 1, a = 2}", "{\"a\":2}"},
		{"[1, 2, 3][1]", "2"},
		{"[1, 2].0", "1"},
		{"{a = {b = [\"c\"]}}.a[\"b\"][0]", "\"c\""},
		{"[{a = 1}, {a = 2}][*].a", "[1,2]"},
		{"[{a = [1]}, {a = [2]}].*.a[0]", "[1]"},
		{"[{a = [1]}, {a = [2]}][*].a[0]", "[1,2]"},
		{"\"x\"[*]", "[\"x\"]"},
		{"null[*]", "[]"},
		{"[for n in [1, 2, 3] : n * n if n != 2]", "[1,9]"},
		{"[for k, v in {b = 1, a = 2} : \"${k}${v}\"]", "[\"a2\",\"b1\"]"},
		{"{for i, s in [\"x\", \"y\"] : s => i}", "{\"x\":0,\"y\":1}"},
		{"{for s in [\"a\", \"b\", \"a\"] : s => 1...}", "{\"a\":[1,1],\"b\":[1]}"},
		{"[\n  for x in [1] :\n  [for y in [2] : x + y]\n]", "[[3]]"},
		{"[1][5]", "1,4"},
		{"[1][-1]", "1,4"},
		{"{a = 1}.b", "1,8"},
		{"5.a", "1,2"},
		{"{for s in [\"a\", \"a\"] : s => 1}", "1,24"},
		{"[for x in 5 : x]", "1,11"},
		{"[for x in null : x]", "1,11"},
		{"[for x in [1] : x => 1]", "1,17"},
		{"{for x in [1] : x}", "1,17"},
		{"{a.b = 1}", "1,2"},
		{"[1 2]", "1,4"},
		{"[1, 2", "1,6"},
		{"{a = 1 b = 2}", "1,8"},
		{"a.*.b.*", "1,7"},
		{"[[1]].0.0", "1,7"},
		{0},
	};
	check_rows(rows);
}

static void templates_become_texts(void **unused)
{
	static const struct row rows[] = {
		{"\"a${1}b${true}\"", "\"a1btrue\""},
		{"\"${[1]}\"", "[1]"},
		{"\"$${x} %%{y} $ % $$ %%\"", "\"${x} %{y} $ % $$ %%\""},
		{"\"$$${x}\"", "\"$${x}\""},
		{"\"\\n\\r\\t\\\"\\\\\\u00e9\\U0001F600\"", "\"\\n\\r\\t\\\"\\\\é😀\""},
		{"\"%{ if true }yes%{ else }no%{ endif }\"", "\"yes\""},
		{"\"%{if false}yes%{endif}.\"", "\".\""},
		{"\"%{ for i, c in [\"a\", \"b\"] }${i}=${c};%{ endfor }\"", "\"0=a;1=b;\""},
		{"\"a  ${~ \"b\" ~}  c\"", "\"abc\""},
		{"\"${upper(\"in ${\"ner\"}\")}\"", "\"IN NER\""},
		{"\"e\\u0301\"", "\"é\""},
		{"<<EOT\n  a\n${1} \"b\" \\n\nEOT\n", "\"  a\\n1 \\\"b\\\" \\\\n\\n\""},
		{"<<-EOT\n    a\n\n      b\n  EOT\n", "\"a\\n\\n  b\\n\""},
		{"<<-EOT\n  %{ for x in [1, 2] ~}\n  - ${x}\n  %{ endfor ~}\n  EOT\n",
			"\"  - 1\\n  - 2\\n\""},
		{"<<E\nE\n", "\"\""},
		{"\"a${null}\"", "1,5"},
		{"\"a${[1]}\"", "1,5"},
		{"\"a\\q\"", "1,3"},
		{"\"a\\u12\"", "1,3"},
		{"\"a\nb\"", "1,3"},
		{"\"a%{ if true }\"", "1,15"},
		{"\"%{ for x in [1] }%{ else }%{ endfor }\"", "1,19"},
		{"\"%{ endif }\"", "1,2"},
		{"\"%{ what }\"", "1,5"},
		{"\"${1 2}\"", "1,6"},
		{"<<EOT\na\n", "3,1"},
		{"'a'", "1,1"},
		{0},
	};
	check_rows(rows);
}

static void unknown_names_are_their_text(void **unused)
{
	static const struct row rows[] = {
		{"node.class", "\"${node.class}\""},
		{"\"${node.class}\"", "\"${node.class}\""},
		{"\"${a}}b\"", "\"${a}}}b\""},
		{"\"${ meta.a }\"", "\"${ meta.a }\""},
		{"\"a-${env[\"X\"]}-b\"", "\"a-${env[\\\"X\\\"]}-b\""},
		{"upper(node.class)", "\"${NODE.CLASS}\""},
		{"strlen(NOMAD_DC)", "11"},
		{"things[0].name", "\"${things[0].name}\""},
		{"node.class + 1", "1,1"},
		{0},
	};
	check_rows(rows);
}

static void functions_of_texts(void **unused)
{
	static const struct row rows[] = {
		{"format(\"%s-%03d-%5.2f|%-4s|%q\", \"a\", 7, 3.14159, \"b\", \"c\")",
			"\"a-007- 3.14|b   |\\\"c\\\"\""},
		{"format(\"%v %x %t %[1]v %%\", \"v\", 255, true)", "\"v ff true v %\""},
		{"format(\"%g|%G|%.3g\", 1.5, -2, 3.14159)", "\"1.5|-2|3.14\""},
		{"format(\"%v %v\", 1000000, 0.5)", "\"1e+06 0.5\""},
		{"formatlist(\"%s=%d\", [\"a\", \"b\"], [1, 2])", "[\"a=1\",\"b=2\"]"},
		{"join(\"/\", [\"x\"], [\"y\", \"z\"])", "\"x/y/z\""},
		{"split(\",\", \"a,,b\")", "[\"a\",\"\",\"b\"]"},
		{"upper(\"straße\")", "\"STRAßE\""},
		{"title(\"two words-here\")", "\"Two Words-Here\""},
		{"replace(\"a.b\", \".\", \"-\")", "\"a-b\""},
		{"regex_replace(\"k1=v1\", \"(k[0-9])=(v[0-9])\", \"$2:$${1}x$$\")", "\"v1:k1x$\""},
		{"substr(\"héllo\", -3, 2)", "\"ll\""},
		{"trim(\"--x-\", \"-\")", "\"x\""},
		{"trimspace(\" x\\n\")", "\"x\""},
		{"chomp(\"a\\n\\n\")", "\"a\""},
		{"indent(2, \"a\\nb\")", "\"a\\n  b\""},
		{"reverse(\"añb\")", "\"bña\""},
		{"strlen(\"🦉é\")", "2"},
		{"upper(1, 2)", "1,10"},
		{"upper()", "1,7"},
		{"shout(\"x\")", "1,1"},
		{"upper(null)", "1,7"},
		{"upper([1])", "1,7"},
		{"format(\"%d\", \"x\")", "1,1"},
		{"format(\"%d\", 1, 2)", "1,17"},
		{"regex_replace(\"a\", \"(\", \"\")", "1,1"},
		{0},
	};
	check_rows(rows);
}

static void functions_of_collections_and_numbers(void **unused)
{
	static const struct row rows[] = {
		{"length([1, 2])", "2"},
		{"concat([1], [], [\"a\"])", "[1,\"a\"]"},
		{"merge({a = 1, b = 2}, null, {b = 3})", "{\"a\":1,\"b\":3}"},
		{"lookup({a = 1}, \"b\", 0)", "0"},
		{"flatten([[1], [[2], \"c\"], []])", "[1,2,\"c\"]"},
		{"range(2, 10, 3)", "[2,5,8]"},
		{"range(3, 0)", "[3,2,1]"},
		{"element([\"a\", \"b\"], 3)", "\"b\""},
		{"index([\"a\", \"b\"], 1)", "\"b\""},
		{"slice([1, 2, 3], 1, 3)", "[2,3]"},
		{"distinct([1, 2, 1])", "[1,2]"},
		{"sort([\"b\", \"a\"])", "[\"a\",\"b\"]"},
		{"setproduct([\"a\"], [1, 2])", "[[\"a\",1],[\"a\",2]]"},
		{"setunion([2], [1, 2])", "[1,2]"},
		{"setintersection([1, 2], [2, 3])", "[2]"},
		{"zipmap([\"a\"], [1])", "{\"a\":1}"},
		{"chunklist([1, 2, 3], 2)", "[[1,2],[3]]"},
		{"coalesce(null, \"v\")", "\"v\""},
		{"min([5, 1, 3]...)", "1"},
		{"min(5...)", "1,5"},
		{"min(null...)", "1,5"},
		{"min([1, [2]]...)", "1,5"},
		{"ceil(-1.2) + floor(1.8) + abs(-4.5)", "4.5"},
		{"pow(2, 10) + log(100, 10) + signum(-3)", "1025"},
		{"parseint(\"-ff\", 16)", "-255"},
		{"parseint(\"Zz\", 62)", "3817"},
		{"convert([\"1\", \"1\"], set(number))", "[1]"},
		{"convert({a = 1}, object({a = string}))", "{\"a\":\"1\"}"},
		{"try({}.a, \"b\")", "\"b\""},
		{"can({}.a)", "false"},
		{"range(1000000000)", "1,1"},
		{"parseint(\"xyz\", 10)", "1,11"},
		{"length(\"abc\")", "1,1"},
		{"convert(1, strng)", "1,12"},
		{0},
	};
	check_rows(rows);
}

static void functions_of_codes(void **unused)
{
	static const struct row rows[] = {
		{"jsonencode({a = [1, null], b = \"<\\u2028\"})",
			"\"{\\\"a\\\":[1,null],\\\"b\\\":\\\"\\\\u003c\\\\u2028\\\"}\""},
		{"jsondecode(\"{\\\"a\\\": [1.50, \\\"\\\\u00e9\\\", null]}\")",
			"{\"a\":[1.5,\"é\",null]}"},
		{"yamlencode({b = \"x\", a = [1]})",
			"\"\\\"a\\\":\\n- 1\\n\\\"b\\\": \\\"x\\\"\\n\""},
		{"yamldecode(\"a: 0x1F\\nb: [yes, ~, 'q']\\n\")",
			"{\"a\":31,\"b\":[true,null,\"q\"]}"},
		{"base64decode(base64encode(\"wörld\"))", "\"wörld\""},
		{"urlencode(\"a b/ü\")", "\"a+b%2F%C3%BC\""},
		{"csvdecode(\"id,n\\n1,\\\"b, \\\"\\\"c\\\"\\n\")",
			"[{\"id\":\"1\",\"n\":\"b, \\\"c\"}]"},
		{"md5(\"nomad file\")", "\"0254af4269f1ce7ac3e74ab5f80378ca\""},
		{"uuidv5(\"dns\", \"host.local\")", "\"6b17a7ca-5192-583e-824d-af0eb333c3be\""},
		{"timeadd(\"2024-02-28T23:30:00Z\", \"45m\")", "\"2024-02-29T00:15:00Z\""},
		{"formatdate(\"DD MMM 'o''clock' h ZZZ\", \"2023-12-01T15:04:05+02:00\")",
			"\"01 Dec o'clock 15 +0200\""},
		{"cidrhost(\"10.20.0.0/16\", 258)", "\"10.20.1.2\""},
		{"cidrhost(\"10.20.0.0/16\", -2)", "\"10.20.255.254\""},
		{"cidrhost(\"10.20.0.0/30\", 4)", "1,1"},
		{"cidrsubnet(\"10.0.0.0/8\", 8, -1)", "\"10.255.0.0/16\""},
		{"cidrsubnet(\"10.0.0.0/8\", 25, 0)", "1,1"},
		{"cidrnetmask(\"172.16.0.0/12\")", "\"255.240.0.0\""},
		{"uuidv5(\"no namespace\", \"x\")", "1,1"},
		{"jsondecode(\"\\\"\\\\u12g4\\\"\")", "1,13"},
		{"cidrsubnets(\"192.168.0.0/20\", 4, 4, 2)",
			"[\"192.168.0.0/24\",\"192.168.1.0/24\",\"192.168.4.0/22\"]"},
		{"jsondecode(\"{\")", "1,13"},
		{"timeadd(\"today\", \"1s\")", "1,1"},
		{"file(\"x\")", "1,1"},
		{0},
	};
	check_rows(rows);
}

// Texts that an author may make to take long or much.
static void costs_have_a_limit(void **unused)
{
	static const struct row rows[] = {
		{"[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]",
			"1,73"},
		{"format(\"%1000000000d\", 1)", "\"\""},
		{"join(\"\", [for a in range(1000) : indent(100000, \"\\n\")])", "1,1"},
		{0},
	};
	struct hcl2_run run;
	for (uint32_t i = 0; i < 3; i += 2) {
		hcl2_run_begin(&run);
		outcome(&run, rows[i].text);
		assert_int_not_equal(run.mistake_count, 0);
		hcl2_run_end(&run);
	}
	hcl2_run_begin(&run);
	outcome(&run, "1e99999999999999999999");
	assert_non_null(strstr(hcl2_mistakes_text(&run), "This is no number."));
	hcl2_run_end(&run);
	static const char *const nests[] = {"[", "!", "(", "\"${", "-", "{a="};
	for (uint32_t i = 0; i < 6; i++) {
		size_t each = strlen(nests[i]), count = 100000;
		char *text = memory_take(each * count + 1);
		for (size_t n = 0; n < count; n++)
			memcpy(text + n * each, nests[i], each);
		text[each * count] = 0;
		hcl2_run_begin(&run);
		outcome(&run, text);
		assert_int_not_equal(run.mistake_count, 0);
		hcl2_run_end(&run);
		free(text);
	}
	char *large = memory_take(HCL2_TEXT_BYTES_MAX + 2);
	memset(large, ' ', HCL2_TEXT_BYTES_MAX + 1);
	large[HCL2_TEXT_BYTES_MAX + 1] = 0;
	hcl2_run_begin(&run);
	assert_null(hcl2_parse(&run, "large", text_of(large)));
	hcl2_run_end(&run);
	free(large);
}

// Small pieces take more than was asked for.
static void memory_counts_as_it_is_taken(void **unused)
{
	struct hcl2_run run;
	hcl2_run_begin(&run);
	const char *first = hcl2_take(&run, 1), *second = hcl2_take(&run, 1);
	assert_int_equal(run.memory_used, 2 * (second - first));
	hcl2_run_end(&run);
}

static void blocks_have_labels_and_items(void **unused)
{
	struct hcl2_run run;
	hcl2_run_begin(&run);
	const struct hcl2_body *body = hcl2_parse(&run, "test",
		TEXT("\xef\xbb\xbf# x\nb \"l 1\" l2 {\n  a = 1 // y\n  c {}\n}\nd { e = 2 } /* z "
		     "*/\n"));
	assert_non_null(body);
	const struct hcl2_block *block = body->blocks;
	assert_int_equal(block->label_count, 2);
	assert_true(text_equal(block->labels[0].text, TEXT("l 1")));
	assert_true(text_equal(block->body->attributes->name, TEXT("a")));
	assert_true(text_equal(block->body->blocks->type, TEXT("c")));
	assert_true(text_equal(block->next->body->attributes->name, TEXT("e")));
	assert_null(block->next->next);
	hcl2_run_end(&run);
}

static void mistakes_of_bodies_have_a_place(void **unused)
{
	static const struct row rows[] = {
		{"a", "1,1"},
		{"a.b = 1", "1,1"},
		{"a = 1, b = 2", "1,6"},
		{"a = 1\na = 2", "2,1"},
		{"\"a\" = 1", "1,1"},
		{"b {", "1,4"},
		{"b {\n a = 1 }\n", "2,8"},
		{"b { a = 1, c = 2 }", "1,10"},
		{"b { c {} }", "1,5"},
		{"b \"${x}\" {}", "1,4"},
		{"b\n{\n}", "1,1"},
		{"b \"x\"\n{\n}", "1,6"},
		{"a = 1 /* x", "1,7"},
		{"ключ = \xff", "1,8"},
		{"}", "1,1"},
		{"a = \xe2\x80\x9cx\xe2\x80\x9d", "1,5"},
		{0},
	};
	for (const struct row *row = rows; row->text; row++) {
		struct hcl2_run run;
		uint32_t line, column;
		hcl2_run_begin(&run);
		assert_null(hcl2_parse(&run, "test", text_of(row->text)));
		hcl2_place(run.mistakes[0].at.source, run.mistakes[0].at.from, &line, &column);
		if (strcmp(hcl2_print(&run, "%u,%u", line, column), row->outcome) != 0)
			print_error("%s\n", row->text);
		assert_string_equal(hcl2_print(&run, "%u,%u", line, column), row->outcome);
		hcl2_run_end(&run);
	}
}

static void a_mistake_shows_its_line(void **unused)
{
	struct hcl2_run run;
	hcl2_run_begin(&run);
	assert_null(hcl2_parse(&run, "f.hcl", TEXT("x = 1\n\ty = ~\n")));
	assert_string_equal(hcl2_mistakes_text(&run),
		"f.hcl:2,6: There are no operators of bits; did you mean && or ||?\n"
		"     2 | \ty = ~\n"
		"       | \t    ^\n");
	hcl2_run_end(&run);
}

// A random expression of small whole numbers, and its value as this machine computes it.
static int64_t write_expression(FILE *to, struct prng *prng, uint32_t depth)
{
	int64_t number = (int64_t)prng_below(prng, 100);
	if (depth == 0 || prng_below(prng, 4) == 0) {
		fprintf(to, "%lld", (long long)number);
		return number;
	}
	fputs("(", to);
	int64_t left = write_expression(to, prng, depth - 1);
	static const char signs[] = "+-*";
	char sign = signs[prng_below(prng, 3)];
	fprintf(to, " %c ", sign);
	int64_t right = write_expression(to, prng, depth - 1);
	fputs(")", to);
	return sign == '+' ? left + right : sign == '-' ? left - right : left * right;
}

static void numbers_are_computed_as_elsewhere(void **unused)
{
	struct prng prng;
	uint64_t seed = 20261128;
	print_message("seed %lu\n", (unsigned long)seed);
	prng_seed(&prng, seed);
	for (uint32_t round = 0; round < 500; round++) {
		char *text;
		size_t size;
		FILE *file = open_memstream(&text, &size);
		int64_t expected = write_expression(file, &prng, 3);
		fclose(file);
		struct hcl2_run run;
		hcl2_run_begin(&run);
		assert_string_equal(
			outcome(&run, text), hcl2_print(&run, "%lld", (long long)expected));
		hcl2_run_end(&run);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_compute),
		cmocka_unit_test(collections_are_made_and_looked_into),
		cmocka_unit_test(templates_become_texts),
		cmocka_unit_test(unknown_names_are_their_text),
		cmocka_unit_test(functions_of_texts),
		cmocka_unit_test(functions_of_collections_and_numbers),
		cmocka_unit_test(functions_of_codes),
		cmocka_unit_test(costs_have_a_limit),
		cmocka_unit_test(memory_counts_as_it_is_taken),
		cmocka_unit_test(blocks_have_labels_and_items),
		cmocka_unit_test(mistakes_of_bodies_have_a_place),
		cmocka_unit_test(a_mistake_shows_its_line),
		cmocka_unit_test(numbers_are_computed_as_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
