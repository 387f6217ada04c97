// berth vm: creates, stops, suspends and deletes virtual machines.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/flag_meta.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_texts(const struct flags *flags, json_t *body)
{
	static const struct {
		enum flag flag;
		const char *member;
	} texts[] = {
		{FLAG_IMAGE, "image"},
		{FLAG_OS, "os"},
		{FLAG_ARCH, "arch"},
		{FLAG_RUNTIME, "runtime"},
		{FLAG_RESTART_POLICY, "restart_policy"},
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (flag_given(flags, texts[i].flag))
			json_object_set_new(
				body, texts[i].member, json_string(flags->values[texts[i].flag]));
	if (flag_given(flags, FLAG_SUSPENDABLE))
		json_object_set_new(body, "suspendable", json_true());
}

// False after a complaint.
static bool put_number(const struct flags *flags, enum flag flag, const char *member, json_t *body)
{
	char message[256];
	uint64_t number = 0;
	if (!flag_given(flags, flag))
		return true;
	if (!flag_number(flags, flag, 0, INT32_MAX, &number, message, sizeof message)) {
		complain(STATUS_USAGE, "%s", message);
		return false;
	}
	json_object_set_new(body, member, json_integer((json_int_t)number));
	return true;
}

// Turns texts into numbers. False after a complaint.
static bool count_all(json_t *resources)
{
	const char *name;
	json_t *value;
	void *next;
	json_object_foreach_safe(resources, next, name, value)
	{
		const char *text = json_string_value(value);
		char *end = NULL;
		errno = 0;
		long long number = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
		if (!end || *end || errno) {
			complain(STATUS_USAGE, "--resource %s=%s: \"%s\" is no whole number", name,
				text, text);
			return false;
		}
		json_object_set_new(resources, name, json_integer(number));
	}
	return true;
}

// False after a complaint.
static bool put_pairs(const struct flags *flags, json_t *body)
{
	json_t *labels = flags_pairs(flags, FLAG_LABEL);
	json_t *resources = labels ? flags_pairs(flags, FLAG_RESOURCE) : NULL;
	bool fine = resources && count_all(resources);
	if (fine && json_object_size(labels))
		json_object_set(body, "labels", labels);
	if (fine && json_object_size(resources))
		json_object_set(body, "resources", resources);
	json_decref(labels);
	json_decref(resources);
	return fine;
}

static enum exit_status send_body(struct session *session, json_t *body)
{
	json_t *reply, *warning;
	size_t i;
	enum exit_status result = http_put_json(session, "/v1/vms", body, &reply);
	json_array_foreach(json_object_get(reply, "warnings"), i, warning)
		fprintf(stderr, "Warning: %s\n", json_string_value(warning));
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		printf("Created virtual machine \"%s\", uid %s\n", field_text(reply, "name"),
			field_text(reply, "uid"));
	json_decref(reply);
	return result;
}

enum exit_status machine_create(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	json_t *body = NULL;
	enum exit_status result = STATUS_OK;
	if (count > 1)
		result = file_read_object(arguments[1], &body);
	else
		body = json_object();
	if (result != STATUS_OK)
		return result;
	json_object_set_new(body, "name", json_string(arguments[0]));
	put_texts(flags, body);
	result = put_number(flags, FLAG_CPU, "cpu", body) &&
				 put_number(flags, FLAG_MEMORY, "memory", body) &&
				 put_pairs(flags, body)
			 ? send_body(session, body)
			 : STATUS_USAGE;
	json_decref(body);
	return result;
}

static enum exit_status set_power(struct session *session, const char *name, const char *state)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply, *body = json_pack("{s:s}", "powerState", state);
	enum exit_status result =
		http_put_json(session, name_path("/v1/vms", name, "", path), body, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		printf("Virtual machine \"%s\" is to be %s\n", name, state);
	json_decref(reply);
	json_decref(body);
	return result;
}

enum exit_status machine_stop(struct session *session, const char **arguments, int count)
{
	return set_power(session, arguments[0], "stopped");
}

enum exit_status machine_suspend(struct session *session, const char **arguments, int count)
{
	return set_power(session, arguments[0], "suspended");
}

enum exit_status machine_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path("/v1/vms", arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		puts("{}");
	else if (result == STATUS_OK)
		printf("Deleted virtual machine \"%s\"\n", arguments[0]);
	return result;
}
