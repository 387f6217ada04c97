// Counters of commands, batches and plans. One of the applier's two threads writes each field; any thread reads.
#pragma once
#include "state/log/command.h"
#include <stdatomic.h>

struct applier_counters {
	_Atomic uint64_t outcomes[COMMAND_TYPES][COMMAND_OUTCOMES];
	_Atomic uint64_t batches, entries, batch_bytes;
	_Atomic uint64_t log_waits;   // times append returned ENOSPC and is retried
	_Atomic uint64_t log_slow;    // appends that took a second or longer
	_Atomic uint64_t placements;  // instances that were placed, by plans and directly
	_Atomic uint64_t bad_choices; // placement chose a node that does not fit; refused
	_Atomic uint64_t
		worker_claims; // registrations that named the worker of another node; refused
	// Histograms, powers of two of microseconds: bucket i counts values < 2^i us.
	_Atomic uint64_t journal_us[32]; // one commit
	_Atomic uint64_t place_us[32];   // time from submit to done
	_Atomic uint64_t journal_us_sum, place_us_sum;
	_Atomic uint64_t evaluate_us[32]; // a plan's check against every node that it touches
	_Atomic uint64_t apply_us[32];    // from there until it is durable
	_Atomic uint64_t evaluate_us_sum, apply_us_sum;
};
