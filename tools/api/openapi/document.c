// The document of all routes: paths from their table, answers and bodies from that of operations.
#include "tools/api/openapi/document.h"
#include "state/base/check.h"
#include "tools/api/openapi/operations.h"
#include "tools/api/openapi/routes.h"
#include "tools/api/openapi/schema.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/request.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 160u

// "/v1/job/:id/scale" is "/v1/job/{id}/scale".
static void path_of_pattern(const char *pattern, char path[static PATH_BYTES])
{
	size_t size = 0;
	while (*pattern) {
		CHECK(size + 3 < PATH_BYTES);
		if (*pattern != ':') {
			path[size++] = *pattern++;
			continue;
		}
		path[size++] = '{';
		for (pattern++; *pattern && *pattern != '/'; pattern++)
			path[size++] = *pattern;
		path[size++] = '}';
	}
	path[size] = '\0';
}

// "getJobScale": what generators call their functions.
static void operation_id(const char *method, const char *pattern, char id[static PATH_BYTES])
{
	bool is_versioned = strncmp(pattern, "/v1", 3) == 0, is_begin = false;
	size_t size = 0;
	for (; *method; method++)
		id[size++] = (char)tolower((unsigned char)*method);
	if (!is_versioned) {
		memcpy(id + size, "Root", 4);
		size += 4;
	}
	for (const char *at = is_versioned ? pattern + 3 : pattern; *at; at++) {
		CHECK(size + 3 < PATH_BYTES);
		if (*at == ':' && at[1]) {
			memcpy(id + size, "By", 2);
			size += 2;
		}
		if (isalnum((unsigned char)*at))
			id[size++] = is_begin ? (char)toupper((unsigned char)*at) : *at;
		is_begin = !isalnum((unsigned char)*at);
	}
	// "/ui/" is another path than "/ui".
	CHECK(size + 6 < PATH_BYTES);
	if (!is_versioned && is_begin && pattern[1]) {
		memcpy(id + size, "Index", 5);
		size += 5;
	}
	id[size] = '\0';
}

static void put_parameter(struct json_writer *w, const char *place, struct text name,
	struct text type, bool is_required)
{
	char word[32];
	snprintf(word, sizeof word, "%.*s", (int)type.size, type.data);
	json_begin_object(w);
	json_write_key(w, "name");
	json_write_text(w, name);
	json_put_string(w, "in", place);
	if (is_required)
		json_put_bool(w, "required", true);
	json_write_key(w, "schema");
	schema_write_text(w, word, SCHEMA_OF_BODY);
	json_end_object(w);
}

static void put_path_parameters(struct json_writer *w, const char *pattern)
{
	for (const char *at; (at = strchr(pattern, ':')); pattern = at + 1) {
		size_t size = strcspn(at, "/") - 1;
		put_parameter(
			w, "path", (struct text){at + 1, (uint32_t)size}, TEXT("string"), true);
	}
}

// "name:type name:type"
static void put_query_parameters(struct json_writer *w, const char *query)
{
	while (*query) {
		size_t name = strcspn(query, ":"), size = strcspn(query, " ");
		CHECK(name < size);
		put_parameter(w, "query", (struct text){query, (uint32_t)name},
			(struct text){query + name + 1, (uint32_t)(size - name - 1)}, false);
		query += size;
		query += *query == ' ';
	}
}

static void put_parameters(
	struct json_writer *w, const struct route *route, const struct operation *o)
{
	json_open_array(w, "parameters");
	put_path_parameters(w, route->pattern);
	if (o->query)
		put_query_parameters(w, o->query);
	if (route->list)
		put_query_parameters(w, "prefix:string filter:string per_page:integer "
					"next_token:string reverse:boolean");
	if (route->watched)
		put_query_parameters(w, "index:integer wait:string");
	if (strcmp(route->method, "GET") == 0)
		put_query_parameters(w, "stale:boolean");
	json_end_array(w);
}

static void put_json_content(struct json_writer *w, const char *text, enum schema_side side)
{
	json_open_object(w, "content");
	json_open_object(w, "application/json");
	json_write_key(w, "schema");
	schema_write_text(w, text, side);
	json_end_object(w);
	json_end_object(w);
}

static void put_body(struct json_writer *w, const struct operation *o)
{
	if (!o->body)
		return;
	json_open_object(w, "requestBody");
	if (strchr(o->body, '/')) {
		json_open_object(w, "content");
		json_open_object(w, o->body);
		json_end_object(w);
		json_end_object(w);
	} else {
		put_json_content(w, o->body, SCHEMA_OF_BODY);
	}
	json_end_object(w);
}

static void put_index_header(struct json_writer *w)
{
	json_open_object(w, "headers");
	json_open_object(w, "X-Nomad-Index");
	json_write_key(w, "schema");
	schema_write_text(w, "integer", SCHEMA_OF_ANSWER);
	json_end_object(w);
	json_end_object(w);
}

static void put_answer(struct json_writer *w, const struct route *route, const char *answer)
{
	json_open_object(w, "200");
	json_put_string(w, "description", "Done.");
	if (route->watched)
		put_index_header(w);
	if (strchr(answer, '/')) {
		json_open_object(w, "content");
		json_open_object(w, answer);
		json_end_object(w);
		json_end_object(w);
	} else if (*answer) {
		put_json_content(w, answer, SCHEMA_OF_ANSWER);
	}
	json_end_object(w);
}

