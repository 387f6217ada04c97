// The directory that a benchmark works in: for this run alone, and removed when the run ends, however it ends.
#pragma once
#include "bench/harness/bench.h"

#define BENCH_PATH_BYTES 4096

// Makes a directory under "--dir PATH" (without that option: under TMPDIR, or /var/tmp, which is on a disk) and writes
// its path. Call once, before there are threads. Exits with a sentence when the directory cannot be made.
void bench_directory_begin(const struct bench *, char path[BENCH_PATH_BYTES]);
// Removes the directory and everything in it. A run that ends without this, by a signal say, leaves nothing behind
// either.
void bench_directory_end(void);
