#include "tools/api/forward/answer_reader.h"
#include <string.h>
#include <strings.h>

#define TRAILERS_MAX 64u
// Of the digits of a chunk's size, so that no sum overflows.
#define CHUNK_BYTES_MAX (UINT64_C(1) << 60)

void answer_reader_begin(struct answer_reader *r)
{
	r->place = PLACE_HEAD;
	r->left = 0;
	r->is_chunked = r->closes = r->is_switched = false;
	r->trailers = 0;
	r->line_size = 0;
}

static void answer_pass(struct answer_piece *came, size_t size)
{
	came->data += size;
	came->size -= size;
}

// Adds to the line up to its end. False: the line goes on. *is_long: there is no room for it.
static bool take_line(struct answer_reader *r, struct answer_piece *came, bool *is_long)
{
	const unsigned char *end = memchr(came->data, '\n', came->size);
	size_t size = end ? (size_t)(end - came->data) + 1 : came->size;
	*is_long = r->line_size + size > sizeof r->line;
	if (*is_long)
		return false;
	memcpy(r->line + r->line_size, came->data, size);
	r->line_size += size;
	answer_pass(came, size);
	return end != NULL;
}

static size_t line_bytes(const struct answer_reader *r)
{
	size_t size = r->line_size;
	while (size && (r->line[size - 1] == '\n' || r->line[size - 1] == '\r'))
		size--;
	return size;
}

// The value of the line when it is the header of that name; else NULL.
static const char *value_of(struct answer_reader *r, const char *name)
{
	size_t size = line_bytes(r), named = strlen(name);
	if (size <= named || r->line[named] != ':' || strncasecmp(r->line, name, named) != 0)
		return NULL;
	r->line[size] = '\0';
	return r->line + named + 1 + strspn(r->line + named + 1, " \t");
}

// What is about this connection.
static bool note_header(struct answer_reader *r)
{
	const char *coding = value_of(r, "Transfer-Encoding");
	const char *connection = value_of(r, "Connection");
	if (connection && strcasestr(connection, "close"))
		r->closes = true;
	if (coding && strcasecmp(coding, "chunked") != 0)
		return false;
	r->is_chunked = r->is_chunked || coding;
	return true;
}

static enum answer_step end_head(struct answer_reader *r, struct answer_head *head)
{
	bool is_empty = head->status == 204 || head->status == 304;
	if (head->status == 101) {
		head->is_whole = r->is_switched = true;
		r->place = PLACE_DONE;
		return ANSWER_SWITCHED;
	}
	if (!head->is_whole) { // a 100: the next one counts
		answer_reader_begin(r);
		return head->status < 100 ? ANSWER_BAD : ANSWER_MORE;
	}
	if (r->is_chunked)
		head->body_bytes = ANSWER_SIZE_UNKNOWN;
	if (is_empty)
		r->place = PLACE_DONE;
	else if (r->is_chunked)
		r->place = PLACE_CHUNK_SIZE;
	else if (head->body_bytes == ANSWER_SIZE_UNKNOWN)
		r->place = PLACE_TO_THE_END;
	else
		r->place = head->body_bytes ? PLACE_SIZED : PLACE_DONE;
	r->left = r->place == PLACE_SIZED ? head->body_bytes : 0;
	return ANSWER_HEAD;
}

static enum answer_step take_head_line(struct answer_reader *r, struct answer_head *head)
{
	bool is_first = head->status == 0 || head->status < 200;
	bool is_status = r->line_size >= 5 && memcmp(r->line, "HTTP/", 5) == 0;
	bool is_last = line_bytes(r) == 0;
	// A status comes first, and only there.
	if ((head->status == 0) != is_status && !(is_first && is_status))
		return ANSWER_BAD;
	bool is_fit = answer_head_take(head, r->line, r->line_size) && note_header(r);
	r->line_size = 0;
	if (!is_fit)
		return ANSWER_BAD;
	return is_last ? end_head(r, head) : ANSWER_MORE;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// "1a2b", and extensions, which nobody reads.
static bool take_chunk_size(struct answer_reader *r)
{
	size_t size = line_bytes(r), at = 0;
	uint64_t sum = 0;
	for (; at < size && digit_of(r->line[at]) >= 0 && sum < CHUNK_BYTES_MAX / 16; at++)
		sum = sum * 16 + (unsigned)digit_of(r->line[at]);
	r->line_size = 0;
	r->left = sum;
	r->place = sum ? PLACE_CHUNK : PLACE_TRAILER;
	return at > 0 && (at == size || r->line[at] == ';' || r->line[at] == ' ');
}

static enum answer_step take_any_line(struct answer_reader *r, struct answer_head *head)
{
	bool is_empty = line_bytes(r) == 0;
	switch (r->place) {
	case PLACE_HEAD: return take_head_line(r, head);
	case PLACE_CHUNK_SIZE: return take_chunk_size(r) ? ANSWER_MORE : ANSWER_BAD;
	case PLACE_CHUNK_END:
		r->line_size = 0;
		r->place = PLACE_CHUNK_SIZE;
		return is_empty ? ANSWER_MORE : ANSWER_BAD;
	case PLACE_TRAILER:
		r->line_size = 0;
		if (is_empty)
			r->place = PLACE_DONE;
		return r->trailers++ < TRAILERS_MAX ? ANSWER_MORE : ANSWER_BAD;
	case PLACE_SIZED:
	case PLACE_CHUNK:
	case PLACE_TO_THE_END:
	case PLACE_DONE: break;
	}
	return ANSWER_BAD;
}

static enum answer_step take_piece(
	struct answer_reader *r, struct answer_piece *came, struct answer_piece *piece)
{
	bool is_bounded = r->place != PLACE_TO_THE_END;
	size_t size = is_bounded && r->left < came->size ? (size_t)r->left : came->size;
	*piece = (struct answer_piece){came->data, size};
	answer_pass(came, size);
	if (!is_bounded)
		return ANSWER_BODY;
	r->left -= size;
	if (!r->left)
		r->place = r->place == PLACE_CHUNK ? PLACE_CHUNK_END : PLACE_DONE;
	return ANSWER_BODY;
}

enum answer_step answer_reader_next(struct answer_reader *r, struct answer_head *head,
	struct answer_piece *came, struct answer_piece *piece)
{
	bool is_long = false;
	while (r->place != PLACE_DONE && came->size) {
		if (r->place == PLACE_SIZED || r->place == PLACE_CHUNK ||
			r->place == PLACE_TO_THE_END)
			return take_piece(r, came, piece);
		if (!take_line(r, came, &is_long))
			return is_long ? ANSWER_BAD : ANSWER_MORE;
		enum answer_step step = take_any_line(r, head);
		if (step != ANSWER_MORE)
			return step;
	}
	return r->place == PLACE_DONE ? ANSWER_END : ANSWER_MORE;
}

void answer_reader_put_back(struct answer_reader *r, const struct answer_piece *piece)
{
	if (r->place == PLACE_TO_THE_END)
		return;
	if (r->place == PLACE_CHUNK_END)
		r->place = PLACE_CHUNK;
	else if (r->place == PLACE_DONE)
		r->place = PLACE_SIZED;
	r->left += piece->size;
}

bool answer_reader_ends(const struct answer_reader *r)
{
	return r->place == PLACE_TO_THE_END || r->place == PLACE_DONE;
}

bool answer_reader_keeps(const struct answer_reader *r)
{
	return r->place == PLACE_DONE && !r->closes && !r->is_switched;
}
