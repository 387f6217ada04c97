// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form.
#include "state/records/scheduler_config.h"
#include "state/base/schema_table.h"

const char *const scheduler_algorithm_names[] = {"binpack", "spread", NULL};

static const struct field preemption_config_fields[] = {
	{"SystemSchedulerEnabled", FIELD_BOOL, OF(preemption_config, system), INITIALLY(true)},
	{"SysBatchSchedulerEnabled", FIELD_BOOL, OF(preemption_config, sysbatch)},
	{"BatchSchedulerEnabled", FIELD_BOOL, OF(preemption_config, batch)},
	{"ServiceSchedulerEnabled", FIELD_BOOL, OF(preemption_config, service)},
};
static DESCRIBE(preemption_config_description, preemption_config);

static const struct field scheduler_config_fields[] = {
	{"SchedulerAlgorithm", FIELD_ENUM, OF(scheduler_config, algorithm), NULL,
		scheduler_algorithm_names},
	{"PreemptionConfig", FIELD_STRUCT, OF(scheduler_config, preemption),
		&preemption_config_description},
	{"MemoryOversubscriptionEnabled", FIELD_BOOL,
		OF(scheduler_config, memory_oversubscription)},
	{"RejectJobRegistration", FIELD_BOOL, OF(scheduler_config, reject_job_registration)},
	{"PauseEvalBroker", FIELD_BOOL, OF(scheduler_config, pause_eval_broker)},
	{"CreateIndex", FIELD_U64, OF(scheduler_config, record.create_index), NULL, NULL,
		FIELD_DERIVED},
	{"ModifyIndex", FIELD_U64, OF(scheduler_config, record.modify_index), NULL, NULL,
		FIELD_DERIVED},
};
DESCRIBE(scheduler_config_description, scheduler_config);
