// What differs between bytes and others of the same size, where most are equal at the same place.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define BYTES_DELTA_NONE SIZE_MAX

// Writes what turns `from` into `to`, both of size bytes. Returns the bytes that it takes, 0 when both are equal, or
// BYTES_DELTA_NONE when there is no room for them.
size_t bytes_delta_make(
	const uint8_t *from, const uint8_t *to, size_t size, uint8_t *delta, size_t room);
// Turns the bytes that the delta was made from into those that it was made for.
void bytes_delta_apply(uint8_t *bytes, const uint8_t *delta, size_t delta_size);
