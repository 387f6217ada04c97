#include "tools/json/json_reader.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/schema_fields.h"
#include "tools/json/duration.h"
#include "tools/json/timestamp.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PATH_BYTES 512u
#define FIELDS_MAX 128u

struct reader {
	struct json_report *report;
	bool exact;            // missing members are zero, and derived fields are read
	char path[PATH_BYTES]; // of the present value; cut off when it is longer
	size_t path_size;
};

void json_sentence(struct json_sentences *sentences, const char *format, ...)
{
	uint32_t number = sentences->count++;
	if (number >= JSON_SENTENCES_MAX)
		return;
	va_list arguments;
	va_start(arguments, format);
	int size = vasprintf(&sentences->texts[number], format, arguments);
	va_end(arguments);
	CHECK(size >= 0);
}

static void sentences_free(struct json_sentences *sentences)
{
	for (uint32_t i = 0; i < sentences->count && i < JSON_SENTENCES_MAX; i++)
		free(sentences->texts[i]);
	sentences->count = 0;
}

void json_report_free(struct json_report *report)
{
	sentences_free(&report->errors);
	sentences_free(&report->warnings);
}

char *json_sentences_text(const struct json_sentences *sentences, const char *noun)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	CHECK(stream);
	uint32_t kept =
		sentences->count < JSON_SENTENCES_MAX ? sentences->count : JSON_SENTENCES_MAX;
	fprintf(stream, "%u %s%s occurred:\n", sentences->count, noun,
		sentences->count == 1 ? "" : "s");
	for (uint32_t i = 0; i < kept; i++)
		fprintf(stream, "\t* %s\n", sentences->texts[i]);
	if (kept < sentences->count)
		fprintf(stream, "\t* and %u more\n", sentences->count - kept);
	fputc('\n', stream);
	CHECK(fclose(stream) == 0);
	return text;
}

char *json_warnings_text(const struct json_sentences *sentences)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	CHECK(stream);
	fprintf(stream, "%u warning%s:\n", sentences->count, sentences->count == 1 ? "" : "s");
	for (uint32_t i = 0; i < sentences->count && i < JSON_SENTENCES_MAX; i++)
		fprintf(stream, "\n* %s", sentences->texts[i]);
	if (sentences->count > JSON_SENTENCES_MAX)
		fprintf(stream, "\n* and %u more", sentences->count - JSON_SENTENCES_MAX);
	CHECK(fclose(stream) == 0);
	return text;
}

// Appends to the path; returns its size before, for path_cut.
__attribute__((format(printf, 2, 3))) static size_t path_add(
	struct reader *r, const char *format, ...)
{
	size_t before = r->path_size;
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(r->path + before, PATH_BYTES - before, format, arguments);
	va_end(arguments);
	size_t room = PATH_BYTES - 1 - before;
	r->path_size += size > 0 && (size_t)size < room ? (size_t)size : room;
	return before;
}

static void path_cut(struct reader *r, size_t size)
{
	r->path_size = size;
	r->path[size] = '\0';
}

static const char *const json_type_names[] = {[JSON_OBJECT] = "an object",
	[JSON_ARRAY] = "a list",
	[JSON_STRING] = "a string",
	[JSON_INTEGER] = "a number",
	[JSON_REAL] = "a number with a fraction",
	[JSON_TRUE] = "true",
	[JSON_FALSE] = "false",
	[JSON_NULL] = "null"};

// A number that no 64-bit integer holds is read as one with a fraction.
static bool is_too_large(const json_t *value)
{
	return json_is_real(value) &&
	       !(json_real_value(value) >= -0x1p63 && json_real_value(value) < 0x1p63);
}

static void mismatch(struct reader *r, const char *expected, const json_t *value)
{
	if (is_too_large(value)) {
		json_sentence(&r->report->errors,
			"%s: %g is out of range; write an integer from %" PRId64 " to %" PRId64,
			r->path, json_real_value(value), INT64_MIN, INT64_MAX);
		return;
	}
	json_sentence(&r->report->errors, "%s: expected %s, not %s", r->path, expected,
		json_type_names[json_typeof(value)]);
}

static void read_record(struct reader *, const struct record_type *, void *record, json_t *value);

// Initialises a record within a record: with its defaults, or with zeros if only written members count.
static void begin_record(const struct reader *r, const struct record_type *type, void *record)
{
	if (r->exact)
		memset(record, 0, type->size);
	else
		record_init(type, record);
}

static void read_duration(struct reader *r, int64_t *at, const json_t *value)
{
	if (!duration_parse(json_string_value(value), at))
		json_sentence(&r->report->errors,
			"%s: \"%.64s\" is no duration; write it like \"30s\" or \"1h30m\", or as a "
			"number of nanoseconds",
			r->path, json_string_value(value));
}

