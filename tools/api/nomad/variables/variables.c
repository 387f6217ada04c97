// Variables are read: one with its items, or the names of many.
#include "tools/api/nomad/variables/variables.h"
#include "state/base/memory.h"
#include "tools/acl/acl.h"
#include "tools/api/lists/name_set.h"
#include "tools/api/nomad/variables/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"
#include "tools/json/json_record.h"
#include <stdio.h>
#include <stdlib.h>

// Variables that one read section visits.
#define VARIABLES_PER_SECTION 1024u

char *variable_name(const char *namespace_name, const char *path)
{
	if (!variable_path_is_fit(text_of(path)))
		return NULL;
	size_t size = strlen(namespace_name) + strlen(path) + 2;
	char *name = memory_take(size);
	snprintf(name, size, "%s.%s", namespace_name, path);
	return name;
}

bool request_may_variable(const struct request *request, const char *namespace_name,
	const char *path, enum acl_variable_capability capability)
{
	const struct acl *acl = request_acl(request);
	return !acl || acl_allows_variable(acl, namespace_name, path, capability);
}

bool request_may_named(
	const struct request *request, const char *name, enum acl_variable_capability capability)
{
	char *namespace_name = text_copy(variable_namespace(name));
	bool may = request_may_variable(request, namespace_name, variable_path(name), capability);
	free(namespace_name);
	return may;
}

void variable_members_json(struct json_writer *w, const char *name, const struct variable *variable)
{
	json_write_key(w, "Namespace");
	json_write_text(w, variable_namespace(name));
	json_put_string(w, "Path", variable_path(name));
	json_put_u64(w, "CreateIndex", variable ? variable->record.create_index : 0);
	json_put_i64(w, "CreateTime", variable ? variable->create_time_ns : 0);
	json_put_u64(w, "ModifyIndex", variable ? variable->record.modify_index : 0);
	json_put_i64(w, "ModifyTime", variable ? variable->modify_time_ns : 0);
}

void variable_json(struct json_writer *w, const char *name, const struct variable *variable,
	const struct variable_items *items)
{
	json_begin_object(w);
	variable_members_json(w, name, variable);
	if (items)
		json_put_map(w, "Items", FIELD_MAP, &items->items);
	else
		json_put_null(w, "Items");
	json_end_object(w);
}

void reply_sealed(
	struct reply *reply, const struct variable *variable, enum keyring_verdict verdict)
{
	struct text space = variable_namespace(variable->name);
	char key[UUID_TEXT_BYTES];
	uuid_format(&variable->key, key);
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
		verdict == KEYRING_NO_KEY
			? "variable %s in namespace %.*s is encrypted with key %s, which is not in "
			  "the keyring: put its file back (keyring_file) and restart the controller"
			: "variable %s in namespace %.*s is not what key %s encrypted under this "
			  "name: somebody changed it; put it anew",
		variable_path(variable->name), (int)space.size, space.data, key);
}

uint64_t variables_watched(const struct request *request)
{
	return table_index(request, STATE_VARIABLES);
}

struct selection {
	const struct request *request;
	const char *namespace_name; // "*": all
	const char *prefix;
};

static bool is_selected(const struct selection *s, const char *name)
{
	struct text space = variable_namespace(name);
	return (strcmp(s->namespace_name, "*") == 0 ||
		       text_equal(space, text_of(s->namespace_name))) &&
	       strncmp(variable_path(name), s->prefix, strlen(s->prefix)) == 0 &&
	       request_may_named(s->request, name, ACL_VARIABLE_LIST);
}

static void collect_variables(const struct selection *s, struct name_set *names)
{
	const struct state *state = s->request->api->settings.state;
	const struct variable *variable;
	uint64_t cursor = 0;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < VARIABLES_PER_SECTION; i++) {
			variable = state_next(state, STATE_VARIABLES, &cursor);
			if (!variable)
				break;
			if (is_selected(s, variable->name))
				name_set_append(names, variable->name);
		}
		state_read_end();
	} while (variable);
	name_set_sort(names);
	names->prefix_is_done = true;
}

static void put_variable(struct json_writer *w, const struct request *request, const char *name)
{
	const struct variable *variable =
		state_variable(request->api->settings.state, text_of(name));
	if (!variable)
		return;
	json_begin_object(w);
	variable_members_json(w, name, variable);
	json_end_object(w);
}

void variables_list(struct request *request, struct reply *reply)
{
	const char *prefix = request_parameter(request, "prefix");
	struct selection selection = {request, request_namespace(request), prefix ? prefix : ""};
	struct name_set names = {0};
	uint64_t index = list_index(request);
	collect_variables(&selection, &names);
	if (name_set_answer(&names, request, reply, put_variable))
		reply_index(reply, index);
	name_set_free(&names);
}

// Of the path and the requested namespace; NULL: there is none. Under read lock.
static const struct variable *find_requested(const struct request *request)
{
	char *name = variable_name(request_namespace(request), request->ids[0]);
	const struct variable *variable =
		name ? state_variable(request->api->settings.state, text_of(name)) : NULL;
	free(name);
	return variable;
}

uint64_t variable_watched(const struct request *request)
{
	const struct variable *variable = find_requested(request);
	return variable ? variable->record.modify_index : variables_watched(request);
}

static void show_variable(
	struct request *request, struct reply *reply, const struct variable *variable)
{
	struct variable_items items;
	enum keyring_verdict verdict =
		variable_unseal(request->api->settings.keyring, variable, &items);
	if (verdict == KEYRING_OPENED)
		variable_json(reply_json(request, reply), variable->name, variable, &items);
	else
		reply_sealed(reply, variable, verdict);
	variable_items_release(&items);
}

void variable_read(struct request *request, struct reply *reply)
{
	if (!*request->ids[0]) {
		reply_mistake(reply, "missing variable path");
		return;
	}
	state_read_begin();
	const struct variable *variable = find_requested(request);
	if (variable)
		show_variable(request, reply, variable);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "variable not found");
	reply_index(reply, variable_watched(request));
	state_read_end();
}
