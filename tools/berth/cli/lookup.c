#include "tools/berth/cli/lookup.h"
#include "state/base/check.h"
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/suggest.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Candidates that a complaint names when several fit.
#define CANDIDATES_SHOWN 5u
#define SUGGESTIONS_FROM 1000u // that many of a list are compared with what was mistyped

const struct id_kind kind_node = {"node", "/v1/nodes", "ID", "Name", true, false};
const struct id_kind kind_alloc = {"allocation", "/v1/allocations", "ID", "Name", true, false};
const struct id_kind kind_eval = {"evaluation", "/v1/evaluations", "ID", "JobID", true, false};
const struct id_kind kind_deployment = {
	"deployment", "/v1/deployments", "ID", "JobID", true, false};
const struct id_kind kind_token = {"token", "/v1/acl/tokens", "AccessorID", "Name", true, false};
const struct id_kind kind_role = {"role", "/v1/acl/roles", "ID", "Name", true, false};
const struct id_kind kind_job = {"job", "/v1/jobs", "ID", "Name", false, true};
const struct id_kind kind_pool = {"node pool", "/v1/node/pools", "Name", NULL, false, false};
const struct id_kind kind_namespace = {"namespace", "/v1/namespaces", "Name", NULL, false, false};
const struct id_kind kind_quota = {"quota", "/v1/quotas", "Name", NULL, false, false};
const struct id_kind kind_policy = {"policy", "/v1/acl/policies", "Name", NULL, false, false};
const struct id_kind kind_machine = {"virtual machine", "/v1/vms", "name", NULL, false, false};
const struct id_kind kind_worker = {"worker", "/v1/workers", "name", NULL, false, false};
const struct id_kind kind_account = {"account", "/v1/service-accounts", "name", NULL, false, false};

static bool is_uuid_prefix(const char *text)
{
	size_t size = strlen(text);
	if (!size || size >= UUID_TEXT_BYTES)
		return false;
	for (; *text; text++)
		if (!isxdigit((unsigned char)*text) && *text != '-')
			return false;
	return true;
}

// Asks for a few of the list: those whose member (NULL: the id) is or begins with the text.
static enum exit_status ask(struct session *session, const struct id_kind *kind, const char *member,
	const char *text, json_t **found)
{
	char path[6 * HTTP_PATH_BYTES], condition[2 * LOOKUP_BYTES + 64], namespace_name[400],
		escaped[3 * sizeof condition];
	json_t *string = json_string(text);
	char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	snprintf(condition, sizeof condition, "%s == %s", member ? member : "",
		quoted ? quoted : "\"\"");
	http_escape(member ? condition : text, escaped, sizeof escaped);
	http_escape(kind->is_in_namespace ? session->flags.values[FLAG_NAMESPACE] : "*",
		namespace_name, sizeof namespace_name);
	snprintf(path, sizeof path, "%s?%s=%s&per_page=%u&namespace=%s", kind->list,
		member ? "filter" : "prefix", escaped, CANDIDATES_SHOWN + 1, namespace_name);
	free(quoted);
	json_decref(string);
	return http_get_json(session, path, found);
}

static enum exit_status several(const struct id_kind *kind, const char *typed, json_t *found)
{
	char names[1024] = "";
	size_t used = 0;
	for (size_t i = 0; i < json_array_size(found) && i < CANDIDATES_SHOWN; i++) {
		json_t *one = json_array_get(found, i);
		const char *name = kind->name ? field_text(one, kind->name) : "";
		int size = snprintf(names + used, sizeof names - used, "\n  %s %s",
			field_text(one, kind->id), name);
		used += size > 0 && (size_t)size < sizeof names - used ? (size_t)size : 0;
	}
	return complain(STATUS_NOT_FOUND,
		"%zu or more %ss begin with %s, or are named so; give more of the id:%s",
		json_array_size(found), kind->noun, typed, names);
}

