// Access control as a real server answered: recorded_acl.json holds requests in their order, with the token that each
// showed. They are sent again; ids and secrets of the recording stand for those that are given here.
#include "state/base/memory.h"
#include "tests/tools/api/acl_world.h"
#include "tests/tools/api/scheduling.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NAMES_MAX = 64, ID_BYTES = 36 };

// What the recording calls an id or a secret, and what it is here.
static struct {
	char recorded[ID_BYTES + 1], here[ID_BYTES + 1];
} names[NAMES_MAX];
static uint32_t name_count;

static const char *here_of(const char *recorded)
{
	for (uint32_t i = 0; i < name_count; i++)
		if (strncmp(names[i].recorded, recorded, ID_BYTES) == 0)
			return names[i].here;
	return NULL;
}

// The text with what the names are here. Caller frees.
static char *translate(const char *text)
{
	char *copy = text_copy(text_of(text));

	for (char *at = copy; strlen(at) >= ID_BYTES; at++) {
		const char *here = here_of(at);
		if (here)
			memcpy(at, here, ID_BYTES);
	}
	return copy;
}

static struct response ask(
	const char *method, const char *path, const char *secret, const char *body)
{
	char header[96];

	snprintf(header, sizeof header, "X-Nomad-Token: %s", secret ? secret : "");
	return http_with(
		server, method, path, body, body ? strlen(body) : 0, secret ? header : NULL);
}

static struct response ask_recorded(json_t *one)
{
	json_t *body = json_object_get(one, "body");
	const char *token = json_string_value(json_object_get(one, "token"));
	char *path = translate(json_string_value(json_object_get(one, "path")));
	char *secret = token ? translate(token) : NULL, *sent = NULL;

	if (json_is_string(body))
		sent = text_copy(text_of(json_string_value(body)));
	else if (!json_is_null(body)) {
		char *text = json_dumps(body, 0);
		sent = translate(text);
		free(text);
	}
	struct response r =
		ask(json_string_value(json_object_get(one, "method")), path, secret, sent);
	free(path);
	free(secret);
	free(sent);
	return r;
}

static bool is_one_of(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static bool is_name(const char *key)
{
	static const char *const keys[] = {"AccessorID", "SecretID", "ID", NULL};
	return is_one_of(keys, key);
}

// What no two servers have in common.
static bool is_of_its_server(const char *key)
{
	static const char *const keys[] = {
		"CreateIndex", "ModifyIndex", "CreateTime", "ExpirationTime", NULL};
	return is_one_of(keys, key);
}

static void expect_name(const char *what, const char *key, json_t *recorded, json_t *here)
{
	const char *is = json_string_value(here), *was = json_string_value(recorded);
	const char *known = here_of(was);

	assert_non_null(is);
	// docs/nomad-differences.md: a secret is shown once, and to whoever shows it.
	if (strcmp(key, "SecretID") == 0 && *is == '\0')
		return;
	if (known) {
		if (strcmp(known, is) != 0)
			fail_msg("%s: %s is %s, not %s", what, key, is, known);
		return;
	}
	assert_int_equal(strlen(is), ID_BYTES);
	assert_true(name_count < NAMES_MAX);
	memcpy(names[name_count].recorded, was, ID_BYTES);
	memcpy(names[name_count++].here, is, ID_BYTES);
}

static void expect_alike(
	const char *what, const char *key, json_t *recorded, json_t *here, bool is_cut);

static void expect_object(const char *what, json_t *recorded, json_t *here, bool is_cut)
{
	const char *key;
	json_t *value;

	assert_int_equal(json_object_size(recorded), json_object_size(here));
	json_object_foreach(recorded, key, value)
	{
		json_t *found = json_object_get(here, key);
		if (!found || json_is_null(found) != json_is_null(value))
			fail_msg("%s: %s is %s", what, key, found ? "null or not" : "missing");
		// The hash of a token with roles covers their ids.
		bool covers_ids = strcmp(key, "Hash") == 0 &&
				  json_array_size(json_object_get(recorded, "Roles")) > 0;
		if (!is_of_its_server(key) && !covers_ids)
			expect_alike(what, key, value, found, is_cut);
	}
}

static void expect_alike(
	const char *what, const char *key, json_t *recorded, json_t *here, bool is_cut)
{
	json_t *value;
	size_t i;

	if (json_typeof(recorded) != json_typeof(here))
		fail_msg("%s: %s is of another type", what, key);
	if (json_is_object(recorded)) {
		expect_object(what, recorded, here, is_cut);
	} else if (json_is_array(recorded)) {
		if (is_cut ? json_array_size(here) < json_array_size(recorded)
			   : json_array_size(here) != json_array_size(recorded))
			fail_msg("%s: %s has %zu, not %zu", what, key, json_array_size(here),
				json_array_size(recorded));
		json_array_foreach(recorded, i, value)
			expect_alike(what, key, value, json_array_get(here, i), is_cut);
	} else if (is_name(key) && json_string_length(recorded) == ID_BYTES) {
		expect_name(what, key, recorded, here);
	} else if (!json_equal(recorded, here)) {
		fail_msg("%s: %s is %s", what, key, json_dumps(here, JSON_ENCODE_ANY));
	}
}

// Texts of a decoder are its own, and so are the lengths of times from now on.
static size_t alike_bytes(const char *recorded)
{
	static const char *const ends[] = {"decode request body: ", "Invalid UUID: ", "(was "};

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		const char *at = strstr(recorded, ends[i]);
		if (at && (at[0] != '(' || strchr(at, '.')))
			return (size_t)(at - recorded) + strlen(ends[i]);
	}
	return SIZE_MAX;
}

