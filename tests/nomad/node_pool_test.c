// Node pools: described, listed, used by the schedulers of their jobs, and taken away.
#include "state/base/memory.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void expect(
	const char *method, const char *path, const char *body, long status, const char *answer)
{
	struct response r = http(server, method, path, body);
	if (r.status != status || strcmp(r.body ? r.body : "", answer) != 0)
		fail_msg("%s %s answered %ld \"%s\"", method, path, r.status, r.body);
	if (status == 200)
		assert_true(r.index > 0);
	response_free(&r);
}

// names: with commas between them.
static void expect_names(const char *path, const char *names)
{
	json_t *list = http_json(server, "GET", path, NULL), *pool;
	char found[256] = "";
	size_t i, size = 0;
	json_array_foreach(list, i, pool)
	{
		size += (size_t)snprintf(found + size, sizeof found - size, "%s%s", i ? "," : "",
			member_text(pool, "Name"));
	}
	assert_string_equal(found, names);
	json_decref(list);
}

static void one_is_described(void **unused)
{
	expect("PUT", "/v1/node/pools",
		"{\"Name\":\"gpu\",\"Description\":\"gpu machines\",\"Meta\":{\"a\":\"b\"}}", 200,
		"");
	json_t *pool = http_json(server, "GET", "/v1/node/pool/gpu", NULL);
	assert_string_equal(member_text(pool, "Description"), "gpu machines");
	assert_string_equal(member_text(json_object_get(pool, "Meta"), "a"), "b");
	assert_true(json_is_null(json_object_get(pool, "SchedulerConfiguration")));
	json_int_t created = member_number(pool, "CreateIndex");
	assert_true(created > 1);
	json_decref(pool);
	expect("POST", "/v1/node/pool/gpu", "{\"Name\":\"gpu\",\"Description\":\"changed\"}", 200,
		"");
	struct response r = http(server, "GET", "/v1/node/pool/gpu", NULL);
	pool = json_loads(r.body, 0, NULL);
	assert_int_equal(member_number(pool, "CreateIndex"), created);
	assert_int_equal(member_number(pool, "ModifyIndex"), r.index);
	assert_true(json_is_null(json_object_get(pool, "Meta")));
	assert_string_equal(
		member_text(pool, "Hash"), "hZH06gveGAOgh5QjrNjSZYKincxiz7jn19LvE1sTSbE=");
	json_decref(pool);
	response_free(&r);
}

#define INVALID_NAME(name)                                                            \
	"invalid node pool \"" name "\": 1 error occurred:\n\t* invalid name \"" name \
	"\", must match regex ^[a-zA-Z0-9-_]{1,128}$\n\n"

static void bad_ones_are_refused(void **unused)
{
	char body[512];
	expect("PUT", "/v1/node/pools", "", 400, "Request body is empty");
	expect("PUT", "/v1/node/pools", "{}", 400, INVALID_NAME(""));
	expect("PUT", "/v1/node/pools", "{\"Name\":\"a b\"}", 400, INVALID_NAME("a b"));
	expect("PUT", "/v1/node/pools", "{\"Name\":\"all\"}", 400,
		"modifying node pool \"all\" is not allowed");
	expect("PUT", "/v1/node/pools", "{\"Name\":\"default\",\"Description\":\"x\"}", 400,
		"modifying node pool \"default\" is not allowed");
	expect("PUT", "/v1/node/pool/gpu", "{\"Name\":\"other\"}", 400,
		"Node pool name does not match request path");
	expect("POST", "/v1/node/pool/p9", "{\"Description\":\"x\"}", 400,
		"Node pool name does not match request path");
	snprintf(body, sizeof body, "{\"Name\":\"ld\",\"Description\":\"%0257d\"}", 0);
	expect("PUT", "/v1/node/pools", body, 400,
		"invalid node pool \"ld\": 1 error occurred:\n\t* description longer than "
		"256\n\n");
	expect_answer("PUT", "/v1/node/pools",
		"{\"Name\":\"x\",\"SchedulerConfiguration\":{\"SchedulerAlgorithm\":\"best\"}}",
		400, "SchedulerAlgorithm");
	expect_answer("PUT", "/v1/node/pools", "{x", 400, "");
}

static void they_are_listed(void **unused)
{
	expect("PUT", "/v1/node/pools", "{\"Name\":\"pool2\"}", 200, "");
	expect_names("/v1/node/pools", "all,default,gpu,pool2");
	expect_names("/v1/node/pools?prefix=p", "pool2");
	expect_names("/v1/node/pools?filter=Name%20%3D%3D%20%22gpu%22", "gpu");
	expect_names("/v1/node/pools?reverse=true", "pool2,gpu,default,all");
	expect_names("/v1/node/pools?reverse=true&next_token=default", "default,all");
	expect_names("/v1/node/pools?per_page=2", "all,default");
	expect_names("/v1/node/pools?next_token=gpu", "gpu,pool2");
	struct response r = http(server, "GET", "/v1/node/pools?per_page=2", NULL);
	assert_true(response_has(&r, "X-Nomad-NextToken: gpu"));
	response_free(&r);
	expect_answer("GET", "/v1/node/pools?filter=Nope%20%3D%3D%201", NULL, 400, "Nope");
}

