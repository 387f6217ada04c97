// Scrapers and probes of a real server.
#include "state/base/time_source.h"
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include "tools/api/server/settings.h"
#include "tools/metrics/families.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct response scrape(const char *path, const char *header)
{
	return http_with(server, "GET", path, NULL, 0, header);
}

#define CLASSIC "Content-Type: text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"

static void the_form_is_what_the_scraper_likes(void **unused)
{
	static const struct {
		const char *path, *header, *type;
	} cases[] = {
		{"/metrics", "X-Nothing: y", CLASSIC},
		{"/metrics", "Accept: text/plain", CLASSIC},
		{"/metrics", "Accept: application/openmetrics-text", OPENMETRICS},
		{"/metrics?format=json", "Accept: */*", CLASSIC},
		{"/v1/metrics?format=prometheus", "Accept: */*", CLASSIC},
		{"/v1/metrics?format=prometheus",
			"Accept: application/openmetrics-text; version=1.0.0", OPENMETRICS},
		{"/v1/metrics?format=openmetrics", "Accept: */*", OPENMETRICS},
		{"/v1/metrics", "Accept: application/openmetrics-text",
			"Content-Type: application/json"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = scrape(cases[i].path, cases[i].header);
		assert_int_equal(r.status, 200);
		if (!response_has(&r, cases[i].type))
			fail_msg("%s with %s is no %s", cases[i].path, cases[i].header,
				cases[i].type);
		response_free(&r);
	}
}

static bool is_described(const char *name)
{
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++)
		if (strcmp(metric_descriptions[i].name, name) == 0)
			return true;
	return false;
}

static void every_family_says_what_it_is(void **unused)
{
	static const char *const of_process[] = {"process_cpu_seconds_total",
		"process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds",
		"process_max_fds", "process_start_time_seconds", "process_threads"};
	struct response r = scrape("/metrics", "Accept: */*");
	struct prometheus p;
	char problem[256];
	if (!prometheus_read(r.body, &p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, r.body);
	assert_true(p.family_count >= 25);
	for (uint32_t i = 0; i < p.family_count; i++)
		if (!p.families[i].help || !is_described(p.families[i].name))
			fail_msg("%s has no help", p.families[i].name);
	for (size_t i = 0; i < sizeof of_process / sizeof of_process[0]; i++)
		if (prometheus_value(&p, of_process[i], "") <= 0)
			fail_msg("%s is not there", of_process[i]);
	prometheus_free(&p);
	response_free(&r);
}

static double value_of(const char *name)
{
	struct response r = scrape("/metrics", "Accept: */*");
	struct prometheus p;
	char problem[256];
	assert_true(prometheus_read(r.body, &p, problem, sizeof problem));
	double value = prometheus_value(&p, name, "");
	prometheus_free(&p);
	response_free(&r);
	return value;
}

#define PIPES 50

static void the_process_is_told_as_it_is(void **unused)
{
	double descriptors = value_of("process_open_fds");
	int more[PIPES][2];
	for (int i = 0; i < PIPES; i++)
		assert_int_equal(pipe(more[i]), 0);
	// Connections of the requests before may be closed meanwhile.
	assert_true(value_of("process_open_fds") > descriptors + PIPES);
	for (int i = 0; i < PIPES; i++) {
		close(more[i][0]);
		close(more[i][1]);
	}
	assert_true(value_of("process_open_fds") < descriptors + PIPES);
	assert_true(value_of("process_threads") >= 2);
	double resident = value_of("process_resident_memory_bytes");
	assert_true(resident > 1 << 20 && resident < value_of("process_virtual_memory_bytes"));
	double age_s = (double)time_wall_ns(&time_source_real) / 1e9 -
		       value_of("process_start_time_seconds");
	assert_true(age_s > -2 && age_s < 600);
	assert_true(value_of("process_cpu_seconds_total") < 600);
}

static void expect_probe(const char *path, long status, const char *body)
{
	struct response r = scrape(path, "X-Nothing: y");
	assert_int_equal(r.status, status);
	assert_string_equal(r.body, body);
	assert_true(response_has(&r, "Content-Type: text/plain; charset=utf-8"));
	response_free(&r);
}

#define STEADY "[+]steady ok\n"

static void probes_say_what_failed(void **unused)
{
	expect_probe("/livez", 200, "ok\n");
	expect_probe("/readyz", 200, "ok\n");
	expect_probe("/readyz?verbose", 200, STEADY "[+]moody ok\nreadyz check passed\n");
	server->mood = HEALTH_DEGRADED;
	expect_probe("/readyz", 200, "ok\n");
	expect_probe(
		"/readyz?verbose", 200, STEADY "[+]moody ok: it is moody\nreadyz check passed\n");
	server->mood = HEALTH_UNREADY;
	expect_probe("/livez", 200, "ok\n");
	expect_probe("/readyz", 503, "moody failed: it is moody\n");
	expect_probe("/readyz?verbose", 503,
		STEADY "[-]moody failed: it is moody\nreadyz check failed\n");
	server->mood = HEALTH_FAILED;
	expect_probe(
		"/livez?verbose", 200, STEADY "[+]moody ok: it is moody\nlivez check passed\n");
	expect_probe("/readyz", 503, "moody failed: it is moody\n");
	server->mood = HEALTH_DEAD;
	expect_probe("/livez", 503, "moody failed: it is moody\n");
	expect_probe(
		"/livez?verbose", 503, STEADY "[-]moody failed: it is moody\nlivez check failed\n");
	expect_probe("/readyz", 503, "moody failed: it is moody\n");
	server->mood = HEALTH_OK;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_form_is_what_the_scraper_likes),
		cmocka_unit_test(every_family_says_what_it_is),
		cmocka_unit_test(the_process_is_told_as_it_is),
		cmocka_unit_test(probes_say_what_failed),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
