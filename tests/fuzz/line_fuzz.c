// What the two ends of the line read of each other: answers of nodes, in pieces of any size with pieces put back, give
// the same body as at once; answers to an agent; and names that come with keys.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/agent/line/line_ask.h"
#include "tools/api/forward/answer_reader.h"
#include "tools/tls/psk.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct taken {
	enum answer_step last;
	unsigned char *body;
	size_t size;
	struct answer_head head;
};

static bool goes_on(enum answer_step step)
{
	return step == ANSWER_MORE || step == ANSWER_HEAD || step == ANSWER_BODY;
}

// Takes all of a piece. False: the answer is over.
static bool take_all(
	struct answer_reader *r, struct taken *t, struct answer_piece came, bool puts_back)
{
	struct answer_piece piece = {NULL, 0};
	do {
		size_t before = came.size;
		t->last = answer_reader_next(r, &t->head, &came, &piece);
		CHECK(came.size <= before);
		if (t->last != ANSWER_BODY)
			continue;
		if (puts_back) { // nobody had room for it: the same comes again
			answer_reader_put_back(r, &piece);
			came = (struct answer_piece){piece.data, piece.size + came.size};
			t->last = answer_reader_next(r, &t->head, &came, &piece);
			CHECK(t->last == ANSWER_BODY);
		}
		memcpy(t->body + t->size, piece.data, piece.size);
		t->size += piece.size;
	} while (goes_on(t->last) && (came.size || t->last == ANSWER_BODY));
	return goes_on(t->last);
}

static struct taken read_in_pieces(const uint8_t *data, size_t size, size_t each, bool puts_back)
{
	struct answer_reader *r = memory_take(sizeof *r);
	struct taken t = {.last = ANSWER_MORE, .body = memory_take(size + 1)};
	answer_reader_begin(r);
	for (size_t at = 0; at < size;) {
		size_t some = size - at < each ? size - at : each;
		unsigned char *piece = memory_take(some);
		memcpy(piece, data + at, some);
		bool is_more = take_all(r, &t, (struct answer_piece){piece, some}, puts_back);
		free(piece);
		if (!is_more)
			break;
		at += some;
	}
	if (goes_on(t.last))
		t.last = answer_reader_ends(r) ? ANSWER_END : ANSWER_MORE;
	CHECK(!answer_reader_keeps(r) || t.last == ANSWER_END);
	free(r);
	return t;
}

static void read_answer(const uint8_t *data, size_t size)
{
	size_t each = size ? data[size - 1] % 16 + 1u : 1;
	struct taken whole = read_in_pieces(data, size, size ? size : 1, false);
	struct taken parts = read_in_pieces(data, size, each, true);
	CHECK(whole.last == parts.last && whole.size == parts.size);
	CHECK(memcmp(whole.body, parts.body, whole.size) == 0);
	CHECK(whole.head.status == parts.head.status);
	answer_head_clear(&whole.head);
	answer_head_clear(&parts.head);
	free(whole.body);
	free(parts.body);
}

static void read_asked(const uint8_t *data, size_t size)
{
	struct line_answer answer = {0};
	char *text = memory_take(size + 1);
	memcpy(text, data, size);
	if (line_answer_read(text, size, &answer)) {
		CHECK(answer.status >= 100 && answer.status < 1000);
		CHECK(answer.body_size < size && answer.body[answer.body_size] == '\0');
	}
	line_answer_free(&answer);
	free(text);
}

static void read_name(const uint8_t *data, size_t size)
{
	struct psk_identity read, again;
	char text[PSK_IDENTITY_BYTES];
	if (!psk_identity_read((const char *)data, size, &read))
		return;
	psk_identity_write(&read, text);
	CHECK(psk_identity_read(text, strlen(text), &again));
	CHECK(again.key_id == read.key_id && uuid_equal(&again.node, &read.node));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_answer(data, size);
	read_asked(data, size);
	read_name(data, size);
	return 0;
}
