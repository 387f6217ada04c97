// Where frames begin and end, however their bytes come.
#include "tools/web_socket/frame.h"
#include "tools/web_socket/frame_walk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROOM (4u * 70000)

struct said {
	uint8_t bytes[ROOM];
	size_t size;
	size_t ends[16]; // of frames
	size_t count;
};

static void say_frame(struct said *s, enum web_socket_opcode opcode, size_t payload, bool is_masked)
{
	static const uint8_t mask[4] = {0x88, 0x00, 0x7f, 0x88};
	s->size += web_socket_head(s->bytes + s->size, opcode, payload, is_masked ? mask : NULL);
	// As if each byte of it closed.
	memset(s->bytes + s->size, 0x88, payload);
	s->size += payload;
	s->ends[s->count++] = s->size;
}

static struct said *all_sizes(void)
{
	static struct said s;
	static const size_t sizes[] = {0, 1, 125, 126, 65535, 65536};
	s.size = s.count = 0;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		say_frame(&s, i % 2 ? WEB_SOCKET_BINARY : WEB_SOCKET_TEXT, sizes[i], i % 3 == 2);
	return &s;
}

static bool is_end(const struct said *s, size_t at)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->ends[i] == at)
			return true;
	return at == 0;
}

static void it_is_known_at_each_byte(void **unused)
{
	const struct said *s = all_sizes();
	struct frame_walk w = {0};
	for (size_t at = 0; at < s->size; at++) {
		assert_int_equal(frame_walk_may_speak(&w), is_end(s, at));
		frame_walk_pass(&w, s->bytes + at, 1);
	}
	assert_true(frame_walk_may_speak(&w));
	assert_false(w.has_closed);
}

static void pieces_may_be_of_any_size(void **unused)
{
	const struct said *s = all_sizes();
	for (size_t piece = 2; piece < 70000; piece = piece * 3 / 2 + 1) {
		struct frame_walk w = {0};
		for (size_t at = 0; at < s->size; at += piece) {
			size_t size = s->size - at < piece ? s->size - at : piece;
			frame_walk_pass(&w, s->bytes + at, size);
			assert_int_equal(frame_walk_may_speak(&w), is_end(s, at + size));
		}
	}
}

static void nothing_is_said_behind_a_farewell(void **unused)
{
	static struct said s;
	struct frame_walk w = {0};
	s.size = s.count = 0;
	say_frame(&s, WEB_SOCKET_PING, 5, false);
	say_frame(&s, WEB_SOCKET_CLOSE, 2, false);
	frame_walk_pass(&w, s.bytes, s.ends[0]);
	assert_true(frame_walk_may_speak(&w));
	frame_walk_pass(&w, s.bytes + s.ends[0], 2);
	assert_true(w.has_closed);
	frame_walk_pass(&w, s.bytes + s.ends[0] + 2, 2);
	assert_false(frame_walk_may_speak(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_known_at_each_byte),
		cmocka_unit_test(pieces_may_be_of_any_size),
		cmocka_unit_test(nothing_is_said_behind_a_farewell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
