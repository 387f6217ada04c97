#include "placement/constraint/constraint.h"
#include "placement/constraint/regexp.h"
#include "state/base/nomad_version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct attribute attributes[] = {{"arch", "amd64"}, {"cores", "10"}, {"empty", ""},
	{"flags", "a, b ,c"}, {"kernel.version", "5.10.0-rc1"},
	{"nomad.version", NOMAD_VERSION_FULL}, {"os.signals", "SIGINT,SIGTERM"},
	{"pattern", "^n[0-9]$"}, {"score", "5.1"}, {"wanted", ">= 5"}};
static const struct attribute meta[] = {{"rack", "r1"}};
static const struct attribute device_attributes[] = {{"memory", "40960 MiB"}};
static const struct device_group device = {"nvidia", "gpu", "a100", 8, 1, device_attributes};
static const struct node_class node_class = {
	.datacenter = "dc1",
	.class_name = "big",
	.pool = "default",
	.attribute_count = COUNT(attributes),
	.meta_count = COUNT(meta),
	.device_count = 1,
	.attributes = attributes,
	.meta = meta,
	.devices = &device,
};
static const struct node node = {
	.id = {{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0x4d, 0xef, 0x80, 0, 0, 0, 0, 0, 0, 1}},
	.node_class = (struct node_class *)&node_class,
	.own_attribute_count = 1,
	.own_meta_count = 1,
	.name = "n7\0\0h1\0t1",
	.make = "\0=unique.host\0=my.unique.tag",
};

static bool matches(const char *l, const char *operand, const char *r)
{
	struct constraint_error error;
	struct compiled_constraint *c = constraint_compile(l, r, operand, &error);
	if (!c)
		fail_msg("%s %s %s: %s", l, operand, r, error.text);
	bool is = constraint_matches_node(c, &node);
	// The class alone must answer a constraint that is not unique to the node.
	const struct node any = {.node_class = (struct node_class *)&node_class};
	if (!constraint_is_node_unique(c))
		assert_int_equal(constraint_matches_node(c, &any), is);
	constraint_free(c);
	return is;
}

struct row {
	const char *l, *operand, *r;
	bool holds;
};

static void assert_rows(const struct row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (matches(rows[i].l, rows[i].operand, rows[i].r) != rows[i].holds)
			fail_msg("%s %s %s", rows[i].l, rows[i].operand, rows[i].r);
}

static void equality(void **state)
{
	static const struct row rows[] = {
		{"${attr.arch}", "=", "amd64", true},
		{"${attr.arch}", "==", "amd64", true},
		{"${attr.arch}", "is", "amd64", true},
		{"${attr.arch}", "=", "arm64", false},
		{"${attr.missing}", "=", "amd64", false},
		{"${attr.arch}", "=", "${attr.missing}", false},
		{"${attr.missing}", "=", "${attr.missing}", false},
		{"${attr.arch}", "!=", "amd64", false},
		{"${attr.arch}", "not", "arm64", true},
		{"${attr.missing}", "!=", "amd64", true},
		{"${attr.arch}", "!=", "${attr.missing}", true},
		{"${attr.empty}", "!=", "${attr.missing}", true},
		{"${attr.missing}", "!=", "${meta.missing}", false},
		{"literal", "=", "literal", true},
		{"amd64", "=", "${attr.arch}", true},
		{"${attr.arch}", "=", "${attr.arch}", true},
	};
	assert_rows(rows, COUNT(rows));
}

static void order(void **state)
{
	static const struct row rows[] = {
		{"${attr.cores}", ">", "9", true}, // integers, not text
		{"${attr.cores}", "<", "9", false},
		{"${attr.cores}", ">=", "10", true},
		{"${attr.cores}", "<=", "10", true},
		{"${attr.cores}", ">", "10", false},
		{"${attr.score}", "<", "10", true}, // floating point
		{"${attr.score}", ">", "5.09", true},
		{"${attr.score}", ">=", "5.10", true},
		{"abc", ">", "10", true}, // text
		{"abc", "<", "abd", true},
		{"abc", "<=", "abc", true},
		{"-3", "<", "+2", true},
		{"9223372036854775808", ">", "9223372036854775807", false}, // equal as doubles
		{"9223372036854775808", ">=", "9223372036854775807", true},
		{" 9", "<", "10", true}, // a blank makes it text
		{"nan", "<", "1", false},
		{"nan", ">=", "1", false},
		{"inf", ">", "1e300", true},
		{"1e999", ">", "5", false}, // too large for a number: text
		{"${attr.missing}", "<", "5", false},
		{"5", ">", "${attr.missing}", false},
	};
	assert_rows(rows, COUNT(rows));
}

