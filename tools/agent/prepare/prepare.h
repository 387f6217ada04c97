// What tasks need before they start: artifacts, then templates; and templates whose variables change while they run.
// Artifacts are fetched by helper processes, variables are watched by threads; all else happens on the main thread,
// which never waits.
#pragma once
#include "tools/agent/prepare/artifacts.h"
#include "tools/agent/prepare/variable_source.h"
#include "tools/agent/task/preparation.h"

struct prepare_settings {
	const char *helper; // the program that fetches: berth-agent itself
	struct artifact_limits limits;
	struct variable_source source; // ask NULL: templates that read variables fail
	uint64_t seed;
};

struct preparations;

// NULL and a sentence.
struct preparations *preparations_open(
	const struct prepare_settings *, char *message, uint32_t message_size);
// Ends all questions for variables, and waits for their threads: the source may go then. NULL is fine.
void preparations_stop(struct preparations *);
// After all tasks are forgotten. NULL is fine.
void preparations_close(struct preparations *);
// Readable when a step is due.
int preparations_fd(const struct preparations *);
void preparations_step(struct preparations *);
const struct preparation *preparations_of_tasks(const struct preparations *);
