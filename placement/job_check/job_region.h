// A job of several regions, in the form of one region.
#pragma once
#include "state/records/job.h"

// The region's index among the job's regions; -1 when the job does not name it or names no regions.
int job_region_index(const struct job *, const char *region);
// Applies the job's values for the region: counts of groups that have none, datacenters, node pool, metadata. A
// second call changes nothing. False, and the job is unchanged, when the region is not one of the job's.
bool job_take_region(struct job *, const char *region);
