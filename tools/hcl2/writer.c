// Texts that grow, and characters as readers see them.
#include "tools/hcl2/values.h"
#include <unigbrk.h>

static bool writer_has_room(struct writer *w, uint32_t more)
{
	if (w->size + more > HCL2_STRING_BYTES_MAX) {
		w->overflow = true;
		return false;
	}
	if (w->size + more + 1 > w->room) {
		uint32_t room = 2 * (w->size + more) + 64;
		char *wider = hcl2_take(w->run, room);
		if (w->size)
			memcpy(wider, w->data, w->size);
		w->data = wider;
		w->room = room;
	}
	return true;
}

void write_text(struct writer *w, struct text text)
{
	if (!text.size || text.size > HCL2_STRING_BYTES_MAX || !writer_has_room(w, text.size)) {
		w->overflow |= text.size > HCL2_STRING_BYTES_MAX;
		return;
	}
	memcpy(w->data + w->size, text.data, text.size);
	w->size += text.size;
}

void write_string(struct writer *w, const char *string)
{
	write_text(w, text_of(string));
}

void write_char(struct writer *w, char c)
{
	if (writer_has_room(w, 1))
		w->data[w->size++] = c;
}

struct text writer_text(struct writer *w)
{
	if (!w->data)
		return (struct text){"", 0};
	w->data[w->size] = 0;
	return (struct text){w->data, w->size};
}

uint32_t grapheme_bytes(struct text rest)
{
	const uint8_t *begin = (const uint8_t *)rest.data;
	if (!rest.size)
		return 0;
	// Plain text is what nearly all of it is: a break is before every ASCII character but a line feed.
	if (begin[0] < 0x80 && begin[0] != '\r' && (rest.size == 1 || begin[1] < 0x80))
		return 1;
	const uint8_t *end = u8_grapheme_next(begin, begin + rest.size);
	return end ? (uint32_t)(end - begin) : rest.size;
}

uint32_t grapheme_count(struct text text)
{
	uint32_t count = 0;
	for (uint32_t bytes; text.size; text.data += bytes, text.size -= bytes, count++)
		bytes = grapheme_bytes(text);
	return count;
}
