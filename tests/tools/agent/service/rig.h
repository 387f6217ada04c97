// A node's runner with real processes and the real time on a thread, its service, and a client that talks HTTP to it
// over a socketpair. One a program.
#pragma once
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include <stdbool.h>
#include <stddef.h>

extern char rig_folder[64];
extern struct ask_runner *rig_mailbox;
extern struct agent_service *rig_service;
extern const struct uuid rig_id;
#define RIG_ID "a10c0000-0000-0000-0000-000000000001"

// As a set-up and a tear-down.
int rig_open(void **state);
int rig_close(void **state);

// Waits up to twenty seconds.
#define RIG_WAIT(condition)                                \
	do {                                               \
		uint32_t tries_ = 0;                       \
		while (!(condition) && tries_++ < 4000)    \
			rig_nap_ms(5);                     \
		if (!(condition))                          \
			fail_msg("never: %s", #condition); \
	} while (0)
void rig_nap_ms(uint32_t ms);

// Has the runner run an allocation with these tasks, objects of JSON.
void rig_run(const char *job_type, const char *tasks);
// A task of raw_exec that runs a script of sh; further: members, each with its comma.
#define RIG_SH(name, script, further)                                                              \
	"{\"Name\":\"" name "\",\"Driver\":\"raw_exec\",\"Config\":{\"command\":\"sh\",\"args\":[" \
	"\"-c\",\"" script "\"]}" further "}"
void rig_stop(void);
// What the runner has of a task, copied; it has no pointers of use.
struct task rig_task(const char *name);
// Whether the task has an event of this type, and one that has this in its message.
bool rig_has_event(const char *task, const char *type, const char *part);
uint8_t rig_status(void);

// A file or folder of the allocation, below its folder.
void rig_path(const char *below, char path[static 300]);
void rig_write(const char *below, const char *flags, const char *text);

struct answer {
	int status;
	char head[2000];
	char *body; // its chunks joined; NUL-terminated
	size_t size;
};
// Asks on a new connection; the answer is valid until the next one. path: with its query; body NULL: none.
const struct answer *rig_ask(const char *method, const char *path, const char *body);
const struct answer *rig_get(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Whether the answer's head has this line.
bool rig_has_header(const struct answer *, const char *line);

// An answer that goes on: the connection, behind the answer's head.
int rig_follow(const char *path);
// Reads its chunks into one text until it has this part. False: the answer has ended, or nothing came for ten seconds.
bool rig_read_until(int fd, char *text, size_t size, const char *part);