static void read_time(struct reader *r, int64_t *at, const json_t *value)
{
	if (!timestamp_parse(json_string_value(value), at))
		json_sentence(&r->report->errors,
			"%s: \"%.64s\" is no time; write it like \"2026-01-31T12:00:00Z\"", r->path,
			json_string_value(value));
}

static bool read_i64(struct reader *r, const struct field *f, int64_t *at, const json_t *value)
{
	if (json_is_integer(value)) {
		*at = json_integer_value(value);
		return true;
	}
	if ((f->flags & FIELD_DURATION) && json_is_string(value))
		read_duration(r, at, value);
	else if ((f->flags & FIELD_TIME) && json_is_string(value))
		read_time(r, at, value);
	else
		mismatch(r, f->flags & FIELD_DURATION ? "a duration" : "an integer", value);
	return true;
}

static void read_u64(struct reader *r, uint64_t *at, const json_t *value)
{
	if (!json_is_integer(value))
		mismatch(r, "an integer", value);
	else if (json_integer_value(value) < 0)
		json_sentence(&r->report->errors, "%s: must not be negative", r->path);
	else
		*at = (uint64_t)json_integer_value(value);
}

static void read_bool(struct reader *r, bool *at, const json_t *value)
{
	if (json_is_boolean(value))
		*at = json_is_true(value);
	else
		mismatch(r, "true or false", value);
}

static void read_f64(struct reader *r, double *at, const json_t *value)
{
	if (json_is_number(value))
		*at = json_number_value(value);
	else
		mismatch(r, "a number", value);
}

static char *string_copy(const json_t *value)
{
	return text_copy(
		(struct text){json_string_value(value), (uint32_t)json_string_length(value)});
}

static void read_string(struct reader *r, char **at, const json_t *value)
{
	if (!json_is_string(value)) {
		mismatch(r, "a string", value);
		return;
	}
	free(*at);
	*at = string_copy(value);
}

static void report_unknown(const struct reader *r, const struct field *f, const char *name)
{
	char known[256] = "";
	size_t size = 0;
	for (int i = 0; f->names[i]; i++)
		if (size < sizeof known)
			size += (size_t)snprintf(known + size, sizeof known - size, "%s%s",
				size ? ", " : "", f->names[i]);
	json_sentence(&r->report->errors, "%s: \"%.64s\" is none of %s", r->path, name, known);
}

static void read_enum(struct reader *r, const struct field *f, int *at, const json_t *value)
{
	if (!json_is_string(value)) {
		mismatch(r, "a string", value);
		return;
	}
	const char *name = json_string_value(value);
	for (int i = 0; f->names[i]; i++)
		if (strcmp(f->names[i], name) == 0) {
			*at = i;
			return;
		}
	if (*name) // the empty string counts as absent
		report_unknown(r, f, name);
}

static void read_uuid(struct reader *r, struct uuid *at, const json_t *value)
{
	if (!json_is_string(value))
		mismatch(r, "a string", value);
	else if (*json_string_value(value) && !uuid_parse(json_string_value(value), at))
		json_sentence(&r->report->errors, "%s: \"%.64s\" is no UUID", r->path,
			json_string_value(value));
}

static void read_optional(
	struct reader *r, const struct record_type *type, void **at, json_t *value)
{
	if (!json_is_object(value)) {
		mismatch(r, "an object", value);
		return;
	}
	*at = memory_take(type->size);
	begin_record(r, type, *at);
	read_record(r, type, *at, value);
}

static void read_array(
	struct reader *r, const struct record_type *type, struct array *at, json_t *list)
{
	size_t i;
	json_t *value;
	json_array_foreach(list, i, value)
	{
		size_t before = path_add(r, "[%zu]", i);
		void *item = array_append(at, type->size);
		begin_record(r, type, item);
		read_record(r, type, item, value);
		path_cut(r, before);
	}
}

static void read_strings(struct reader *r, struct array *at, json_t *list)
{
	size_t i;
	json_t *value;
	json_array_foreach(list, i, value)
	{
		size_t before = path_add(r, "[%zu]", i);
		read_string(r, array_append(at, sizeof(char *)), value);
		path_cut(r, before);
	}
}

static void read_integers(struct reader *r, const struct field *f, struct array *at, json_t *list)
{
	size_t i;
	json_t *value;
	json_array_foreach(list, i, value)
	{
		size_t before = path_add(r, "[%zu]", i);
		read_i64(r, f, array_append(at, sizeof(int64_t)), value);
		path_cut(r, before);
	}
}

