#include "state/base/limits.h"
#include "tools/json/json_reader.h"
#include "tools/json/json_record.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// One field of each kind.
struct part {
	char *name;
	int64_t amount;
};
struct thing {
	bool flag;
	int64_t number, delay_ns;
	uint64_t index;
	double ratio;
	char *text;
	int colour;
	struct uuid id;
	struct part part;
	struct part *maybe;
	struct array parts, names, numbers, map, by_name;
	char *raw;
	struct optional_i64 wait_ns;
	struct optional_bool choice;
	int64_t secret, derived;
	struct array ids, counts, flags;
	struct numbers scores;
	int64_t at_ns, ended_ns, omitted;
	struct whole_inside {
		int64_t inside;
	} embedded;
};

static const char *const colours[] = {"red", "green", NULL};
static const char *const score_names[] = {"far", "wide", NULL};

static const struct field part_fields[] = {
	{"Name", FIELD_STRING, offsetof(struct part, name)},
	{"Amount", FIELD_I64, offsetof(struct part, amount), NULL, NULL, 0, 7},
};
static const struct record_type part_type = {"part", sizeof(struct part), part_fields, 2};

static const struct field inside_fields[] = {
	{"Inside", FIELD_I64, offsetof(struct whole_inside, inside)},
};
static const struct record_type inside_type = {
	"inside", sizeof(struct whole_inside), inside_fields, 1};
static const char *const null[] = {"null"};

#define AT(member) offsetof(struct thing, member)
static const struct field thing_fields[] = {
	{"Flag", FIELD_BOOL, AT(flag)},
	{"Number", FIELD_I64, AT(number)},
	{"Delay", FIELD_I64, AT(delay_ns), NULL, NULL, FIELD_DURATION},
	{"Index", FIELD_U64, AT(index)},
	{"Ratio", FIELD_F64, AT(ratio)},
	{"Text", FIELD_STRING, AT(text)},
	{"Colour", FIELD_ENUM, AT(colour), NULL, colours},
	{"ID", FIELD_UUID, AT(id)},
	{"Part", FIELD_STRUCT, AT(part), &part_type},
	{"Maybe", FIELD_OPTIONAL, AT(maybe), &part_type},
	{"Parts", FIELD_ARRAY, AT(parts), &part_type, NULL, FIELD_NULL_EMPTY},
	{"Names", FIELD_STRINGS, AT(names)},
	{"Numbers", FIELD_INTEGERS, AT(numbers)},
	{"Map", FIELD_MAP, AT(map), NULL, NULL, FIELD_NULL_EMPTY},
	{"ByName", FIELD_STRUCT_MAP, AT(by_name), &part_type, NULL, FIELD_NULL_EMPTY},
	{"Raw", FIELD_JSON, AT(raw)},
	{"Wait", FIELD_OPTIONAL_I64, AT(wait_ns), NULL, NULL, FIELD_DURATION},
	{"Choice", FIELD_OPTIONAL_BOOL, AT(choice)},
	{"Secret", FIELD_I64, AT(secret), NULL, NULL, FIELD_HIDDEN},
	{"Derived", FIELD_I64, AT(derived), NULL, NULL, FIELD_DERIVED},
	{"IDs", FIELD_UUIDS, AT(ids)},
	{"Counts", FIELD_COUNT_MAP, AT(counts), NULL, NULL, FIELD_NULL_EMPTY},
	{"Flags", FIELD_FLAG_MAP, AT(flags)},
	{"Scores", FIELD_NUMBERS, AT(scores), NULL, score_names},
	{"Fixed", FIELD_FIXED, 0, NULL, null},
	{"At", FIELD_I64, AT(at_ns), NULL, NULL, FIELD_TIME},
	{"Ended", FIELD_I64, AT(ended_ns), NULL, NULL, FIELD_TIME | FIELD_NULL_ZERO},
	{"Omitted", FIELD_I64, AT(omitted), NULL, NULL, FIELD_OMIT_EMPTY},
	{"Embedded", FIELD_STRUCT, AT(embedded), &inside_type, NULL, FIELD_EMBEDDED},
};
static const struct record_type thing_type = {
	"thing", sizeof(struct thing), thing_fields, sizeof thing_fields / sizeof thing_fields[0]};

