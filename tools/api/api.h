// The HTTP API: Nomad's v1 JSON over libmicrohttpd, plus metrics.
#pragma once
#include "tools/api/server/settings.h"

struct api;

// message: what, where and what to do on failure.
int api_start(const struct api_settings *, struct api **, char *message, uint32_t message_size);
uint16_t api_port(const struct api *);
// Ends parked queries with an answer. The applier must still run (or all that was submitted be
// done): commands that are under way are waited for.
void api_stop(struct api *);
