// CRC-32C (Castagnoli), hardware where there is one. Start with 0; feed the result back to go on.
#pragma once
#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t size);
// The same by table, on any machine.
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size);