static void read_thing(const char *json, struct thing *thing, struct json_report *report)
{
	char message[256];
	json_t *root = json_parse(json, strlen(json), message, sizeof message);
	if (!root)
		fail_msg("%s", message);
	record_init(&thing_type, thing);
	*report = (struct json_report){0};
	json_read_record(&thing_type, thing, root, "Thing", report);
	json_decref(root);
}

static char *thing_text(const struct thing *thing)
{
	struct json_writer w = {0};
	json_record(&w, &thing_type, thing);
	return json_writer_take(&w);
}

static const char *const full =
	"{\"Flag\":true,\"Number\":-3,\"Delay\":5000000000,\"Index\":9,\"Ratio\":0.5,\"Text\":"
	"\"t\","
	"\"Colour\":\"green\",\"ID\":\"00112233-4455-6677-8899-aabbccddeeff\","
	"\"Part\":{\"Name\":\"p\",\"Amount\":1},\"Maybe\":{\"Name\":\"m\",\"Amount\":7},"
	"\"Parts\":[{\"Name\":\"a\",\"Amount\":7},{\"Name\":\"b\",\"Amount\":2}],\"Names\":[\"x\","
	"\"y\"],"
	"\"Numbers\":[3,-1],\"Map\":{\"k\":\"1\",\"l\":\"2\"},"
	"\"ByName\":{\"a\":{\"Name\":\"a\",\"Amount\":7},\"z\":{\"Name\":\"z\",\"Amount\":9}},"
	"\"Raw\":{\"a\":[1,2.5,null]},\"Wait\":30000000000,\"Choice\":false,\"Derived\":0,"
	"\"IDs\":[\"00112233-4455-6677-8899-aabbccddeeff\",\"\"],"
	"\"Counts\":{\"a\":-1,\"b\":2},\"Flags\":{\"no\":false,\"yes\":true},"
	"\"Scores\":{\"far\":1.5},\"Fixed\":null,\"At\":\"2026-01-31T12:00:"
	"00.250000000Z\",\"Ended\":"
	"null,"
	"\"Inside\":8}";

static void reads_and_writes_every_kind(void **unused)
{
	struct thing thing;
	struct json_report report;
	read_thing("{\"Map\":{\"l\":\"2\",\"k\":\"1\"},\"ByName\":{\"z\":{\"Amount\":9},\"a\":{}},"
		   "\"Flag\":true,\"Number\":-3,\"Delay\":\"5s\",\"Index\":9,\"Ratio\":0.5,"
		   "\"Text\":\"t\",\"Colour\":\"green\","
		   "\"ID\":\"00112233-4455-6677-8899-AABBCCDDEEFF\","
		   "\"Part\":{\"Name\":\"p\",\"Amount\":1},\"Maybe\":{\"Name\":\"m\"},"
		   "\"Parts\":[{\"Name\":\"a\"},{\"Name\":\"b\",\"Amount\":2}],"
		   "\"Names\":[\"x\",\"y\"],\"Numbers\":[3,-1],"
		   "\"Raw\":{\"a\":[1,2.5,null]},\"Wait\":\"30s\",\"Choice\":false,\"Secret\":4,"
		   "\"IDs\":[\"00112233-4455-6677-8899-AABBCCDDEEFF\",\"\"],"
		   "\"Counts\":{\"b\":2,\"a\":-1},\"Flags\":{\"yes\":true,\"no\":false},"
		   "\"Scores\":{\"far\":1.5},\"Fixed\":[1],\"At\":\"2026-01-"
		   "31T13:00:00.25+01:00\","
		   "\"Omitted\":0,\"inside\":8,\"Derived\":99}",
		&thing, &report);
	assert_int_equal(report.errors.count, 0);
	assert_int_equal(report.warnings.count, 1);
	assert_non_null(strstr(report.warnings.texts[0], ".Fixed: not known, ignored"));
	assert_int_equal(thing.secret, 4);
	char *text = thing_text(&thing);
	assert_string_equal(text, full);
	free(text);
	record_release(&thing_type, &thing);
	json_report_free(&report);
}

static void null_is_absent(void **unused)
{
	struct thing thing, empty;
	struct json_report report;
	char json[1024] = "{";
	for (uint32_t i = 0; i < thing_type.field_count; i++) {
		size_t size = strlen(json);
		snprintf(json + size, sizeof json - size, "%s\"%s\":null", i ? "," : "",
			thing_fields[i].name);
	}
	snprintf(json + strlen(json), sizeof json - strlen(json), "}");
	read_thing(json, &thing, &report);
	assert_int_equal(report.errors.count, 0);
	record_init(&thing_type, &empty);
	assert_true(record_equal(&thing_type, &thing, &empty));
	record_release(&thing_type, &thing);
	record_release(&thing_type, &empty);
}