static void expect_search(const char *path, const char *body, const char *matches)
{
	json_t *found = http_json(server, "PUT", path, body);
	char *text = json_dumps(json_object_get(found, "Matches"), JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, matches);
	free(text);
	json_decref(found);
}

// Sends a read that waits for a newer index, describes the pool while it waits, and reads its answer.
static void expect_woken(const char *path, const char *body, const char *part)
{
	char text[8192];
	struct response before = http(server, "GET", path, NULL);
	int fd = http_wait(server, path, before.index, NULL);
	response_free(&before);
	expect("PUT", "/v1/node/pools", body, 200, "");
	http_waited(fd, text, sizeof text);
	if (!strstr(text, part))
		fail_msg("%s after %s: %s", path, body, text);
}

static void who_waits_for_one_is_woken(void **unused)
{
	static const char one[] = "{\"Name\":\"awaited\"}";
	static const char other[] = "{\"Name\":\"awaited\",\"Description\":\"anew\"}";
	expect_woken("/v1/node/pool/awaited", one, "\"Name\":\"awaited\"");
	expect_woken("/v1/node/pool/awaited", other, "\"Description\":\"anew\"");
	expect_woken("/v1/node/pools", one, "\"Name\":\"awaited\",\"Description\":\"\"");
	expect("DELETE", "/v1/node/pool/awaited", NULL, 200, "");
}

static void they_are_found(void **unused)
{
	expect_search("/v1/search", "{\"Prefix\":\"p\",\"Context\":\"node_pools\"}",
		"{\"node_pools\":[\"pool2\"]}");
	expect_search("/v1/search/fuzzy", "{\"Text\":\"ool\",\"Context\":\"node_pools\"}",
		"{\"node_pools\":[{\"ID\":\"pool2\",\"Scope\":[\"pool2\"]}]}");
	expect_search("/v1/search", "{\"Prefix\":\"d\",\"Context\":\"namespaces\"}",
		"{\"namespaces\":[\"default\"]}");
	expect_search("/v1/search/fuzzy", "{\"Text\":\"efau\",\"Context\":\"namespaces\"}",
		"{\"namespaces\":[{\"ID\":\"default\"}]}");
	expect_search("/v1/search", "{\"Prefix\":\"zz\",\"Context\":\"nodes\"}", "{}");
	expect_search("/v1/search", "{\"Prefix\":\"n\",\"Context\":\"vars\"}", "{\"vars\":null}");
	expect_search("/v1/search/fuzzy", "{\"Text\":\"nosuch\",\"Context\":\"all\"}",
		"{\"deployment\":[],\"evals\":[],\"scaling_policy\":[],\"volumes\":[]}");
	json_t *found = http_json(
		server, "PUT", "/v1/search/fuzzy", "{\"Text\":\"nosuch\",\"Context\":\"all\"}");
	assert_int_equal(json_object_size(json_object_get(found, "Truncations")), 11);
	json_decref(found);
	expect("PUT", "/v1/search", "", 400, "Request body is empty");
	expect_answer("PUT", "/v1/search", "{\"Prefix\":\"w\"}", 500, "got \"\"");
}

// Two nodes of 4000 MHz in the pool.
static void register_nodes(const char *pool, uint32_t first)
{
	for (uint32_t i = first; i < first + 2; i++) {
		char name[16];
		struct node_registration *r = memory_take(sizeof *r);
		snprintf(name, sizeof name, "%s-%u", pool, i);
		r->node = server_node_id(i);
		r->sequence = 1;
		r->parts = 1;
		r->total = (struct resources){4000, 8192, 100000};
		r->name = text_of(name);
		r->datacenter = TEXT("dc1");
		r->pool = text_of(pool);
		r->address = TEXT("10.0.0.1:4646");
		r->version = TEXT("1");
		r->pairs[r->pair_count++] =
			(struct node_pair){PAIR_DRIVER, TEXT("exec"), TEXT("1")};
		struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = r};
		assert_int_equal(server_command(server, &command), OUTCOME_DONE);
		struct command ready = {.type = COMMAND_NODE_RETURNED,
			.node = {.slot = r->slot, .generation = r->generation}};
		assert_int_equal(server_command(server, &ready), OUTCOME_DONE);
		free(r);
	}
}

static const char *job_of_pool(const char *id, const char *pool)
{
	static char body[1024];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"batch\",\"NodePool\":\"%s\","
		"\"Datacenters\":[\"*\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"Tasks\":[{"
		"\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/true\"},"
		"\"Resources\":{\"CPU\":500,\"MemoryMB\":256,\"MemoryMaxMB\":512}}]}]}}",
		id, id, pool);
	return body;
}

// The only allocation of the job.
static json_t *place(const char *id, const char *pool)
{
	json_decref(run_job(job_of_pool(id, pool)));
	char path[64];
	snprintf(path, sizeof path, "/v1/job/%s/allocations", id);
	json_t *list = http_json(server, "GET", path, NULL);
	assert_int_equal(json_array_size(list), 1);
	json_t *allocation =
		api_get("/v1/allocation/*", member_text(json_array_get(list, 0), "ID"));
	json_decref(list);
	return allocation;
}

