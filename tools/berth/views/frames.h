// What a node streams of files and logs: frames of JSON with base64 data (docs/api.md), printed as they come.
#pragma once
#include "tools/berth/cli/session.h"

// Prints what the frames of an answer hold until it ends, or standard output does; what happens to the file is told on
// standard error. last_lines: of what was there before, only so many; 0: all.
enum exit_status frames_print(struct session *, const char *path, uint64_t last_lines);
