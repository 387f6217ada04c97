// ?filter= of a list: its items are written into memory and looked at there. What only the long form of
// an item has (attributes of a node, tasks of a job) can be asked for too.
#pragma once
#include "state/base/schema.h"
#include "tools/api/server/request.h"
#include "tools/forms/filter.h"

// Writes an item in the form that the list shows, or in its long form if that has more; or nothing when the
// item is gone by now. Under read lock.
typedef void list_filter_write(void *list, const void *item, bool whole, struct json_writer *);

struct list_filter {
	struct filter *filter; // NULL: everything fits
	struct json_writer scratch;
	// What has all that is asked for.
	enum filtered_form { FILTERED_SHOWN, FILTERED_WHOLE, FILTERED_BOTH } form;
};

// A filtered page or count looks at every record in one go. That is left to the background thread
// (background_answers.h), which calls the route's answer again. True when it was left.
bool list_filter_defers(struct request *, struct reply *, bool is_count);
// False when the parameter is no filter; the reply says so.
bool list_filter_read(const struct request *, struct list_filter *, struct reply *);
void list_filter_free(struct list_filter *);
// To be called with any one item before the list is filtered. Finds out whether items have the members that the
// filter asks for: a name that no item has is a mistake, 400. type: has names that items leave out when they are empty;
// or NULL. Under read lock.
bool list_filter_learn(struct list_filter *, const struct record_type *, list_filter_write *,
	void *list, const void *item, struct reply *);
// Under read lock.
bool list_filter_fits(struct list_filter *, list_filter_write *, void *list, const void *item);
