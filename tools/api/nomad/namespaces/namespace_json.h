// Namespaces in the JSON of Nomad's clients.
#pragma once
#include "state/records/namespaces/job_namespace.h"
#include "tools/json/json_writer.h"

void namespace_json(struct json_writer *, const struct job_namespace *);
// "default", when nobody described it.
void namespace_json_built_in(struct json_writer *);
