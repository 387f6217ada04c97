// Frames of WebSockets: what is written is read, however it is cut, and what the rules forbid is refused.
#include "state/base/prng.h"
#include "tools/web_socket/frame.h"
#include "tools/web_socket/handshake.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MESSAGE_MAX 70000u

static void the_example_of_the_standard(void **unused)
{
	char accept[WEB_SOCKET_ACCEPT_BYTES], longest[66] = {0};
	assert_true(web_socket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept));
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	memset(longest, 'a', 64);
	assert_true(web_socket_accept(longest, accept));
	longest[64] = 'a';
	assert_false(web_socket_accept(longest, accept));
}

// The bytes of the examples of RFC 6455, section 5.7.
static void the_bytes_of_a_head(void **unused)
{
	static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
	uint8_t head[WEB_SOCKET_HEAD_BYTES], hello[] = "Hello";
	assert_int_equal(web_socket_head(head, WEB_SOCKET_TEXT, 5, NULL), 2);
	assert_memory_equal(head, "\x81\x05", 2);
	assert_int_equal(web_socket_head(head, WEB_SOCKET_TEXT, 5, mask), 6);
	assert_memory_equal(head, "\x81\x85\x37\xfa\x21\x3d", 6);
	web_socket_mask(hello, 5, mask);
	assert_memory_equal(hello, "\x7f\x9f\x4d\x51\x58", 5);
	assert_int_equal(web_socket_head(head, WEB_SOCKET_BINARY, 125, NULL), 2);
	assert_int_equal(web_socket_head(head, WEB_SOCKET_BINARY, 256, NULL), 4);
	assert_memory_equal(head, "\x82\x7e\x01\x00", 4);
	assert_int_equal(web_socket_head(head, WEB_SOCKET_BINARY, 65535, NULL), 4);
	assert_int_equal(web_socket_head(head, WEB_SOCKET_BINARY, 65536, mask), 14);
	assert_memory_equal(head, "\x82\xff\0\0\0\0\0\x01\0\0", 10);
}

// What a sender with a mind of its own writes: messages in any number of fragments, with frames about the connection
// between them.
struct sender {
	struct prng prng;
	bool is_client;
	uint8_t *bytes;
	size_t size;
};

static void put_frame(struct sender *s, unsigned first, const uint8_t *payload, size_t size)
{
	uint8_t head[WEB_SOCKET_HEAD_BYTES], mask[4];
	for (int i = 0; i < 4; i++)
		mask[i] = (uint8_t)prng_below(&s->prng, 256);
	size_t at = web_socket_head(head, WEB_SOCKET_TEXT, size, s->is_client ? mask : NULL);
	head[0] = (uint8_t)first;
	memcpy(s->bytes + s->size, head, at);
	memcpy(s->bytes + s->size + at, payload, size);
	if (s->is_client)
		web_socket_mask(s->bytes + s->size + at, size, mask);
	s->size += at + size;
}

static void put_message(struct sender *s, unsigned opcode, const uint8_t *data, size_t size)
{
	size_t at = 0;
	for (unsigned first = opcode; at < size || first; first = 0) {
		size_t left = size - at;
		size_t some = prng_below(&s->prng, 3) ? left : prng_below(&s->prng, left + 1);
		put_frame(s, first | (at + some == size ? 0x80u : 0), data + at, some);
		at += some;
		if (at == size)
			return;
		if (prng_below(&s->prng, 2))
			put_frame(s, 0x80u | WEB_SOCKET_PING, (const uint8_t *)"are you there", 13);
	}
}

// Gives the reader what there is in pieces of any size, and compares what comes out.
static void expect_messages(
	struct sender *s, const uint8_t *data, const size_t *sizes, uint32_t count)
{
	struct web_socket_reader r = web_socket_reader_make(s->is_client, MESSAGE_MAX);
	struct web_socket_message m;
	size_t given = 0, at = 0;
	uint32_t came = 0;
	while (came < count) {
		size_t room, some = 1 + prng_below(&s->prng, 1u << prng_below(&s->prng, 18));
		uint8_t *to = web_socket_reader_room(&r, &room);
		assert_non_null(to);
		some = some < room ? some : room;
		some = some < s->size - given ? some : s->size - given;
		memcpy(to, s->bytes + given, some);
		web_socket_reader_add(&r, some);
		given += some;
		while (web_socket_reader_next(&r, &m)) {
			if (m.opcode == WEB_SOCKET_PING) {
				assert_int_equal(m.size, 13);
				assert_memory_equal(m.data, "are you there", 13);
				continue;
			}
			assert_int_equal(m.opcode, came % 2 ? WEB_SOCKET_BINARY : WEB_SOCKET_TEXT);
			assert_int_equal(m.size, sizes[came]);
			assert_memory_equal(m.data, data + at, m.size);
			at += sizes[came++];
		}
		assert_int_equal(r.failure, 0);
	}
	assert_int_equal(given, s->size);
	web_socket_reader_free(&r);
}