static void presence_and_sets(void **state)
{
	static const struct row rows[] = {
		{"${attr.arch}", "is_set", "", true},
		{"${attr.empty}", "is_set", "", true},
		{"${attr.missing}", "is_set", "", false},
		{"${attr.missing}", "is_not_set", "", true},
		{"${meta.rack}", "is_not_set", "", false},
		{"${attr.flags}", "set_contains", "b", true},
		{"${attr.flags}", "set_contains", "c , a", true},
		{"${attr.flags}", "set_contains_all", "a,d", false},
		{"${attr.flags}", "set_contains_any", "d,a", true},
		{"${attr.flags}", "set_contains_any", "d,e", false},
		{"${attr.flags}", "set_contains", "a b", false},
		{"${attr.missing}", "set_contains", "a", false},
		{"${attr.flags}", "set_contains_any", "${attr.missing}", false},
		{"${attr.flags}", "set_contains", "${attr.missing}", false},
	};
	assert_rows(rows, COUNT(rows));
}

static void programs(void **state)
{
	static const struct row rows[] = {
		{"${attr.arch}", "regexp", "md6", true}, // anywhere
		{"${attr.arch}", "regexp", "^md6", false},
		{"${attr.arch}", "regexp", "^(amd|arm)64$", true},
		{"${attr.missing}", "regexp", ".*", false},
		{"${node.unique.name}", "regexp", "${attr.pattern}", true}, // the node's own
		{"${attr.arch}", "regexp", "${attr.pattern}", false},
		{"${attr.arch}", "regexp", "${attr.missing}", false},
		{"${attr.kernel.version}", "version", ">= 5.10.0-rc0", true},
		{"${attr.kernel.version}", "version", ">= 5", false},
		{"${attr.kernel.version}", "semver", ">= 5", true},
		// What a client of Nomad's release says; what is behind the "+" is not compared.
		{"${attr.nomad.version}", "semver", ">= 1.6.0, < 1.7.0", true},
		{"${attr.nomad.version}", "version", "= 1.6.5", true},
		{"${attr.nomad.version}", "version", "> 1.6.5", false},
		{"${attr.os.signals}", "set_contains", "SIGTERM", true},
		{"${attr.cores}", "version", "${attr.wanted}", true},
		{"${attr.cores}", "version", "${attr.arch}", false}, // no condition at all
	};
	assert_rows(rows, COUNT(rows));
}

static void targets(void **state)
{
	static const struct row rows[] = {
		{"${node.unique.id}", "=", "12345678-9abc-4def-8000-000000000001", true},
		{"${node.unique.name}", "=", "n7", true}, {"${node.datacenter}", "=", "dc1", true},
		{"${node.class}", "=", "big", true}, {"${node.pool}", "=", "default", true},
		{"${meta.rack}", "=", "r1", true}, {"${attr.unique.host}", "=", "h1", true},
		{"${meta.my.unique.tag}", "=", "t1", true}, {"${node.status}", "is_set", "", false},
		{"${node.class", "is_set", "", false}, {"${node.class}x", "is_set", "", false},
		{"${}", "is_set", "", false},
		{"$attr.arch", "=", "$attr.arch", true}, // no "${": a literal
	};
	assert_rows(rows, COUNT(rows));
}

static void what_is_unique_is_told(void **state)
{
	static const struct {
		const char *l, *r;
		bool unique;
	} rows[] = {
		{"${attr.arch}", "x", false},
		{"${node.unique.name}", "x", true},
		{"${node.unique.id}", "x", true},
		{"${attr.unique.host}", "x", true},
		{"${meta.my.unique.tag}", "x", true},
		{"${attr.notunique.host}", "x", false},
		{"x", "${meta.unique.y}", true},
		{"unique.", "x", false},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct constraint_error error;
		struct compiled_constraint *c =
			constraint_compile(rows[i].l, rows[i].r, "=", &error);
		if (constraint_is_node_unique(c) != rows[i].unique)
			fail_msg("%s = %s", rows[i].l, rows[i].r);
		constraint_free(c);
	}
}

