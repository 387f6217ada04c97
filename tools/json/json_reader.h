// JSON from outside: parses it with limits and exact positions, and reads values into records described by
// state/base/schema.h. It collects all mistakes, each with the path of its value.
#pragma once
#include "state/base/schema.h"
#include <jansson.h>

// Sentences kept of each kind; further ones are only counted.
#define JSON_SENTENCES_MAX 64u

struct json_sentences {
	uint32_t count;
	char *texts[JSON_SENTENCES_MAX];
};

struct json_report {
	struct json_sentences errors;   // make the request invalid
	struct json_sentences warnings; // given members that are ignored
};

void json_report_free(struct json_report *);
void json_sentence(struct json_sentences *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// The sentences as Nomad's clients show them: "2 errors occurred:
// \t* …
// \t* …
//
// ". Caller frees.
char *json_sentences_text(const struct json_sentences *, const char *noun);
// Warnings, as Nomad's clients show them: "2 warnings:", an empty line, and a line "* …" for each. Caller frees.
char *json_warnings_text(const struct json_sentences *);

// Parses one object. NULL, and a sentence that names line and column. Refuses duplicate keys, and nesting deeper than
// JSON_DEPTH_MAX before it parses.
json_t *json_parse(const char *data, size_t size, char *message, size_t message_size);

// Reads an object into an initialised record. null counts as absent. path names the value in sentences. After errors
// the record holds what could be read; release it in any case.
void json_read_record(const struct record_type *, void *record, json_t *value, const char *path,
	struct json_report *);

// Reads a record that was stored as JSON: missing members are zero, whatever a request's defaults are, and derived
// fields are read, too. Overwrites the record.
void json_read_exact(const struct record_type *, void *record, json_t *value, const char *path,
	struct json_report *);

// Missing or null.
static inline bool json_is_absent(const json_t *value)
{
	return !value || json_is_null(value);
}

// Members of a request beside the record.
bool json_read_bool(json_t *object, const char *name, bool *value, struct json_report *);
bool json_read_u64(json_t *object, const char *name, uint64_t *value, struct json_report *);
