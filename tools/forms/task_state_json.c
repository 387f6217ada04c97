#include "tools/forms/task_state_json.h"
#include "state/records/alloc_details.h"
#include "tools/json/json_record.h"

// Members of Nomad's task events that are empty here, but that clients expect.
static void put_event(struct json_writer *w, const struct task_event *event)
{
	static const char *const texts[] = {"Message", "RestartReason", "SetupError", "DriverError",
		"KillError", "KillReason", "DownloadError", "ValidationError", "FailedSibling",
		"VaultError", "TaskSignalReason", "TaskSignal", "DriverMessage", "GenericSource"};
	static const char *const numbers[] = {"Signal", "KillTimeout", "StartDelay", "DiskLimit"};
	json_begin_object(w);
	json_put_string(w, "Type", event->type);
	json_put_i64(w, "Time", event->time_ns);
	json_put_string(w, "DisplayMessage", event->display_message);
	json_open_object(w, "Details");
	json_end_object(w);
	json_put_bool(w, "FailsTask", false);
	json_put_i64(w, "ExitCode", event->exit_code);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		json_put_string(w, texts[i], "");
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		json_put_u64(w, numbers[i], 0);
	json_end_object(w);
}

static void put_state(struct json_writer *w, const struct task_state *state)
{
	json_open_object(w, state->task);
	json_put_string(w, "State", task_state_names[state->state]);
	json_put_bool(w, "Failed", state->failed);
	json_put_i64(w, "Restarts", state->restarts);
	json_put_time(w, "LastRestart", state->last_restart_ns);
	json_put_time(w, "StartedAt", state->started_at_ns);
	json_put_time(w, "FinishedAt", state->finished_at_ns);
	json_open_array(w, "Events");
	for (uint32_t i = 0; i < state->events.count; i++)
		put_event(w, ARRAY_AT(&state->events, struct task_event, i));
	json_end_array(w);
	json_put_record(w, "TaskHandle", &task_handle_description, state->handle);
	json_end_object(w);
}

void task_states_json(struct json_writer *w, const struct allocation *a)
{
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(a->report, &room);

	if (json_open_object_if(w, "TaskStates", report && report->task_states.count)) {
		for (uint32_t i = 0; i < report->task_states.count; i++)
			put_state(w, ARRAY_AT(&report->task_states, struct task_state, i));
		json_end_object(w);
	}
	alloc_report_close(&room);
}
