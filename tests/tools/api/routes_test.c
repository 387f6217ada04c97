#include "state/base/text.h"
#include "tools/api/routes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct outcome {
	enum route_match match;
	const char *pattern; // of the route found
	const char *id;
};

static void check(const char *method, const char *url, struct outcome expected)
{
	const struct route *route = NULL;
	const char *ids[ROUTE_IDS_MAX] = {NULL};
	char *path = text_copy(text_of(url));
	enum route_match match = route_find(&api_routes, method, path, &route, ids);
	if (match != expected.match)
		fail_msg("%s %s gave %d, not %d", method, url, match, expected.match);
	if (match == ROUTE_FOUND) {
		assert_string_equal(route->pattern, expected.pattern);
		if (expected.id)
			assert_string_equal(ids[0], expected.id);
	}
	free(path);
}

static void finds_routes(void **unused)
{
	check("GET", "/v1/nodes", (struct outcome){ROUTE_FOUND, "/v1/nodes", NULL});
	check("GET", "/v1/node/x", (struct outcome){ROUTE_FOUND, "/v1/node/:id", "x"});
	check("GET", "/v1/job/web/summary",
		(struct outcome){ROUTE_FOUND, "/v1/job/:id/summary", "web"});
	check("POST", "/v1/jobs", (struct outcome){ROUTE_FOUND, "/v1/jobs", NULL});
	check("DELETE", "/v1/job/web", (struct outcome){ROUTE_FOUND, "/v1/job/:id", "web"});
}

static void takes_the_rest_of_a_path(void **unused)
{
	check("GET", "/v1/sentinel/a/b/c",
		(struct outcome){ROUTE_FOUND, "/v1/sentinel/:rest", NULL});
	check("GET", "/v1/acl/policies", (struct outcome){ROUTE_FOUND, "/v1/acl/policies", NULL});
	check("GET", "/v1/acl/auth-methods",
		(struct outcome){ROUTE_FOUND, "/v1/acl/auth-methods", NULL});
	check("GET", "/v1/acl", (struct outcome){ROUTE_UNKNOWN_PATH, NULL, NULL});
	check("GET", "/v1/job/acl/services",
		(struct outcome){ROUTE_FOUND, "/v1/job/:id/services", "acl"});
}

static void a_path_is_one_id(void **unused)
{
	char path[160] = "/v1/var/";
	check("GET", "/v1/var/a", (struct outcome){ROUTE_FOUND, "/v1/var/:path", "a"});
	check("GET", "/v1/var/a/b/c", (struct outcome){ROUTE_FOUND, "/v1/var/:path", "a/b/c"});
	check("GET", "/v1/var/a/", (struct outcome){ROUTE_FOUND, "/v1/var/:path", "a/"});
	check("GET", "/v1/var/a//b", (struct outcome){ROUTE_FOUND, "/v1/var/:path", "a//b"});
	check("GET", "/v1/var/a%2Fb/%20c",
		(struct outcome){ROUTE_FOUND, "/v1/var/:path", "a/b/ c"});
	check("GET", "/v1/var/", (struct outcome){ROUTE_FOUND, "/v1/var/:path", ""});
	check("GET", "/v1/var", (struct outcome){ROUTE_UNKNOWN_PATH, NULL, NULL});
	memset(path + 8, '/', 128);
	check("GET", path, (struct outcome){ROUTE_FOUND, "/v1/var/:path", path + 8});
	memset(path + 8, '/', 150);
	check("GET", path, (struct outcome){ROUTE_UNKNOWN_PATH, NULL, NULL});
}

static void decodes_a_segment_once(void **unused)
{
	check("GET", "/v1/job/a%2Fb", (struct outcome){ROUTE_FOUND, "/v1/job/:id", "a/b"});
	check("GET", "/v1/job/a%252Fb", (struct outcome){ROUTE_FOUND, "/v1/job/:id", "a%2Fb"});
	check("GET", "/v1/job/%C3%A9/summary",
		(struct outcome){ROUTE_FOUND, "/v1/job/:id/summary", "\xc3\xa9"});
	check("GET", "/v1/job/..", (struct outcome){ROUTE_FOUND, "/v1/job/:id", ".."});
}

static void takes_slashes_for_parts_of_a_jobs_id(void **unused)
{
	check("GET", "/v1/job/a/b", (struct outcome){ROUTE_FOUND, "/v1/job/:id", "a/b"});
	check("GET", "/v1/job/a%2fb/c%20d/e",
		(struct outcome){ROUTE_FOUND, "/v1/job/:id", "a/b/c d/e"});
	check("GET", "/v1/job/backup/periodic-1700000000/allocations",
		(struct outcome){
			ROUTE_FOUND, "/v1/job/:id/allocations", "backup/periodic-1700000000"});
	check("PUT", "/v1/job/a/b/periodic/force",
		(struct outcome){ROUTE_FOUND, "/v1/job/:id/periodic/force", "a/b"});
	check("GET", "/v1/berth/explain/job/a/b",
		(struct outcome){ROUTE_FOUND, "/v1/berth/explain/job/:id", "a/b"});
	check("PUT", "/v1/job/a/b/summary", (struct outcome){ROUTE_WRONG_METHOD, NULL, NULL});
	check("GET", "/v1/job/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15",
		(struct outcome){ROUTE_UNKNOWN_PATH, NULL, NULL});
}

static void refuses_what_is_no_route(void **unused)
{
	static const char *const unknown[] = {"//", "/ui/a/b", "", "v1/nodes", "/v1", "/v1/nodes/",
		"/v1/nodes/x", "/v1/node/", "/v1/node//allocations", "//v1/nodes", "/v1/nodesx",
		"/v1/node/../nodes", "/v1/job/a/", "/v1/job//a", "/v1/node/a/b",
		"/a/b/c/d/e/f/g/h/i/j", "/v2/nodes"};
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		check("GET", unknown[i], (struct outcome){ROUTE_UNKNOWN_PATH, NULL, NULL});
	static const char *const broken[] = {
		"/v1/job/%", "/v1/job/%2", "/v1/job/%zz", "/v1/job/a%00b", "/v1/%0"};
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
		check("GET", broken[i], (struct outcome){ROUTE_BAD_ENCODING, NULL, NULL});
}

static void knows_the_wrong_method(void **unused)
{
	static const char *const methods[] = {"PUT", "POST", "DELETE", "HEAD", "get", "PATCH", ""};
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		check(methods[i], "/v1/nodes", (struct outcome){ROUTE_WRONG_METHOD, NULL, NULL});
	check("GET", "/v1/validate/job", (struct outcome){ROUTE_WRONG_METHOD, NULL, NULL});
}

// A row that no request reaches, or that can neither be answered nor submitted, is a mistake of the
// table.
static void every_row_is_reached(void **unused)
{
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i], *found = NULL;
		const char *ids[ROUTE_IDS_MAX];
		assert_true(route->answer || route->submit);
		char *path = text_copy(text_of(route->pattern));
		assert_int_equal(
			route_find(&api_routes, route->method, path, &found, ids), ROUTE_FOUND);
		assert_ptr_equal(found, route);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_routes),
		cmocka_unit_test(takes_the_rest_of_a_path),
		cmocka_unit_test(a_path_is_one_id),
		cmocka_unit_test(decodes_a_segment_once),
		cmocka_unit_test(takes_slashes_for_parts_of_a_jobs_id),
		cmocka_unit_test(refuses_what_is_no_route),
		cmocka_unit_test(knows_the_wrong_method),
		cmocka_unit_test(every_row_is_reached),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
