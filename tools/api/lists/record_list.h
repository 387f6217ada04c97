// Lists of records: the request's parameters, the page, the filter, and the stream. How each kind of record is walked,
// chosen and written is a struct record_kind.
//
// A page is looked for a piece at a time: a few thousand records at once, the rest on the thread of lists, where the
// pieces of several lists take turns.
#pragma once
#include "tools/api/lists/list_filter.h"
#include "tools/api/lists/list_page.h"

struct record_list;

struct record_kind {
	enum state_table table;
	bool by_id; // in order of ids; otherwise of creation
	// Adds the records that the path asks for, by their ids; returns the index of the answer, 0: the table's.
	// NULL: the list looks at the whole table. Under read lock.
	uint64_t (*choose)(const struct request *, struct record_list *);
	route_watched *watched; // NULL: the table's last change
	const char *noun;       // ?prefix= is of ids that are UUIDs: "alloc"; NULL: of names
	// Whose records of a namespace are shown to those with this capability there. NULL: records are in none.
	const char *(*namespace_of)(const void *record);
	enum acl_capability shown_with;
	// NULL: every record that is found.
	bool (*is_wanted)(const struct record_list *, const void *record);
	// NULL: as its type describes it.
	void (*write)(struct json_writer *, const struct record_list *, const void *record);
	// For filters. write_whole: writes the long form; NULL: there is none. type: set when the JSON leaves out empty
	// fields. has_no_filter: a record may give no item or several.
	void (*write_whole)(struct json_writer *, const struct record_list *, const void *record);
	const struct record_type *type;
	bool has_no_filter;
	void (*prefetch_id)(const struct state *, const struct uuid *); // by id
	// Fetches into the cache what the record itself points to, with each step further away; what the step before
	// fetched may be read. NULL: records are close together, or few.
	void (*prefetch)(const struct record_list *, const void *record, uint32_t step);
};
#define PREFETCH_STEPS 3u

struct record_list {
	const struct record_kind *kind;
	const struct api *api;
	struct state *state;
	struct access *access; // of the request; NULL: it may see everything
	struct list_filter filter;
	struct id_prefix id_prefix;
	char *name_prefix, *namespace_name; // namespace "*" is all
	char *path_name;                    // name in the request's path, or ""
	char *status, *job;                 // only records with these; "": all
	char *worker;                       // NULL: all, "": records without one
	bool resources, meta, os;
	struct uuid owner; // of the records, where the kind asks for it

	struct record_walk walk;
	struct record_place place; // where the walk, and then the stream, goes on
	uint64_t index;            // of the answer
	bool is_begun;
	uint64_t begun_index; // of the state when the walk began
	// The page: at most size records (0: all), up to its end.
	uint32_t size, shown;
	struct record_place end;       // is_end: the list's
	struct json_writer text;       // of the first records of the page
	struct record_place unwritten; // where they end
	bool is_full;                  // the text is
	// While a piece of the stream is written.
	struct json_writer *stream;
	size_t wanted;
};

// Answers with the records that the request's parameters select: prefix, namespace, status, job, filter, resources,
// reverse, per_page, next_token. For routes of a kind alone: record_list_read (route.h).
void record_list_answer(struct request *, struct reply *, const struct record_kind *);
// Counts the records; index: of the answer. False when the reply says why not, or when the route will be called again.
bool record_list_count(struct request *, struct reply *, const struct record_kind *,
	uint64_t *count, uint64_t *index);

// For choose. False when there are too many: the list will look at the whole table, so that the kind's is_wanted must
// choose.
bool record_list_add(struct record_list *, const struct uuid *);

// Whether the list wants a record with this id, namespace, status and job.
bool record_list_wants(const struct record_list *, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id);
bool record_list_has_namespace(const struct record_list *, const char *namespace_name);
