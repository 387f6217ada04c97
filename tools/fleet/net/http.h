// The fleet's only HTTP request: it registers a job.
#pragma once
#include <jansson.h>
#include <stdint.h>

// PUT <base>/v1/jobs with {"Job": job}. Takes over the reference to job. Returns 0, or -errno and a sentence (from the
// server) in message.
int http_put_job(const char *base, json_t *job, char *message, uint32_t message_size);
