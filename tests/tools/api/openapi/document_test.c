// The document that describes the API: whole, and of one piece with the table of routes. Whether answers are as it says
// is seen by every test that asks a server (tests/tools/api/described.h).
#include "tests/tools/api/described.h"
#include "tools/api/openapi/operations.h"
#include "tools/api/openapi/schema.h"
#include "tools/api/routes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_route_is_described_once(void **unused)
{
	const struct operation_table *const tables[] = {&nomad_operations, &nomad_job_operations,
		&nomad_acl_operations, &absent_operations, &client_operations, &orchard_operations,
		&berth_operations};
	uint32_t rows = 0;
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		rows += tables[t]->count;
	for (uint32_t i = 0; i < api_routes.count; i++) {
		const struct route *route = &api_routes.routes[i];
		const struct operation *o = operation_of(route);
		if (!o)
			fail_msg("%s %s has no row of operations", route->method, route->pattern);
		assert_true(strlen(o->summary) > 5);
	}
	assert_int_equal(rows, api_routes.count);
}

// Every {"$ref": …} in it names a part of it.
static void expect_references(const json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;
	const char *reference = json_string_value(json_object_get(value, "$ref"));
	if (reference) {
		char kind[32], name[96];
		assert_int_equal(sscanf(reference, "#/components/%31[^/]/%95s", kind, name), 2);
		const json_t *components = json_object_get(described_document(), "components");
		if (!json_object_get(json_object_get(components, kind), name))
			fail_msg("%s is not there", reference);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, member) expect_references(member);
	json_array_foreach(value, i, member) expect_references(member);
}

static void it_refers_to_what_is_there(void **unused)
{
	expect_references(described_document());
}

// What generators call the functions of a client.
static void operations_have_names_of_their_own(void **unused)
{
	json_t *seen = json_object(), *path, *operation;
	const char *pattern, *method;
	json_object_foreach(json_object_get(described_document(), "paths"), pattern, path)
		json_object_foreach(path, method, operation)
	{
		const char *id = json_string_value(json_object_get(operation, "operationId"));
		if (json_object_get(seen, id))
			fail_msg("%s twice: %s %s", id, method, pattern);
		json_object_set_new(seen, id, json_true());
	}
	assert_true(json_object_get(seen, "getJobByIdScale"));
	assert_true(json_object_get(seen, "putJobByIdScale"));
	assert_true(json_object_get(seen, "postJobByIdScale"));
	json_decref(seen);
}

static json_t *parsed(const char *text, enum schema_side side)
{
	struct json_writer w = {0};
	schema_write_text(&w, text, side);
	char *json = json_writer_take(&w);
	json_t *value = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	free(json);
	return value;
}

// text: in single quotes.
static void expect_json(const json_t *is, const char *text, const char *what)
{
	char wanted[2048];
	assert_true(strlen(text) < sizeof wanted);
	snprintf(wanted, sizeof wanted, "%s", text);
	for (char *c = wanted; (c = strchr(c, '\''));)
		*c = '"';
	json_t *wants = json_loads(wanted, 0, NULL);
	assert_non_null(wants);
	if (!json_equal(is, wants)) {
		char *said = json_dumps(is, JSON_ENCODE_ANY);
		print_error("%s\n", said);
		free(said);
		fail_msg("%s", what);
	}
	json_decref(wants);
}

static void expect_record(const struct record_type *type, enum schema_side side, const char *text)
{
	struct json_writer w = {0};
	schema_write_record(&w, type, "{more?: string}", side);
	char *json = json_writer_take(&w);
	json_t *is = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	expect_json(is, text, side == SCHEMA_OF_ANSWER ? "an answer" : "a body");
	json_decref(is);
	free(json);
}

static const json_t *described(const char *path, const char *method)
{
	const json_t *paths = json_object_get(described_document(), "paths");
	return json_object_get(json_object_get(paths, path), method);
}

