// A file that was written before, in the directory of a benchmark: what a write and an fdatasync of so many bytes take
// where neither the file's size nor its blocks change is the least that anything durable can take.
#pragma once
#include <stdint.h>

struct bench;

// Writes the file and opens it. Ends the program when the directory lies in memory, where every commit is free, but in
// a smoke run. One file at a time.
void prewritten_open(const struct bench *, const char *directory);
void prewritten_close(void);
// Writes so many bytes, at most a mebibyte, behind those of the last call, and waits until the disk has them.
void prewritten_sync(uint32_t bytes);