// Both kinds of map begin with a pointer to the name.
static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static void read_map(struct reader *r, struct array *at, json_t *object)
{
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		if (json_is_null(value))
			continue;
		size_t before = path_add(r, "[\"%s\"]", name);
		if (json_is_string(value)) {
			struct string_pair *pair = array_append(at, sizeof *pair);
			pair->name = text_copy(text_of(name));
			pair->value = string_copy(value);
		} else {
			mismatch(r, "a string", value);
		}
		path_cut(r, before);
	}
	if (at->count)
		qsort(at->items, at->count, sizeof(struct string_pair), by_name);
}

static void read_uuids(struct reader *r, struct array *at, json_t *list)
{
	size_t i;
	json_t *value;
	json_array_foreach(list, i, value)
	{
		size_t before = path_add(r, "[%zu]", i);
		read_uuid(r, array_append(at, sizeof(struct uuid)), value);
		path_cut(r, before);
	}
}

static void read_named_value(
	struct reader *r, const struct field *f, struct named_count *count, json_t *value)
{
	bool flag = false;
	if (f->kind == FIELD_COUNT_MAP) {
		read_i64(r, f, &count->count, value);
		return;
	}
	read_bool(r, &flag, value);
	count->count = flag;
}

static void read_named(struct reader *r, const struct field *f, struct array *at, json_t *object)
{
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		size_t before = path_add(r, "[\"%s\"]", name);
		read_named_value(r, f, map_item(at, sizeof(struct named_count), name), value);
		path_cut(r, before);
	}
}

static void read_struct_map(
	struct reader *r, const struct record_type *type, struct array *at, json_t *object)
{
	CHECK(type->fields[0].kind == FIELD_STRING && type->fields[0].offset == 0);
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		size_t before = path_add(r, "[\"%s\"]", name);
		char **item = array_append(at, type->size);
		begin_record(r, type, item);
		read_record(r, type, item, value);
		free(*item);
		*item = text_copy(text_of(name));
		path_cut(r, before);
	}
	if (at->count)
		qsort(at->items, at->count, type->size, by_name);
}

// A block that says what a missing one means is as good as missing.
static void read_json(const struct field *f, char **at, const json_t *value)
{
	free(*at);
	*at = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	CHECK(*at);
	for (uint32_t i = 0; f->names && f->names[i] && *at; i++)
		if (strcmp(*at, f->names[i]) == 0) {
			free(*at);
			*at = NULL;
		}
}

static void read_list(struct reader *r, const struct field *f, struct array *at, json_t *value)
{
	bool is_list = f->kind == FIELD_ARRAY || f->kind == FIELD_STRINGS ||
		       f->kind == FIELD_INTEGERS || f->kind == FIELD_UUIDS;
	bool is_map = !is_list;
	if (is_map ? !json_is_object(value) : !json_is_array(value)) {
		mismatch(r, is_map ? "an object" : "a list", value);
		return;
	}
	switch (f->kind) {
	case FIELD_ARRAY: read_array(r, f->type, at, value); break;
	case FIELD_STRINGS: read_strings(r, at, value); break;
	case FIELD_INTEGERS: read_integers(r, f, at, value); break;
	case FIELD_UUIDS: read_uuids(r, at, value); break;
	case FIELD_MAP: read_map(r, at, value); break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: read_named(r, f, at, value); break;
	default: read_struct_map(r, f->type, at, value); break;
	}
}

static void read_optional_i64(
	struct reader *r, const struct field *f, struct optional_i64 *at, const json_t *value)
{
	at->set = read_i64(r, f, &at->value, value);
}

static void read_optional_bool(struct reader *r, struct optional_bool *at, const json_t *value)
{
	at->set = true;
	read_bool(r, &at->value, value);
}

static void read_numbers(
	struct reader *r, const struct field *f, struct numbers *numbers, json_t *object)
{
	const char *name;
	json_t *value;
	if (!json_is_object(object)) {
		mismatch(r, "an object", object);
		return;
	}
	json_object_foreach(object, name, value)
	{
		size_t before = path_add(r, "[\"%s\"]", name);
		uint32_t at = 0;
		while (f->names[at] && strcmp(f->names[at], name) != 0)
			at++;
		if (f->names[at])
			numbers->there |= 1ull << at;
		if (f->names[at])
			read_f64(r, &numbers->at[at], value);
		else
			report_unknown(r, f, name);
		path_cut(r, before);
	}
}

