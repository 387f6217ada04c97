// Streams lists of records in order of creation: the request's parameters, and how each kind of record is walked,
// chosen and written.
#pragma once
#include "tools/api/lists/id_list.h"
#include "tools/api/lists/list_filter.h"

struct cursor_list;

struct cursor_kind {
	const char *noun; // for ids that are UUIDs: "alloc"; NULL: names
	const void *(*next)(const struct state *, uint64_t *cursor);
	bool (*is_wanted)(const struct cursor_list *, const void *record);
	void (*write)(struct json_writer *, const struct cursor_list *, const void *record);
	// For filters. write_whole: writes the long form; NULL: there is none. type: set when the JSON leaves out empty
	// fields. has_no_filter: a record may give no item or several.
	void (*write_whole)(struct json_writer *, const struct cursor_list *, const void *record);
	const struct record_type *type;
	bool has_no_filter;
};

struct cursor_list {
	const struct cursor_kind *kind;
	const struct api *api;
	const struct state *state;
	// Newest first: walks keys from the last down; cursor and end stay bounds.
	bool reverse;
	uint64_t *keys;
	uint32_t key_count, key_capacity;
	uint64_t cursor, end;
	struct list_filter filter;
	struct id_prefix id_prefix;
	char *name_prefix, *namespace_name; // namespace "*" is all
	char *path_name;                    // name in the request's path, or ""
	char *status, *job;                 // only records with these; "": all
	char *worker;                       // NULL: all, "": records without one
	bool resources, meta;
};

// Answers with the records that the request's parameters select: prefix, namespace, status, job,
// filter, resources, reverse, per_page, next_token.
void cursor_list_answer(struct request *, struct reply *, const struct cursor_kind *);
// Counts the records. False when the reply says why not, or when the background thread will call the route again.
bool cursor_list_count(
	struct request *, struct reply *, const struct cursor_kind *, uint64_t *count);

// Whether the list wants a record with this id, namespace, status and job.
bool cursor_list_wants(const struct cursor_list *, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id);
bool cursor_list_has_namespace(const struct cursor_list *, const char *namespace_name);
