// CRC-32C (Castagnoli), in hardware where possible. Start with 0; pass the result back to continue.
#pragma once
#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t size);
// The same by table, on any machine.
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size);
