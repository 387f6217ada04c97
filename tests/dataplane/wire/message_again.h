// Any message, decoded and encoded again: what our encoder makes of what our decoder understood.
#pragma once
#include "dataplane/wire/wire.h"

// Decodes a frame and encodes what was understood, tag left zero. Returns the length, 0 when the frame was
// refused. size is that of out.
uint32_t message_again(
	const uint8_t *frame, const struct wire_header *, uint8_t *out, uint32_t size);
