// Filters of lists: what they mean, and what is said of those that mean nothing.
#include "tools/forms/filter.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char item_text[] =
	"{\"ID\": \"a-1\", \"Status\": \"ready\", \"Drain\": false, \"Priority\": 50, \"Score\": "
	"0.5,"
	" \"Datacenters\": [\"dc1\", \"dc2\"], \"Numbers\": [1, 2], \"Empty\": [], \"None\": null,"
	" \"Blank\": \"\", \"Attributes\": {\"kernel.name\": \"linux\", \"arch\": \"amd64\"},"
	" \"Group\": {\"Inner\": {\"Count\": 3}}, \"say\\\"so\": 1}";

static json_t *item;

static int set_up(void **unused)
{
	item = json_loads(item_text, 0, NULL);
	return item ? 0 : -1;
}

static int tear_down(void **unused)
{
	json_decref(item);
	return 0;
}

static bool fits(const char *text)
{
	char message[FILTER_MESSAGE_BYTES];
	struct filter *filter = filter_parse(text_of(text), message);
	if (!filter)
		fail_msg("%s: %s", text, message);
	bool yes = filter_fits(filter, item);
	filter_free(filter);
	return yes;
}

static void comparisons_mean_what_they_say(void **unused)
{
	static const struct {
		const char *text;
		bool fits;
	} cases[] = {
		{"Status == ready", true},
		{"Status==\"ready\"", true},
		{"Status == `ready`", true},
		{"Status == \"re\\u0061dy\"", true},
		{"Status == down", false},
		{"Status != down", true},
		{"Status != ready", false},
		{"Drain == false", true},
		{"Drain == true", false},
		{"Priority == 50", true},
		{"Priority == 50.0", true},
		{"Priority == \"50\"", true},
		{"Priority == fifty", false},
		{"Priority != 51", true},
		{"Score == 0.5", true},
		{"dc1 in Datacenters", true},
		{"\"dc3\" in Datacenters", false},
		{"dc3 not in Datacenters", true},
		{"Datacenters contains dc2", true},
		{"Datacenters not contains dc2", false},
		{"2 in Numbers", true},
		{"\"kernel.name\" in Attributes", true},
		{"Attributes contains other", false},
		{"Status contains ead", true},
		{"ead in Status", true},
		{"Attributes.arch == amd64", true},
		{"Attributes[\"kernel.name\"] == linux", true},
		{"Group[\"Inner\"].Count == 3", true},
		{"Group.Inner[\"Count\"] == 4", false},
		{"Empty is empty", true},
		{"Empty is not empty", false},
		{"Datacenters is empty", false},
		{"Blank is empty", true},
		{"None is empty", true},
		{"Attributes is not empty", true},
		{"Drain is empty", false},
		{"Status matches \"^re\"", true},
		{"Status matches \"^dy\"", false},
		{"Status not matches `d.$`", false},
		{"Datacenters matches \"2$\"", true},
		// What is not there is unequal, contains nothing and is empty.
		{"Nothing == x", false},
		{"Nothing != x", true},
		{"x in Nothing", false},
		{"x not in Nothing", true},
		{"Nothing is empty", true},
		{"Nothing is not empty", false},
		{"Nothing matches x", false},
		{"Nothing not matches x", true},
		{"None.Inner == x", false},
		{"Status.Inner == ready", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (fits(cases[i].text) != cases[i].fits)
			fail_msg("%s is %s", cases[i].text, cases[i].fits ? "no" : "yes");
}

static void and_binds_closer_than_or(void **unused)
{
	static const char *const signs[] = {"Status == down", "Status == ready"};
	for (int bits = 0; bits < 8; bits++) {
		bool a = bits & 1, b = bits & 2, c = bits & 4;
		char text[256];
		const struct {
			const char *form;
			bool fits;
		} cases[] = {
			{"%s or %s and %s", a || (b && c)},
			{"%s and %s or %s", (a && b) || c},
			{"(%s or %s) and %s", (a || b) && c},
			{"not %s and %s or %s", (!a && b) || c},
			{"not (%s and %s) or %s", !(a && b) || c},
			{"not not %s and (not (%s or ((%s))))", a && !(b || c)},
		};
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(text, sizeof text, cases[i].form, signs[a], signs[b], signs[c]);
#pragma GCC diagnostic pop
			assert_int_equal(fits(text), cases[i].fits);
		}
	}
}

static void mistakes_are_told_with_their_place(void **unused)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "at character 1: the name of a member is expected, but the filter ends"},
		{"Status", "at character 7: ==, !=, in, not, contains, is or matches is expected"},
		{"Status = ready", "at character 8: \"=\" begins nothing"},
		{"Status == ", "at character 11: a value is expected, but the filter ends"},
		{"Status == \"ready", "at character 11: a text that begins with \""},
		{"Status == `ready", "at character 11: a text that begins with `"},
		{"Status == \"\\q\"", "at character 11: this text is not as in JSON"},
		{"Status == \"a\\u0000b\"", "at character 11: this text is not as in JSON"},
		{"Status == ready and", "at character 20: the name of a member is expected"},
		{"Status == ready Status == x", "at character 17: \"and\", \"or\" or the end"},
		{"(Status == ready", "at character 17: \")\", \"and\" or \"or\" is expected"},
		{"Status == ready)", "at character 16: \"and\", \"or\" or the end is expected"},
		{"Status is full", "at character 11: \"empty\" or \"not empty\" is expected"},
		{"Status not equal", "at character 12: \"in\", \"contains\" or \"matches\""},
		{"Status matches \"(\"", "at character 16: "},
		{"A[b] == c", "at character 3: a name in quotes is expected"},
		{"A[\"b\" == c", "at character 7: \"]\" is expected"},
		{"A..b == c", "at character 1: a part of this selector is empty"},
		{"A. == c", "at character 1: a part of this selector is empty"},
		{"A[\"\"] == c", "at character 3: a part of this selector is empty"},
		{"a.b.c.d.e.f.g.h.i == 1", "at character 1: a selector has at most 8 parts"},
		{"\"x\" == y", "at character 1: the name of a member is expected"},
		{"\"x\" in \"y\"", "at character 8: the name of a member is expected"},
		{"A == b & C == d", "at character 8: \"&\" begins nothing"},
		{"A == b\x01", "at character 7: the byte 1 begins nothing"},
	};
	char message[FILTER_MESSAGE_BYTES];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct filter *filter = filter_parse(text_of(cases[i].text), message);
		if (filter || strncmp(message, "filter: ", 8) != 0 ||
			strncmp(message + 8, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s: %s", cases[i].text, filter ? "was taken" : message);
	}
}

