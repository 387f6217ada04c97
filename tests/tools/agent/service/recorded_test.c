// What Nomad 1.6.5 answered of an allocation's files and logs, asked again of one with the same tasks and files.
#include "tests/tools/agent/service/rig.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int open_allocation(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	rig_run("service",
		RIG_SH("pre", "echo pre",
			",\"Lifecycle\":{\"Hook\":\"prestart\",\"Sidecar\":false}") "," RIG_SH("sid"
											       "e",
			"sleep 1000",
			",\"Lifecycle\":{\"Hook\":\"prestart\",\"Sidecar\":true}") "," RIG_SH("mai"
											      "n",
			"mkdir local/dir; echo data > local/dir/f.txt; for i in 0 1 2 3 4; do "
			"echo out $i; echo err $i >&2; done; touch local/ready; exec sleep 1000",
			"") "," RIG_SH("post", "true", ",\"Lifecycle\":{\"Hook\":\"poststop\"}"));
	RIG_WAIT(rig_get("/v1/client/fs/stat/" RIG_ID "?path=main/local/ready")->status == 200);
	RIG_WAIT(rig_get("/v1/client/fs/logs/" RIG_ID "?task=main&type=stderr&plain=true")->size ==
		 30);
	RIG_WAIT(rig_get("/v1/client/fs/logs/" RIG_ID "?task=main&type=stdout&plain=true")->size ==
		 30);
	return 0;
}

// A text with names of this allocation in the place of others.
static char *translated(const char *text)
{
	size_t most = strlen(text) * 4 + 400;
	char *out = calloc(1, most), *at = out;
	assert_non_null(out);
	while (*text) {
		size_t left = most - (size_t)(at - out);
		if (strncmp(text, "FOLDER", 6) == 0) {
			at += snprintf(at, left, "%s/alloc/" RIG_ID, rig_folder);
			text += 6;
		} else if (strncmp(text, "ID", 2) == 0 && (text[2] == '?' || !text[2])) {
			at += snprintf(at, left, RIG_ID);
			text += 2;
		} else {
			*at++ = *text++;
		}
	}
	return out;
}

static const char *row_text(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name));
}

static const json_t *entry_of(const json_t *list, const char *name)
{
	size_t i;
	const json_t *entry;
	json_array_foreach(
		list, i, entry) if (strcmp(row_text(entry, "Name"), name) == 0) return entry;
	return NULL;
}

// Times and sizes of folders differ, and folders of ours are sticky.
static bool is_alike(const json_t *given, const json_t *wanted)
{
	void *at = json_object_iter((json_t *)wanted);
	if (json_object_size(given) != json_object_size(wanted))
		return false;
	for (; at; at = json_object_iter_next((json_t *)wanted, at)) {
		const char *name = json_object_iter_key(at);
		const json_t *value = json_object_get(given, name);
		bool is_dir = json_is_true(json_object_get(wanted, "IsDir"));
		bool may_differ =
			strcmp(name, "ModTime") == 0 ||
			(is_dir && (strcmp(name, "Size") == 0 || strcmp(name, "FileMode") == 0));
		if (!value || (!may_differ && !json_equal(value, json_object_iter_value(at))))
			return false;
	}
	return true;
}

static bool facts_are_alike(const char *given, const char *wanted)
{
	json_t *own = json_loads(given, 0, NULL), *recorded = json_loads(wanted, 0, NULL);
	const json_t *entry;
	size_t i;
	bool alike = own && recorded;
	if (json_is_object(recorded))
		alike = alike && is_alike(own, recorded);
	else
		json_array_foreach(recorded, i, entry) alike =
			alike && is_alike(entry_of(own, row_text(entry, "Name")), entry);
	json_decref(own);
	json_decref(recorded);
	return alike;
}

static bool has_headers(const struct answer *answer, const json_t *row)
{
	char line[300];
	const json_t *header;
	size_t i;
	snprintf(line, sizeof line, "Content-Type: %s", row_text(row, "type"));
	bool has = rig_has_header(answer, line);
	json_array_foreach(json_object_get(row, "headers"), i, header) has =
		has && rig_has_header(answer, json_string_value(header));
	if (json_array_size(json_object_get(row, "headers")) == 0)
		has = has && !strcasestr(answer->head, "nosniff");
	return has;
}

static bool row_holds(const json_t *row)
{
	char *path = translated(row_text(row, "path")), *body = translated(row_text(row, "body"));
	const struct answer *answer = rig_ask(row_text(row, "method"), path, NULL);
	bool is_list = strstr(path, "/ls/") || strstr(path, "/stat/");
	bool good = answer->status == json_integer_value(json_object_get(row, "status")) &&
		    has_headers(answer, row) &&
		    (is_list && answer->status == 200 ? facts_are_alike(answer->body, body)
						      : strcmp(answer->body, body) == 0);
	if (!good)
		print_error("%s: %s\n%s%s\nwanted %d %s\n", row_text(row, "case"), path,
			answer->head, answer->body,
			(int)json_integer_value(json_object_get(row, "status")), body);
	free(path);
	free(body);
	return good;
}

static void files_are_answered_as_recorded(void **state)
{
	json_error_t error;
	json_t *rows = json_load_file(RECORDED_FILES, 0, &error);
	const json_t *row;
	size_t i, wrong = 0;
	if (!rows)
		fail_msg("%s: %s", RECORDED_FILES, error.text);
	assert_true(json_array_size(rows) >= 60);
	json_array_foreach(rows, i, row) wrong += !row_holds(row);
	json_decref(rows);
	assert_int_equal(wrong, 0);
}

static void without_an_allocation_it_says_so(void **state)
{
	static const char *const routes[] = {
		"ls/", "stat/?path=x", "logs/?task=t&type=stdout", "stream/?path=x"};
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		const struct answer *answer = rig_get("/v1/client/fs/%s", routes[i]);
		assert_int_equal(answer->status, 400);
		assert_string_equal(answer->body, "must provide a valid alloc id");
	}
	assert_int_equal(rig_get("/v1/client/fs/ls/" RIG_ID "/x")->status, 404);
	assert_int_equal(rig_get("/v1/client/fs/nosuch/" RIG_ID)->status, 404);
}

// Also of a task that has said nothing.
static void logs_are_there_from_the_beginning(void **state)
{
	static const char *const names[] = {"main.stderr.0", "main.stdout.0", "pre.stderr.0",
		"pre.stdout.0", "side.stderr.0", "side.stdout.0"};
	json_t *list =
		json_loads(rig_get("/v1/client/fs/ls/" RIG_ID "?path=alloc/logs")->body, 0, NULL);
	assert_int_equal(json_array_size(list), sizeof names / sizeof names[0]);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_string_equal(row_text(json_array_get(list, i), "Name"), names[i]);
	json_decref(list);
	assert_int_equal(
		rig_get("/v1/client/fs/logs/" RIG_ID "?task=side&type=stderr&plain=true")->size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_answered_as_recorded),
		cmocka_unit_test(logs_are_there_from_the_beginning),
		cmocka_unit_test(without_an_allocation_it_says_so),
	};
	return cmocka_run_group_tests(tests, open_allocation, rig_close);
}
