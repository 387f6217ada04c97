// An answer in HTTP/1.1 as it comes over a connection, taken apart: its head goes into an answer_head, its body comes
// out in pieces. What a node sends is as hostile as what anybody sends.
#pragma once
#include "tools/api/forward/answer_head.h"

#define ANSWER_LINE_BYTES 8192u

enum answer_step {
	ANSWER_MORE,     // everything was taken, and the answer goes on
	ANSWER_HEAD,     // the head is whole
	ANSWER_BODY,     // a piece of the body
	ANSWER_END,      // the answer is whole; what is left does not belong to it
	ANSWER_SWITCHED, // a 101: from here on the connection is of another protocol
	ANSWER_BAD,      // it is no answer
};

enum answer_place {
	PLACE_HEAD,
	PLACE_SIZED,
	PLACE_CHUNK_SIZE,
	PLACE_CHUNK,
	PLACE_CHUNK_END,
	PLACE_TRAILER,
	PLACE_TO_THE_END,
	PLACE_DONE
};

struct answer_reader {
	enum answer_place place;
	uint64_t left; // of the body, or of its chunk
	bool is_chunked, closes, is_switched;
	uint32_t trailers;
	size_t line_size;
	char line[ANSWER_LINE_BYTES];
};

struct answer_piece {
	const unsigned char *data;
	size_t size;
};

// For the next answer.
void answer_reader_begin(struct answer_reader *);
// Goes one step, and takes what that needs from the front of what came. Of ANSWER_BODY, piece is what was taken.
enum answer_step answer_reader_next(struct answer_reader *, struct answer_head *,
	struct answer_piece *came, struct answer_piece *piece);
// Nobody has room for the piece: the same comes again with the next step, of what begins with it.
void answer_reader_put_back(struct answer_reader *, const struct answer_piece *);
// The connection ended. Whether the answer is whole by that.
bool answer_reader_ends(const struct answer_reader *);
// Whether another request may follow over the connection, once the answer is whole.
bool answer_reader_keeps(const struct answer_reader *);
