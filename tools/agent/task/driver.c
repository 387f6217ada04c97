// Drivers by name, and the driver mock, which runs nothing and pretends.
#include "tools/agent/task/mock.h"
#include "tools/agent/task/task.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const struct driver *driver_find(const struct driver *const *table, const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

static void pretend(struct task *t, const struct mock_rules *rules, int64_t ends_ns)
{
	t->mock = (struct mock){.ends_ns = ends_ns,
		.kill_after_ns = rules->kill_after_ns,
		.exit_code = rules->exit_code,
		.exit_signal = rules->exit_signal};
	if (rules->is_remote)
		mock_handle_write(&t->handle, ends_ns);
}

static int start_mock(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	struct mock_rules rules = mock_rules_read(t->spec);
	*recoverable = rules.error_is_recoverable;
	if (*rules.start_error) {
		snprintf(message, message_size, "%s", rules.start_error);
		return rules.error_is_nodes_fault ? -EIO : -EINVAL;
	}
	// 0: the task runs until it is told to end.
	pretend(t, &rules, rules.ends ? start->now_ns + rules.start_block_ns + rules.run_ns : 0);
	return 0;
}

// A pretended task's time runs on while no agent runs.
static bool resume_mock(struct task *t, const struct task_start *start, const struct handle *handle)
{
	struct mock_rules rules = mock_rules_read(t->spec);
	int64_t ends_ns;
	(void)start;
	if (!rules.is_remote || !mock_handle_read(handle, &ends_ns))
		return false;
	pretend(t, &rules, ends_ns);
	return true;
}

static void signal_mock(struct task *t, int number, int64_t now_ns)
{
	bool forced = number == SIGKILL;
	t->mock.ends_ns = now_ns + (forced ? 0 : t->mock.kill_after_ns);
	t->mock.exit_code = 0;
	t->mock.exit_signal = forced ? SIGKILL : 0;
}

static bool mock_has_ended(const struct task *t, int64_t now_ns, struct process_end *how)
{
	*how = (struct process_end){t->mock.exit_code, t->mock.exit_signal, true};
	return t->mock.ends_ns && now_ns >= t->mock.ends_ns;
}

const struct driver driver_mock = {.name = "mock",
	.start = start_mock,
	.resume = resume_mock,
	.signal = signal_mock,
	.has_ended = mock_has_ended};
