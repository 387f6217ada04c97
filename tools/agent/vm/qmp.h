// What a virtual machine's monitor is told and answers (QMP): one JSON object a line over a socket in the machine's
// folder. Nothing here waits.
#pragma once
#include <jansson.h>
#include <stdbool.h>

#define QMP_SOCKET "qmp.sock"

struct qmp;

// NULL when nobody listens there (yet). Caller closes.
struct qmp *qmp_open(const char *folder);
void qmp_close(struct qmp *); // NULL is allowed

// Takes the command over. fd ≥ 0 goes with it. False: the machine is gone, or does not listen.
bool qmp_send(struct qmp *, json_t *command, int fd);
// The next object that is not an event. NULL: none yet, or never again (*is_over). Caller frees.
json_t *qmp_receive(struct qmp *, bool *is_over);