static void what_is_written_is_read(void **unused)
{
	enum { MESSAGES = 8, ROUNDS = 60 };
	uint8_t *data = malloc(MESSAGES * MESSAGE_MAX);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct sender s = {
			.is_client = round % 2 == 0, .bytes = malloc(4u * MESSAGES * MESSAGE_MAX)};
		size_t sizes[MESSAGES], total = 0;
		prng_seed(&s.prng, round);
		for (uint32_t i = 0; i < MESSAGES; i++) {
			sizes[i] = prng_below(&s.prng, 1u << prng_below(&s.prng, 17));
			sizes[i] = prng_below(&s.prng, 30) ? sizes[i] : MESSAGE_MAX;
			for (size_t at = 0; at < sizes[i]; at++)
				data[total + at] = (uint8_t)prng_below(&s.prng, 256);
			put_message(&s, i % 2 ? WEB_SOCKET_BINARY : WEB_SOCKET_TEXT, data + total,
				sizes[i]);
			total += sizes[i];
		}
		expect_messages(&s, data, sizes, MESSAGES);
		free(s.bytes);
	}
	free(data);
}

// What a reader of at most 200 bytes makes of some bytes.
static void expect_failure(bool is_masked, const char *bytes, size_t size, unsigned code)
{
	struct web_socket_reader r = web_socket_reader_make(is_masked, 200);
	struct web_socket_message m;
	size_t room;
	memcpy(web_socket_reader_room(&r, &room), bytes, size);
	web_socket_reader_add(&r, size);
	while (web_socket_reader_next(&r, &m))
		;
	assert_int_equal(r.failure, code);
	assert_true(!code || !web_socket_reader_room(&r, &room));
	web_socket_reader_free(&r);
}

static void what_is_forbidden_is_refused(void **unused)
{
	expect_failure(true, "\x81\x00", 2, WEB_SOCKET_PROTOCOL);  // a client that does not mask
	expect_failure(false, "\x81\x80", 2, WEB_SOCKET_PROTOCOL); // a server that does
	expect_failure(false, "\xc1\x00", 2, WEB_SOCKET_PROTOCOL); // a reserved bit
	expect_failure(false, "\x83\x00", 2, WEB_SOCKET_PROTOCOL); // unknown opcodes
	expect_failure(false, "\x8b\x00", 2, WEB_SOCKET_PROTOCOL);
	expect_failure(false, "\x09\x00", 2, WEB_SOCKET_PROTOCOL); // a ping in fragments
	expect_failure(false, "\x89\x7e", 2, WEB_SOCKET_PROTOCOL); // a long ping
	expect_failure(false, "\x80\x00", 2, WEB_SOCKET_PROTOCOL); // a continuation of nothing
	expect_failure(
		false, "\x01\x00\x81\x00", 4, WEB_SOCKET_PROTOCOL); // a message within another
	expect_failure(false, "\x82\x7e\x00\xc8", 4, 0); // as long as it may be, and not there yet
	expect_failure(false, "\x82\x7e\x00\xc9", 4, WEB_SOCKET_TOO_LARGE);
	expect_failure(false, "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10, WEB_SOCKET_TOO_LARGE);
	// Fragments that are too large together.
	char parts[110] = "\x02\x64";
	memcpy(parts + 102, "\x80\x65", 2);
	expect_failure(false, parts, 104, WEB_SOCKET_TOO_LARGE);
	parts[103] = 0x64;
	expect_failure(false, parts, 104, 0);
}

static void codes_of_a_farewell(void **unused)
{
	char reason[WEB_SOCKET_CONTROL_BYTES];
	struct web_socket_message m = {WEB_SOCKET_CLOSE, (const uint8_t *)"\x03\xf3why\n", 6};
	assert_int_equal(web_socket_close_code(&m, reason), 1011);
	assert_string_equal(reason, "why?");
	m.size = 1;
	assert_int_equal(web_socket_close_code(&m, reason), 0);
	assert_string_equal(reason, "");
	m.size = 0;
	assert_int_equal(web_socket_close_code(&m, reason), WEB_SOCKET_NO_CODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_standard),
		cmocka_unit_test(the_bytes_of_a_head),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_forbidden_is_refused),
		cmocka_unit_test(codes_of_a_farewell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
