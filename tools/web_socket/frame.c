#include "tools/web_socket/frame.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

#define FINAL 0x80u
#define RESERVED 0x70u
#define OPCODE 0x0fu
#define MASKED 0x80u

static uint8_t *put_big_endian(uint8_t *at, uint64_t value, unsigned bytes)
{
	while (bytes-- > 0)
		*at++ = (uint8_t)(value >> (8 * bytes));
	return at;
}

size_t web_socket_head(uint8_t head[static WEB_SOCKET_HEAD_BYTES], enum web_socket_opcode opcode,
	size_t payload, const uint8_t mask[4])
{
	uint8_t *at = head, masked = mask ? MASKED : 0;
	*at++ = (uint8_t)(FINAL | opcode);
	if (payload < 126) {
		*at++ = (uint8_t)(masked | payload);
	} else if (payload <= UINT16_MAX) {
		*at++ = masked | 126u;
		at = put_big_endian(at, payload, 2);
	} else {
		*at++ = masked | 127u;
		at = put_big_endian(at, payload, 8);
	}
	if (mask) {
		memcpy(at, mask, 4);
		at += 4;
	}
	return (size_t)(at - head);
}

void web_socket_mask(uint8_t *payload, size_t size, const uint8_t mask[static 4])
{
	for (size_t i = 0; i < size; i++)
		payload[i] ^= mask[i % 4];
}

struct web_socket_reader web_socket_reader_make(bool is_masked, size_t message_max)
{
	CHECK(message_max >= WEB_SOCKET_CONTROL_BYTES);
	return (struct web_socket_reader){.is_masked = is_masked,
		.message_max = message_max,
		.bytes = memory_take(message_max + WEB_SOCKET_HEAD_BYTES)};
}

void web_socket_reader_free(struct web_socket_reader *r)
{
	free(r->bytes);
	free(r->parts);
	*r = (struct web_socket_reader){0};
}

uint8_t *web_socket_reader_room(struct web_socket_reader *r, size_t *room)
{
	size_t capacity = r->message_max + WEB_SOCKET_HEAD_BYTES;
	if (r->begin > 0 && (r->begin == r->end || r->end == capacity)) {
		memmove(r->bytes, r->bytes + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	*room = r->failure ? 0 : capacity - r->end;
	return *room ? r->bytes + r->end : NULL;
}

void web_socket_reader_add(struct web_socket_reader *r, size_t size)
{
	CHECK(size <= r->message_max + WEB_SOCKET_HEAD_BYTES - r->end);
	r->end += size;
}

struct frame_head {
	bool is_final;
	uint8_t opcode;
	uint8_t mask[4];
	size_t size;    // of the head
	size_t payload; // bytes
};

static bool fail_with(struct web_socket_reader *r, enum web_socket_code code)
{
	r->failure = (uint16_t)code;
	return false;
}

// What RFC 6455 forbids in the first two bytes.
static bool is_forbidden(const struct web_socket_reader *r, uint8_t first, uint8_t second)
{
	uint8_t opcode = first & OPCODE;
	bool is_control = opcode >= WEB_SOCKET_CLOSE;
	if ((first & RESERVED) || ((second & MASKED) != 0) != r->is_masked)
		return true;
	if (is_control)
		return opcode > WEB_SOCKET_PONG || !(first & FINAL) ||
		       (second & ~MASKED) > WEB_SOCKET_CONTROL_BYTES;
	return opcode > WEB_SOCKET_BINARY ||
	       (opcode == WEB_SOCKET_CONTINUATION) != (r->parts_opcode != 0);
}

// False: it has not come whole, or is refused.
static bool read_head(struct web_socket_reader *r, struct frame_head *h)
{
	const uint8_t *at = r->bytes + r->begin;
	size_t there = r->end - r->begin;
	if (there < 2)
		return false;
	if (is_forbidden(r, at[0], at[1]))
		return fail_with(r, WEB_SOCKET_PROTOCOL);
	uint64_t payload = at[1] & ~MASKED;
	unsigned more = payload == 126 ? 2 : payload == 127 ? 8 : 0;
	*h = (struct frame_head){.is_final = at[0] & FINAL,
		.opcode = at[0] & OPCODE,
		.size = 2 + more + (r->is_masked ? 4 : 0)};
	if (there < h->size)
		return false;
	if (more)
		payload = 0;
	for (unsigned i = 0; i < more; i++)
		payload = payload << 8 | at[2 + i];
	if (payload > r->message_max ||
		(h->opcode < WEB_SOCKET_CLOSE && payload > r->message_max - r->parts_size))
		return fail_with(r, WEB_SOCKET_TOO_LARGE);
	if (r->is_masked)
		memcpy(h->mask, at + 2 + more, 4);
	h->payload = (size_t)payload;
	return there - h->size >= h->payload;
}

static void add_part(struct web_socket_reader *r, const uint8_t *data, size_t size)
{
	if (!r->parts)
		r->parts = memory_take(r->message_max);
	memcpy(r->parts + r->parts_size, data, size);
	r->parts_size += size;
}

bool web_socket_reader_next(struct web_socket_reader *r, struct web_socket_message *m)
{
	struct frame_head head;
	if (!r->parts_opcode)
		r->parts_size = 0; // the message that was put together is taken
	while (!r->failure && read_head(r, &head)) {
		uint8_t *payload = r->bytes + r->begin + head.size;
		r->begin += head.size + head.payload;
		if (r->is_masked)
			web_socket_mask(payload, head.payload, head.mask);
		*m = (struct web_socket_message){head.opcode, payload, head.payload};
		if (head.opcode >= WEB_SOCKET_CLOSE || (head.is_final && !r->parts_opcode))
			return true;
		if (!r->parts_opcode)
			r->parts_opcode = head.opcode;
		add_part(r, payload, head.payload);
		if (!head.is_final)
			continue;
		*m = (struct web_socket_message){r->parts_opcode, r->parts, r->parts_size};
		r->parts_opcode = 0;
		return true;
	}
	return false;
}

uint16_t web_socket_close_code(
	const struct web_socket_message *m, char reason[static WEB_SOCKET_CONTROL_BYTES])
{
	reason[0] = '\0';
	if (m->size == 0)
		return WEB_SOCKET_NO_CODE;
	if (m->size < 2 || m->size > WEB_SOCKET_CONTROL_BYTES)
		return 0;
	uint16_t code = (uint16_t)(m->data[0] << 8 | m->data[1]);
	memcpy(reason, m->data + 2, m->size - 2);
	reason[m->size - 2] = '\0';
	text_make_printable(reason);
	return code;
}
