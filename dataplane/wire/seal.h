// Seals what an answer tells a node of its work, so that nobody on the way reads it: XChaCha20-Poly1305 under a key
// that follows from the node's own. docs/wire.md says which bytes are bound together.
#pragma once
#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/wire_key.h"

// Once or more, by any thread, before anything is sealed: the best code for this processor is chosen.
void wire_seal_prepare(void);
// Seals, in place, the data of an answer that was encoded as sealed. The frame is to be signed after that.
void wire_alloc_spec_seal(uint8_t *frame, const struct wire_key *, const struct uuid *allocation);
// Opens the data of a decoded answer into plain. False when the answer, the allocation or the key is another than it
// was sealed with; plain is of no use then.
bool wire_alloc_spec_open(const uint8_t *frame, const struct wire_key *,
	const struct uuid *allocation, const struct wire_alloc_spec_reply *,
	uint8_t plain[static WIRE_SPEC_BYTES_MAX]);
