// The web page as it is served: its files, what browsers are told of them, and a controller without it.
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_root_leads_to_the_page(void **unused)
{
	static const char *const paths[] = {"/", "/ui"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response r = http(server, "GET", paths[i], NULL);
		assert_int_equal(r.status, 307);
		assert_true(response_has(&r, "Location: /ui/"));
		response_free(&r);
	}
}

// As `nomad ui` tells them, and people have kept them.
static void addresses_of_nomads_page_lead_to_ours(void **unused)
{
	static const struct {
		const char *path, *location;
	} leads[] = {
		{"/ui/jobs", "/ui/#/jobs"},
		{"/ui/jobs/", "/ui/#/jobs"},
		{"/ui/jobs/web", "/ui/#/job/default/web"},
		{"/ui/jobs/web?namespace=team", "/ui/#/job/team/web"},
		{"/ui/jobs/web@team", "/ui/#/job/team/web"},
		{"/ui/jobs/web/dispatch-1-2", "/ui/#/job/default/web%2Fdispatch-1-2"},
		{"/ui/jobs/a%20b%25%22", "/ui/#/job/default/a%20b%25%22"},
		{"/ui/jobs/%0d%0aX-Y:%20z", "/ui/#/job/default/%0D%0AX-Y%3A%20z"},
		{"/ui/allocations/12345678-1234-1234-1234-123456789abc",
			"/ui/#/allocation/12345678-1234-1234-1234-123456789abc"},
		{"/ui/allocations/12345678/web/logs", "/ui/#/allocation/12345678"},
		{"/ui/clients", "/ui/#/nodes"},
		{"/ui/clients/12345678", "/ui/#/node/12345678"},
		{"/ui/servers", "/ui/#/controller"},
		{"/ui/topology", "/ui/#/fleet"},
		{"/ui/settings/tokens", "/ui/#/login"},
	};
	char line[128];
	for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
		struct response r = http(server, "GET", leads[i].path, NULL);
		snprintf(line, sizeof line, "Location: %s", leads[i].location);
		if (r.status != 307 || !response_has(&r, line))
			fail_msg("%s: %s", leads[i].path, r.headers);
		response_free(&r);
	}
}

static void expect_guards(const struct response *r)
{
	const char *policy = strstr(
		r->headers, "Content-Security-Policy: default-src 'none'; script-src 'self';");
	assert_non_null(policy);
	assert_non_null(strstr(policy, "frame-ancestors 'none'"));
	assert_null(strstr(r->headers, "unsafe"));
	assert_true(response_has(r, "X-Content-Type-Options: nosniff"));
	assert_true(response_has(r, "Referrer-Policy: no-referrer"));
	assert_true(response_has(r, "Cache-Control: no-cache"));
}

