// Variables as a real server answered: recorded_variables.json holds requests in their order. They are sent again; the
// indexes that the recording gave are those that are given here. Then what a recording does not show.
#include "state/records/variable.h"
#include "tests/nomad/differences.h"
#include "tests/tools/api/acl_world.h"
#include "tools/keyring/variable_items.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { INDEXES_MAX = 64, VARIABLES = 20 };

// What is meant to differ, and the words of docs/nomad-differences.md.
static const struct {
	const char *name, *words;
} meant[] = {
	{"GET_vars_filter", "work on what a list shows of them"},
	{"PATCH_var_path_405", "are 405 everywhere"},
	{"PUT_var_path_bad_json", "line and column"},
};

static struct {
	json_int_t recorded, here;
} indexes[INDEXES_MAX];
static uint32_t index_count;
static char newest_key[64];

static const char *meant_words(const char *name)
{
	for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
		if (strcmp(meant[i].name, name) == 0)
			return meant[i].words;
	return NULL;
}

static void note_index(json_t *recorded, json_t *here)
{
	assert_true(index_count < INDEXES_MAX);
	indexes[index_count].recorded =
		json_integer_value(json_object_get(recorded, "ModifyIndex"));
	indexes[index_count++].here = json_integer_value(json_object_get(here, "ModifyIndex"));
}

// The path with an index of here after "cas=".
static void translate(const char *path, char to[static 512])
{
	const char *cas = strstr(path, "cas=");
	const char *key = strstr(path, "/keyring/key/15f6a74f");
	if (key)
		path = newest_key;
	snprintf(to, 512, "%s", path);
	for (uint32_t i = 0; cas && i < index_count; i++)
		if (strtoll(cas + 4, NULL, 10) == indexes[i].recorded)
			snprintf(to, 512, "%.*s%lld", (int)(cas + 4 - path), path,
				(long long)indexes[i].here);
}

static bool is_of_its_server(const char *key)
{
	static const char *const keys[] = {"CreateIndex", "CreateTime", "ModifyIndex", "ModifyTime",
		"Index", "KeyID", "Algorithm", "State", NULL};
	for (const char *const *k = keys; *k; k++)
		if (strcmp(*k, key) == 0)
			return true;
	return false;
}

static void expect_alike(const char *name, json_t *recorded, json_t *here);

static void expect_object(const char *name, json_t *recorded, json_t *here)
{
	const char *key;
	json_t *value;
	assert_int_equal(json_object_size(recorded), json_object_size(here));
	json_object_foreach(recorded, key, value)
	{
		json_t *found = json_object_get(here, key);
		if (!found || json_typeof(found) != json_typeof(value))
			fail_msg("%s: %s is missing or of another type", name, key);
		// What is not there is at no index and of no time.
		if (!is_of_its_server(key) || json_integer_value(value) == 0)
			expect_alike(name, value, found);
	}
}

static void expect_alike(const char *name, json_t *recorded, json_t *here)
{
	if (json_is_object(recorded)) {
		expect_object(name, recorded, here);
	} else if (json_is_array(recorded)) {
		size_t count = json_array_size(recorded) < json_array_size(here)
				       ? json_array_size(recorded)
				       : json_array_size(here);
		for (size_t i = 0; i < count; i++)
			expect_alike(name, json_array_get(recorded, i), json_array_get(here, i));
	} else if (!json_equal(recorded, here) && !strstr(name, "keyring")) {
		fail_msg("%s: another value", name);
	}
}