// Whether two jobs of one pool land on one node.
static bool packs(const char *pool, const char *first, const char *second)
{
	json_t *a = place(first, pool), *b = place(second, pool);
	bool same = strcmp(member_text(a, "NodeID"), member_text(b, "NodeID")) == 0;
	json_decref(a);
	json_decref(b);
	return same;
}

static void a_pool_has_an_algorithm_of_its_own(void **unused)
{
	register_nodes("packed", 10);
	register_nodes("wide", 20);
	expect("PUT", "/v1/node/pools",
		"{\"Name\":\"wide\",\"SchedulerConfiguration\":{\"SchedulerAlgorithm\":\"spread\","
		"\"MemoryOversubscriptionEnabled\":true}}",
		200, "");
	json_t *pool = http_json(server, "GET", "/v1/node/pool/wide", NULL);
	json_t *set = json_object_get(pool, "SchedulerConfiguration");
	assert_string_equal(member_text(set, "SchedulerAlgorithm"), "spread");
	assert_true(json_is_true(json_object_get(set, "MemoryOversubscriptionEnabled")));
	json_decref(pool);
	assert_true(packs("packed", "p1", "p2"));
	assert_false(packs("wide", "w1", "w2"));
	expect("PUT", "/v1/node/pools",
		"{\"Name\":\"packed\",\"SchedulerConfiguration\":{\"SchedulerAlgorithm\":"
		"\"spread\"}}",
		200, "");
	assert_false(packs("packed", "p3", "p3-2") && packs("packed", "p4", "p4-2"));
}

static json_int_t most_memory(const char *id, const char *pool)
{
	json_t *allocation = place(id, pool);
	json_t *task = json_object_get(
		json_object_get(json_object_get(allocation, "AllocatedResources"), "Tasks"), "t");
	json_int_t most = member_number(json_object_get(task, "Memory"), "MemoryMaxMB");
	json_decref(allocation);
	return most;
}

static void a_pool_grants_memory_of_its_own(void **unused)
{
	static const char no[] = "{\"Name\":\"packed\",\"SchedulerConfiguration\":{"
				 "\"MemoryOversubscriptionEnabled\":false}}";
	static const char warning[] = "Memory oversubscription is not enabled";
	assert_int_equal(most_memory("m1", "wide"), 512);
	assert_int_equal(most_memory("m2", "packed"), 0);
	json_decref(http_json(server, "PUT", "/v1/operator/scheduler/configuration",
		"{\"MemoryOversubscriptionEnabled\":true}"));
	assert_int_equal(most_memory("m3", "packed"), 512);
	expect("PUT", "/v1/node/pools", no, 200, "");
	assert_int_equal(most_memory("m4", "packed"), 0);
	json_t *checked = http_json(server, "PUT", "/v1/validate/job", job_of_pool("m5", "packed"));
	assert_non_null(strstr(member_text(checked, "Warnings"), warning));
	json_decref(checked);
	checked = http_json(server, "PUT", "/v1/validate/job", job_of_pool("m5", "wide"));
	assert_null(strstr(member_text(checked, "Warnings"), warning));
	json_decref(checked);
}

static void one_that_is_used_stays(void **unused)
{
	expect("DELETE", "/v1/node/pool/wide", NULL, 500,
		"2 errors occurred:\n\t* node pool \"wide\" has non-terminal jobs in regions: "
		"[global]\n\t* node pool \"wide\" has nodes in regions: [global]\n\n");
	json_decref(http_json(server, "PUT", "/v1/jobs", job_of_pool("g1", "gpu")));
	expect("DELETE", "/v1/node/pool/gpu", NULL, 500,
		"1 error occurred:\n\t* node pool \"gpu\" has non-terminal jobs in regions: "
		"[global]\n\n");
	json_decref(http_json(server, "DELETE", "/v1/job/g1?purge=true", NULL));
	expect("DELETE", "/v1/node/pool/gpu", NULL, 200, "");
	expect("GET", "/v1/node/pool/gpu", NULL, 404, "node pool not found");
	expect("DELETE", "/v1/node/pool/gpu", NULL, 500, "node pool gpu not found");
	expect("DELETE", "/v1/node/pool/all", NULL, 500,
		"deleting node pool \"all\" is not allowed");
	expect_names("/v1/node/pools", "all,default,packed,pool2,wide");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_described),
		cmocka_unit_test(bad_ones_are_refused),
		cmocka_unit_test(they_are_listed),
		cmocka_unit_test(who_waits_for_one_is_woken),
		cmocka_unit_test(they_are_found),
		cmocka_unit_test(a_pool_has_an_algorithm_of_its_own),
		cmocka_unit_test(a_pool_grants_memory_of_its_own),
		cmocka_unit_test(one_that_is_used_stays),
	};
	return cmocka_run_group_tests(tests, scheduler_group_begin, server_group_end);
}