static void expect_recorded(json_t *one)
{
	const char *what = json_string_value(json_object_get(one, "case"));
	json_t *answer = json_object_get(one, "answer");
	struct response r = ask_recorded(one);

	if (r.status != json_integer_value(json_object_get(one, "status")))
		fail_msg("%s: %ld %s", what, r.status, r.body);
	if (json_is_string(answer)) {
		char *text = translate(json_string_value(answer));
		if (strncmp(r.body, text, alike_bytes(text)) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", what, r.body, text);
		free(text);
	} else {
		json_t *here = json_loads(r.body, 0, NULL);
		expect_alike(
			what, "answer", answer, here, json_is_true(json_object_get(one, "cut")));
		json_decref(here);
	}
	response_free(&r);
}

static void all_is_answered_as_recorded(void **unused)
{
	json_t *all = json_load_file(RECORDED_ACL, 0, NULL), *one;
	size_t i;

	assert_true(json_array_size(all) > 90);
	json_array_foreach(all, i, one)
	{
		struct response r;
		// An operator left the index before this request.
		if (strstr(json_string_value(json_object_get(one, "case")), "after_reset")) {
			r = ask("PUT", "/v1/acl/bootstrap", NULL, NULL);
			server->acl_reset_index = strtoull(strrchr(r.body, ' '), NULL, 10);
			response_free(&r);
		}
		if (strstr(json_string_value(json_object_get(one, "case")), "bootstrap_second")) {
			r = ask("PUT", "/v1/acl/bootstrap", NULL, NULL);
			assert_int_equal(r.status, 400);
			assert_non_null(
				strstr(r.body, "ACL bootstrap already done (reset index: "));
			response_free(&r);
			continue;
		}
		expect_recorded(one);
	}
	json_decref(all);
}

static void a_reset_counts_once(void **unused)
{
	struct response r = ask("PUT", "/v1/acl/bootstrap", NULL, NULL);

	assert_int_equal(r.status, 400);
	assert_non_null(strstr(r.body, "Invalid bootstrap reset index (specified "));
	response_free(&r);
	server->acl_reset_index = 0;
}

static const char *management(void)
{
	const char *secret = here_of("06631de7-5f5b-8e62-fc03-a583ac0225bc");
	assert_non_null(secret);
	return secret;
}

static json_t *ask_json(const char *method, const char *path, const char *secret, const char *body)
{
	struct response r = ask(method, path, secret, body);
	json_t *value = json_loads(r.body, 0, NULL);

	if (r.status != 200 || !value)
		fail_msg("%s %s: %ld %s", method, path, r.status, r.body);
	response_free(&r);
	return value;
}

static void expect_status(
	const char *method, const char *path, const char *secret, long status, const char *text)
{
	struct response r = ask(method, path, secret,
		strcmp(method, "PUT") == 0 ? "{\"Name\":\"x\",\"Type\":\"management\"}" : NULL);

	if (r.status != status || strcmp(r.body, text) != 0)
		fail_msg("%s %s: %ld %s", method, path, r.status, r.body);
	response_free(&r);
}

static void a_secret_is_shown_once_and_to_its_owner(void **unused)
{
	char path[64];
	json_t *made = ask_json("PUT", "/v1/acl/token", management(),
		"{\"Name\":\"once\",\"Type\":\"client\",\"Policies\":[\"readers\"]}");
	const char *secret = member_text(made, "SecretID");

	snprintf(path, sizeof path, "/v1/acl/token/%s", member_text(made, "AccessorID"));
	json_t *seen = ask_json("GET", path, management(), NULL);
	assert_string_equal(member_text(seen, "SecretID"), "");
	json_t *own = ask_json("GET", path, secret, NULL);
	assert_string_equal(member_text(own, "SecretID"), secret);
	json_t *self = ask_json("GET", "/v1/acl/token/self", secret, NULL);
	assert_string_equal(member_text(self, "SecretID"), secret);
	expect_status("DELETE", path, management(), 200, "");
	expect_status("GET", path, secret, 403, "Permission denied");
	expect_status("GET", "/v1/acl/token/self", secret, 404, "ACL token not found");
	json_decref(made);
	json_decref(seen);
	json_decref(own);
	json_decref(self);
}

// It opens nothing, but says what it was, until it is collected.
static void an_expired_token_may_be_looked_at(void **unused)
{
	char secret[SECRET_BYTES];

	(void)acl_world_token("readers", 2000000000, secret);
	json_t *self = ask_json("GET", "/v1/acl/token/self", secret, NULL);
	assert_string_equal(member_text(self, "ExpirationTime"), "1970-01-01T00:00:02Z");
	assert_string_equal(member_text(self, "SecretID"), secret);
	expect_status("GET", "/v1/acl/policies", secret, 403, "Permission denied");
	json_decref(self);
}

static void others_are_refused(void **unused)
{
	static const char denied[] = "Permission denied",
			  nobody[] = "12345678-1234-1234-1234-123456789abc";
	static const struct {
		const char *method, *path;
		bool is_open; // to whoever asks for what is theirs
	} routes[] = {
		{"GET", "/v1/acl/tokens"},
		{"GET", "/v1/acl/token/12345678-1234-1234-1234-123456789abc"},
		{"PUT", "/v1/acl/token"},
		{"PUT", "/v1/acl/token/12345678-1234-1234-1234-123456789abc"},
		{"DELETE", "/v1/acl/token/12345678-1234-1234-1234-123456789abc"},
		{"GET", "/v1/acl/policies", true},
		{"GET", "/v1/acl/policy/wl"},
		{"PUT", "/v1/acl/policy/x"},
		{"DELETE", "/v1/acl/policy/wl"},
		{"GET", "/v1/acl/roles", true},
		{"GET", "/v1/acl/role/12345678-1234-1234-1234-123456789abc"},
		{"GET", "/v1/acl/role/name/nosuch"},
		{"PUT", "/v1/acl/role"},
		{"PUT", "/v1/acl/role/12345678-1234-1234-1234-123456789abc"},
		{"DELETE", "/v1/acl/role/12345678-1234-1234-1234-123456789abc"},
	};
	json_t *made = ask_json("PUT", "/v1/acl/token", management(),
		"{\"Name\":\"other\",\"Type\":\"client\",\"Policies\":[\"nosuch\"]}");

	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		const char *method = routes[i].method, *path = routes[i].path;
		expect_status(method, path, nobody, 403, denied);
		expect_status(method, path, "zz", 403, denied);
		if (routes[i].is_open) {
			expect_status(method, path, NULL, 200, "[]");
			expect_status(method, path, member_text(made, "SecretID"), 200, "[]");
			continue;
		}
		expect_status(method, path, NULL, 403, denied);
		expect_status(method, path, member_text(made, "SecretID"), 403, denied);
	}
	json_decref(made);
}

