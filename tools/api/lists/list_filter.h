// ?filter= of a list: it writes the members of each item that the filter names into memory and checks them there. A
// filter may also name members of an item's long form (attributes of a node, tasks of a job).
#pragma once
#include "state/base/schema.h"
#include "tools/api/server/request.h"
#include "tools/forms/filter.h"

// Writes an item in the list's form, or in its long form if that has more; nothing when the record is gone. Under read
// lock.
typedef void list_filter_write(void *list, const void *item, bool whole, struct json_writer *);

struct list_filter {
	struct filter *filter; // NULL: every item fits
	struct json_writer scratch;
	// The cheapest form with all members that the filter names.
	enum filtered_form { FILTERED_SHOWN, FILTERED_WHOLE, FILTERED_BOTH } form;
};

// False with a reply when the parameter is no filter.
bool list_filter_read(const struct request *, struct list_filter *, struct reply *);
void list_filter_free(struct list_filter *);
// Call it with any one item before the list is filtered. Finds the form that has the members the filter names; a name
// that no item has is a mistake, 400. type: names that items leave out when they are empty; or NULL. Under read lock.
bool list_filter_learn(struct list_filter *, const struct record_type *, list_filter_write *,
	void *list, const void *item, struct reply *);
// Under read lock.
bool list_filter_fits(struct list_filter *, list_filter_write *, void *list, const void *item);
