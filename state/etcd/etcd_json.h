// The JSON of etcd's gateway, without a tree. Requests are written as text. Answers are read in the order in which they
// stand; numbers of 64 bits come as texts, and bytes as base64, which is decoded in its place.
#pragma once
#include "state/base/bytes.h"
#include "state/base/text.h"

// A member's beginning: `"name":"` and so on, as it stands.
#define ETCD_JSON_PUT(w, literal) bytes_put((w), (literal), sizeof(literal) - 1)
// Bytes as a quoted base64 text.
void etcd_json_put_bytes(struct bytes_writer *, const void *, size_t);
void etcd_json_put_key(struct bytes_writer *, const char *key);
void etcd_json_put_u64(struct bytes_writer *, uint64_t); // quoted

// A reader with a sticky error: whatever follows it is empty, zero or the end.
struct etcd_json {
	char *at, *end;
	uint32_t depth;
	bool is_first; // at the first member or element of an object or a list
	bool failed;
};

struct etcd_json etcd_json_over(void *text, size_t size);
// The object or list ('{' or '[') that comes next.
void etcd_json_enter(struct etcd_json *, char open);
// The next member of the object that was entered; false at its end, which is left then.
bool etcd_json_member(struct etcd_json *, struct text *name);
// Whether there is one more element in the list that was entered; at its end it is left.
bool etcd_json_element(struct etcd_json *);
// Views; escapes stay as they are.
struct text etcd_json_text(struct etcd_json *);
uint64_t etcd_json_u64(struct etcd_json *); // a number, or a text of one
int64_t etcd_json_i64(struct etcd_json *);
bool etcd_json_bool(struct etcd_json *);
// A view with a NUL after it.
void *etcd_json_bytes(struct etcd_json *, uint32_t *size);
void etcd_json_skip(struct etcd_json *);
bool etcd_json_is(struct text name, const char *literal);
