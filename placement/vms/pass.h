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
	uint32_t candidate;     // the pass's
};

// Of the roster's machines only those that want a worker, and all workers, must stay until the end. Workers are in
// order. profile: of the settings, NULL is none.
struct vm_pass *vm_pass_begin(const struct vm_roster *, const char *profile);
void vm_pass_end(struct vm_pass *); // NULL is fine
// The next ones, at most as many; 0 when nothing is left that finds a worker.
uint32_t vm_pass_propose(struct vm_pass *, struct vm_proposal *, uint32_t most);
// The proposal was not carried out. again: another worker is tried, else the pass leaves the machine out. Either way
// its room is free for other machines, also for those that have found nothing so far.
void vm_pass_withdraw(struct vm_pass *, const struct vm_proposal *, bool again);
