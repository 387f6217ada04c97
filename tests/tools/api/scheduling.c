#include "tests/tools/api/scheduling.h"
#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char *member_text(json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));
	return value ? value : "";
}

json_int_t member_number(json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

// The path of a pattern: an asterisk stands for the id.
static const char *path_of(const char *pattern, const char *id)
{
	static char path[512];
	const char *star = strchr(pattern, '*');
	snprintf(path, sizeof path, "%.*s%s%s", (int)(star - pattern), pattern, id, star + 1);
	return path;
}

json_t *api_get(const char *pattern, const char *id)
{
	return http_json(server, "GET", path_of(pattern, id), NULL);
}

json_t *api_put(const char *pattern, const char *id, const char *body)
{
	return http_json(server, "PUT", path_of(pattern, id), body);
}

const char *job_body(const char *id, const char *type, const char *env, int memory_mb)
{
	static char body[1024];
	snprintf(body, sizeof body,
		"{\"Diff\":true,\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"%s\","
		"\"Datacenters\":[\"dc1\"],\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,"
		"\"EphemeralDisk\":{\"SizeMB\":101},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
		"\"Env\":{\"A\":\"%s\"},\"Config\":{\"command\":\"/bin/"
		"true\"},\"Resources\":{\"CPU\":"
		"100,\"MemoryMB\":%d}}]}]}}",
		id, id, type, env, memory_mb);
	return body;
}

// The evaluation once it is worked off: each look waits for it to change.
json_t *await_evaluation(const char *id)
{
	char path[256];
	uint64_t index = 0;
	for (int looks = 0; looks < 100; looks++) {
		snprintf(path, sizeof path, "/v1/evaluation/%s?index=%llu&wait=10s", id,
			(unsigned long long)index);
		json_t *e = http_json(server, "GET", path, NULL);
		if (strcmp(member_text(e, "Status"), "pending") != 0)
			return e;
		index = (uint64_t)member_number(e, "ModifyIndex");
		json_decref(e);
	}
	fail_msg("evaluation %s stays pending", id);
	return NULL;
}

// Registers and waits; returns the evaluation.
json_t *run_job(const char *body)
{
	json_t *reply = api_put("/v1/jobs*", "", body);
	assert_shape(reply, "job_register");
	assert_true(strlen(member_text(reply, "EvalID")) == 36);
	assert_true(member_number(reply, "EvalCreateIndex") > 0);
	json_t *e = await_evaluation(member_text(reply, "EvalID"));
	assert_string_equal(member_text(e, "Status"), "complete");
	json_decref(reply);
	return e;
}

void expect_answer(
	const char *method, const char *path, const char *body, long status, const char *part)
{
	struct response r = http(server, method, path, body);
	if (r.status != status || !strstr(r.body, part))
		fail_msg("%s %s answered %ld \"%s\", not %ld with \"%s\"", method, path, r.status,
			r.body, status, part);
	response_free(&r);
}
