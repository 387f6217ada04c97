#include "tools/api/forward/exchange.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096u
// Of a request as it is sent: versions, names, ends of lines, and a length.
#define REST_BYTES 128u

struct exchange *exchange_create(
	const char *method, const char *target, const char *body, size_t body_size)
{
	struct exchange *x = memory_take(sizeof *x);
	x->method = text_copy(text_of(method));
	x->target = text_copy(text_of(target));
	x->body_size = body ? body_size : 0;
	x->body = memory_take(x->body_size + 1);
	if (x->body_size)
		memcpy(x->body, body, body_size);
	x->head.body_bytes = ANSWER_SIZE_UNKNOWN;
	x->is_awaited = true;
	pthread_mutex_init(&x->lock, NULL);
	return x;
}

// Bodies and headers hold secrets.
static void erase_and_free(char *text, size_t size)
{
	explicit_bzero(text, size);
	free(text);
}

void exchange_free(struct exchange *x)
{
	CHECK(!x->easy && !x->lines && !x->upgrade);
	for (uint32_t i = 0; i < x->header_count; i++)
		erase_and_free(x->headers[i], strlen(x->headers[i]));
	erase_and_free(x->body, x->body_size);
	answer_head_clear(&x->head);
	pthread_mutex_destroy(&x->lock);
	free(x->bytes);
	free(x->method);
	free(x->target);
	free(x);
}

void exchange_add_header(struct exchange *x, const char *name, const char *value)
{
	if (!value)
		return;
	CHECK(x->header_count < EXCHANGE_HEADERS_MAX);
	size_t size = strlen(name) + strlen(value) + sizeof ": ";
	char *line = memory_take(size);
	snprintf(line, size, "%s: %s", name, value);
	x->headers[x->header_count++] = line;
}

static void put_part(struct bytes_writer *w, const char *text)
{
	bytes_put(w, text, strlen(text));
}

// A method that may change something has a body, be it empty.
static void put_request(struct bytes_writer *w, const struct exchange *x, const char *host)
{
	char length[64];
	snprintf(length, sizeof length, "Content-Length: %zu\r\n", x->body_size);
	put_part(w, x->method);
	put_part(w, " ");
	put_part(w, x->target);
	put_part(w, " HTTP/1.1\r\nHost: ");
	put_part(w, host);
	put_part(w, "\r\n");
	for (uint32_t i = 0; i < x->header_count; i++) {
		put_part(w, x->headers[i]);
		put_part(w, "\r\n");
	}
	if (x->body_size || strcmp(x->method, "GET") != 0)
		put_part(w, length);
	put_part(w, "\r\n");
	bytes_put(w, x->body, x->body_size);
}

char *exchange_write(const struct exchange *x, const char *host, size_t *size)
{
	// Room for all at once: what grows leaves copies behind.
	size_t room =
		REST_BYTES + strlen(x->method) + strlen(x->target) + strlen(host) + x->body_size;
	for (uint32_t i = 0; i < x->header_count; i++)
		room += strlen(x->headers[i]) + 2;
	struct bytes_writer w = bytes_writer_growing(room);
	put_request(&w, x, host);
	CHECK(!w.failed && w.size <= room);
	*size = w.size;
	return (char *)w.data;
}

enum exchange_stage exchange_stage_of(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	enum exchange_stage stage = x->stage;
	pthread_mutex_unlock(&x->lock);
	return stage;
}

struct exchange_news exchange_read(struct exchange *x, void *to, size_t most)
{
	pthread_mutex_lock(&x->lock);
	size_t left = x->to - x->from;
	size_t size = left < most ? left : most;
	if (size)
		memcpy(to, x->bytes + x->from, size);
	x->from += size;
	if (x->from == x->to)
		x->from = x->to = 0;
	x->is_awaited = size == 0 && x->stage <= EXCHANGE_ANSWERS;
	// Not for each little piece: half of the room is free again.
	bool was_held = x->is_held && x->to - x->from <= EXCHANGE_BYTES_MAX / 2;
	if (was_held)
		x->is_held = false;
	struct exchange_news news = {size, x->stage, was_held};
	pthread_mutex_unlock(&x->lock);
	return news;
}

bool exchange_has_news(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	bool has = x->to > x->from || x->stage > EXCHANGE_ANSWERS;
	pthread_mutex_unlock(&x->lock);
	return has;
}

// Under the lock.
static void make_room(struct exchange *x, size_t size)
{
	size_t used = x->to - x->from;
	if (x->capacity - x->to >= size)
		return;
	if (x->from)
		memmove(x->bytes, x->bytes + x->from, used);
	x->from = 0;
	x->to = used;
	if (x->capacity - used >= size)
		return;
	size_t capacity = x->capacity ? x->capacity : ROOM_FIRST;
	while (capacity - used < size)
		capacity *= 2;
	x->bytes = memory_resize(x->bytes, capacity);
	x->capacity = capacity;
}

bool exchange_take(struct exchange *x, const void *data, size_t size)
{
	pthread_mutex_lock(&x->lock);
	size_t used = x->to - x->from;
	CHECK(x->stage == EXCHANGE_ANSWERS);
	// A piece that is larger than all room is taken by an empty buffer.
	bool has_room = used == 0 || used + size <= EXCHANGE_BYTES_MAX;
	if (has_room) {
		make_room(x, size);
		memcpy(x->bytes + x->to, data, size);
		x->to += size;
	}
	x->is_held = !has_room;
	pthread_mutex_unlock(&x->lock);
	return has_room;
}

void exchange_turn(struct exchange *x, enum exchange_stage stage)
{
	pthread_mutex_lock(&x->lock);
	CHECK(stage > x->stage);
	x->stage = stage;
	pthread_mutex_unlock(&x->lock);
}

bool exchange_wakes(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	bool wakes = x->is_awaited;
	x->is_awaited = false;
	pthread_mutex_unlock(&x->lock);
	return wakes;
}
