// Descriptions of plain records: one table row per field gives the binary codec, the JSON form,
// copy, equality and release, so that a new field is one line. The JSON side lives in tools/json.
//
// Binary form of a struct: u16 number of fields, then each field in table order. Fields are only
// ever appended to a table; a reader of fewer fields leaves the rest at their defaults, a reader
// that knows fewer fields than were written refuses (ERROR_VERSION).
#pragma once
#include "state/base/array.h"
#include "state/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_BOOL,       // bool
	FIELD_I64,        // int64_t; also durations (ns) and times (unix ns)
	FIELD_U64,        // uint64_t
	FIELD_F64,        // double
	FIELD_STRING,     // char *; NULL is the empty string
	FIELD_ENUM,       // int; names in .names, NULL-ended
	FIELD_UUID,       // struct uuid; zero is the empty string in JSON
	FIELD_STRUCT,     // the struct itself, described by .type
	FIELD_OPTIONAL,   // struct *, NULL when absent, described by .type
	FIELD_ARRAY,      // struct array of structs described by .type
	FIELD_STRINGS,    // struct array of char *
	FIELD_INTEGERS,   // struct array of int64_t
	FIELD_MAP,        // struct array of struct string_pair, sorted by name, names unique
	FIELD_STRUCT_MAP, // as FIELD_MAP, of structs whose first member is the name (char *)
	FIELD_JSON,       // char *: a JSON value kept as text (driver configuration), NULL is null
	FIELD_OPTIONAL_I64,  // struct optional_i64
	FIELD_OPTIONAL_BOOL, // struct optional_bool
	FIELD_UUIDS,         // struct array of struct uuid
	FIELD_COUNT_MAP,     // struct array of struct named_count, sorted and unique like FIELD_MAP
	FIELD_FLAG_MAP,      // the same; in JSON true unless 0
	// struct numbers of some of .names, which are in order and of 28 bytes at most; stored as a FIELD_COUNT_MAP
	// whose counts are their bits
	FIELD_NUMBERS,
	// Stores nothing: its JSON is always the first of .names. Without names: any value is accepted, none is shown.
	FIELD_FIXED,
	// In bodies of log entries, never in JSON. FIELD_TEXT is a view: the record neither owns nor copies it.
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_TEXT,
};

struct optional_i64 {
	bool set;
	int64_t value;
};
struct optional_bool {
	bool set;
	bool value;
};

#define NUMBERS_MAX 8u
struct numbers {
	uint64_t there;         // a bit for each that is, by the place of its name
	double at[NUMBERS_MAX]; // by the same; 0 where there is none
};

struct record_type;

struct field {
	const char *name; // as in the JSON form ("TaskGroups")
	enum field_kind kind;
	uint32_t offset;
	const struct record_type *type; // STRUCT, OPTIONAL, ARRAY, STRUCT_MAP
	const char *const *names;       // ENUM, FIXED, NUMBERS; NULL-ended
	uint32_t flags;
	int64_t initial; // I64 and BOOL: what it is until something else is read or set
};

#define FIELD_DERIVED 1u     // shown in JSON, never read from a request
#define FIELD_HIDDEN 2u      // stored and read from a request, never shown in JSON
#define FIELD_IN_LIST 4u     // also part of the short form in lists
#define FIELD_NULL_EMPTY 8u  // an empty array, map, string or UUID is null in JSON (as nil in Go)
#define FIELD_TIME 16u       // I64 unix ns shown as RFC 3339
#define FIELD_DURATION 32u   // I64 ns; a request may also give it as text ("30s")
#define FIELD_OMIT_EMPTY 64u // left out of JSON when it equals its zero value
#define FIELD_EMBEDDED 128u  // STRUCT: its members stand among the record's in JSON
#define FIELD_NULL_ZERO 256u // I64 that is 0 is null in JSON (as Go's nil time)

struct record_type {
	const char *name;
	size_t size;
	const struct field *fields;
	uint32_t field_count;
};

void record_init(const struct record_type *, void *record); // zeros, then defaults
// Memory of its own for a record: with its defaults, as a copy, and its end (NULL is allowed). record_free() frees.
void *record_create(const struct record_type *);
void *record_duplicate(const struct record_type *, const void *from);
void record_free(const struct record_type *, void *record);
void record_release(const struct record_type *, void *record); // frees what it owns, zeroes it
void record_copy(const struct record_type *, void *to, const void *from); // deep; to is overwritten
bool record_equal(const struct record_type *, const void *a, const void *b);
// Like record_equal, but ignores fields that have one of the flags, also in records within the record.
bool record_equal_except(const struct record_type *, const void *a, const void *b, uint32_t flags);
// Whether the encoded record can be decoded again: maps are in order and every enum has a name. For records that a
// program made, before they are stored.
bool record_is_sound(const struct record_type *, const void *record);
void record_encode(const struct record_type *, const void *record, struct bytes_writer *);
// Sticky error in the reader; on failure record is released and zeroed.
// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION.
int record_decode(const struct record_type *, void *record, struct bytes_reader *);
// Reads the same bytes and refuses the same, but takes no memory: only the numbers that stand in the record itself are
// kept, without defaults of what is not stored. Everything else is zeroed, so there is nothing to release.
int record_decode_scalars(const struct record_type *, void *record, struct bytes_reader *);
// As record_decode, into memory of its own; NULL after an error.
int record_decode_new(const struct record_type *, void **record, struct bytes_reader *);
