#include "tests/nomad/meant.h"
#include "tests/nomad/differences.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// What is meant to differ, and the words by which docs/nomad-differences.md says so. A "*" at the end stands for more.
static const struct {
	const char *what, *words;
} meant[] = {
	{"Service.*", "shown as they were sent without their defaults"},
	{"NodeHeard.EvalIDs: null*", "they are made within a second"},
};

// What no answer showed, and why.
static const struct {
	const char *name, *why;
} absent[] = {
	{"GET /v1/job/:id/services", "services are not registered anywhere"},
	{"ServiceStub", "the same"},
	{"GET /v1/job/:id/submission", "the source of a job is not kept"},
	{"GET/v1/job/:id/submission", "the same"},
	{"PUT /v1/operator/autopilot/configuration", "a single server has no pilot"},
	{"GET/v1/agent/health.client", "a server is no client"},
	{"NodeHeard.Servers", "nodes do not learn of servers by this"},
};

static bool is_like(const char *text, const char *pattern)
{
	size_t size = strcspn(pattern, "*");
	return strncmp(text, pattern, size) == 0 && (pattern[size] == '*' || text[size] == '\0');
}

void expect_only_meant(const struct recorded *recorded)
{
	enum { MEANT = sizeof meant / sizeof meant[0] };
	const char *what;
	json_t *route;
	bool found[MEANT] = {false};
	int wrong = 0;
	json_object_foreach(recorded_differences(recorded), what, route)
	{
		size_t i = 0;
		while (i < MEANT && !is_like(what, meant[i].what))
			i++;
		if (i < MEANT) {
			found[i] = true;
			continue;
		}
		print_error("%s (%s)\n", what, json_string_value(route));
		wrong++;
	}
	for (size_t i = 0; i < MEANT; i++) {
		if (found[i] && differences_say(meant[i].words))
			continue;
		print_error("%s: %s\n", meant[i].what,
			found[i] ? "docs/nomad-differences.md does not say so"
				 : "does not differ any more");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

void expect_all_shown(const struct recorded *recorded)
{
	enum { ABSENT = sizeof absent / sizeof absent[0] };
	const char *name;
	json_t *seen;
	int wrong = 0;
	json_object_foreach(recorded_names(recorded), name, seen)
	{
		size_t i = 0;
		while (i < ABSENT && !is_like(name, absent[i].name))
			i++;
		if ((json_integer_value(seen) > 0) != (i < ABSENT))
			continue;
		print_error("%s: %s\n", name, i < ABSENT ? "was shown" : "nothing showed it");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}
