#include "tools/api/lists/list_stream.h"
#include "state/base/memory.h"
#include "tools/api/server/access.h"
#include "tools/api/server/gzip.h"
#include <stdlib.h>

#define CHUNK_BYTES (32u * 1024)
// Pieces that one turn writes before the thread's other connections get theirs.
#define PIECES_PER_TURN 8u

struct list_stream {
	struct reply_source source;
	struct request *request;
	void *context;
	list_produce *produce;
	void (*free_context)(void *);
	struct json_writer writer;
	struct gzip *gzip; // NULL: not compressed
	const char *bytes; // the writer's, or the compressor's
	size_t size, sent; // of them
	bool begun, ended;
	bool is_given; // the writer holds the beginning, which nobody has sent
};

static _Atomic uint64_t buffer_most;

uint64_t list_stream_buffer_most(void)
{
	return atomic_load(&buffer_most);
}

static void note_buffer(const struct list_stream *s)
{
	uint64_t most = atomic_load(&buffer_most);
	while (s->writer.capacity > most &&
		!atomic_compare_exchange_weak(&buffer_most, &most, s->writer.capacity))
		;
}

static void write_some(struct list_stream *s)
{
	if (!s->is_given)
		json_writer_clear(&s->writer);
	s->is_given = false;
	if (!s->begun)
		json_begin_array(&s->writer);
	s->begun = true;
	for (uint32_t i = 0; i < PIECES_PER_TURN && !s->ended && s->writer.size < CHUNK_BYTES; i++)
		if (!s->produce(s->context, &s->writer, CHUNK_BYTES)) {
			json_end_array(&s->writer);
			if (s->writer.depth)
				json_end_object(&s->writer);
			s->ended = true;
		}
	note_buffer(s);
}

// There may be no bytes: a filter dropped all items, or the compressor keeps bytes back.
static void fill_chunk(struct list_stream *s)
{
	s->sent = 0;
	write_some(s);
	s->bytes = s->writer.data;
	s->size = s->writer.size;
	if (s->gzip) {
		gzip_add(s->gzip, s->writer.data, s->writer.size, s->ended);
		s->bytes = (const char *)gzip_bytes(s->gzip, &s->size);
	}
}

static ssize_t read_stream(void *source, uint64_t position, char *to, size_t most)
{
	struct list_stream *s = source;
	if (s->sent == s->size) {
		if (s->ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		// The client sees that the list breaks off.
		if (!access_still_holds(s->request))
			return MHD_CONTENT_READER_END_WITH_ERROR;
		fill_chunk(s);
	}
	size_t size = s->size - s->sent;
	size = size < most ? size : most;
	// Without bytes, libmicrohttpd asks again after other connections had their turn.
	if (size)
		memcpy(to, s->bytes + s->sent, size);
	s->sent += size;
	return (ssize_t)size;
}

static bool compress_stream(void *source)
{
	struct list_stream *s = source;
	s->gzip = gzip_create();
	return s->gzip != NULL;
}

static void free_stream(void *source)
{
	struct list_stream *s = source;
	s->free_context(s->context);
	json_writer_free(&s->writer);
	gzip_free(s->gzip);
	free(s);
}

void reply_stream(struct request *request, struct reply *reply, void *context,
	struct json_writer *begun, list_produce *produce, void (*free_context)(void *))
{
	struct list_stream *s = memory_take(sizeof *s);
	s->source = (struct reply_source){CHUNK_BYTES, read_stream, free_stream, compress_stream};
	s->request = request;
	s->context = context;
	s->produce = produce;
	s->free_context = free_context;
	if (begun && begun->size) {
		s->writer = *begun;
		*begun = (struct json_writer){0};
		s->begun = s->is_given = true;
	}
	s->writer.pretty = request_flag(request, "pretty");
	reply->status = MHD_HTTP_OK;
	reply->content_type = API_TEXT_JSON;
	reply->source = &s->source;
}
