// A job of several regions, as one of them has it.
#pragma once
#include "state/records/job.h"

// The region's place among the job's regions; -1 when it is none of them, or the job names no regions.
int job_region_index(const struct job *, const char *region);
// Puts into the job what it says for the region: counts of groups that have none, datacenters, node pool, metadata. A
// second time changes nothing. False, and the job stays as it is, when the region is none of the job's.
bool job_take_region(struct job *, const char *region);
