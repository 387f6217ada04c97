// The fleet's only HTTP request: it registers a job.
#pragma once
#include "tools/http_client/http_client.h"
#include <jansson.h>
#include <stdint.h>

// The controller's API, and how it is asked.
struct api_access {
	const char *url, *token;
	struct http_tls tls;
};

// What the environment says of it, else http://127.0.0.1:4646.
struct api_access api_access_preset(void);

// PUT <url>/v1/jobs with {"Job": job}. Takes over the reference to job. Returns 0, or -errno and a sentence (from the
// server) in message.
int http_put_job(const struct api_access *, json_t *job, char *message, uint32_t message_size);