static void the_notation_says_what_it_says(void **unused)
{
	static const struct {
		const char *text;
		enum schema_side side;
		const char *schema;
	} cases[] = {
		{"string", SCHEMA_OF_ANSWER, "{'type': 'string'}"},
		{"integer?", SCHEMA_OF_ANSWER, "{'type': ['integer', 'null']}"},
		{"any", SCHEMA_OF_ANSWER, "{}"},
		{"time", SCHEMA_OF_ANSWER, "{'type': 'string', 'format': 'date-time'}"},
		{"Job", SCHEMA_OF_ANSWER, "{'$ref': '#/components/schemas/Job'}"},
		{"Job", SCHEMA_OF_BODY, "{'$ref': '#/components/schemas/JobInput'}"},
		{"Job?", SCHEMA_OF_ANSWER,
			"{'anyOf': [{'$ref': '#/components/schemas/Job'}, {'type': 'null'}]}"},
		{"[number]?", SCHEMA_OF_ANSWER,
			"{'type': ['array', 'null'], 'items': {'type': 'number'}}"},
		{"{*: [Job]}", SCHEMA_OF_ANSWER,
			"{'type': 'object', 'additionalProperties': {'type': 'array', 'items': "
			"{'$ref': "
			"'#/components/schemas/Job'}}}"},
		{"{A: string, b_1?: {C: boolean}?}", SCHEMA_OF_ANSWER,
			"{'type': 'object', 'properties': {'A': {'type': 'string'}, 'b_1': "
			"{'type': "
			"['object', 'null'], 'properties': {'C': {'type': 'boolean'}}, 'required': "
			"['C']}}, 'required': ['A']}"},
		{"{A: string}", SCHEMA_OF_BODY,
			"{'type': 'object', 'properties': {'A': {'type': 'string'}}}"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *is = parsed(cases[i].text, cases[i].side);
		expect_json(is, cases[i].schema, cases[i].text);
		json_decref(is);
	}
}

// A record with a field of each kind of flag.
static void records_are_described_for_answers_and_for_bodies(void **unused)
{
	static const char *const colours[] = {"red", "blue", NULL};
	static const struct field inner_field = {.name = "In", .kind = FIELD_U64};
	static const struct record_type inner = {
		.name = "inner", .fields = &inner_field, .field_count = 1};
	static const struct field fields[] = {
		{.name = "Plain", .kind = FIELD_STRING},
		{.name = "Derived", .kind = FIELD_I64, .flags = FIELD_DERIVED},
		{.name = "Hidden", .kind = FIELD_BOOL, .flags = FIELD_HIDDEN},
		{.name = "Time", .kind = FIELD_I64, .flags = FIELD_TIME | FIELD_NULL_ZERO},
		{.name = "Span", .kind = FIELD_I64, .flags = FIELD_DURATION},
		{.name = "Colour", .kind = FIELD_ENUM, .names = colours},
		{.name = "Names", .kind = FIELD_STRINGS, .flags = FIELD_OMIT_EMPTY},
		{.name = "Maybe", .kind = FIELD_OPTIONAL_BOOL},
		{.name = "Counts", .kind = FIELD_COUNT_MAP, .flags = FIELD_NULL_EMPTY},
		{.name = "Among", .kind = FIELD_STRUCT, .type = &inner, .flags = FIELD_EMBEDDED},
		{.name = "Below", .kind = FIELD_OPTIONAL, .type = &inner},
		{.name = "Stored", .kind = FIELD_U8},
	};
	static const struct record_type type = {
		.name = "all", .fields = fields, .field_count = sizeof fields / sizeof fields[0]};
	expect_record(&type, SCHEMA_OF_ANSWER,
		"{'type': 'object', 'properties': {'Plain': {'type': 'string'}, 'Derived': "
		"{'type': 'integer'}, "
		"'Time': {'type': ['string', 'null'], 'format': 'date-time'}, 'Span': {'type': "
		"'integer'}, "
		"'Colour': {'type': 'string', 'enum': ['red', 'blue']}, "
		"'Names': {'type': 'array', 'items': {'type': 'string'}}, 'Maybe': {'type': "
		"['boolean', 'null']}, "
		"'Counts': {'type': ['object', 'null'], 'additionalProperties': {'type': "
		"'integer'}}, "
		"'In': {'type': 'integer'}, 'Below': {'anyOf': [{'type': 'object', 'properties': "
		"{'In': "
		"{'type': 'integer'}}, 'required': ['In']}, {'type': 'null'}]}, 'more': {'type': "
		"'string'}}, "
		"'required': ['Plain', 'Derived', 'Time', 'Span', 'Colour', 'Maybe', 'Counts', "
		"'In', 'Below']}");
	expect_record(&type, SCHEMA_OF_BODY,
		"{'type': 'object', 'properties': {'Plain': {'type': ['string', 'null']}, "
		"'Hidden': {'type': ['boolean', 'null']}, 'Time': {'type': ['integer', 'string', "
		"'null']}, "
		"'Span': {'type': ['integer', 'string', 'null'], "
		"'description': 'Nanoseconds, or text such as \\\"30s\\\".'}, "
		"'Colour': {'type': ['string', 'null']}, "
		"'Names': {'type': ['array', 'null'], 'items': {'type': 'string'}}, "
		"'Maybe': {'type': ['boolean', 'null']}, "
		"'Counts': {'type': ['object', 'null'], 'additionalProperties': {'type': "
		"'integer'}}, "
		"'In': {'type': ['integer', 'null']}, 'Below': {'anyOf': [{'type': 'object', "
		"'properties': {'In': "
		"{'type': ['integer', 'null']}}}, {'type': 'null'}]}}}");
}

// What its row, its pattern and its kind of route say of an operation.
static void operations_are_described_whole(void **unused)
{
	static const char list[] =
		"{'operationId': 'getEvaluations', 'summary': 'Evaluations.', 'tags': ['Nomad'], "
		"'parameters': ["
		"{'name': 'namespace', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'status', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'job', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'prefix', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'filter', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'per_page', 'in': 'query', 'schema': {'type': 'integer'}}, "
		"{'name': 'next_token', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'reverse', 'in': 'query', 'schema': {'type': 'boolean'}}, "
		"{'name': 'index', 'in': 'query', 'schema': {'type': 'integer'}}, "
		"{'name': 'wait', 'in': 'query', 'schema': {'type': 'string'}}, "
		"{'name': 'stale', 'in': 'query', 'schema': {'type': 'boolean'}}], "
		"'responses': {'200': {'description': 'Done.', "
		"'headers': {'X-Nomad-Index': {'schema': {'type': 'integer'}}}, "
		"'content': {'application/json': {'schema': {'type': 'array', 'items': "
		"{'$ref': '#/components/schemas/Evaluation'}}}}}, "
		"'default': {'$ref': '#/components/responses/Refused'}}}";
	static const char change[] =
		"{'operationId': 'postNodeByIdEligibility', 'summary': 'Whether a node takes new "
		"work.', "
		"'tags': ['Nomad'], 'parameters': ["
		"{'name': 'id', 'in': 'path', 'required': true, 'schema': {'type': 'string'}}], "
		"'requestBody': {'content': {'application/json': {'schema': {'type': 'object', "
		"'properties': {'NodeID': {'type': 'string'}, 'Eligibility': {'type': "
		"'string'}}}}}}, "
		"'responses': {'200': {'description': 'Done.', 'content': {'application/json': "
		"{'schema': {'$ref': '#/components/schemas/NodeChange'}}}}, "
		"'default': {'$ref': '#/components/responses/Refused'}}}";
	expect_json(described("/v1/evaluations", "get"), list, "a list");
	expect_json(described("/v1/node/{id}/eligibility", "post"), change, "a change");
	expect_json(json_object_get(described("/v1/openapi.json", "get"), "security"), "[]",
		"anyone's");
	assert_null(json_object_get(described("/v1/nodes", "get"), "security"));
	expect_json(json_object_get(described("/v1/berth/cluster", "get"), "tags"), "['Berth']",
		"ours");
	expect_json(json_object_get(described("/metrics", "get"), "tags"), "['Berth']",
		"of no version");
	expect_json(
		json_object_get(described("/v1/vms", "get"), "tags"), "['Orchard']", "of machines");
}

static void servers_show_it(void **unused)
{
	json_t *shown = http_json(server, "GET", "/v1/openapi.json", NULL);
	assert_true(json_equal(shown, described_document()));
	assert_string_equal(json_string_value(json_object_get(shown, "openapi")), "3.1.0");
	json_decref(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_route_is_described_once),
		cmocka_unit_test(it_refers_to_what_is_there),
		cmocka_unit_test(operations_have_names_of_their_own),
		cmocka_unit_test(the_notation_says_what_it_says),
		cmocka_unit_test(records_are_described_for_answers_and_for_bodies),
		cmocka_unit_test(operations_are_described_whole),
		cmocka_unit_test(servers_show_it),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
