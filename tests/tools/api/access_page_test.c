// The table of docs/access.md: which routes answer which tokens. Every route of the table of routes is asked with a
// token of each class, so a new route or right is a new row. access_page_test --write writes the table anew.
#include "state/base/memory.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/life.h"
#include "tests/tools/api/scheduling.h"
#include "tools/api/routes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define BEGIN "<!-- routes: written by access_page_test --write -->\n"
#define END "<!-- end of routes -->\n"
#define PAGE_BYTES_MAX (256u * 1024)

// Columns: what the only policy of a token says. NULL: whoever shows no token; "": a token that may nothing.
static struct class {
	const char *head, *rules;
	char secret[SECRET_BYTES];
} classes[] = {
	{"none", NULL},
	{"any", ""},
	{"ns r", "namespace \"default\" { policy = \"read\" }"},
	{"ns w", "namespace \"default\" { policy = \"write\" }"},
	{"ns all",
		"namespace \"default\" { policy = \"write\" capabilities = [\"alloc-node-exec\"] "
		"variables { path \"*\" { capabilities = [\"read\", \"write\", \"list\", "
		"\"destroy\"] } } }"},
	{"pool r", "node_pool \"*\" { policy = \"read\" }"},
	{"pool w", "node_pool \"*\" { policy = \"write\" }"},
	{"node r", "node { policy = \"read\" }"},
	{"node w", "node { policy = \"write\" }"},
	{"agent r", "agent { policy = \"read\" }"},
	{"agent w", "agent { policy = \"write\" }"},
	{"op r", "operator { policy = \"read\" }"},
	{"op w", "operator { policy = \"write\" }"},
	{"vm r", "vm { policy = \"read\" }"},
	{"vm w", "vm { policy = \"write\" }"},
	{"vma r", "vm_admin { policy = \"read\" }"},
	{"vma w", "vm_admin { policy = \"write\" }"},
	{"quota r", "quota { policy = \"read\" }"},
	{"quota w", "quota { policy = \"write\" }"},
	{"mgmt", NULL},
};
#define CLASSES (sizeof classes / sizeof classes[0])
#define NONE 0u
#define MANAGEMENT (CLASSES - 1)

static bool is_to_write;
static char allocation[64], evaluation[64], deployment[64];

static void note_first(const char *path, char id[static 64])
{
	struct answer answer = ask_with(classes[MANAGEMENT].secret, "GET", path, NULL);
	const char *at = strstr(answer.text, "\"ID\":\"");
	assert_non_null(at);
	snprintf(id, 64, "%.36s", at + strlen("\"ID\":\""));
}

// Some requests stop what is there, or collect it.
static void note_ids(void)
{
	note_first("/v1/job/web/allocations", allocation);
	note_first("/v1/job/web/evaluations", evaluation);
	note_first("/v1/job/web/deployments", deployment);
}

static void make_tokens(void)
{
	acl_world_bootstrap(classes[MANAGEMENT].secret);
	for (size_t i = 1; i < MANAGEMENT; i++) {
		char name[16];
		snprintf(name, sizeof name, "class-%zu", i);
		acl_world_policy(name, classes[i].rules);
		(void)acl_world_token(name, 0, classes[i].secret);
	}
}

static int page_begin(void **unused)
{
	static struct node_slot slot;
	assert_int_equal(scheduler_group_begin(unused), 0);
	(void)server_node(server, 0);
	slot = server->newest;
	life_begin(&slot, 1);
	json_decref(run_job(job_body("web", "service", "a", 32)));
	make_tokens();
	return 0;
}

static int page_end(void **unused)
{
	life_end();
	return server_group_end(unused);
}

// What stands for the ids of a route: records that are there where the right is about their namespace.
static const char *id_for(const struct route *route)
{
	switch (right_scope_of(route->right)) {
	case SCOPE_ALLOCATION: return allocation;
	case SCOPE_EVALUATION: return evaluation;
	case SCOPE_DEPLOYMENT: return deployment;
	default: return "x";
	}
}

static const char *path_of(const struct route *route)
{
	static char path[512];
	size_t size = 0;
	for (const char *at = route->pattern; *at;) {
		size_t length = *at == ':' ? strcspn(at, "/") : 1;
		size += (size_t)snprintf(path + size, sizeof path - size, "%.*s",
			*at == ':' ? 64 : 1, *at == ':' ? id_for(route) : at);
		at += length;
	}
	return path;
}

