// The protocol of a virtual machine's monitor (QMP): one JSON object a line over a socket in the machine's folder.
// Nothing here blocks.
#pragma once
#include <jansson.h>
#include <stdbool.h>

#define QMP_SOCKET "qmp.sock"

struct qmp;

// NULL when nobody listens there (yet). Caller closes.
struct qmp *qmp_open(const char *folder);
void qmp_close(struct qmp *);   // NULL is allowed
int qmp_fd(const struct qmp *); // readable when something was said

// Owns the command from now on. The descriptor fd goes with it if fd ≥ 0. False: the machine is gone, or does not
// listen.
bool qmp_send(struct qmp *, json_t *command, int fd);
// The next object that is not an event. NULL: none yet, or never again (*is_over). Caller frees. Reads only so much at
// a time: after NULL the descriptor tells whether there is more.
json_t *qmp_receive(struct qmp *, bool *is_over);
