// A job of several regions, as one of them has it.
#pragma once
#include "state/records/job.h"

// Where it is among the job's regions, or -1; also when it is no such job.
int job_region_index(const struct job *, const char *region);
// What the region says of it goes into the job: counts of groups that have none, datacenters, node pool, metadata.
// Doing it twice changes nothing. False, and nothing is changed, when the region is none of the job's.
bool job_take_region(struct job *, const char *region);