static void read_value(struct reader *r, const struct field *f, void *at, json_t *value)
{
	switch (f->kind) {
	case FIELD_BOOL: read_bool(r, at, value); break;
	case FIELD_I64: read_i64(r, f, at, value); break;
	case FIELD_U64: read_u64(r, at, value); break;
	case FIELD_F64: read_f64(r, at, value); break;
	case FIELD_STRING: read_string(r, at, value); break;
	case FIELD_ENUM: read_enum(r, f, at, value); break;
	case FIELD_UUID: read_uuid(r, at, value); break;
	case FIELD_STRUCT: read_record(r, f->type, at, value); break;
	case FIELD_OPTIONAL: read_optional(r, f->type, at, value); break;
	case FIELD_ARRAY:
	case FIELD_STRINGS:
	case FIELD_INTEGERS:
	case FIELD_UUIDS:
	case FIELD_MAP:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_STRUCT_MAP: read_list(r, f, at, value); break;
	case FIELD_JSON: read_json(f, at, value); break;
	case FIELD_OPTIONAL_I64: read_optional_i64(r, f, at, value); break;
	case FIELD_OPTIONAL_BOOL: read_optional_bool(r, at, value); break;
	case FIELD_NUMBERS: read_numbers(r, f, at, value); break;
	case FIELD_FIXED: break;
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_TEXT: break; // not in JSON
	}
}

// Finds the field of a member, ignoring case as Go's decoder does. -1: none.
static int field_find(const struct record_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if (strcasecmp(type->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

// Clients send all fields they know, most of them empty: these give no warning.
static bool says_something(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_NULL:
	case JSON_FALSE: return false;
	case JSON_STRING: return json_string_length(value) > 0;
	case JSON_INTEGER: return json_integer_value(value) != 0;
	case JSON_ARRAY: return json_array_size(value) > 0;
	case JSON_OBJECT: return json_object_size(value) > 0;
	default: return true;
	}
}

// Finds the embedded struct that has a member of that name, or NULL.
static const struct field *embedded_find(const struct record_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if ((type->fields[i].flags & FIELD_EMBEDDED) &&
			field_find(type->fields[i].type, name) >= 0)
			return &type->fields[i];
	return NULL;
}

// Whether the value is the one that the field always has.
static bool is_fixed(const struct field *f, json_t *value)
{
	json_t *fixed = json_loads(f->names[0], JSON_DECODE_ANY, NULL);
	bool same = fixed && json_equal(fixed, value);
	json_decref(fixed);
	return same;
}

static void read_member(struct reader *r, const struct record_type *type, void *record,
	const char *name, json_t *value, bool seen[FIELDS_MAX])
{
	const struct field *embedded = embedded_find(type, name);
	if (embedded) { // an embedded struct has none inside
		CHECK(type->field_count + embedded->type->field_count <= FIELDS_MAX);
		read_member(r, embedded->type, (char *)record + embedded->offset, name, value,
			seen + type->field_count);
		return;
	}
	int number = field_find(type, name);
	if (number < 0) {
		if (says_something(value))
			json_sentence(&r->report->warnings, "%s: not known, ignored", r->path);
		return;
	}
	const struct field *f = &type->fields[number];
	if (f->kind == FIELD_FIXED && f->names && says_something(value) && !is_fixed(f, value))
		json_sentence(&r->report->warnings, "%s: not known, ignored", r->path);
	if (seen[number])
		json_sentence(&r->report->errors, "%s: given twice, as names differ only in case",
			r->path);
	else if ((r->exact || !(f->flags & FIELD_DERIVED)) && !json_is_null(value))
		read_value(r, f, (char *)record + f->offset, value);
	seen[number] = true;
}

static void read_record(
	struct reader *r, const struct record_type *type, void *record, json_t *object)
{
	bool seen[FIELDS_MAX] = {false};
	CHECK(type->field_count <= FIELDS_MAX);
	if (!json_is_object(object)) {
		mismatch(r, "an object", object);
		return;
	}
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		size_t before = path_add(r, ".%s", name);
		read_member(r, type, record, name, value, seen);
		path_cut(r, before);
	}
}

void json_read_record(const struct record_type *type, void *record, json_t *value, const char *path,
	struct json_report *report)
{
	struct reader r = {.report = report};
	path_add(&r, "%s", path);
	read_record(&r, type, record, value);
}

void json_read_exact(const struct record_type *type, void *record, json_t *value, const char *path,
	struct json_report *report)
{
	struct reader r = {.report = report, .exact = true};
	path_add(&r, "%s", path);
	memset(record, 0, type->size);
	read_record(&r, type, record, value);
}

bool json_read_bool(json_t *object, const char *name, bool *value, struct json_report *report)
{
	json_t *member = json_object_get(object, name);
	if (json_is_absent(member))
		return false;
	struct reader r = {.report = report};
	path_add(&r, "%s", name);
	read_bool(&r, value, member);
	return true;
}

bool json_read_u64(json_t *object, const char *name, uint64_t *value, struct json_report *report)
{
	json_t *member = json_object_get(object, name);
	if (json_is_absent(member))
		return false;
	struct reader r = {.report = report};
	path_add(&r, "%s", name);
	read_u64(&r, value, member);
	return true;
}
