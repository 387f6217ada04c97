// Any message, decoded and seen again: as the bytes our encoder makes of it, or as the JSON of a vector.
#pragma once
#include "dataplane/wire/wire.h"
#include <jansson.h>

// Decodes a frame and encodes what was understood, tag left zero. Returns the length, 0 when the frame was
// refused. size is that of out.
uint32_t message_again(
	const uint8_t *frame, const struct wire_header *, uint8_t *out, uint32_t size);
// The fields of a frame by the names of vectors.json, NULL when the frame was refused. Caller decrefs.
json_t *message_fields(const uint8_t *frame, const struct wire_header *);
