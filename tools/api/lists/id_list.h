// A list of collected ids: sorted, cut to the page, then streamed record by record.
#pragma once
#include "state/base/uuid.h"
#include "tools/api/lists/list_filter.h"

struct id_item {
	struct uuid id;
	uint32_t slot; // of a node; else unused
};

struct id_list {
	struct api *api;
	struct id_item *items;
	uint32_t count, capacity, next;
	uint32_t visited; // records that the caller looked at, when it can be many
	bool detailed;    // the long form, or with resources
	bool os;          // of nodes: with their operating system
	// Writes one item, or nothing when its record is gone. Under read lock.
	void (*write)(struct id_list *, struct json_writer *, const struct id_item *);
	// For filters, as in cursor_list.h.
	void (*write_whole)(struct id_list *, struct json_writer *, const struct id_item *);
	const struct record_type *type;
	struct list_filter filter;
};

struct id_list *id_list_create(struct api *);
void id_list_add(struct id_list *, const struct uuid *, uint32_t slot);
// Counts a record that is looked at. False: the list takes so long that it should begin in the background.
bool id_list_visits(struct id_list *, const struct request *);
// Once that was false: frees the list, and has the route's answer called again there. False: it never was.
bool id_list_begins_again(struct id_list *, struct request *, struct reply *);
// Sorts the list, applies ?filter=, ?reverse=, ?per_page= and ?next_token= and makes it the reply's stream, or refuses
// them. Owns the list and frees it.
void id_list_answer(struct id_list *, uint64_t index, struct request *, struct reply *);
void id_list_free(struct id_list *);

// ?prefix= for a list of UUIDs: hexadecimal digits and dashes.
struct id_prefix {
	char digits[UUID_TEXT_BYTES]; // lower case
	uint32_t size;
};
// False with a reply when it is no prefix of a UUID. what: "node", "alloc".
bool id_prefix_read(const struct request *, const char *what, struct id_prefix *, struct reply *);
bool id_prefix_fits(const struct id_prefix *, const struct uuid *);
