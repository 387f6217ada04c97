// Variables that templates read: each is asked for and then watched by a thread of its own, for that is how long a
// question waits. The main thread sees what the threads bring only in variables_step.
#pragma once
#include "tools/agent/prepare/variable_source.h"
#include "tools/template/template.h"

// Watched at a time; one more fails its template.
#define VARIABLES_WATCHED_MAX 256u

struct variables;
struct variable_watch;

// source NULL: nothing can be read. wake_fd, an eventfd, is written to when there is something new. NULL: no memory.
struct variables *variables_open(const struct variable_source *, int wake_fd);
// Ends all questions, and waits for their threads; what is known stays, and nothing more is asked. NULL is fine.
void variables_stop(struct variables *);
// Stops, and frees all watches.
void variables_close(struct variables *);
// Takes what came.
void variables_step(struct variables *);

// Begins to watch. NULL and a sentence: there are too many, or there is no source.
struct variable_watch *variables_watch(struct variables *, const struct uuid *allocation,
	const char *task, const char *target, char *message, uint32_t message_size);
void variables_leave(struct variables *, struct variable_watch *);

const char *variable_watch_target(const struct variable_watch *);
// What it is now; the JSON is good until the next step. *trouble: why it could not be read, "" if it could.
enum template_found variable_watch_now(
	const struct variable_watch *, const json_t **value, const char **trouble);
// Grows with every change.
uint64_t variable_watch_changes(const struct variable_watch *);
