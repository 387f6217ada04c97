// Writes JSON text into growing memory, value by value; it adds commas, escapes and indentation. Bytes that are not
// UTF-8 become U+FFFD, so that the output is always valid JSON.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer {
	char *data;
	size_t size, capacity;
	uint32_t depth;
	bool pretty;    // indented by four blanks
	bool separated; // the next value follows a comma
	bool after_key;
	// Whether a member of the outermost object is written; NULL: all are.
	bool (*wants)(const void *context, const char *name, size_t size);
	const void *wants_context;
	bool is_mute; // in a member that is not
};

void json_writer_free(struct json_writer *);
// Drops the text and keeps the memory; position (commas, depth) goes on.
void json_writer_clear(struct json_writer *);
// Starts anew, but keeps the memory.
void json_writer_restart(struct json_writer *);
// Returns the text so far, NUL-terminated; the caller frees it, and the writer is empty.
char *json_writer_take(struct json_writer *);

void json_begin_object(struct json_writer *);
void json_end_object(struct json_writer *);
void json_begin_array(struct json_writer *);
void json_end_array(struct json_writer *);
// A key; json_write_key() below chooses. Nothing in a plain one has to be escaped.
void json_write_any_key(struct json_writer *, const char *name);
void json_write_plain_key(struct json_writer *, const char *name, size_t size);
void json_write_null(struct json_writer *);
void json_write_bool(struct json_writer *, bool);
void json_write_i64(struct json_writer *, int64_t);
void json_write_u64(struct json_writer *, uint64_t);
void json_write_f64(struct json_writer *, double); // NaN and infinities are null
void json_write_text(struct json_writer *, struct text);
void json_write_string(struct json_writer *, const char *);      // NULL is ""
void json_write_uuid(struct json_writer *, const struct uuid *); // zero is ""
void json_write_time(struct json_writer *, int64_t unix_ns);     // RFC 3339 in UTC
// Writes a value that is JSON already.
void json_write_raw(struct json_writer *, struct text);
// Writes characters outside of any value: plain-text answers share the buffer.
void json_write_plain(struct json_writer *, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

// The keys that stand in the program are plain, and half of what there is to write.
static inline void json_write_key(struct json_writer *w, const char *name)
{
	if (__builtin_constant_p(__builtin_strlen(name)))
		json_write_plain_key(w, name, __builtin_strlen(name));
	else
		json_write_any_key(w, name);
}

// Writes a key and its value, or its beginning.
static inline void json_open_object(struct json_writer *w, const char *key)
{
	json_write_key(w, key);
	json_begin_object(w);
}

static inline void json_open_array(struct json_writer *w, const char *key)
{
	json_write_key(w, key);
	json_begin_array(w);
}

static inline void json_put_string(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_string(w, value);
}

static inline void json_put_u64(struct json_writer *w, const char *key, uint64_t value)
{
	json_write_key(w, key);
	json_write_u64(w, value);
}

static inline void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
	json_write_key(w, key);
	json_write_i64(w, value);
}

static inline void json_put_f64(struct json_writer *w, const char *key, double value)
{
	json_write_key(w, key);
	json_write_f64(w, value);
}

static inline void json_put_bool(struct json_writer *w, const char *key, bool value)
{
	json_write_key(w, key);
	json_write_bool(w, value);
}

static inline void json_put_null(struct json_writer *w, const char *key)
{
	json_write_key(w, key);
	json_write_null(w);
}

// Opens it if it is there; else the key's value is null, and the answer false.
static inline bool json_open_object_if(struct json_writer *w, const char *key, bool is_there)
{
	if (is_there)
		json_open_object(w, key);
	else
		json_put_null(w, key);
	return is_there;
}

static inline bool json_open_array_if(struct json_writer *w, const char *key, bool is_there)
{
	if (is_there)
		json_open_array(w, key);
	else
		json_put_null(w, key);
	return is_there;
}

// 0: null.
static inline void json_put_time(struct json_writer *w, const char *key, int64_t unix_ns)
{
	json_write_key(w, key);
	if (unix_ns)
		json_write_time(w, unix_ns);
	else
		json_write_null(w);
}

// JSON as text; NULL: null.
static inline void json_put_raw(struct json_writer *w, const char *key, const char *json)
{
	json_write_key(w, key);
	json_write_raw(w, json ? text_of(json) : TEXT("null"));
}

static inline void json_put_uuid(struct json_writer *w, const char *key, const struct uuid *value)
{
	json_write_key(w, key);
	json_write_uuid(w, value);
}
