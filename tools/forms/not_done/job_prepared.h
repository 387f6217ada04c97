// Whether what tasks need before they start can be made: their artifacts and their templates. What a node could not do
// is refused here, with its place, for nobody sees a node fail at night.
#pragma once
#include "state/records/job.h"
#include "tools/json/json_reader.h"

// Of a canonical job; where Nomad has words for a mistake, they are Nomad's. Clients run the instances of direct jobs.
void job_check_prepared(const struct job *, struct json_sentences *refusals);