static void nobody_has_the_policy_anonymous(void **unused)
{
	struct response r = ask("PUT", "/v1/acl/policy/anonymous", management(),
		"{\"Name\":\"anonymous\",\"Rules\":\"node { policy = \\\"read\\\" }\"}");

	assert_int_equal(r.status, 200);
	response_free(&r);
	json_t *list = ask_json("GET", "/v1/acl/policies", NULL, NULL);
	assert_int_equal(json_array_size(list), 1);
	json_t *policy = ask_json("GET", "/v1/acl/policy/anonymous", NULL, NULL);
	assert_string_equal(member_text(policy, "Name"), "anonymous");
	json_decref(list);
	json_decref(policy);
	expect_status("DELETE", "/v1/acl/policy/anonymous", management(), 200, "");
}

// By "Authorization: Bearer" too, but never by the query.
static void a_token_is_shown_in_a_header(void **unused)
{
	char header[96], path[96];

	snprintf(header, sizeof header, "Authorization: bearer %s", management());
	struct response r = http_with(server, "GET", "/v1/acl/tokens", NULL, 0, header);
	assert_int_equal(r.status, 200);
	response_free(&r);
	snprintf(header, sizeof header, "Authorization: %s", management());
	r = http_with(server, "GET", "/v1/acl/tokens", NULL, 0, header);
	assert_int_equal(r.status, 403);
	response_free(&r);
	snprintf(path, sizeof path, "/v1/acl/tokens?token=%s", management());
	expect_status("GET", path, NULL, 403, "Permission denied");
}

