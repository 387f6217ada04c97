// What may be written in a job, and what it is called in the API. Whatever is a rule of one member is a row here.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum field_kind {
	FIELD_HIDDEN, // in the API alone
	FIELD_TEXT,
	FIELD_BOOL,
	FIELD_INT,
	FIELD_DURATION,
	FIELD_TEXTS,
	FIELD_MAP,     // a block of names and texts
	FIELD_META,    // as that, or an attribute that is a map
	FIELD_HEADERS, // a block of names and lists of texts
	FIELD_FREE,    // a block of anything
	FIELD_BLOCK,
	FIELD_BLOCKS,
	FIELD_NAMED, // blocks by their label
};

// Of plain fields: null is possible, and what they are when nothing is written.
#define FIELD_NULL 1u
// Its standard is for an empty text too.
#define FIELD_OR_EMPTY 2u
// Absent from the API's form when it is not written.
#define FIELD_OMITTED 4u
// Read elsewhere: rules beside it decide where it goes.
#define FIELD_APART 8u

struct schema;

struct field {
	const char *name;   // as it is written
	const char *member; // of the API
	enum field_kind kind;
	unsigned flags;
	const char *
		standard; // its canonical form where nothing is written, as JSON; NULL: there is none
	const struct schema *inside;
	int64_t least, most; // of FIELD_INT; both 0: what 64 bits hold
};

struct decoder;
struct job_body;

struct schema {
	const char *label;          // the member that a block's label is; NULL: it has none
	const struct field *fields; // ends with one without a member
	// Reads the body itself, in place of the fields.
	json_t *(*read)(struct decoder *, const struct job_body *);
	// Behind the fields, the whole of it.
	void (*finish)(struct decoder *, const struct job_body *, json_t *);
};

extern const struct schema job_schema, group_schema, task_schema, service_schema, network_schema,
	resources_schema, template_schema, vault_schema, scaling_schema, update_schema,
	constraint_schema, affinity_schema, logs_schema, restart_schema;

const struct field *schema_field(const struct schema *, const char *name, uint32_t size);
// An object of it in which nothing is written.
json_t *schema_empty(const struct schema *);
// A member in canonical form is what its standard says, where it is not there. Goes on inside.
void schema_fill(const struct schema *, json_t *object);
// Fills one member.
void field_fill(const struct field *, json_t *object);
bool json_is_absent(const json_t *);
