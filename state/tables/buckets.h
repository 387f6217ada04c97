// Buckets of the hash tables: made, and made more while others read and change the table.
#pragma once
#include <stdint.h>
#include <urcu-qsbr.h>
#include <urcu/rculfhash.h>

// NULL when memory is short. Free with cds_lfht_destroy().
struct cds_lfht *buckets_create(uint64_t count);
// Adds buckets up to a power of two. One thread at a time, registered with RCU and outside a read section.
void buckets_widen(struct cds_lfht *, uint64_t count);