static void put_answers(struct json_writer *w, const struct route *route, const struct operation *o)
{
	json_open_object(w, "responses");
	if (o->answer)
		put_answer(w, route, o->answer);
	json_open_object(w, "default");
	json_put_string(w, "$ref", "#/components/responses/Refused");
	json_end_object(w);
	json_end_object(w);
}

static const char *tag_of(const struct route_table *table, const struct route *route)
{
	if (table->is_of_orchard(route))
		return "Orchard";
	bool is_ours = strncmp(route->pattern, "/v1/berth/", 10) == 0 ||
		       strncmp(route->pattern, "/v1/", 4) != 0 ||
		       strcmp(route->pattern, "/v1/openapi.json") == 0;
	return is_ours ? "Berth" : "Nomad";
}

static void put_operation(struct json_writer *w, const struct route_table *table,
	const struct route *route, const char *method)
{
	const struct operation *o = operation_of(route);
	CHECK(o);
	char id[PATH_BYTES], key[8];
	operation_id(method, route->pattern, id);
	snprintf(key, sizeof key, "%s", method);
	for (char *c = key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	json_open_object(w, key);
	json_put_string(w, "operationId", id);
	json_put_string(w, "summary", o->summary);
	json_open_array(w, "tags");
	json_write_string(w, tag_of(table, route));
	json_end_array(w);
	put_parameters(w, route, o);
	put_body(w, o);
	put_answers(w, route, o);
	if (route->right == RIGHT_OPEN) {
		json_open_array(w, "security");
		json_end_array(w);
	}
	json_end_object(w);
}

static bool is_first_of_path(const struct route_table *table, uint32_t place)
{
	for (uint32_t i = 0; i < place; i++)
		if (strcmp(table->routes[i].pattern, table->routes[place].pattern) == 0)
			return false;
	return true;
}

// All methods of one path. PUT also means POST.
static void put_path(struct json_writer *w, const struct route_table *table, const char *pattern)
{
	char path[PATH_BYTES];
	path_of_pattern(pattern, path);
	json_open_object(w, path);
	for (uint32_t i = 0; i < table->count; i++) {
		const struct route *route = &table->routes[i];
		if (strcmp(route->pattern, pattern) != 0)
			continue;
		put_operation(w, table, route, route->method);
		if (strcmp(route->method, "PUT") == 0)
			put_operation(w, table, route, "POST");
	}
	json_end_object(w);
}

static void put_info(struct json_writer *w)
{
	json_open_object(w, "info");
	json_put_string(w, "title", "Berth");
	json_put_string(w, "version", BERTH_VERSION);
	json_put_string(w, "description",
		"The HTTP API of Berth's controllers: Nomad's and Orchard's, as far as Berth has "
		"it, and Berth's own. docs/api.md tells what this cannot.");
	json_end_object(w);
}

static void put_header_scheme(struct json_writer *w, const char *key, const char *header)
{
	json_open_object(w, key);
	json_put_string(w, "type", "apiKey");
	json_put_string(w, "in", "header");
	json_put_string(w, "name", header);
	json_end_object(w);
}

static void put_http_scheme(struct json_writer *w, const char *scheme)
{
	json_open_object(w, scheme);
	json_put_string(w, "type", "http");
	json_put_string(w, "scheme", scheme);
	json_end_object(w);
}

static void put_components(struct json_writer *w)
{
	json_open_object(w, "components");
	json_write_key(w, "schemas");
	schema_write_all(w);
	json_open_object(w, "responses");
	json_open_object(w, "Refused");
	json_put_string(w, "description",
		"A sentence that says what is wrong, where, and what to do; of Orchard's routes "
		"{\"message\": \"…\"}.");
	json_end_object(w);
	json_end_object(w);
	json_open_object(w, "securitySchemes");
	put_header_scheme(w, "token", "X-Nomad-Token");
	put_http_scheme(w, "bearer");
	put_http_scheme(w, "basic");
	json_end_object(w);
	json_end_object(w);
}

// Any of the schemes, or none while access control is off.
static void put_security(struct json_writer *w)
{
	static const char *const schemes[] = {"token", "bearer", "basic"};
	json_open_array(w, "security");
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		json_begin_object(w);
		json_open_array(w, schemes[i]);
		json_end_array(w);
		json_end_object(w);
	}
	json_begin_object(w);
	json_end_object(w);
	json_end_array(w);
}

void openapi_write(struct json_writer *w, const struct route_table *table)
{
	json_begin_object(w);
	json_put_string(w, "openapi", "3.1.0");
	put_info(w);
	put_security(w);
	json_open_object(w, "paths");
	for (uint32_t i = 0; i < table->count; i++)
		if (is_first_of_path(table, i))
			put_path(w, table, table->routes[i].pattern);
	json_end_object(w);
	put_components(w);
	json_end_object(w);
}

static void write_document(struct request *request, struct reply *reply)
{
	openapi_write(reply_json(request, reply), request->api->routes);
}

void openapi_read(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, write_document);
}
