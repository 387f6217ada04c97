// Reads of one record that the path names: its present state, or 404.
#pragma once
#include "tools/api/server/request.h"

struct one_record {
	const char *noun;       // in the message of a 404: "alloc"
	enum state_table table; // whose record has the id that the path names
	// Instead: finds the record by the path, or NULL. Under read lock.
	const void *(*find)(const struct request *);
	const struct record_type *type; // describes the answer
	// Instead. Under read lock.
	void (*write)(struct json_writer *, const struct request *, const void *record);
	route_watched *watched; // NULL: the index of its last change
};

// The record of the table that has the id in the path, or the job that path and ?namespace= name; NULL: there is none.
// Under read lock.
const void *record_of_path(const struct request *, enum state_table);
const struct job *job_of_path(const struct request *);
