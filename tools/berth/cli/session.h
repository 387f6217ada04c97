// What every subcommand gets: the command line, and the connection to the controller.
#pragma once
#include "tools/berth/cli/flags.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Exit statuses, as documented in berth(1).
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,     // something failed on this side
	STATUS_USAGE = 2,       // the command line is wrong
	STATUS_NOT_FOUND = 3,   // no such thing, or a prefix that is not unique
	STATUS_REFUSED = 4,     // the controller refused: no node, a conflict, an invalid job
	STATUS_UNREACHABLE = 5, // no answer from the controller
};

struct http;

struct session {
	struct flags flags;
	struct http *http;
	char found_namespace[136]; // of the job that was looked for in all
};

// Prints "berth: …" with a newline on standard error; returns the status.
enum exit_status complain(enum exit_status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