static void lists_have_pages_and_prefixes(void **unused)
{
	json_t *all = ask_json("GET", "/v1/acl/tokens", management(), NULL);
	char prefix[64], path[128];
	size_t count = json_array_size(all);
	const char *last = member_text(json_array_get(all, count - 1), "AccessorID");

	snprintf(prefix, sizeof prefix, "/v1/acl/tokens?prefix=%.8s", last);
	json_t *one = ask_json("GET", prefix, management(), NULL);
	assert_int_equal(json_array_size(one), 1);
	struct response r = ask("GET", "/v1/acl/tokens?per_page=2", management(), NULL);
	const char *token = strstr(r.headers, "Nexttoken: ");
	if (!token)
		token = strstr(r.headers, "NextToken: ");
	assert_non_null(token);
	snprintf(path, sizeof path, "/v1/acl/tokens?next_token=%.*s",
		(int)strcspn(token + 11, "\r"), token + 11);
	json_t *rest = ask_json("GET", path, management(), NULL);
	assert_int_equal(json_array_size(rest), count - 2);
	response_free(&r);
	json_decref(all);
	json_decref(one);
	json_decref(rest);
	json_t *roles = ask_json(
		"GET", "/v1/acl/roles?filter=Name%20%3D%3D%20%22role1%22", management(), NULL);
	assert_int_equal(json_array_size(roles), 1);
	json_decref(roles);
}

// Sends a read that waits for a newer index, describes the policy while it waits, and reads its answer.
static void expect_woken(const char *path, const char *body, const char *part)
{
	char header[96], text[8192];
	struct response r = ask("GET", path, management(), NULL);

	snprintf(header, sizeof header, "X-Nomad-Token: %s", management());
	int fd = http_wait(server, path, r.index, header);
	response_free(&r);
	r = ask("PUT", "/v1/acl/policy/awaited", management(), body);
	assert_int_equal(r.status, 200);
	response_free(&r);
	http_waited(fd, text, sizeof text);
	if (!strstr(text, part))
		fail_msg("%s after %s: %s", path, body, text);
}

static void who_waits_is_woken(void **unused)
{
	static const char one[] = "{\"Name\":\"awaited\"}";
	static const char other[] = "{\"Name\":\"awaited\",\"Description\":\"anew\"}";

	expect_woken("/v1/acl/policy/awaited", one, "\"Name\":\"awaited\"");
	expect_woken("/v1/acl/policy/awaited", other, "\"Description\":\"anew\"");
	expect_woken("/v1/acl/policies", one, "\"Name\":\"awaited\"");
	expect_status("DELETE", "/v1/acl/policy/awaited", management(), 200, "");
}

static void what_there_is_none_of_is_said(void **unused)
{
	struct response r = ask("GET", "/v1/acl/auth-methods", management(), NULL);

	assert_int_equal(r.status, 501);
	response_free(&r);
	r = ask("PUT", "/v1/acl/token/onetime", management(), NULL);
	assert_int_equal(r.status, 501);
	response_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_answered_as_recorded),
		cmocka_unit_test(a_reset_counts_once),
		cmocka_unit_test(a_secret_is_shown_once_and_to_its_owner),
		cmocka_unit_test(an_expired_token_may_be_looked_at),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(nobody_has_the_policy_anonymous),
		cmocka_unit_test(a_token_is_shown_in_a_header),
		cmocka_unit_test(lists_have_pages_and_prefixes),
		cmocka_unit_test(who_waits_is_woken),
		cmocka_unit_test(what_there_is_none_of_is_said),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
