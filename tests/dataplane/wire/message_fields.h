// Any message as the JSON of a vector.
#pragma once
#include "dataplane/wire/wire.h"
#include <jansson.h>

// The fields of a frame by the names of vectors.json, NULL when the frame was refused. Caller decrefs.
json_t *message_fields(const uint8_t *frame, const struct wire_header *);
