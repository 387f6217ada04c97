// Bodies of a megabyte that list as much as they can of one thing: the work on them grows with their size, not with its
// square. Work is counted in comparisons of texts and in bytes that are looked at, so that no clock decides.
#include "state/base/limits.h"
#include "tests/support/core/slowness.h"
#include "tools/forms/job_body.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// What an honest job of this size takes is below 10.
#define STEPS_PER_BYTE_MOST 100u

static uint64_t steps;

int __real_strcmp(const char *, const char *);
int __wrap_strcmp(const char *, const char *);
int __real_memcmp(const void *, const void *, size_t);
int __wrap_memcmp(const void *, const void *, size_t);
size_t __real_strlen(const char *);
size_t __wrap_strlen(const char *);

int __wrap_strcmp(const char *a, const char *b)
{
	steps++;
	return __real_strcmp(a, b);
}

int __wrap_memcmp(const void *a, const void *b, size_t size)
{
	steps++;
	return __real_memcmp(a, b, size);
}

size_t __wrap_strlen(const char *text)
{
	size_t size = __real_strlen(text);
	steps += 1 + size;
	return size;
}

// before, then `item` with its number as often as there is room, then after.
struct attack {
	const char *name, *before, *item, *after;
};

#define JOB "{\"Job\":{\"ID\":\"a\",\"Type\":\"batch\""
#define GROUPS JOB ",\"TaskGroups\":["
#define GROUP GROUPS "{\"Name\":\"g\","
#define TASK GROUP "\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"d\","
#define GROUP_OF_ONE \
	",\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"d\"}]}]}}"

static const struct attack attacks[] = {
	{"groups", GROUPS, "{\"Name\":\"%x\"}", "]}}"},
	{"groups without a name", GROUPS, "{}", "]}}"},
	{"tasks", GROUP "\"Tasks\":[", "{\"Name\":\"%x\"}", "]}]}}"},
	{"tasks of one name", GROUP "\"Tasks\":[", "{\"Name\":\"t\"}", "]}]}}"},
	{"tasks without a name", GROUP "\"Tasks\":[", "{}", "]}]}}"},
	{"reserved ports", GROUP "\"Networks\":[{\"ReservedPorts\":[", "{\"Label\":\"%x\"}",
		"]}]}]}}"},
	{"dynamic ports", GROUP "\"Networks\":[{\"DynamicPorts\":[", "{\"Label\":\"%x\"}",
		"]}]}]}}"},
	{"networks", GROUP "\"Networks\":[", "{}", "]}]}}"},
	{"volumes", GROUP "\"Volumes\":{", "\"%x\":{}", "}}]}}"},
	{"devices", TASK "\"Resources\":{\"Devices\":[", "{\"Name\":\"%x\"}", "]}}]}]}}"},
	{"environment", TASK "\"Env\":{", "\"%x\":\"\"", "}}]}]}}"},
	{"constraints", JOB ",\"Constraints\":[",
		"{\"LTarget\":\"a\",\"Operand\":\"regexp\",\"RTarget\":\"%x\"}", "]" GROUP_OF_ONE},
	{"affinities", JOB ",\"Affinities\":[",
		"{\"LTarget\":\"a\",\"Operand\":\"regexp\",\"RTarget\":\"%x\"}", "]" GROUP_OF_ONE},
	{"spreads", JOB ",\"Spreads\":[", "{\"Attribute\":\"%x\"}", "]" GROUP_OF_ONE},
	{"targets of a spread", JOB ",\"Spreads\":[{\"Attribute\":\"a\",\"SpreadTarget\":[",
		"{\"Value\":\"%x\"}", "]}]" GROUP_OF_ONE},
	{"datacenters", JOB ",\"Datacenters\":[", "\"%x\"", "]" GROUP_OF_ONE},
	{"regions", JOB ",\"Multiregion\":{\"Regions\":[", "{\"Name\":\"%x\"}", "]}" GROUP_OF_ONE},
	{"launch times", JOB ",\"Periodic\":{\"Specs\":[", "\"@daily\"", "]}" GROUP_OF_ONE},
};

static char body[JOB_JSON_BYTES_MAX / BUILD_SLOWNESS];

static size_t fill_body(const struct attack *attack)
{
	size_t end = sizeof body - strlen(attack->after) - 64;
	size_t at = (size_t)snprintf(body, sizeof body, "%s", attack->before);
	for (unsigned i = 0; at < end; i++) {
		if (i > 0)
			body[at++] = ',';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		at += (size_t)snprintf(body + at, sizeof body - at, attack->item, i);
#pragma GCC diagnostic pop
	}
	return at + (size_t)snprintf(body + at, sizeof body - at, "%s", attack->after);
}

// Returns whether the job may be registered.
static bool read_body(const char *name, size_t size)
{
	struct job_body read;
	char message[256];
	steps = 0;
	if (!job_body_read(body, size, NULL, &read, message, sizeof message))
		fail_msg("%s: %s", name, message);
	if (steps > STEPS_PER_BYTE_MOST * size)
		fail_msg("%s: %lu steps for %zu bytes", name, steps, size);
	bool is_valid = job_body_is_valid(&read);
	job_body_free(&read);
	return is_valid;
}

static void a_body_of_a_megabyte_is_checked_in_bounded_steps(void **unused)
{
	for (uint32_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
		bool is_valid = read_body(attacks[i].name, fill_body(&attacks[i]));
		// A map is no list: its names are sorted once.
		assert_int_equal(is_valid, strcmp(attacks[i].name, "environment") == 0);
	}
}

static void names_of_parameters_are_compared_in_bounded_steps(void **unused)
{
	size_t half = sizeof body / 2;
	size_t at = (size_t)snprintf(
		body, sizeof body, JOB ",\"ParameterizedJob\":{\"MetaRequired\":[\"a\"");
	for (unsigned i = 0; at < half; i++)
		at += (size_t)snprintf(body + at, sizeof body - at, ",\"%x\"", i);
	at += (size_t)snprintf(body + at, sizeof body - at, "],\"MetaOptional\":[\"b\"");
	for (unsigned i = 0; at < sizeof body - 256; i++)
		at += (size_t)snprintf(body + at, sizeof body - at, ",\"_%x\"", i);
	at += (size_t)snprintf(body + at, sizeof body - at, "]}" GROUP_OF_ONE);
	assert_false(read_body("parameters", at));
}

// Every mistake names its group: what is shown of a name has its bound, and so has what is read of it.
static void a_long_name_is_not_read_for_each_mistake(void **unused)
{
	size_t half = sizeof body / 2;
	size_t at = (size_t)snprintf(body, sizeof body, GROUPS "{\"Name\":\"");
	memset(body + at, 'n', half);
	at += half;
	at += (size_t)snprintf(body + at, sizeof body - at, "\",\"Tasks\":[{\"Name\":\"t\"}");
	while (at < sizeof body - 256)
		at += (size_t)snprintf(body + at, sizeof body - at, ",{\"Name\":\"\"}");
	at += (size_t)snprintf(body + at, sizeof body - at, "]}]}}");
	assert_false(read_body("a long name", at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_of_a_megabyte_is_checked_in_bounded_steps),
		cmocka_unit_test(names_of_parameters_are_compared_in_bounded_steps),
		cmocka_unit_test(a_long_name_is_not_read_for_each_mistake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