static void expect_recorded(const char *name, json_t *one, const struct response *r)
{
	json_t *answer = json_object_get(one, "answer");
	char type[96];
	if (r->status != json_integer_value(json_object_get(one, "status")))
		fail_msg("%s: %ld %s", name, r->status, r->body);
	const char *text = json_string_value(answer);
	if (text) {
		assert_string_equal(r->body ? r->body : "", text);
		return;
	}
	snprintf(type, sizeof type, "Content-Type: %s",
		json_string_value(json_object_get(one, "type")));
	assert_true(response_has(r, type));
	json_t *here = json_loadb(r->body, r->size, 0, NULL);
	assert_non_null(here);
	expect_alike(name, answer, here);
	json_t *key = json_object_get(json_object_get(here, "Key"), "KeyID");
	if (key)
		snprintf(newest_key, sizeof newest_key, "/v1/operator/keyring/key/%s",
			json_string_value(key));
	if (json_is_array(answer))
		assert_true(strstr(name, "keyring") ||
			    json_array_size(here) == json_array_size(answer));
	else if (json_object_get(answer, "ModifyIndex"))
		note_index(answer, here);
	json_decref(here);
}

static void ask_recorded(json_t *one)
{
	const char *name = json_string_value(json_object_get(one, "case"));
	json_t *body = json_object_get(one, "body");
	char path[512], *text = json_is_object(body) ? json_dumps(body, 0) : NULL;
	translate(json_string_value(json_object_get(one, "path")), path);
	struct response r = http(server, json_string_value(json_object_get(one, "method")), path,
		text ? text : json_string_value(body));
	const char *words = meant_words(name);
	if (words && !differences_say(words))
		fail_msg("the page does not say \"%s\"", words);
	if (!words)
		expect_recorded(name, one, &r);
	free(text);
	response_free(&r);
}

static void every_recorded_answer_is_given(void **unused)
{
	json_t *recorded = json_load_file(RECORDED_VARIABLES, 0, NULL), *one;
	size_t i;
	assert_true(json_array_size(recorded) > 40);
	json_array_foreach(recorded, i, one) ask_recorded(one);
	json_decref(recorded);
}

static void expect(
	const char *method, const char *path, const char *body, int status, const char *says)
{
	struct response r = http(server, method, path, body);
	if (r.status != status || !strstr(r.body ? r.body : "", says))
		fail_msg("%s %s: %ld %s", method, path, r.status, r.body);
	response_free(&r);
}

// A body whose items have so many bytes.
static char *body_of(size_t bytes)
{
	char *body = malloc(bytes + 64);
	assert_non_null(body);
	static const char begin[] = "{\"Items\":{\"a\":\"";
	memcpy(body, begin, sizeof begin - 1);
	memset(body + sizeof begin - 1, 'x', bytes - 1);
	memcpy(body + sizeof begin - 2 + bytes, "\"}}", 4);
	return body;
}

static void what_is_too_large_is_refused(void **unused)
{
	char *fits = body_of(65536), *large = body_of(65537), path[160] = "/v1/var/";
	expect("PUT", "/v1/var/large", fits, 200, "xxx");
	expect("PUT", "/v1/var/large", large, 500, "variables are limited to 64KiB in total size");
	expect("GET", "/v1/var/large", NULL, 200, "xxx");
	expect("DELETE", "/v1/var/large", NULL, 204, "");
	free(fits);
	free(large);
	memset(path + 8, 'a', 128);
	expect("PUT", path, "{\"Items\":{\"a\":\"b\"}}", 200, "aaa");
	expect("DELETE", path, NULL, 204, "");
	path[8 + 128] = 'a';
	expect("PUT", path, "{\"Items\":{\"a\":\"b\"}}", 500, "invalid path \"aaa");
}

