// Frames from the network, before and after their tag: every decoder, the client's name, and a node that takes
// the frame for an answer. What is understood must encode to a frame that is understood the same.
#include "dataplane/wire/auth.h"
#include "dataplane/wire/seal.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tests/dataplane/wire/message_again.h"
#include "tools/client/node_session.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What looks sealed is opened without harm, and what is sealed is opened again.
static void check_seal(const uint8_t *frame, const struct wire_header *h)
{
	static const struct wire_key key = {{1, 2}};
	static const struct uuid id = {{3}};
	uint8_t plain[WIRE_SPEC_BYTES_MAX], sealed[FRAME_BYTES_MAX];
	struct wire_alloc_spec_reply reply;
	if (h->type != WIRE_ALLOC_SPEC_REPLY || !wire_alloc_spec_reply_decode(frame, h, &reply) ||
		!reply.is_sealed)
		return;
	(void)wire_alloc_spec_open(frame, &key, &id, &reply, plain);
	memcpy(sealed, frame, h->length);
	wire_alloc_spec_seal(sealed, &key, &id);
	struct wire_alloc_spec_reply again;
	CHECK(wire_alloc_spec_reply_decode(sealed, h, &again));
	CHECK(wire_alloc_spec_open(sealed, &key, &id, &again, plain));
	CHECK(memcmp(plain, reply.data, reply.bytes) == 0);
}

static void check_frame(const uint8_t *frame, uint32_t size)
{
	struct wire_header h, h_again;
	uint8_t again[FRAME_BYTES_MAX], third[FRAME_BYTES_MAX];
	if (wire_header_decode(frame, size, &h) != WIRE_OK)
		return;
	CHECK(h.length == size && size >= WIRE_FRAME_BYTES_MIN && size <= FRAME_BYTES_MAX);
	CHECK(wire_type_name(h.type)[0] != '?');
	struct text client;
	if (wire_client_decode(frame, &h, &client))
		CHECK(client.size >= 1 && client.size <= CLIENT_NAME_BYTES_MAX);
	check_seal(frame, &h);
	uint32_t length = message_again(frame, &h, again, sizeof again);
	if (length == 0)
		return;
	CHECK(wire_header_decode(again, length, &h_again) == WIRE_OK);
	CHECK(h_again.type == h.type && h_again.sequence == h.sequence);
	CHECK(message_again(again, &h_again, third, sizeof third) == length);
	CHECK(memcmp(again, third, length) == 0);
}

// A node that waits for just this frame, signed with the node's own key.
static void check_session(uint8_t *frame, uint32_t size)
{
	struct node_session s = {.key = {{1, 2}}, .term = 3};
	struct wire_header h;
	if (wire_header_decode(frame, size, &h) != WIRE_OK)
		return;
	wire_sign(&s.key, frame, size);
	s.slot = h.slot;
	s.generation = h.generation;
	s.sequence = s.registration = h.sequence;
	s.awaiting = h.type == WIRE_REFUSED ? WIRE_HEARTBEAT_ACK : h.type;
	struct node_answer answer = node_session_receive(&s, frame, size);
	CHECK(s.term >= 3);
	CHECK(answer.event <= NODE_REFUSED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 2 * FRAME_BYTES_MAX)
		return 0;
	// A block of the exact size, so that a read behind the end is seen.
	uint8_t *frame = memory_take(size ? size : 1);
	memcpy(frame, data, size);
	check_frame(frame, (uint32_t)size);
	if (size >= WIRE_HEADER_BYTES) {
		// And as if the fixed part were right, so that mutations reach the bodies.
		static const uint8_t start[3] = {WIRE_MAGIC & 255, WIRE_MAGIC >> 8, WIRE_VERSION};
		memcpy(frame, start, sizeof start);
		frame[4] = (uint8_t)size;
		frame[5] = (uint8_t)(size >> 8);
		check_frame(frame, (uint32_t)size);
		check_session(frame, (uint32_t)size);
	}
	free(frame);
	return 0;
}
