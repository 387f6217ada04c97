// What a list of the API has: its columns, and what each of them says of an item.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define LIST_ROOM_BYTES 1024u

enum list_form {
	LIST_TEXT,
	LIST_ID, // a UUID: its beginning in tables, the whole elsewhere
	LIST_NUMBER,
	LIST_AGE,    // Unix nanoseconds: how long ago in tables, the time elsewhere
	LIST_STATUS, // a text that has a colour on a terminal
	LIST_SWITCH, // true or false
};

struct list_value {
	const char *text; // borrowed from the item, or room
	double number;    // to sort by, when the form is one
	char room[LIST_ROOM_BYTES];
};

struct list_column {
	const char *heading; // "Node ID", which --columns, --sort and templates call node-id
	const char *
		member; // of the item: "NodeID", "JobSummary.Children.Pending"; a list is joined by commas
	enum list_form form;
	bool is_wide;                                   // shown when asked for only
	const char *absent;                             // what stands where the item says nothing
	void (*put)(json_t *item, struct list_value *); // in place of member
};

struct list {
	const char *noun; // "nodes"
	const struct list_column *columns;
	uint32_t column_count;
	const char *name;        // what -o name prints: a column
	const char *totals;      // the column by whose values --totals counts; NULL: none
	const char *sort;        // as --sort, when that is not given; NULL: as the controller sends
	const char *whole_query; // what the address needs for wide columns; NULL: nothing
	const char *status;      // the member that --status compares; NULL: there is no --status
	const char *const *statuses; // what --status may be; NULL-ended
};
#define LIST_COLUMNS(columns) (columns), sizeof(columns) / sizeof(columns)[0]