static void what_is_reserved_and_what_is_no_variable(void **unused)
{
	static const char *const items = "{\"Items\":{\"a\":\"b\"}}";
	static const struct {
		const char *path, *body;
		int status;
		const char *says;
	} cases[] = {
		{"nomad", NULL, 500, "\"nomad\" is a reserved top-level directory path"},
		{"nomad/job-templates", NULL, 500, "\"nomad/job-templates\" is a reserved"},
		{"nomad/job-templates/a/b", NULL, 500, "is a reserved directory path"},
		{"nomad/job-templatesx", NULL, 500, "only paths at"},
		{"nomad/jobsx", NULL, 500, "only paths at"},
		{"nomad/jobs/", NULL, 200, "nomad/jobs/"},
		{"nomadx/y", NULL, 200, "nomadx/y"},
		{"a?namespace=*", NULL, 500, "can not target wildcard (\"*\")namespace"},
		{"a?namespace=a%0ab", NULL, 400, "no control characters"},
		{"a", "{\"Namespace\":\"*\",\"Items\":{\"a\":\"b\"}}", 500, "wildcard"},
		{"a", "{\"Namespace\":5,\"Items\":{\"a\":\"b\"}}", 400,
			"cannot unmarshal number into Go struct field VariableDecrypted.Namespace "
			"of "
			"type string"},
		{"a", "{\"Path\":[],\"Items\":{\"a\":\"b\"}}", 400, "VariableDecrypted.Path"},
		{"a", "{\"Items\":[1]}", 400, "VariableDecrypted.Items"},
		{"a", "{\"Items\":null}", 400, "variable missing required Items object"},
		{"a", "{\"Items\":{\"a\":true}}", 400, "cannot unmarshal bool"},
		{"a", "{\"Items\":{\"a\":null}}", 200, "\"a\":\"\""},
		{"a", "[]", 400, "object"},
		{"a?cas=99999999999999999999", NULL, 400, "value out of range"},
		{"a?cas=-1", NULL, 400, "invalid syntax"},
		{"%C3%A4", NULL, 500, "invalid path"},
		{"a.b", NULL, 500, "invalid path \"a.b\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[128];
		snprintf(path, sizeof path, "/v1/var/%s", cases[i].path);
		expect("PUT", path, cases[i].body ? cases[i].body : items, cases[i].status,
			cases[i].says);
	}
	expect("DELETE", "/v1/var/", NULL, 400, "missing variable path");
	expect("DELETE", "/v1/var/nomad/jobs/", NULL, 204, "");
	expect("DELETE", "/v1/var/nomadx%2Fy", NULL, 204, "");
	expect("DELETE", "/v1/var/a", NULL, 204, "");
}

static void put(const char *path)
{
	expect("PUT", path, "{\"Items\":{\"secret\":\"value\"}}", 200, "value");
}

static void drop_all(void)
{
	json_t *list = http_json(server, "GET", "/v1/vars?namespace=*", NULL), *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		char path[256];
		snprintf(path, sizeof path, "/v1/var/%s?namespace=%s",
			json_string_value(json_object_get(one, "Path")),
			json_string_value(json_object_get(one, "Namespace")));
		expect("DELETE", path, NULL, 204, "");
	}
	json_decref(list);
}

// The paths of a list, with blanks between them.
static void expect_paths(const char *path, const char *paths)
{
	char found[512] = "", *end = found;
	json_t *list = http_json(server, "GET", path, NULL), *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		assert_null(json_object_get(one, "Items"));
		end += snprintf(end, (size_t)(found + sizeof found - end), "%s%s:%s", i ? " " : "",
			json_string_value(json_object_get(one, "Namespace")),
			json_string_value(json_object_get(one, "Path")));
	}
	assert_string_equal(found, paths);
	json_decref(list);
}

static void lists_are_cut_into_pages(void **unused)
{
	drop_all();
	put("/v1/var/b");
	put("/v1/var/a/b");
	put("/v1/var/a?namespace=team");
	put("/v1/var/a/c");
	expect_paths("/v1/vars", "default:a/b default:a/c default:b");
	expect_paths("/v1/vars?prefix=a", "default:a/b default:a/c");
	expect_paths("/v1/vars?namespace=team", "team:a");
	expect_paths("/v1/vars?namespace=*", "default:a/b default:a/c default:b team:a");
	expect_paths("/v1/vars?namespace=*&prefix=a", "default:a/b default:a/c team:a");
	expect_paths(
		"/v1/vars?namespace=*&reverse=true", "team:a default:b default:a/c default:a/b");
	expect_paths("/v1/vars?filter=Path+contains+%22c%22", "default:a/c");
	expect("GET", "/v1/vars?filter=Nosuch+%3D%3D+%22c%22", NULL, 400, "no member");
	struct response r = http(server, "GET", "/v1/vars?namespace=*&per_page=2", NULL);
	assert_true(response_has(&r, "X-Nomad-NextToken: default.b"));
	response_free(&r);
	expect_paths("/v1/vars?namespace=*&per_page=2&next_token=default.b", "default:b team:a");
	drop_all();
	expect_paths("/v1/vars?namespace=*", "");
}

