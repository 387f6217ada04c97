// Lists of records in order of creation, streamed: what the reader asked for, and how each kind of record is walked,
// chosen and written.
#pragma once
#include "tools/api/lists/id_list.h"
#include "tools/api/lists/list_filter.h"

struct cursor_list;

struct cursor_kind {
	const char *noun; // of ids that are UUIDs: "alloc"; NULL: names
	const void *(*next)(const struct state *, uint64_t *cursor);
	bool (*is_wanted)(const struct cursor_list *, const void *record);
	void (*write)(struct json_writer *, const struct cursor_list *, const void *record);
	// For filters. write_whole: the long form, or NULL when there is none. type: set when the JSON leaves out
	// empty fields. has_no_filter: a record makes more or fewer than one item.
	void (*write_whole)(struct json_writer *, const struct cursor_list *, const void *record);
	const struct record_type *type;
	bool has_no_filter;
};

struct cursor_list {
	const struct cursor_kind *kind;
	const struct api *api;
	const struct state *state;
	// Newest first: records are visited from the last of keys down; cursor and end are bounds all the same.
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
// Counts them. False when the reply says why not, or when a thread of its own will call the route again.
bool cursor_list_count(
	struct request *, struct reply *, const struct cursor_kind *, uint64_t *count);

// Whether a record with this id, namespace, status and job fits what the reader asked for.
bool cursor_list_wants(const struct cursor_list *, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id);
bool cursor_list_has_namespace(const struct cursor_list *, const char *namespace_name);
