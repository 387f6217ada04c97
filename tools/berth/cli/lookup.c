#include "tools/berth/cli/lookup.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Candidates that a complaint names when a prefix is not unique.
#define CANDIDATES_SHOWN 5u

const struct id_kind id_node = {"node", "/v1/nodes", "Name"};
const struct id_kind id_alloc = {"allocation", "/v1/allocations", "Name"};
const struct id_kind id_eval = {"evaluation", "/v1/evaluations", "JobID"};
const struct id_kind id_deployment = {"deployment", "/v1/deployments", "JobID"};

static bool is_prefix(const char *text)
{
	size_t size = strlen(text);
	if (!size || size >= UUID_TEXT_BYTES)
		return false;
	for (; *text; text++)
		if (!isxdigit((unsigned char)*text) && *text != '-')
			return false;
	return true;
}

static enum exit_status several(const struct id_kind *kind, const char *prefix, json_t *found)
{
	char names[512] = "";
	size_t used = 0;
	for (size_t i = 0; i < json_array_size(found) && i < CANDIDATES_SHOWN; i++) {
		json_t *one = json_array_get(found, i);
		int size = snprintf(names + used, sizeof names - used, "\n  %s %s",
			field_text(one, "ID"), field_text(one, kind->name));
		used += size > 0 && (size_t)size < sizeof names - used ? (size_t)size : 0;
	}
	return complain(STATUS_NOT_FOUND, "%zu or more %ss begin with %s; give more of the id:%s",
		json_array_size(found), kind->noun, prefix, names);
}

enum exit_status lookup_id(struct session *session, const struct id_kind *kind, const char *prefix,
	char id[static UUID_TEXT_BYTES])
{
	struct uuid whole;
	if (uuid_parse(prefix, &whole)) {
		uuid_format(&whole, id);
		return STATUS_OK;
	}
	if (!is_prefix(prefix))
		return complain(STATUS_USAGE,
			"\"%s\" is no %s id; ids are hexadecimal digits and dashes", prefix,
			kind->noun);
	char path[HTTP_PATH_BYTES];
	snprintf(path, sizeof path, "%s?prefix=%s&per_page=%u&namespace=*", kind->list, prefix,
		CANDIDATES_SHOWN + 1);
	json_t *found;
	enum exit_status result = http_get_json(session, path, &found);
	if (result != STATUS_OK)
		return result;
	if (json_array_size(found) == 0)
		result = complain(STATUS_NOT_FOUND, "no %s id begins with %s; list them to see all",
			kind->noun, prefix);
	else if (json_array_size(found) > 1)
		result = several(kind, prefix, found);
	else
		snprintf(id, UUID_TEXT_BYTES, "%s", field_text(json_array_get(found, 0), "ID"));
	json_decref(found);
	return result;
}
