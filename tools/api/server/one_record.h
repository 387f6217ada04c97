// Reads of one record that the path names: its present state, or 404.
#pragma once
#include "tools/api/server/request.h"

struct one_record {
	const char *noun;   // in the message of a 404: "alloc"
	bool says_its_name; // the message is then: VM "x" not found
	// Finds the record by the path, or NULL. Under read lock.
	const void *(*find)(const struct request *);
	// Under read lock.
	void (*write)(struct json_writer *, const struct request *, const void *record);
	route_watched *watched; // NULL: the index of its last change
};
