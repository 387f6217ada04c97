#include "tools/api/server/gzip.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

// Such JSON repeats itself within a few items: a window of 16 KiB (and with it 128 KiB of memory) compresses as well as
// a larger one.
#define WINDOW_BITS 14
#define WINDOW_OF_GZIP 16
#define MEMORY_LEVEL 7
#define ROOM_FIRST 4096u

struct gzip {
	z_stream stream;
	unsigned char *bytes;
	size_t size, capacity;
};

// Whether a coding's parameters ("; q=0.5") allow its use.
static bool is_allowed(const char *parameters, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++)
		if ((parameters[i] == 'q' || parameters[i] == 'Q') && parameters[i + 1] == '=')
			return strtod(parameters + i + 2, NULL) > 0;
	return true;
}

bool gzip_is_accepted(const char *text)
{
	bool any = false;
	while (text && *text) {
		text += strspn(text, " \t,");
		size_t size = strcspn(text, ","), name = strcspn(text, " \t,;");
		bool is_gzip = (name == 4 && strncasecmp(text, "gzip", 4) == 0) ||
			       (name == 6 && strncasecmp(text, "x-gzip", 6) == 0);
		if (is_gzip)
			return is_allowed(text + name, size - name);
		any = any || (name == 1 && *text == '*' && is_allowed(text + name, size - name));
		text += size;
	}
	return any;
}

struct gzip *gzip_create(void)
{
	struct gzip *g = memory_take(sizeof *g);
	if (deflateInit2(&g->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS + WINDOW_OF_GZIP,
		    MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
		return g;
	free(g);
	return NULL;
}

static void make_room(struct gzip *g)
{
	if (g->size < g->capacity)
		return;
	g->capacity = g->capacity ? g->capacity * 2 : ROOM_FIRST;
	g->bytes = memory_resize(g->bytes, g->capacity);
}

void gzip_add(struct gzip *g, const void *data, size_t size, bool is_last)
{
	CHECK(size <= UINT32_MAX);
	g->size = 0;
	g->stream.next_in = (unsigned char *)data;
	g->stream.avail_in = (uInt)size;
	int result;
	do {
		make_room(g);
		size_t room = g->capacity - g->size;
		uInt some = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
		g->stream.next_out = g->bytes + g->size;
		g->stream.avail_out = some;
		result = deflate(&g->stream, is_last ? Z_FINISH : Z_NO_FLUSH);
		CHECK(result != Z_STREAM_ERROR);
		g->size += some - g->stream.avail_out;
	} while (is_last ? result != Z_STREAM_END : g->stream.avail_out == 0);
}

const unsigned char *gzip_bytes(const struct gzip *g, size_t *size)
{
	*size = g->size;
	return g->bytes;
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	// Returns Z_DATA_ERROR for a stream that was cut off, which is no mistake here.
	(void)deflateEnd(&g->stream);
	free(g->bytes);
	free(g);
}

unsigned char *gzip_all(const void *data, size_t size, size_t *packed_size)
{
	struct gzip *g = gzip_create();
	if (!g)
		return NULL;
	gzip_add(g, data, size, true);
	unsigned char *bytes = g->bytes;
	*packed_size = g->size;
	g->bytes = NULL;
	gzip_free(g);
	return bytes;
}
