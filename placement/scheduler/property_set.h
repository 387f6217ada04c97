// How many allocations of a job (or of one of its groups) there are for each value of a node property: what
// distinct_property and spread count (row A48, trap 17; §4.5). Counted are living allocations of this
// incarnation of the job and planned placements; planned stops of counted ones are taken off.
#pragma once
#include "placement/constraint.h"
#include "placement/scheduler/view.h"

struct property_count {
	const char *value; // NULL: free
	int64_t used;      // counted, stops included
	int64_t cleared;   // planned stops among them
};

struct property_set {
	struct node_property *property;
	const char *attribute;         // as in the job
	const char *group;             // NULL: of the whole job
	bool usable;                   // the limit is a number
	int64_t limit;                 // of distinct_property
	struct property_count *counts; // open addressing by value
	uint32_t mask, count;
	uint64_t changes; // grows with each change of a count
};

void property_set_begin(struct property_set *, const char *attribute, const char *group);
void property_set_release(struct property_set *);

// Counts what is there of the job.
void property_set_load(struct property_set *, const struct scheduler_view *, const struct job *);
// Whether load counts this allocation.
bool property_set_counts(
	const struct property_set *, const struct job *, const struct allocation *);
// One more (or less, by -1) placement, planned stop, on a node; NULL: the node is gone, nothing to count.
void property_set_use(struct property_set *, const struct node *, int by);
void property_set_clear(struct property_set *, const struct node *, int by);

// NULL: the node does not have it.
const char *property_set_value(
	const struct property_set *, const struct node *, char id[UUID_TEXT_BYTES]);
// Allocations with this value, never below 0.
int64_t property_set_used(const struct property_set *, const char *value);
// The least and the most over the values that are known, those cleared to 0 included. False: there are none.
bool property_set_range(const struct property_set *, int64_t *least, int64_t *most);