static enum exit_status none_fits(
	struct session *session, const struct id_kind *kind, const char *typed)
{
	char path[HTTP_PATH_BYTES], namespace_name[400], hint[SUGGESTION_BYTES];
	struct suggestion near = {.typed = typed};
	json_t *some = NULL, *one;
	size_t i;
	snprintf(path, sizeof path, "%s?per_page=%u&namespace=%s", kind->list, SUGGESTIONS_FROM,
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	http_quiet(session, true);
	http_get_json(session, path, &some);
	http_quiet(session, false);
	json_array_foreach(some, i, one)
		suggestion_consider(&near, field_text(one, kind->is_uuid ? kind->name : kind->id));
	complain(STATUS_NOT_FOUND, "%s not found: no %s begins with \"%s\"%s%s", kind->noun,
		kind->name ? "id" : "name", typed, kind->name ? ", and none has this name" : "",
		suggestion_text(&near, hint));
	json_decref(some);
	return STATUS_NOT_FOUND;
}

// The one that was meant: the one of exactly this id, else the only one. NULL: none is, or several are.
static json_t *meant_of(const struct id_kind *kind, const char *typed, json_t *found)
{
	json_t *one;
	size_t i;
	json_array_foreach(found, i, one)
	{
		if (strcmp(field_text(one, kind->id), typed) == 0)
			return one;
	}
	return json_array_size(found) == 1 ? json_array_get(found, 0) : NULL;
}

static void take_found(struct session *session, const struct id_kind *kind, json_t *one,
	char id[static LOOKUP_BYTES])
{
	const char *namespace_name = field_text(one, "Namespace");
	snprintf(id, LOOKUP_BYTES, "%s", field_text(one, kind->id));
	if (!kind->is_in_namespace || strcmp(session->flags.values[FLAG_NAMESPACE], "*") != 0)
		return;
	snprintf(session->found_namespace, sizeof session->found_namespace, "%s", namespace_name);
	session->flags.values[FLAG_NAMESPACE] = session->found_namespace;
}

static enum exit_status look(
	struct session *session, const struct id_kind *kind, const char *typed, json_t **found)
{
	enum exit_status result = STATUS_OK;
	if (!kind->is_uuid || is_uuid_prefix(typed))
		result = ask(session, kind, NULL, typed, found);
	if (result != STATUS_OK || json_array_size(*found) || !kind->name)
		return result;
	json_decref(*found);
	*found = NULL;
	return ask(session, kind, kind->name, typed, found);
}

bool lookup_name(struct session *session, const struct id_kind *kind, const char *name,
	char id[static LOOKUP_BYTES])
{
	json_t *found = NULL;
	http_quiet(session, true);
	enum exit_status result = ask(session, kind, kind->name, name, &found);
	http_quiet(session, false);
	bool is_one = result == STATUS_OK && json_array_size(found) == 1;
	if (is_one)
		take_found(session, kind, json_array_get(found, 0), id);
	json_decref(found);
	return is_one;
}

enum exit_status lookup(struct session *session, const struct id_kind *kind, const char *typed,
	char id[static LOOKUP_BYTES])
{
	struct uuid whole;
	json_t *found = NULL;
	_Static_assert(LOOKUP_BYTES >= UUID_TEXT_BYTES, "an id fits");
	if (strlen(typed) >= LOOKUP_BYTES)
		return complain(STATUS_USAGE, "\"%.40s…\" is too long for a %s", typed, kind->noun);
	if (kind->is_uuid && uuid_parse(typed, &whole)) {
		uuid_format(&whole, id);
		return STATUS_OK;
	}
	if (!*typed)
		return complain(STATUS_USAGE, "\"\" is no %s", kind->noun);
	http_quiet(session, !kind->is_uuid);
	enum exit_status result = look(session, kind, typed, &found);
	http_quiet(session, false);
	// Who may not list may know the whole name.
	if (result != STATUS_OK && !kind->is_uuid) {
		snprintf(id, LOOKUP_BYTES, "%s", typed);
		return STATUS_OK;
	}
	json_t *meant = meant_of(kind, typed, found);
	if (result == STATUS_OK && meant)
		take_found(session, kind, meant, id);
	else if (result == STATUS_OK && json_array_size(found))
		result = several(kind, typed, found);
	else if (result == STATUS_OK)
		result = none_fits(session, kind, typed);
	json_decref(found);
	return result;
}
