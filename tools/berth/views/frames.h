// What a node streams of files and logs: frames of JSON with base64 data (docs/api.md), printed as they come.
#pragma once
#include "tools/berth/cli/session.h"

#define FRAMES_PLACE_BYTES 100u

// Where the output begins that the flags ask for, and whether it is followed, as a part of a query ("&follow=…").
// *lines: how many last lines are wanted; 0: all. A complaint when a number is none.
enum exit_status frames_read_place(
	const struct flags *, char place[static FRAMES_PLACE_BYTES], uint64_t *lines);

// Prints what the frames of an answer hold until it ends, or standard output does; what happens to the file is told on
// standard error. last_lines: of what was there before, only so many; 0: all.
enum exit_status frames_print(struct session *, const char *path, uint64_t last_lines);
