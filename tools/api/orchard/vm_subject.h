// The name that a write is about, and warnings about unknown members of its body; kept until the request is answered.
#pragma once
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

struct subject {
	char *name;
	struct json_report report;
};

struct subject *subject_begin(struct request *); // the request owns it
// NULL when the request has no subject.
const char *subject_name(const struct request *);
// Writes the member "warnings" if there are any.
void subject_warnings_json(struct json_writer *, const struct request *);
