// Every route of the table, asked of the leader and through a follower: the answers are the same. So are those to
// requests that the leader refuses: with a token, without one, and with one that is none.
#include "state/base/memory.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/pair.h"
#include "tools/api/routes.h"
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char secret[SECRET_BYTES];
static char allocation[UUID_TEXT_BYTES];

static int begin(void **unused)
{
	struct uuid ids[PLACE_COUNT_MAX];
	pair_begin(NULL);
	server = leader;
	server_node(leader, 1);
	server_job(leader, "web");
	assert_int_equal(server_place(leader, "web", 1, ids), 1);
	uuid_format(&ids[0], allocation);
	acl_world_bootstrap(secret);
	return 0;
}

// What stands for the ids of a route: of things that are there, where there are some.
static const char *id_of(const struct route *route)
{
	if (strcmp(route->pattern, "/ui/:id") == 0)
		return "main.js";
	switch (right_scope_of(route->right)) {
	case SCOPE_ALLOCATION: return allocation;
	default: return strstr(route->pattern, "/job/") ? "web" : "x";
	}
}

static void path_of(const struct route *route, char path[static 512])
{
	size_t size = 0;
	for (const char *at = route->pattern; *at;) {
		size_t length = *at == ':' ? strcspn(at, "/") : 1;
		size += (size_t)snprintf(path + size, 512 - size, "%.*s", *at == ':' ? 64 : 1,
			*at == ':' ? id_of(route) : at);
		at += length;
	}
}

// Ids, indexes and times differ from one answer to the next: they become one character.
static void mask_numbers(char *text)
{
	char *to = text;
	for (const char *from = text; *from;) {
		size_t size = strspn(from, "0123456789abcdef-");
		bool is_number = size && strpbrk(from, "0123456789") &&
				 (size_t)(strpbrk(from, "0123456789") - from) < size;
		*to++ = is_number ? '#' : *from;
		from += is_number ? size : 1;
	}
	*to = '\0';
}

static char *header_text(const struct response *r, const char *name)
{
	char line[64];
	snprintf(line, sizeof line, "\r\n%s: ", name);
	const char *at = strstr(r->headers, line);
	at = at ? at + strlen(line) : "";
	char *text = text_copy((struct text){at, (uint32_t)strcspn(at, "\r")});
	mask_numbers(text);
	return text;
}

// NULL, or what differs.
static const char *difference(const struct response *a, const struct response *b)
{
	static const char *const names[] = {"Content-Type", "Vary", "Content-Encoding",
		"Retry-After", "Digest", "X-Nomad-Index", "X-Nomad-KnownLeader",
		"X-Nomad-LastContact", "X-Nomad-NextToken"};
	if (a->status != b->status)
		return "status";
	if (strcmp(a->body, b->body) != 0)
		return "body";
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *of_a = header_text(a, names[i]), *of_b = header_text(b, names[i]);
		bool is_same = strcmp(of_a, of_b) == 0;
		free(of_a);
		free(of_b);
		if (!is_same)
			return names[i];
	}
	return NULL;
}

static struct response ask(struct server *s, const struct route *route, const char *header)
{
	char path[512];
	const char *body = route->submit ? "{}" : NULL;
	path_of(route, path);
	struct response r =
		http_with(s, route->method, path, body, body ? strlen(body) : 0, header);
	mask_numbers(r.body);
	return r;
}

// A change may be answered otherwise the second time: the answer through the follower is that of the leader before it,
// or that after.
static void expect_same(const struct route *route, const char *header)
{
	struct response before = ask(leader, route, header);
	struct response through = ask(follower, route, header);
	struct response after = ask(leader, route, header);
	const char *differs = difference(&before, &through);
	if (differs && difference(&after, &through))
		fail_msg("%s %s with %s differs in %s: %ld %s, and through the follower %ld %s",
			route->method, route->pattern, header, differs, before.status, before.body,
			through.status, through.body);
	response_free(&before);
	response_free(&through);
	response_free(&after);
}

static bool is_stream(const struct route *route)
{
	return strcmp(route->pattern, "/v1/event/stream") == 0 ||
	       strcmp(route->pattern, "/v1/agent/monitor") == 0;
}

static void each_route(const char *header)
{
	uint32_t asked = 0;
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		if (api_routes.is_of_itself(route) || api_routes.takes_file(route) ||
			is_stream(route))
			continue;
		expect_same(route, header);
		asked++;
	}
	assert_true(asked > 150);
}

static void every_route_goes_through(void **unused)
{
	char header[64];
	uint64_t before = pair_metric(follower, "berth_http_forwarded_total{outcome=\"answered\"}");
	snprintf(header, sizeof header, "X-Nomad-Token: %s", secret);
	each_route(header);
	snprintf(header, sizeof header, "Authorization: Bearer %s", secret);
	each_route(header);
	assert_true(pair_metric(follower, "berth_http_forwarded_total{outcome=\"answered\"}") >=
		    before + 300);
}

static void the_leader_refuses_whom_it_refuses(void **unused)
{
	each_route("X-Nomad-Token: 11111111-2222-4333-8444-555555555555");
	each_route("X-Nomad-Token: x");
	each_route("X-Nothing: y");
}

static void packed_answers_stay_packed(void **unused)
{
	char header[128];
	for (uint32_t n = 10; n < 100; n++)
		server_node(leader, n);
	snprintf(header, sizeof header, "X-Nomad-Token: %s\r\nAccept-Encoding: gzip", secret);
	struct response direct = http_with(leader, "GET", "/v1/nodes", NULL, 0, header);
	struct response through = http_with(follower, "GET", "/v1/nodes", NULL, 0, header);
	assert_true(response_has(&through, "Content-Encoding: gzip"));
	assert_int_equal(through.size, direct.size);
	assert_memory_equal(through.body, direct.body, direct.size);
	response_free(&through);
	response_free(&direct);
}

// Each member answers these itself.
static void what_is_about_a_server_stays_there(void **unused)
{
	uint32_t own = 0;
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		if (!api_routes.is_of_itself(route) || is_stream(route))
			continue;
		struct response r = ask(follower, route, "X-Berth-Forwarded: other");
		// The page's own address is told by a redirection.
		if (r.status != 200 && r.status != 307)
			fail_msg("%s answered %ld: %s", route->pattern, r.status, r.body);
		response_free(&r);
		own++;
	}
	assert_int_equal(own, 20);
}

// What may be as large as the state goes to the leader without a way through another member.
static void an_archive_is_sent_to_the_leader_itself(void **unused)
{
	char url[64];
	uint32_t refused = 0;
	snprintf(url, sizeof url, "http://127.0.0.1:%u", api_port(leader->api));
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		if (!api_routes.takes_file(route))
			continue;
		struct response r =
			http_with(follower, route->method, route->pattern, "{}", 2, "X-Nothing: y");
		assert_int_equal(r.status, 409);
		assert_non_null(strstr(r.body, url));
		response_free(&r);
		refused++;
	}
	assert_int_equal(refused, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_route_goes_through),
		cmocka_unit_test(the_leader_refuses_whom_it_refuses),
		cmocka_unit_test(an_archive_is_sent_to_the_leader_itself),
		cmocka_unit_test(packed_answers_stay_packed),
		cmocka_unit_test(what_is_about_a_server_stays_there),
	};
	return cmocka_run_group_tests(tests, begin, pair_end);
}
