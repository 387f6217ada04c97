// Starts and stops the server.
#pragma once
#include "tools/api/server/server.h"

// wake_fd: an eventfd after which parked requests are checked, or -1. message: what failed, where, and what to do.
int api_server_start(const struct api_settings *, const struct route_table *, int wake_fd,
	struct api **, char *message, uint32_t message_size);
void api_server_stop(struct api *);
// Reads the certificate, its key and the authorities of clients anew, for connections that come from now on, and opens
// the audit log anew. False, and a sentence: what it is about is as it was. One thread at a time.
bool api_server_reload(struct api *, char *message, uint32_t message_size);
// When the certificate ends that connections are given now, Unix time; 0: without TLS.
int64_t api_server_certificate_end_s(const struct api *);