static void each_file_has_its_type_and_guards(void **unused)
{
	static const struct {
		const char *path, *type, *part;
	} files[] = {
		{"/ui/", "Content-Type: text/html; charset=utf-8",
			"<script type=\"module\" src=\"main.js\"></script>"},
		{"/ui/index.html", "Content-Type: text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"/ui/main.js", "Content-Type: text/javascript; charset=utf-8", "/v1/berth/fleet"},
		{"/ui/main.css", "Content-Type: text/css; charset=utf-8", "prefers-color-scheme"},
		{"/ui/mark.svg", "Content-Type: image/svg+xml", "<svg"},
		{"/ui/licenses.txt", "Content-Type: text/plain; charset=utf-8", "Leo Horie"},
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct response r = http(server, "GET", files[i].path, NULL);
		assert_int_equal(r.status, 200);
		if (!response_has(&r, files[i].type) || !strstr(r.body, files[i].part))
			fail_msg("%s: %s%s", files[i].path, r.headers, r.body);
		expect_guards(&r);
		response_free(&r);
	}
}

// Nothing that stands in it runs, so its policy can be strict.
static void the_page_holds_no_script_of_its_own(void **unused)
{
	struct response r = http(server, "GET", "/ui/", NULL);
	const char *script = strstr(r.body, "<script");
	assert_non_null(script);
	assert_non_null(strstr(script, "></script>"));
	assert_null(strstr(script + 1, "<script"));
	assert_null(strstr(r.body, "style=\""));
	assert_null(strstr(r.body, "http:"));
	assert_null(strstr(r.body, "https:"));
	response_free(&r);
}

static void a_file_that_is_known_is_not_sent_again(void **unused)
{
	char etag[64], header[96];
	struct response first = http(server, "GET", "/ui/main.js", NULL);
	const char *at = strstr(first.headers, "ETag: ");
	assert_non_null(at);
	snprintf(etag, sizeof etag, "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
	assert_true(strncmp(etag, "W/\"", 3) == 0);
	snprintf(header, sizeof header, "If-None-Match: \"x\", %s", etag);
	struct response again = http_with(server, "GET", "/ui/main.js", NULL, 0, header);
	assert_int_equal(again.status, 304);
	assert_int_equal(again.size, 0);
	assert_non_null(strstr(again.headers, etag));
	struct response other = http_with(server, "GET", "/ui/main.css", NULL, 0, header);
	assert_int_equal(other.status, 200);
	response_free(&first);
	response_free(&again);
	response_free(&other);
}

static void it_is_compressed_for_who_likes_that(void **unused)
{
	struct response plain = http(server, "GET", "/ui/main.js", NULL);
	struct response packed =
		http_with(server, "GET", "/ui/main.js", NULL, 0, "Accept-Encoding: gzip");
	assert_true(response_has(&packed, "Content-Encoding: gzip"));
	assert_true(packed.size < plain.size / 2);
	response_free(&plain);
	response_free(&packed);
}

static void there_is_nothing_else_below(void **unused)
{
	static const char *const paths[] = {"/ui/x", "/ui/main.js.map", "/ui/../etc/passwd",
		"/ui/%2e%2e%2fmain.js", "/ui/core/api.js", "/uix", "/ui//"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response r = http(server, "GET", paths[i], NULL);
		if (r.status != 404)
			fail_msg("%s: %ld", paths[i], r.status);
		response_free(&r);
	}
	struct response put = http(server, "PUT", "/ui/", "{}");
	assert_int_equal(put.status, 405);
	response_free(&put);
}

static void it_may_be_switched_off(void **unused)
{
	static const char *const paths[] = {
		"/", "/ui", "/ui/", "/ui/main.js", "/ui/jobs", "/ui/jobs/web"};
	struct server *without = server_start(&(struct server_options){.page_is_off = true});
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response r = http(without, "GET", paths[i], NULL);
		assert_int_equal(r.status, 404);
		assert_non_null(strstr(r.body, "http.ui: false"));
		response_free(&r);
	}
	server_stop(without);
}

// Who has no token gets the page, which then asks for one.
static void it_asks_for_no_token(void **unused)
{
	struct server *closed = server_start(&(struct server_options){.acl_forced = true});
	struct response page = http(closed, "GET", "/ui/", NULL);
	struct response fleet = http(closed, "GET", "/v1/berth/fleet", NULL);
	assert_int_equal(page.status, 200);
	assert_int_equal(fleet.status, 403);
	response_free(&page);
	response_free(&fleet);
	server_stop(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_leads_to_the_page),
		cmocka_unit_test(addresses_of_nomads_page_lead_to_ours),
		cmocka_unit_test(each_file_has_its_type_and_guards),
		cmocka_unit_test(the_page_holds_no_script_of_its_own),
		cmocka_unit_test(a_file_that_is_known_is_not_sent_again),
		cmocka_unit_test(it_is_compressed_for_who_likes_that),
		cmocka_unit_test(there_is_nothing_else_below),
		cmocka_unit_test(it_may_be_switched_off),
		cmocka_unit_test(it_asks_for_no_token),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