static void assert_refused(const char *text, size_t size, const char *why)
{
	char message[FILTER_MESSAGE_BYTES];
	assert_null(filter_parse((struct text){text, (uint32_t)size}, message));
	assert_non_null(strstr(message, why));
}

static void what_is_too_much_is_refused(void **unused)
{
	static char text[FILTER_BYTES_MAX + 2];
	memset(text, ' ', FILTER_BYTES_MAX + 1);
	assert_refused(text, FILTER_BYTES_MAX + 1, "longer than 4096 bytes");
	memset(text, '(', 2000);
	assert_refused(text, 2000, "nested deeper than 32");
	size_t size = 500 * strlen("not ");
	for (size_t i = 0; i < size; i++)
		text[i] = "not "[i % 4];
	assert_refused(text, size, "nested deeper than 32");
	size = 0;
	for (uint32_t i = 0; i < 65; i++)
		size += (size_t)snprintf(
			text + size, sizeof text - size, "%sA == %u", i ? " or " : "", i);
	assert_refused(text, size, "more than 128 things");
	// One less is taken: 64 that compare and 63 that join.
	char message[FILTER_MESSAGE_BYTES];
	struct filter *filter = filter_parse(
		(struct text){text, (uint32_t)(size - strlen(" or A == 64"))}, message);
	assert_non_null(filter);
	filter_free(filter);
}

static bool is_status(const char *name, void *context)
{
	return strcmp(name, "Status") == 0;
}

static void unknown_members_are_found(void **unused)
{
	char message[FILTER_MESSAGE_BYTES];
	struct filter *filter =
		filter_parse(TEXT("Status.x == 1 and (b in Stat or Status == 2)"), message);
	assert_non_null(filter);
	assert_string_equal(filter_find_unknown(filter, is_status, NULL), "Stat");
	filter_free(filter);
	filter = filter_parse(TEXT("Status == 1"), message);
	assert_null(filter_find_unknown(filter, is_status, NULL));
	filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons_mean_what_they_say),
		cmocka_unit_test(and_binds_closer_than_or),
		cmocka_unit_test(mistakes_are_told_with_their_place),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(unknown_members_are_found),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
