#include "placement/watch/drains/migrate_flags.h"
#include "state/log/command.h"
#include "state/records/alloc_details.h"
#include "state/records/evaluation.h"

int flag_to_migrate(const struct watch_tools *tools, const struct uuid *ids, uint32_t count)
{
	static const struct desired_transition migrate = {.migrate = {true, true}};
	int error = 0;

	for (uint32_t i = 0; i < count && error == 0; i += FLAGS_AT_ONCE) {
		struct command_alloc_transitions ask = {
			.ids = ids + i,
			.count = count - i < FLAGS_AT_ONCE ? count - i : FLAGS_AT_ONCE,
			.transition = &migrate,
			.trigger = TRIGGER_NODE_DRAIN,
		};
		struct command command = {
			.type = COMMAND_ALLOC_TRANSITIONS, .alloc_transitions = &ask};
		error = watch_run(tools, &command);
		if (error == 0)
			watch_count(tools, &tools->stats->allocations_flagged, ask.count);
	}
	return error;
}

int release_allocations(const struct watch_tools *tools, const struct uuid *ids, uint32_t count)
{
	int error = 0;

	for (uint32_t i = 0; i < count && error == 0; i++) {
		struct command command = {
			.type = COMMAND_ALLOC_STOP, .alloc_stop = {.allocation = ids[i]}};
		error = watch_run(tools, &command);
		if (command.outcome == OUTCOME_UNKNOWN_ALLOCATION)
			error = 0; // gone meanwhile
		if (error == 0)
			watch_count(tools, &tools->stats->allocations_flagged, 1);
	}
	return error;
}
