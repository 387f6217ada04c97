// Lines of the log about virtual machines: what became of each, and what each turn of their scheduler did (rows D1,
// D17, D19). Each kind of line has a budget of its own (state/base/log.h).
#pragma once
#include "state/records/nodes/vm.h"

// A change that was published; before NULL: there was none. Failures, lost workers, restarts and deletions are logged
// at level info, everything else at debug.
void vm_log_change(const struct vm *before, const struct vm *after, int64_t now_ns);

// One pass of a turn. A pass that failed has looked at 0 workers and 0 machines, whatever it did before.
struct vm_pass_log {
	uint32_t workers, vms;
	uint64_t changed; // machines that were written, or got a worker
	uint64_t took_ns;
	int error; // negative; 0: it came to its end
};
void vm_log_turn(const struct vm_pass_log *health, const struct vm_pass_log *scheduling);
