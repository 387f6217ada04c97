// What a write is about and what of its body was not known, kept with the request until it is answered.
#pragma once
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

struct subject {
	char *name;
	struct json_report report;
};

struct subject *subject_begin(struct request *); // the request's
// The name that it was given; NULL when there is no subject.
const char *subject_name(const struct request *);
// Member "warnings" when there are any.
void subject_warnings_json(struct json_writer *, const struct request *);