static void names_are_matched_in_any_case_but_once(void **unused)
{
	struct thing thing;
	struct json_report report;
	read_thing("{\"number\":4,\"FLAG\":true}", &thing, &report);
	assert_int_equal(report.errors.count, 0);
	assert_int_equal(thing.number, 4);
	assert_true(thing.flag);
	record_release(&thing_type, &thing);
	read_thing("{\"number\":4,\"Number\":5}", &thing, &report);
	assert_int_equal(report.errors.count, 1);
	assert_string_equal(
		report.errors.texts[0], "Thing.Number: given twice, as names differ only in case");
	record_release(&thing_type, &thing);
	json_report_free(&report);
}

static void every_mistake_is_named(void **unused)
{
	static const struct {
		const char *json, *sentence;
	} cases[] = {
		{"{\"Flag\":1}", "Thing.Flag: expected true or false, not a number"},
		{"{\"Number\":\"4\"}", "Thing.Number: expected an integer, not a string"},
		{"{\"Number\":9.3e18}", "Thing.Number: 9.3e+18 is out of range; write an integer "
					"from -9223372036854775808 to 9223372036854775807"},
		{"{\"Number\":-1e19}", "Thing.Number: -1e+19 is out of range; write an integer "
				       "from -9223372036854775808 to 9223372036854775807"},
		{"{\"Number\":4.5}",
			"Thing.Number: expected an integer, not a number with a fraction"},
		{"{\"Number\":1e3}",
			"Thing.Number: expected an integer, not a number with a fraction"},
		{"{\"Delay\":\"soon\"}", "Thing.Delay: \"soon\" is no duration; write it like "
					 "\"30s\" or \"1h30m\", or "
					 "as a number of nanoseconds"},
		{"{\"Delay\":true}", "Thing.Delay: expected a duration, not true"},
		{"{\"Index\":-1}", "Thing.Index: must not be negative"},
		{"{\"Ratio\":\"1\"}", "Thing.Ratio: expected a number, not a string"},
		{"{\"Text\":5}", "Thing.Text: expected a string, not a number"},
		{"{\"Colour\":\"blue\"}", "Thing.Colour: \"blue\" is none of red, green"},
		{"{\"ID\":\"x\"}", "Thing.ID: \"x\" is no UUID"},
		{"{\"Part\":[]}", "Thing.Part: expected an object, not a list"},
		{"{\"Maybe\":\"\"}", "Thing.Maybe: expected an object, not a string"},
		{"{\"Parts\":{}}", "Thing.Parts: expected a list, not an object"},
		{"{\"Parts\":[{},null]}", "Thing.Parts[1]: expected an object, not null"},
		{"{\"Parts\":[{},{\"Amount\":\"x\"}]}",
			"Thing.Parts[1].Amount: expected an integer, not a string"},
		{"{\"Names\":[\"a\",3]}", "Thing.Names[1]: expected a string, not a number"},
		{"{\"Map\":{\"k\":3}}", "Thing.Map[\"k\"]: expected a string, not a number"},
		{"{\"Map\":[]}", "Thing.Map: expected an object, not a list"},
		{"{\"ByName\":{\"k\":{\"Amount\":false}}}",
			"Thing.ByName[\"k\"].Amount: expected an integer, not false"},
		{"{\"IDs\":[\"x\"]}", "Thing.IDs[0]: \"x\" is no UUID"},
		{"{\"IDs\":{}}", "Thing.IDs: expected a list, not an object"},
		{"{\"Counts\":{\"k\":\"3\"}}",
			"Thing.Counts[\"k\"]: expected an integer, not a string"},
		{"{\"Counts\":[]}", "Thing.Counts: expected an object, not a list"},
		{"{\"Flags\":{\"k\":1}}",
			"Thing.Flags[\"k\"]: expected true or false, not a number"},
		{"{\"Scores\":{\"far\":1,\"near\":2}}",
			"Thing.Scores[\"near\"]: \"near\" is none of far, wide"},
		{"{\"Scores\":{\"far\":null}}",
			"Thing.Scores[\"far\"]: expected a number, not null"},
		{"{\"At\":\"today\"}", "Thing.At: \"today\" is no time; write it like "
				       "\"2026-01-31T12:00:00Z\""},
		{"{\"Inside\":\"x\"}", "Thing.Inside: expected an integer, not a string"},
		{"{\"Inside\":1,\"inside\":1}",
			"Thing.inside: given twice, as names differ only in case"},
		{"{\"Choice\":\"yes\"}", "Thing.Choice: expected true or false, not a string"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct thing thing;
		struct json_report report;
		read_thing(cases[i].json, &thing, &report);
		assert_int_equal(report.errors.count, 1);
		assert_string_equal(report.errors.texts[0], cases[i].sentence);
		record_release(&thing_type, &thing);
		json_report_free(&report);
	}
}

static void unknown_members_are_a_warning_when_they_say_something(void **unused)
{
	struct thing thing;
	struct json_report report;
	read_thing("{\"A\":null,\"B\":\"\",\"C\":0,\"D\":false,\"E\":[],\"F\":{},\"G\":1,"
		   "\"Part\":{\"H\":\"x\"}}",
		&thing, &report);
	assert_int_equal(report.errors.count, 0);
	assert_int_equal(report.warnings.count, 2);
	assert_string_equal(report.warnings.texts[0], "Thing.G: not known, ignored");
	assert_string_equal(report.warnings.texts[1], "Thing.Part.H: not known, ignored");
	record_release(&thing_type, &thing);
	json_report_free(&report);
}

static void sentences_are_counted_beyond_what_is_kept(void **unused)
{
	struct json_sentences sentences = {0};
	for (int i = 0; i < 100; i++)
		json_sentence(&sentences, "mistake %d", i);
	char *text = json_sentences_text(&sentences, "error");
	assert_int_equal(
		strncmp(text, "100 errors occurred:\n\t* mistake 0\n\t* mistake 1\n", 43), 0);
	assert_non_null(strstr(text, "\t* mistake 63\n\t* and 36 more\n\n"));
	free(text);
	for (int i = 0; i < (int)JSON_SENTENCES_MAX; i++)
		free(sentences.texts[i]);
}

static void expect_refusal(const char *json, size_t size, const char *message_start)
{
	char message[256] = "";
	json_t *root = json_parse(json, size, message, sizeof message);
	assert_null(root);
	if (strncmp(message, message_start, strlen(message_start)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", message, message_start);
}

static void parse_errors_say_where(void **unused)
{
	expect_refusal("", 0, "the body is empty");
	expect_refusal("{", 1, "line 1 column 1: ");
	expect_refusal("{\n \"a\": tru\n}", 13, "line 2 column 9: invalid token");
	expect_refusal("{\"a\":1,\n\"a\":2}", 14, "line 2 column 3: duplicate object key");
	expect_refusal("{\"a\":\"\\u0000\"}", 14, "line 1 column ");
	expect_refusal("{\"a\":\"\xff\"}", 9, "line 1 column ");
	expect_refusal("{\"a\":9223372036854775808}", 25, "line 1 column 24: too big integer");
	expect_refusal("{} x", 4, "line 1 column 4: end of file expected");
	expect_refusal("[1]", 3, "line 1 column 1: a JSON object is expected");
}

static void depth_is_limited_before_parsing(void **unused)
{
	char json[4096];
	size_t size = 0;
	json[size++] = '{';
	size += (size_t)snprintf(json + size, sizeof json - size, "\n\"[[[\\\"[\":");
	for (uint32_t i = 1; i < JSON_DEPTH_MAX; i++)
		json[size++] = '[';
	size_t deep = size;
	for (uint32_t i = 1; i < JSON_DEPTH_MAX; i++)
		json[size++] = ']';
	json[size++] = '}';
	char message[256];
	json_t *root = json_parse(json, size, message, sizeof message);
	assert_non_null(root);
	json_decref(root);
	memmove(json + deep + 1, json + deep, size - deep);
	json[deep] = '[';
	expect_refusal(json, size + 1, "line 2 column 73: nested deeper than 64 levels");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes_every_kind),
		cmocka_unit_test(null_is_absent),
		cmocka_unit_test(names_are_matched_in_any_case_but_once),
		cmocka_unit_test(every_mistake_is_named),
		cmocka_unit_test(unknown_members_are_a_warning_when_they_say_something),
		cmocka_unit_test(sentences_are_counted_beyond_what_is_kept),
		cmocka_unit_test(parse_errors_say_where),
		cmocka_unit_test(depth_is_limited_before_parsing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
