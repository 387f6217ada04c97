// Allocations of an evaluation or of a deployment.
#pragma once
#include "tools/api/lists/record_list.h"

// An evaluation or a deployment that owns some of its job's allocations.
struct allocation_owner {
	struct uuid id;
	uint64_t create_index;
	const char *namespace_name, *job_id;
};
// Finds the owner that the path names; false: there is none. Under read lock.
typedef bool find_allocation_owner(const struct request *, struct allocation_owner *);
// For routes: the owner's allocations, and when one of them last changed. An unknown owner has none, as in Nomad.
uint64_t owned_allocations_watched(const struct request *, find_allocation_owner *);
void owned_allocations_answer(
	struct request *, struct reply *, find_allocation_owner *, const struct record_kind *);
extern const struct record_kind allocations_of_evaluation, allocations_of_deployment;