static void a_read_waits_for_a_change(void **unused)
{
	char text[2048];
	put("/v1/var/app/wait");
	struct response r = http(server, "GET", "/v1/var/app/wait", NULL);
	int fd = http_wait(server, "/v1/var/app/wait", r.index, NULL);
	put("/v1/var/app/other");
	expect("PUT", "/v1/var/app/wait", "{\"Items\":{\"secret\":\"next\"}}", 200, "next");
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "\"secret\":\"next\""));
	response_free(&r);
	r = http(server, "GET", "/v1/vars", NULL);
	fd = http_wait(server, "/v1/vars", r.index, NULL);
	expect("DELETE", "/v1/var/app/other", NULL, 204, "");
	http_waited(fd, text, sizeof text);
	assert_null(strstr(text, "app/other"));
	response_free(&r);
	drop_all();
}

static void search_finds_paths(void **unused)
{
	put("/v1/var/nomad/jobs");
	put("/v1/var/nomad/jobs/web?namespace=team");
	expect("PUT", "/v1/search", "{\"Prefix\":\"n\",\"Context\":\"vars\"}", 200,
		"\"Matches\":{\"vars\":[\"nomad/jobs\"]}");
	expect("PUT", "/v1/search?namespace=*", "{\"Prefix\":\"nomad/jobs/\",\"Context\":\"vars\"}",
		200, "\"Matches\":{\"vars\":[\"nomad/jobs/web\"]}");
	expect("PUT", "/v1/search/fuzzy?namespace=*", "{\"Text\":\"web\",\"Context\":\"vars\"}",
		200, "{\"ID\":\"nomad/jobs/web\",\"Scope\":[\"team\",\"nomad/jobs/web\"]}");
	drop_all();
}

// Puts what is stored under one name under another one, as who writes into the store could.
static void store_under(const char *name, const char *as, bool spoil)
{
	struct variable *copy = record_create(&variable_description);
	state_read_begin();
	const struct variable *found = state_variable(server->state, text_of(name));
	assert_non_null(found);
	copy->key = found->key;
	copy->sealed = text_copy(text_of(found->sealed));
	state_read_end();
	if (spoil)
		copy->sealed[40] = copy->sealed[40] == 'A' ? 'B' : 'A';
	copy->name = text_copy(text_of(as));
	struct command_variable ask = {.variable = copy};
	struct command command = {.type = COMMAND_VARIABLE, .variable = &ask};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
}

// The path x.y of a namespace is not the path y of another one.
static void a_dot_leads_nowhere(void **unused)
{
	put("/v1/var/y?namespace=default.x");
	expect("GET", "/v1/var/x.y", NULL, 404, "variable not found");
	expect("PUT", "/v1/var/x.y", "{\"Items\":{\"a\":\"b\"}}", 500, "invalid path");
	expect("DELETE", "/v1/var/x.y", NULL, 500, "invalid path");
	expect("GET", "/v1/var/y?namespace=default.x", NULL, 200, "value");
	drop_all();
}

static void what_was_moved_or_changed_is_not_shown(void **unused)
{
	put("/v1/var/app/mine");
	uint64_t before = keyring_count(server->keyring, KEYRING_TAMPERED);
	store_under("default.app/mine", "default.app/yours", false);
	expect("GET", "/v1/var/app/yours", NULL, 500, "somebody changed it; put it anew");
	store_under("default.app/mine", "team.app/mine", false);
	expect("GET", "/v1/var/app/mine?namespace=team", NULL, 500, "in namespace team");
	store_under("default.app/mine", "default.app/mine", true);
	expect("GET", "/v1/var/app/mine", NULL, 500, "is not what key");
	assert_int_equal(keyring_count(server->keyring, KEYRING_TAMPERED), before + 3);
	// A conflict shows nothing else, and who does not ask what is there may put it anew.
	expect("PUT", "/v1/var/app/mine?cas=0", "{\"Items\":{\"a\":\"b\"}}", 500,
		"is not what key");
	put("/v1/var/app/mine");
	expect("GET", "/v1/var/app/mine", NULL, 200, "value");
	drop_all();
}