static void devices(void **state)
{
	static const struct row rows[] = {
		{"${device.type}", "=", "gpu", true},
		{"${device.vendor}", "=", "nvidia", true},
		{"${device.model}", "regexp", "^a", true},
		{"${device.model}", "=", "t4", false},
		{"${device.attr.memory}", "is_set", "", true},
		{"${device.attr.memory}", ">=", "40 GiB", true},
		{"${device.attr.memory}", "<", "40 GiB", false},
		{"${device.attr.memory}", "!=", "40 GiB", false},
		{"${device.attr.memory}", "!=", "40 GHz", false},
		{"${device.attr.memory}", "=", "40960", false},
		{"${device.attr.bandwidth}", "!=", "1 GB/s", true},
		{"${device.attr.bandwidth}", "is_not_set", "", true},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct constraint_error error;
		struct compiled_constraint *c =
			constraint_compile(rows[i].l, rows[i].r, rows[i].operand, &error);
		assert_int_equal(constraint_matches_device(c, &node_class, &device), rows[i].holds);
		constraint_free(c);
	}
}

static void mistakes_are_told(void **state)
{
	static const struct {
		const char *l, *operand, *r, *says;
	} rows[] = {
		{"a", "", "b", "missing constraint operator"},
		{"a", NULL, "b", "missing constraint operator"},
		{"a", "=<", "b", "operator \"=<\" is not known; known operators are =, ==, is,"},
		{"a", "=<", "b", "set_contains_any"},
		{"a", "=", "", "operator \"=\" requires an RTarget"},
		{"a", "=", NULL, "operator \"=\" requires an RTarget"},
		{"", "=", "b", "no LTarget provided"},
		{"a", "is_set", "b", "operator \"is_set\" does not support an RTarget"},
		{"a", "regexp", "(",
			"failed to compile at character 1: missing closing parenthesis"},
		{"a", "version", "x", "malformed version condition \"x\""},
		{"a", "semver", "~> 1", "malformed semver condition"},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct constraint_error error = {""};
		assert_null(constraint_compile(rows[i].l, rows[i].r, rows[i].operand, &error));
		if (!strstr(error.text, rows[i].says))
			fail_msg("\"%s\" lacks \"%s\"", error.text, rows[i].says);
	}
}

// Patterns that would cost without bound are refused, or match nothing.
static void regular_expressions_are_bounded(void **state)
{
	struct constraint_error error = {""};
	char pattern[2000];
	memset(pattern, 'a', sizeof pattern);
	pattern[sizeof pattern - 1] = 0;
	assert_null(constraint_compile("a", pattern, "regexp", &error));
	assert_non_null(strstr(error.text, "failed to compile"));
	assert_null(constraint_compile("a", "((((a{90}){90}){90}){90})", "regexp", &error));
	assert_non_null(strstr(error.text, "failed to compile"));
	assert_null(constraint_compile("a", "(abcdefgh){600}", "regexp", &error));
	assert_non_null(strstr(error.text, "bytes when compiled; at most 32768 are allowed"));

	char subject[3000];
	memset(subject, 'a', sizeof subject);
	subject[sizeof subject - 1] = 0;
	struct compiled_constraint *c = constraint_compile(subject, "(a+)+$b", "regexp", &error);
	assert_non_null(c);
	assert_false(constraint_matches_node(c, &node));
	constraint_free(c);
	char longer[6000];
	memset(longer, 'a', sizeof longer);
	longer[sizeof longer - 1] = 0;
	assert_null(constraint_compile(longer, "a", "regexp", &error));
	assert_string_equal(error.text, "LTarget and RTarget may have 4096 bytes each");
	assert_null(constraint_compile("a", longer, "set_contains_any", &error));
}

// A search for as many a's and then an end that only the last ones reach.
static bool finds_end_behind(uint32_t count, const char *pattern)
{
	static char subject[4001];
	struct constraint_error error;
	void *program = regexp_compile(pattern, &error);

	assert_non_null(program);
	memset(subject, 'a', count);
	memcpy(subject + count, "b", 2);
	bool found = regexp_test(subject, NULL, program);
	regexp_release(program);
	return found;
}

// Each beginning in the subject is allowed by itself; their sum is what takes time.
static void a_search_has_a_budget_for_all_its_beginnings(void **state)
{
	static const char *const patterns[] = {"[ab]{1,60}b$", "(a|b){1,60}b$", "([ab][ab]?){8}b$"};

	for (uint32_t i = 0; i < COUNT(patterns); i++) {
		assert_true(finds_end_behind(20, patterns[i]));
		assert_false(finds_end_behind(3900, patterns[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equality),
		cmocka_unit_test(order),
		cmocka_unit_test(presence_and_sets),
		cmocka_unit_test(programs),
		cmocka_unit_test(targets),
		cmocka_unit_test(what_is_unique_is_told),
		cmocka_unit_test(devices),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(regular_expressions_are_bounded),
		cmocka_unit_test(a_search_has_a_budget_for_all_its_beginnings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
