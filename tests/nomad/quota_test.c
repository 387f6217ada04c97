// Quotas from the outside: what is refused, what a plan says, and that schedulers that race never bring more than the
// quota allows, wait for room, and go on when there is some.
#include "state/base/time_units.h"
#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { NODES = 4, JOBS = 8 };

static int begin(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 2, .watchers = true});
	for (uint32_t i = 0; i < NODES; i++)
		(void)server_node(server, i);
	return 0;
}

static void expect(
	const char *method, const char *path, const char *body, long status, const char *text)
{
	struct response r = http(server, method, path, body);

	if (r.status != status || !strstr(r.body, text))
		fail_msg("%s %s: answered %ld \"%s\"", method, path, r.status, r.body);
	response_free(&r);
}

static void put_quota(const char *name, int cpu, int instances)
{
	char body[256];

	snprintf(body, sizeof body,
		"{\"Name\":\"%s\",\"Limits\":[{\"Region\":\"global\",\"RegionLimit\":{\"CPU\":%d,"
		"\"Instances\":%d}}]}",
		name, cpu, instances);
	expect("PUT", "/v1/quota", body, 200, "");
}

static void put_namespace(const char *name, const char *quota)
{
	char body[256];

	snprintf(body, sizeof body, "{\"Name\":\"%s\",\"Quota\":\"%s\"}", name, quota);
	expect("PUT", "/v1/namespace", body, 200, "");
}

static void job_with(char *body, size_t size, const char *id, const char *type, const char *space,
	int count, const char *resources)
{
	snprintf(body, size,
		"{\"Diff\":true,\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"%s\","
		"\"Namespace\":\"%s\",\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\","
		"\"Count\":%d,\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{"
		"\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":10%s}}]}]}}",
		id, id, type, space, count, resources);
}

static void job_of(
	char *body, size_t size, const char *id, const char *type, const char *space, int count)
{
	job_with(body, size, id, type, space, count, "");
}

static void put_job(const char *id, const char *type, const char *space, int count)
{
	char body[1024];

	job_of(body, sizeof body, id, type, space, count);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
}

static json_t *used(const char *quota)
{
	char path[64];
	const char *hash;
	json_t *limit, *result = NULL;

	snprintf(path, sizeof path, "/v1/quota/usage/%s", quota);
	json_t *usage = http_json(server, "GET", path, NULL);
	json_object_foreach(json_object_get(usage, "Used"), hash, limit) result =
		json_incref(json_object_get(limit, "RegionLimit"));
	json_decref(usage);
	assert_non_null(result);
	return result;
}

static long used_member(const char *quota, const char *member)
{
	json_t *limit = used(quota);
	long value = (long)json_integer_value(json_object_get(limit, member));

	json_decref(limit);
	return value;
}