static void keys_go_round(void **unused)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	char path[96], id[UUID_TEXT_BYTES];
	put("/v1/var/app/old");
	keyring_list(server->keyring, keys);
	snprintf(path, sizeof path, "/v1/operator/keyring/key/%s", uuid_format(&keys[0].id, id));
	expect("DELETE", path, NULL, 500, "active root key cannot be deleted - call rotate first");
	expect("PUT", "/v1/operator/keyring/rotate", NULL, 200, "\"State\":\"active\"");
	expect("GET", "/v1/var/app/old", NULL, 200, "value");
	expect("DELETE", path, NULL, 500, "the key still encrypts variables");
	put("/v1/var/app/old");
	expect("DELETE", path, NULL, 200, "Index");
	expect("GET", "/v1/operator/keyring/keys", NULL, 200, "\"State\":\"active\"");
	expect("GET", "/v1/var/app/old", NULL, 200, "value");
	expect("DELETE", "/v1/operator/keyring/key/x", NULL, 404, "key not found");
	drop_all();
}

static bool has_key(const char *name, const struct uuid *key)
{
	state_read_begin();
	const struct variable *found = state_variable(server->state, text_of(name));
	bool has = found && uuid_equal(&found->key, key);
	state_read_end();
	return has;
}

static struct uuid newest(void)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	assert_true(keyring_list(server->keyring, keys) > 0);
	return keys[0].id;
}

