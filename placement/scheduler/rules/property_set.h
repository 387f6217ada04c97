// How many allocations of a job (or of one of its groups) there are for each value of a node property, as
// distinct_property and spread count them (row A48; docs/spec/scoring.md). It counts living allocations of this
// incarnation of the job and planned placements, and takes off planned stops of counted allocations.
#pragma once
#include "placement/constraint/constraint.h"
#include "placement/scheduler/common/view.h"

struct property_count {
	const char *value;
	int64_t used;    // with planned stops
	int64_t cleared; // planned stops among used
	bool counted;    // else the value is only known
};

struct property_set {
	struct node_property *property;
	const char *attribute;         // as in the job
	const char *group;             // NULL: the whole job's
	bool usable;                   // the limit is a valid number
	int64_t limit;                 // of distinct_property
	struct property_count *counts; // by number, in the order in which values were met
	uint32_t count, room;
	uint32_t *numbers; // open addressing by value: its number, counted from 1
	uint32_t mask;
	uint64_t changes; // grows with each change of a count
	int64_t total;    // allocations of all values
	struct property_range {
		bool any;
		int64_t least, most;
	} range; // over the values that were counted, when range_at is changes + 1
	uint64_t range_at;
};
#define VALUE_NONE 0xffffffffu

void property_set_begin(struct property_set *, const char *attribute, const char *group);
void property_set_release(struct property_set *);

// Counts the job's existing allocations.
void property_set_load(struct property_set *, const struct scheduler_view *, const struct job *);
// Whether load counts this allocation.
bool property_set_counts(
	const struct property_set *, const struct job *, const struct allocation *);
// Adds `by` (1 or -1) to the placements or to the planned stops on a node. NULL: the node is gone, and nothing is
// counted.
void property_set_use(struct property_set *, const struct node *, int by);
void property_set_clear(struct property_set *, const struct node *, int by);

// The node's value; NULL: it has none.
const char *property_set_value(
	const struct property_set *, const struct node *, char id[UUID_TEXT_BYTES]);
// The number of a value, which becomes known.
uint32_t property_set_number(struct property_set *, const char *value);
// Allocations with this value, never below 0.
int64_t property_set_used(const struct property_set *, const char *value);
static inline int64_t property_count_left(const struct property_count *c)
{
	return c->used > c->cleared ? c->used - c->cleared : 0;
}
// The least and the most over the counted values, including those cleared to 0.
struct property_range property_set_range(const struct property_set *);
// Keeps the range until the next change, for callers that ask many times.
void property_set_settle(struct property_set *);
