// Refused nodes by reason and node class name, as metrics want them.
#pragma once
#include "placement/scheduler/node/stack_option.h"
#include "state/base/arena/arena.h"

struct refusal_count {      // nodes refused for one reason, of one node class name
	const char *reason; // NULL: for any
	const char *class_name;
	enum stack_outcome outcome;
	int64_t count;
	uint32_t of_reason, of_class; // the numbers of the reason, and of the count for any reason
	uint32_t next_class; // of a count for any reason: another such, counted from 1; 0: none
};

struct refusal_reason { // nodes refused for what reads the same
	const char *text;
	int64_t count;
	bool is_changed; // since the changes were forgotten
};

struct refusal_reasons {
	struct refusal_reason
		*items; // behind them: their numbers by text, and those of changed ones
	uint32_t count, changed_count, room;
};

struct refusal_counts {
	struct arena *arena; // of all that the counts have
	struct refusal_count *items;
	uint32_t count, room;
	uint32_t *buckets; // open addressing: numbers, counted from 1; NULL: counts are few
	uint32_t mask;
	struct refusal_reasons filtered, exhausted;
	uint32_t first_class; // the newest of the counts for any reason, counted from 1; 0: none
};

// Counts refused nodes, or takes some off when `by` is negative. Reason and class name outlive the counts, and are
// mostly the same pointers for the same texts.
void refusal_counts_add(struct refusal_counts *, const char *reason, const char *class_name,
	enum stack_outcome, int64_t by);
// Adds all counts to metrics, whose lists lie in the arena and have the names of the counts.
void refusal_counts_report(const struct refusal_counts *, struct alloc_metrics *, struct arena *);
// Adds all counts of both, but of the reasons why nodes were filtered only those that changed in the first, as they
// are now.
void refusal_counts_report_changes(const struct refusal_counts *,
	const struct refusal_counts *beside, struct alloc_metrics *, struct arena *);
void refusal_counts_forget_changes(struct refusal_counts *);
