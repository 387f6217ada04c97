// A scheduling pass (rows D5 to D11): each machine that wants a worker, the oldest first, goes to the first worker that
// suits it and has room. A proposal takes its room at once; the caller withdraws one that cannot be done, and may have
// the next worker tried (rows D12 and D13). Pure: no clock, no tables, and the same roster gives the same proposals.
#pragma once
#include "placement/vms/roster.h"

struct vm_pass;
struct vm_proposal {
	const struct vm *vm;
	const struct vm_worker *worker;
	uint32_t worker_number; // in the roster
	uint32_t candidate;     // in the pass
};

// Only the roster's workers and the machines that want one must stay until vm_pass_end. Workers must be in order.
// The settings count for the whole pass.
struct vm_pass *vm_pass_begin(const struct vm_roster *, const struct cluster_settings *);
void vm_pass_end(struct vm_pass *); // NULL is fine
// The next proposals, at most `most`; 0 when no machine left finds a worker.
uint32_t vm_pass_propose(struct vm_pass *, struct vm_proposal *, uint32_t most);
// The proposal was not carried out. again: tries another worker, else the pass leaves the machine out. Either way
// other machines get the room, also those that have found none so far.
void vm_pass_withdraw(struct vm_pass *, const struct vm_proposal *, bool again);