// Never more than it, at any look.
static void await_used(const char *quota, const char *member, long wanted)
{
	for (int i = 0; i < 6000; i++) {
		long value = used_member(quota, member);
		if (value > wanted)
			fail_msg("%s: %s is %ld, more than %ld", quota, member, value, wanted);
		if (value == wanted)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	fail_msg("%s: %s is %ld, not %ld", quota, member, used_member(quota, member), wanted);
}

static bool runs_something(const char *space)
{
	char path[96];
	size_t i;
	json_t *one;
	bool runs = false;

	snprintf(path, sizeof path, "/v1/allocations?namespace=%s", space);
	json_t *list = http_json(server, "GET", path, NULL);
	json_array_foreach(list, i, one)
	{
		json_t *status = json_object_get(one, "DesiredStatus");
		runs |= strcmp(json_string_value(status), "run") == 0;
	}
	json_decref(list);
	return runs;
}

static void await_stopped(const char *space)
{
	for (int i = 0; i < 6000 && runs_something(space); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_false(runs_something(space));
}

static json_t *await_blocked(const char *space)
{
	char path[96];

	snprintf(path, sizeof path, "/v1/evaluations?namespace=%s&status=blocked", space);
	for (int i = 0; i < 6000; i++) {
		json_t *list = http_json(server, "GET", path, NULL);
		if (json_array_size(list)) {
			json_t *first = json_incref(json_array_get(list, 0));
			json_decref(list);
			return first;
		}
		json_decref(list);
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	fail_msg("nothing waits in %s", space);
	return NULL;
}

static void they_are_described(void **unused)
{
	expect("GET", "/v1/quotas", NULL, 200, "[]");
	expect("PUT", "/v1/quota", "{\"Name\":\"a b\"}", 400, "Must match regex");
	expect("PUT", "/v1/quota", "{\"Name\":\"a\",\"Limits\":[{\"Region\":\"mars\"}]}", 400,
		"limit of another region");
	expect("PUT", "/v1/quota/b", "{\"Name\":\"a\"}", 400, "does not match");
	put_quota("small", 1000, 0);
	expect("GET", "/v1/quota/small", NULL, 200, "\"CPU\":1000");
	expect("GET", "/v1/quota/nosuch", NULL, 404, "quota not found");
	expect("GET", "/v1/quota-usages", NULL, 200, "\"Used\"");
	put_namespace("held", "small");
	expect("DELETE", "/v1/quota/small", NULL, 500, "quota \"small\" is used by a namespace");
	put_namespace("held", "");
	expect("DELETE", "/v1/quota/small", NULL, 200, "");
	expect("GET", "/v1/quotas", NULL, 200, "[]");
}

static void racing_schedulers_keep_to_it(void **unused)
{
	char id[16];

	put_quota("racing", 1500, 0);
	put_namespace("race", "racing");
	put_namespace("race2", "racing");
	for (int i = 0; i < JOBS; i++) {
		snprintf(id, sizeof id, "race-%d", i);
		put_job(id, "service", i % 2 ? "race" : "race2", 5);
	}
	await_used("racing", "CPU", 1500);
	json_t *waits = await_blocked("race");
	assert_string_equal(
		json_string_value(json_object_get(waits, "QuotaLimitReached")), "racing");
	char *text = json_dumps(waits, 0);
	// How much is needed counts what was planned when another scheduler took the rest.
	long needed = 0;
	const char *said = strstr(text, "cpu exhausted (");
	if (!said || sscanf(said, "cpu exhausted (%ld needed > 1500 limit)", &needed) != 1 ||
		!strstr(said, " needed > 1500 limit)") || needed <= 1500)
		fail_msg("it says %s", text);
	free(text);
	json_decref(waits);
	put_quota("racing", 2000, 0);
	await_used("racing", "CPU", 2000);
	for (int i = 0; i < JOBS; i += 2) { // room for all that wait in the other one
		snprintf(id, sizeof id, "/v1/job/race-%d", i);
		char path[64];
		snprintf(path, sizeof path, "%s?namespace=race2", id);
		json_decref(http_json(server, "DELETE", path, NULL));
	}
	await_stopped("race2");
	await_used("racing", "CPU", 2000);
	put_quota("racing", 0, 0);
	await_used("racing", "CPU", 2000);
	assert_int_equal(used_member("racing", "Instances"), 20);
}

static void a_plan_says_it(void **unused)
{
	char body[1024];

	put_quota("tiny", 0, 2);
	put_namespace("tiny", "tiny");
	job_of(body, sizeof body, "planned", "service", "tiny", 3);
	expect("PUT", "/v1/job/planned/plan", body, 200,
		"\"QuotaExhausted\":[\"instances exhausted (3 needed > 2 limit)\"]");
	put_job("planned", "service", "tiny", 3);
	await_used("tiny", "Instances", 2);
	expect("GET", "/v1/berth/explain/job/planned?namespace=tiny", NULL, 200, "quota");
}

// One evaluation waits for the quota, and goes on when it is raised.
static void a_system_job_keeps_to_it(void **unused)
{
	put_quota("few", 0, 1);
	put_namespace("few", "few");
	put_job("everywhere", "system", "few", 1);
	await_used("few", "Instances", 1);
	json_t *waits = await_blocked("few");
	assert_string_equal(json_string_value(json_object_get(waits, "QuotaLimitReached")), "few");
	assert_null(json_object_get(waits, "NodeID"));
	json_decref(waits);
	put_quota("few", 0, 3);
	await_used("few", "Instances", 3);
	put_quota("few", 0, 0);
	for (int i = 0; i < 6000 && used_member("few", "Instances") < NODES; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_int_equal(used_member("few", "Instances"), NODES);
}

static void put_cards(int count)
{
	char body[256];

	snprintf(body, sizeof body,
		"{\"Name\":\"cards\",\"Limits\":[{\"Region\":\"global\",\"RegionLimit\":{"
		"\"Devices\":[{\"Name\":\"gpu\",\"Count\":%d}]}}]}",
		count);
	expect("PUT", "/v1/quota", body, 200, "");
}

static long cards_used(void)
{
	json_t *limit = used("cards"), *devices = json_object_get(limit, "Devices");
	json_t *count = json_object_get(json_array_get(devices, 0), "Count");
	long value = (long)json_integer_value(count);

	json_decref(limit);
	return value;
}

static void await_cards(long wanted)
{
	for (int i = 0; i < 6000 && cards_used() != wanted; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_int_equal(cards_used(), wanted);
}

static enum command_outcome place_card(const char *job)
{
	struct command_place place = {.client = TEXT("tester"),
		.issued_ms = (int64_t)(time_wall_ns(&time_source_real) / NS_PER_MS),
		.request = prng_u64(&server->prng),
		.count = 1,
		.namespace_name = TEXT("cards"),
		.job = text_of(job),
		.group = TEXT("g")};
	struct command command = {.type = COMMAND_PLACE, .place = &place};

	return server_command(server, &command);
}

// Jobs ask for them with a vendor, the limit is of all of the type; the nodes have twice as many.
static void devices_are_limited(void **unused)
{
	static const char one[] = ",\"Devices\":[{\"Name\":\"nvidia/gpu\",\"Count\":1}]";
	static const char lack[] = "gpu exhausted (5 needed > 4 limit)";
	char body[1024];

	put_cards(4);
	put_namespace("cards", "cards");
	job_with(body, sizeof body, "train", "service", "cards", 5, one);
	expect("PUT", "/v1/job/train/plan", body, 200, lack);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	await_cards(4);
	json_t *waits = await_blocked("cards");
	char *text = json_dumps(waits, 0);
	assert_non_null(strstr(text, lack));
	free(text);
	json_decref(waits);
	expect("GET", "/v1/berth/explain/job/train?namespace=cards", NULL, 200, lack);
	job_with(body, sizeof body, "asked", "direct", "cards", 1, one);
	json_decref(http_json(server, "PUT", "/v1/jobs", body));
	assert_int_equal(place_card("asked"), OUTCOME_QUOTA_EXHAUSTED);
	// What asks for none has room.
	put_job("bare", "direct", "cards", 1);
	assert_int_equal(place_card("bare"), OUTCOME_DONE);
	assert_int_equal(cards_used(), 4);
	put_cards(6);
	await_cards(5);
	assert_int_equal(place_card("asked"), OUTCOME_DONE);
	assert_int_equal(place_card("asked"), OUTCOME_QUOTA_EXHAUSTED);
	json_decref(http_json(server, "DELETE", "/v1/job/train?namespace=cards", NULL));
	await_cards(1);
	assert_int_equal(place_card("asked"), OUTCOME_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_described),
		cmocka_unit_test(racing_schedulers_keep_to_it),
		cmocka_unit_test(a_plan_says_it),
		cmocka_unit_test(devices_are_limited),
		cmocka_unit_test(a_system_job_keeps_to_it),
	};
	return cmocka_run_group_tests(tests, begin, server_group_end);
}
