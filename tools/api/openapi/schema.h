// Schemas of JSON as OpenAPI 3.1 wants them: of records, from their descriptions, and of what is written by hand, from
// a short notation.
//
//     string integer number boolean any uuid time     what it says; uuid and time are strings
//     Name                                            a named schema
//     [X]                                             a list
//     {A: X, B?: Y}                                   an object; B may be missing
//     {*: X}                                          an object whose members have any names
//     X?                                              or null
#pragma once
#include "state/base/schema.h"
#include "tools/json/json_writer.h"

// type: of the record; text: what is written by hand, or with a type what an answer has beside the record.
struct named_schema {
	const char *name;
	const struct record_type *type;
	const char *text;
};
// All of them; a NULL name ends them.
extern const struct named_schema named_schemas[];

enum schema_side {
	SCHEMA_OF_ANSWER, // has every member that is not said to be left out
	SCHEMA_OF_BODY    // may leave out any
};
// Appended to the names of schemas of bodies.
#define SCHEMA_BODY_SUFFIX "Input"

// Writes the schema of a text. It aborts when the text breaks the notation, or names what is not there.
void schema_write_text(struct json_writer *, const char *text, enum schema_side);
// more: members that an answer may have beside the record, as the text of an object; NULL: none.
void schema_write_record(
	struct json_writer *, const struct record_type *, const char *more, enum schema_side);
// The members of the text of an object, without brackets and without what is required.
void schema_write_members(struct json_writer *, const char *text, enum schema_side);
void schema_write_null(struct json_writer *);
// Every named schema, each for answers and for bodies.
void schema_write_all(struct json_writer *);
