// What a controller tells an agent to run: whatever it is, it is understood or refused, and what is understood
// can be run by the mock driver to its end.
#include "state/base/check.h"
#include "tools/agent/drivers.h"
#include "tools/agent/runner.h"
#include "tools/agent/task/mock.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct uuid id = {{0xa1}};
static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};

// Every text of a task, through the environment.
static void expand_all(const struct alloc_spec *spec)
{
	struct task_folders folders = {"/a", "/l", "/s"};
	for (uint32_t i = 0; i < spec->task_count; i++) {
		struct environment e;
		struct mock_rules rules = mock_rules_read(&spec->tasks[i]);
		CHECK(rules.run_ns >= 0 && rules.exit_code >= 0 && rules.start_error);
		char message[300];
		(void)environment_build(
			&e, &facts, spec, &spec->tasks[i], &folders, message, sizeof message);
		char *expanded =
			environment_expand(&e, &facts, spec_text(spec->tasks[i].config, "command"));
		CHECK(!expanded || strlen(expanded) <= EXPANDED_BYTES_MAX);
		CHECK(e.bytes <= ENVIRONMENT_BYTES_MAX + 2 * EXPANDED_BYTES_MAX);
		free(expanded);
		environment_free(&e);
	}
}

// Without folders and processes: whatever the driver, it is the mock.
static void run(struct alloc_spec *spec, struct alloc_spec *again)
{
	struct prng prng;
	struct alloc_run *a = alloc_run_create(&id, 1, spec, agent_drivers);
	struct alloc_place place = {.data_folder = "/",
		.state_folder = "/",
		.node = &facts,
		.now_ns = 1,
		.prng = &prng};
	prng_seed(&prng, 1);
	for (uint32_t i = 0; i < a->task_count; i++)
		a->tasks[i].driver = &driver_mock;
	health_watch(&a->health, spec, place.now_ns);
	for (uint32_t turn = 0; turn < 50 && !alloc_run_is_over(a); turn++) {
		alloc_run_step(a, &place);
		CHECK(a->status <= WIRE_CLIENT_FAILED);
		CHECK(a->health.verdict == WIRE_HEALTH_UNSAID || a->health.deadline_ns == 0);
		int64_t due = alloc_run_due_ns(a);
		place.now_ns = due > place.now_ns ? due : place.now_ns + 1;
		if (turn == 20) {
			CHECK(alloc_run_revise(a, again, place.now_ns));
			again = NULL;
		}
		if (turn == 30)
			a->is_unwanted = true;
	}
	alloc_spec_free(again);
	alloc_run_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[200];
	struct alloc_spec *spec =
		alloc_spec_read((const char *)data, size, &id, message, sizeof message);
	if (!spec)
		return 0;
	CHECK(spec->task_count >= 1 && spec->task_count <= SPEC_TASKS_MAX);
	expand_all(spec);
	run(spec, alloc_spec_read((const char *)data, size, &id, message, sizeof message));
	return 0;
}
