// JSON from outside: parsing with limits and exact positions, and reading values into records
// described by state/base/schema.h. All mistakes are collected, each with the path of the value it
// is about.
#pragma once
#include "state/base/schema.h"
#include <jansson.h>

// Sentences kept of each kind; more are only counted.
#define JSON_SENTENCES_MAX 64u

struct json_sentences {
	uint32_t count;
	char *texts[JSON_SENTENCES_MAX];
};

struct json_report {
	struct json_sentences errors;   // make the request invalid
	struct json_sentences warnings; // what was given and is ignored
};

void json_report_free(struct json_report *);
void json_sentence(struct json_sentences *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// As Nomad's clients show it: "2 errors occurred:\n\t* …\n\t* …\n\n". Caller frees.
char *json_sentences_text(const struct json_sentences *, const char *noun);

// Parses one object. NULL with a sentence that names line and column. Refuses duplicate keys and
// what is nested deeper than JSON_DEPTH_MAX before it is parsed.
json_t *json_parse(const char *data, size_t size, char *message, size_t message_size);

// Reads an object into an initialised record. null is as good as absent. path names the value in
// sentences. On errors the record holds what could be read and must be released all the same.
void json_read_record(const struct record_type *, void *record, json_t *value, const char *path,
	struct json_report *);

// The same for a record that was stored and written down: what is missing is zero, whatever the defaults of a
// request are, and derived fields are read, too. The record is overwritten.
void json_read_exact(const struct record_type *, void *record, json_t *value, const char *path,
	struct json_report *);

// Members of a request around a record.
bool json_read_bool(json_t *object, const char *name, bool *value, struct json_report *);
bool json_read_u64(json_t *object, const char *name, uint64_t *value, struct json_report *);
