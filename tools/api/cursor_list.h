// Lists of records in order of creation, streamed: what a reader asked for, and what each kind of
// record makes of it.
#pragma once
#include "tools/api/id_list.h"

struct cursor_list;

struct cursor_kind {
	const char *noun; // of ids that are UUIDs: "alloc"; NULL: names
	const void *(*next)(const struct state *, uint64_t *cursor);
	bool (*is_wanted)(const struct cursor_list *, const void *record);
	void (*write)(struct json_writer *, const struct cursor_list *, const void *record);
};

struct cursor_list {
	const struct cursor_kind *kind;
	const struct state *state;
	uint64_t cursor, end;
	struct id_prefix id_prefix;
	char *name_prefix, *namespace_name; // namespace "*" is all
	char *status, *job;                 // only those; "" is all
	bool resources;
};

// Answers with the records that the request's parameters select: prefix, namespace, status, job,
// resources, per_page, next_token.
void cursor_list_answer(struct request *, struct reply *, const struct cursor_kind *);

bool cursor_list_has_namespace(const struct cursor_list *, const char *namespace_name);
