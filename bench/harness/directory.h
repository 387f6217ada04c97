// The directory that a benchmark works in: of this run alone, and gone when the run is, however it ends.
#pragma once
#include "bench/harness/bench.h"

#define BENCH_PATH_BYTES 4096

// Makes a directory under "--dir PATH" (here, without that option) and writes its path. To be called
// before there are threads; once in a process. Exits with a sentence when it cannot be made.
void bench_directory_begin(const struct bench *, char path[BENCH_PATH_BYTES]);
// Removes it, and all in it. A run that ends without this, by a signal say, leaves nothing behind either.
void bench_directory_end(void);
