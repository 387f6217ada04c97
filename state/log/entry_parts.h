// What several entries and snapshots store in the same way.
#pragma once
#include "state/base/bytes.h"
#include "state/records/resources.h"

void resources_encode(struct resources, struct bytes_writer *);
struct resources resources_decode(struct bytes_reader *);
void device_set_encode(const struct device_set *, struct bytes_writer *);
struct device_set device_set_decode(struct bytes_reader *);
// A byte that says yes or no; the reader fails on anything else.
bool flag_decode(struct bytes_reader *);
// Reads a u32 count of items that take at least bytes_least each. When the remaining bytes cannot hold them, the reader
// fails and the count is 0: memory is taken for what is there, not for what is claimed.
uint32_t count_decode(struct bytes_reader *, uint32_t bytes_least);
