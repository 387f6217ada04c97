// The settings of the schedulers that operators change (docs/spec/objects.md). One record, which always exists.
#pragma once
#include "state/base/schema.h"
#include "state/records/record.h"

enum scheduler_algorithm { ALGORITHM_BINPACK, ALGORITHM_SPREAD };
extern const char *const scheduler_algorithm_names[]; // "binpack" "spread" NULL

struct preemption_config {
	bool system, sysbatch, batch, service; // enabled
};

struct scheduler_config {
	struct record record;                // first
	int algorithm;                       // enum scheduler_algorithm
	struct preemption_config preemption; // default: system alone
	bool memory_oversubscription, reject_job_registration, pause_eval_broker;
};

extern const struct record_type scheduler_config_description;