// An allocation that may not be seen is as good as none.
static bool is_refusal(const struct answer *answer)
{
	return answer->status == 403 || answer->status == 401 ||
	       strstr(answer->text, "Permission denied") ||
	       strncmp(answer->text, "Unknown allocation", 18) == 0;
}

// Of what is refused only when it is read; of the rest it does not matter.
static const char *body_of(const struct route *route)
{
	static char release[128];
	snprintf(release, sizeof release, "{\"IDs\":[\"%s\"]}", allocation);
	if (strcmp(route->pattern, "/v1/search") == 0)
		return "{\"Prefix\":\"\",\"Context\":\"all\"}";
	if (strcmp(route->pattern, "/v1/search/fuzzy") == 0)
		return "{\"Text\":\"web\",\"Context\":\"all\"}";
	if (strcmp(route->pattern, "/v1/berth/release") == 0)
		return release;
	return route->submit ? "{}" : NULL;
}

static bool is_answered(const struct route *route, const struct class *class)
{
	const char *body = body_of(route);
	struct answer answer = ask_with(class == &classes[NONE] ? NULL : class->secret,
		route->method, path_of(route), body);
	return !is_refusal(&answer);
}

// What a route shows or does itself only as far as the token allows is marked otherwise.
static const char *mark_of(const struct route *route, const struct class *class)
{
	if (!is_answered(route, class))
		return "";
	return route->right == RIGHT_FILTERED ? "~" : "x";
}

static char *table_of_routes(void)
{
	char *table = memory_take(PAGE_BYTES_MAX);
	size_t size = (size_t)snprintf(table, PAGE_BYTES_MAX, "| route |");
	for (size_t i = 0; i < CLASSES; i++)
		size += (size_t)snprintf(
			table + size, PAGE_BYTES_MAX - size, " %s |", classes[i].head);
	size += (size_t)snprintf(table + size, PAGE_BYTES_MAX - size, "\n|---|");
	for (size_t i = 0; i < CLASSES; i++)
		size += (size_t)snprintf(table + size, PAGE_BYTES_MAX - size, "---|");
	for (uint32_t r = 0; r < api_routes.count; r++) {
		const struct route *route = &api_routes.routes[r];
		size += (size_t)snprintf(table + size, PAGE_BYTES_MAX - size, "\n| %s `%s` |",
			route->method, route->pattern);
		note_ids();
		for (size_t i = 0; i < CLASSES; i++)
			size += (size_t)snprintf(table + size, PAGE_BYTES_MAX - size, " %s |",
				mark_of(route, &classes[i]));
	}
	(void)snprintf(table + size, PAGE_BYTES_MAX - size, "\n");
	return table;
}

static char *read_page(void)
{
	char *page = memory_take(PAGE_BYTES_MAX);
	FILE *file = fopen(ACCESS_PAGE, "re");
	assert_non_null(file);
	page[fread(page, 1, PAGE_BYTES_MAX - 1, file)] = '\0';
	fclose(file);
	return page;
}

static void write_page(const char *page, const char *begin, const char *table, const char *end)
{
	FILE *file = fopen(ACCESS_PAGE, "we");
	assert_non_null(file);
	fprintf(file, "%.*s%s%s", (int)(begin - page), page, table, end);
	assert_int_equal(fclose(file), 0);
}

// Names the first line that differs.
static void expect_same(const char *shown, const char *end, const char *table)
{
	size_t size = strlen(table);
	if ((size_t)(end - shown) == size && memcmp(shown, table, size) == 0)
		return;
	while (*shown == *table)
		shown++, table++;
	while (table[-1] != '\n')
		table--;
	fail_msg("docs/access.md has not this line where it belongs (access_page_test --write "
		 "writes the table anew): %.*s",
		(int)strcspn(table, "\n"), table);
}

static void the_page_says_which_routes_answer_whom(void **unused)
{
	char *page = read_page(), *table = table_of_routes();
	const char *begin = strstr(page, BEGIN), *end = strstr(page, END);
	assert_true(begin && end && begin < end);
	begin += strlen(BEGIN);
	if (is_to_write)
		write_page(page, begin, table, end);
	else
		expect_same(begin, end, table);
	free(page);
	free(table);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_says_which_routes_answer_whom),
	};
	is_to_write = count > 1 && strcmp(arguments[1], "--write") == 0;
	return cmocka_run_group_tests(tests, page_begin, page_end);
}
