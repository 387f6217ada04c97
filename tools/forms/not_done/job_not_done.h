// What a job asks for and Berth does not do. Nobody shall wait for something that never comes: what has no effect is a
// warning, and a job that would run wrong without it is refused.
#pragma once
#include "state/records/job.h"
#include "tools/json/json_reader.h"

// Of a canonical job. Clients run the instances of direct jobs themselves: these are told nothing.
void job_not_done(
	const struct job *, struct json_sentences *warnings, struct json_sentences *refusals);
// Warns of the one spec of a periodic job, for which a list of them is there.
void job_warn_of_cron(const struct job *, struct json_sentences *warnings);
// Warns of memory_max as long as the configuration of the schedulers does not allow oversubscription.
void job_warn_of_memory_max(
	const struct job *, bool oversubscription, struct json_sentences *warnings);
