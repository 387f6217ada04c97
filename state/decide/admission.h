// Whether nodes may be what they say they are: the rules in the order in which they count, and the look at nodes that
// are there already when a rule changed. Applier thread only.
#pragma once
#include "state/records/nodes/admit_rule.h"
#include <stdint.h>

struct state;

struct admissions {
	bool knows_all;     // only nodes that a rule names may register
	bool are_in_order;  // `globs` is as the table is
	uint32_t next_slot; // to be looked at again; beyond the last: none
	uint32_t glob_count;
	const struct admit_rule **globs; // owned; those that stand first count
	// Notes of refused nodes that may still be made in the second that began then.
	uint32_t notes_left;
	int64_t notes_since_ns;
};

void admissions_release(struct admissions *);
// Rules came, went or changed: the rules are put in order anew, and all nodes are looked at again.
void admissions_change(struct admissions *);
// Judges a claim. rule: which one says so; NULL: none names the node.
enum admission admissions_judge(struct admissions *, const struct state *,
	const struct admit_claim *, const struct admit_rule **rule);
