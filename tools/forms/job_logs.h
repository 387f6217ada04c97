// Whether the logs of tasks have room on the disk that their group asks for.
#pragma once
#include "state/records/job.h"
#include "tools/json/json_reader.h"

// Of a canonical job; the refusals have Nomad's words. Clients run the instances of direct jobs, with their own logs.
void job_check_logs(const struct job *, struct json_sentences *refusals);
