// What the program logs at level debug and above between two calls, for tests of log lines.
#pragma once
#include "state/base/check.h"
#include "state/base/log.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct log_capture {
	int file, real_stderr;
	char output[1u << 20];
};

static inline void log_capture_begin(struct log_capture *c)
{
	c->file = memfd_create("log", 0);
	c->real_stderr = dup(STDERR_FILENO);
	CHECK(c->file >= 0 && c->real_stderr >= 0);
	CHECK(dup2(c->file, STDERR_FILENO) >= 0);
	log_configure(LOG_DEBUG, false);
}

// What it has logged so far; others go on logging.
static inline void log_capture_read(struct log_capture *c)
{
	ssize_t size = pread(c->file, c->output, sizeof c->output - 1, 0);

	CHECK(size >= 0);
	c->output[size] = 0;
}

static inline void log_capture_end(struct log_capture *c)
{
	log_capture_read(c);
	log_configure(LOG_INFO, false);
	CHECK(dup2(c->real_stderr, STDERR_FILENO) >= 0);
	CHECK(close(c->real_stderr) == 0);
	CHECK(close(c->file) == 0);
}

// How many lines hold both texts.
static inline uint32_t log_capture_count(struct log_capture *c, const char *one, const char *other)
{
	uint32_t count = 0;

	for (char *at = c->output, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		count += strstr(at, one) && strstr(at, other);
		*end = '\n';
	}
	return count;
}
