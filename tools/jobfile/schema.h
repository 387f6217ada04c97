// What may be written in a job, and what it is called in the API. Whatever is a rule of one member is a row here.
#pragma once
#include "tools/json/json_reader.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum member_kind {
	MEMBER_HIDDEN, // in the API alone
	MEMBER_TEXT,
	MEMBER_BOOL,
	MEMBER_INT,
	MEMBER_DURATION,
	MEMBER_TEXTS,
	MEMBER_MAP,     // a block of names and texts
	MEMBER_META,    // as that, or an attribute that is a map
	MEMBER_HEADERS, // a block of names and lists of texts
	MEMBER_FREE,    // a block of anything
	MEMBER_BLOCK,
	MEMBER_BLOCKS,
	MEMBER_NAMED, // blocks by their label
};

// Of plain fields: null is possible, and what they are when nothing is written.
#define MEMBER_NULL 1u
// Its standard is for an empty text too.
#define MEMBER_OR_EMPTY 2u
// Absent from the API's form when it is not written.
#define MEMBER_OMITTED 4u
// Read elsewhere: rules beside it decide where it goes.
#define MEMBER_APART 8u

struct block_schema;

struct member_rule {
	const char *name;   // as it is written
	const char *member; // of the API
	enum member_kind kind;
	unsigned flags;
	const char *
		standard; // its canonical form where nothing is written, as JSON; NULL: there is none
	const struct block_schema *inside;
	int64_t least, most; // of MEMBER_INT; both 0: what 64 bits hold
};

struct decoder;
struct job_body;
struct job_block;

struct block_schema {
	const char *label;                // the member that a block's label is; NULL: it has none
	const struct member_rule *fields; // ends with one without a member
	// Reads the body itself, in place of the fields.
	json_t *(*read)(struct decoder *, const struct job_body *);
	// Behind the fields, the whole of it.
	void (*finish)(struct decoder *, const struct job_body *, json_t *);
	// What a label that is no member says of an element, before it joins the others.
	void (*label_says)(
		struct decoder *, const struct job_block *, json_t *, const json_t *others);
};

extern const struct block_schema job_schema, group_schema, task_schema, service_schema,
	network_schema, resources_schema, template_schema, vault_schema, scaling_schema,
	update_schema, constraint_schema, affinity_schema, logs_schema, restart_schema;

const struct member_rule *schema_member(
	const struct block_schema *, const char *name, uint32_t size);
// An object of it in which nothing is written.
json_t *schema_empty(const struct block_schema *);
// A member in canonical form is what its standard says, where it is not there. Goes on inside.
void schema_fill(const struct block_schema *, json_t *object);
// Fills one member.
void member_fill(const struct member_rule *, json_t *object);
