// The HTTP API: Nomad's v1 JSON over libmicrohttpd, plus metrics.
#pragma once
#include "tools/api/server/settings.h"

struct api;

// message: what failed, where, and what to do.
int api_start(const struct api_settings *, struct api **, char *message, uint32_t message_size);
uint16_t api_port(const struct api *);
// Reads the files of TLS anew, for connections that come from now on, and opens the audit log anew. False, and a
// sentence: what it is about is as it was.
bool api_reload(struct api *, char *message, uint32_t message_size);
// Answers parked queries, then waits for commands under way: the applier must still run, or all submitted commands must
// be done.
void api_stop(struct api *);
