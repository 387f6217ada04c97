// Reads of one record that the path names: how it is now, or that it is not there.
#pragma once
#include "tools/api/server/request.h"

struct one_record {
	const char *noun;   // of what is not found: "alloc"
	bool says_its_name; // then: VM "x" not found
	// By the path, or NULL. Under read lock.
	const void *(*find)(const struct request *);
	// Under read lock.
	void (*write)(struct json_writer *, const struct request *, const void *record);
	route_watched *watched; // NULL: the index of its last change
};