static void await_newest_key(const char *name)
{
	struct uuid key = newest();
	for (int i = 0; i < 6000 && !has_key(name, &key); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	if (!has_key(name, &key))
		fail_msg("%s has another key", name);
}

// Encrypted with the key that is the newest now, but not yet stored.
static struct variable *seal_late(const char *name)
{
	struct variable *variable = record_create(&variable_description);
	struct variable_items items;
	record_init(&variable_items_description, &items);
	*(struct string_pair *)array_append(&items.items, sizeof(struct string_pair)) =
		(struct string_pair){text_copy(TEXT("late")), text_copy(TEXT("value"))};
	variable->name = text_copy(text_of(name));
	assert_true(variable_seal(server->keyring, variable, &items));
	variable_items_release(&items);
	return variable;
}

static void a_full_rotation_frees_the_old_keys(void **unused)
{
	char path[96], id[UUID_TEXT_BYTES], name[64];
	struct uuid old = newest();
	for (int i = 0; i < VARIABLES; i++) {
		snprintf(path, sizeof path, "/v1/var/full/%d", i);
		put(path);
	}
	store_under("default.full/0", "default.full/bad", true);
	struct variable *late = seal_late("default.full/late");
	expect("PUT", "/v1/operator/keyring/rotate?full=true", NULL, 200, "\"State\":\"active\"");
	for (int i = 0; i < VARIABLES; i++) {
		snprintf(name, sizeof name, "default.full/%d", i);
		await_newest_key(name);
		snprintf(path, sizeof path, "/v1/var/full/%d", i);
		expect("GET", path, NULL, 200, "value");
	}
	// One that nobody can decrypt stays as it is, and its key with it.
	expect("GET", "/v1/operator/keyring/keys", NULL, 200, "\"State\":\"rekeying\"");
	snprintf(path, sizeof path, "/v1/operator/keyring/key/%s", uuid_format(&old, id));
	expect("DELETE", path, NULL, 500, "the key still encrypts variables");
	assert_true(has_key("default.full/bad", &old));
	expect("DELETE", "/v1/var/full/bad", NULL, 204, "");
	// What was under way while the key was rotated is found, too.
	struct command_variable ask = {.variable = late};
	struct command command = {.type = COMMAND_VARIABLE, .variable = &ask};
	assert_int_equal(server_command(server, &command), OUTCOME_DONE);
	await_newest_key("default.full/late");
	expect("GET", "/v1/var/full/late", NULL, 200, "late");
	struct response r = http(server, "GET", "/v1/operator/keyring/keys", NULL);
	assert_null(strstr(r.body, "rekeying"));
	response_free(&r);
	expect("DELETE", path, NULL, 200, "Index");
	expect("GET", "/v1/var/full/1", NULL, 200, "value");
	drop_all();
}

// What each may do is in the matrix; here is what they see of it.
static void what_may_be_seen(void **unused)
{
	char manager[SECRET_BYTES], lister[SECRET_BYTES], writer[SECRET_BYTES];
	put("/v1/var/app/one");
	put("/v1/var/app/two");
	put("/v1/var/app/one?namespace=team");
	acl_world_bootstrap(manager);
	acl_world_policy("lists", "namespace \"default\" { variables { path \"app/o*\" { "
				  "capabilities = [\"list\"] } } }");
	acl_world_policy("writes", "namespace \"*\" { variables { path \"app/*\" { "
				   "capabilities = [\"write\"] } } }");
	(void)acl_world_token("lists", 0, lister);
	(void)acl_world_token("writes", 0, writer);
	struct answer a = ask_with(lister, "GET", "/v1/vars?namespace=*", NULL);
	assert_non_null(strstr(a.text, "app/one"));
	assert_null(strstr(a.text, "app/two"));
	assert_null(strstr(a.text, "team"));
	a = ask_with(lister, "PUT", "/v1/search?namespace=*",
		"{\"Prefix\":\"app\",\"Context\":\"vars\"}");
	assert_non_null(strstr(a.text, "\"vars\":[\"app/one\"]"));
	a = ask_with(lister, "GET", "/v1/var/app/one", NULL);
	assert_int_equal(a.status, 403);
	a = ask_with(NULL, "GET", "/v1/vars?namespace=*", NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.text, "[]");
	// Who may only write sees of a conflict all but the items; and writes where the body says.
	a = ask_with(writer, "PUT", "/v1/var/app/one?cas=0", "{\"Items\":{\"a\":\"b\"}}");
	assert_int_equal(a.status, 409);
	assert_non_null(strstr(a.text, "\"Items\":null"));
	a = ask_with(manager, "PUT", "/v1/var/app/one?cas=0", "{\"Items\":{\"a\":\"b\"}}");
	assert_non_null(strstr(a.text, "\"secret\":\"value\""));
	a = ask_with(writer, "PUT", "/v1/var/app/one?namespace=nosuch",
		"{\"Namespace\":\"team\",\"Items\":{\"a\":\"b\"}}");
	assert_int_equal(a.status, 200);
	a = ask_with(writer, "PUT", "/v1/var/other", "{\"Items\":{\"a\":\"b\"}}");
	assert_int_equal(a.status, 403);
	a = ask_with(writer, "DELETE", "/v1/var/app/one", NULL);
	assert_int_equal(a.status, 403);
	a = ask_with(writer, "GET", "/v1/operator/keyring/keys", NULL);
	assert_int_equal(a.status, 403);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_recorded_answer_is_given),
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(what_is_reserved_and_what_is_no_variable),
		cmocka_unit_test(lists_are_cut_into_pages),
		cmocka_unit_test(a_read_waits_for_a_change),
		cmocka_unit_test(search_finds_paths),
		cmocka_unit_test(a_dot_leads_nowhere),
		cmocka_unit_test(what_was_moved_or_changed_is_not_shown),
		cmocka_unit_test(keys_go_round),
		cmocka_unit_test(a_full_rotation_frees_the_old_keys),
		cmocka_unit_test(what_may_be_seen),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
