// Lists of records in order of creation, streamed: what a reader asked for, and what each kind of
// record makes of it.
#pragma once
#include "tools/api/lists/id_list.h"
#include "tools/api/lists/list_filter.h"

struct cursor_list;

struct cursor_kind {
	const char *noun; // of ids that are UUIDs: "alloc"; NULL: names
	const void *(*next)(const struct state *, uint64_t *cursor);
	bool (*is_wanted)(const struct cursor_list *, const void *record);
	void (*write)(struct json_writer *, const struct cursor_list *, const void *record);
	// For filters: the long form, or NULL when there is none; and what the records are, when they leave out
	// what is empty. A kind of which a record is not one item has no filters.
	void (*write_whole)(struct json_writer *, const struct cursor_list *, const void *record);
	const struct record_type *type;
	bool has_no_filter;
};

struct cursor_list {
	const struct cursor_kind *kind;
	const struct api *api;
	const struct state *state;
	// Newest first: cursor and end are bounds as otherwise, but the records at keys come from behind.
	bool reverse;
	uint64_t *keys;
	uint32_t key_count, key_capacity;
	uint64_t cursor, end;
	struct list_filter filter;
	struct id_prefix id_prefix;
	char *name_prefix, *namespace_name; // namespace "*" is all
	char *path_name;                    // what the request's path names, or ""
	char *status, *job;                 // only those; "" is all
	char *worker;                       // the same; NULL is all, "" is none
	bool resources, meta;
};

// Answers with the records that the request's parameters select: prefix, namespace, status, job,
// filter, resources, reverse, per_page, next_token.
void cursor_list_answer(struct request *, struct reply *, const struct cursor_kind *);
// How many those are. False with a reply, or when the route is to be asked again.
bool cursor_list_count(
	struct request *, struct reply *, const struct cursor_kind *, uint64_t *count);

// For kinds that have all of it: what a record is about fits what was asked for.
bool cursor_list_wants(const struct cursor_list *, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id);
bool cursor_list_has_namespace(const struct cursor_list *, const char *namespace_name);
