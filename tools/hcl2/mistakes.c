// Mistakes as people read them: where, what, and the line itself with a mark below.
#include "tools/hcl2/values.h"

// More of a line is not shown.
#define SHOWN_BYTES 160u

static const char byte_order_mark[] = "\xef\xbb\xbf";

static uint32_t line_start(const struct hcl2_source *source, uint32_t byte)
{
	while (byte > 0 && source->text.data[byte - 1] != '\n')
		byte--;
	if (byte == 0 && source->text.size >= 3 && !memcmp(source->text.data, byte_order_mark, 3))
		return 3;
	return byte;
}

void hcl2_place(const struct hcl2_source *source, uint32_t byte, uint32_t *line, uint32_t *column)
{
	uint32_t start = line_start(source, byte);
	*line = 1;
	for (uint32_t i = 0; i < start; i++)
		*line += source->text.data[i] == '\n';
	*column = 1;
	if (byte > start)
		*column += grapheme_count((struct text){source->text.data + start, byte - start});
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

// Below the shown part of a line: blanks as wide as what is before the mark, then the mark.
static void write_mark(struct writer *out, const char *line, uint32_t before, uint32_t marked)
{
	for (uint32_t i = 0, bytes; i < before; i += bytes) {
		bytes = grapheme_bytes((struct text){line + i, before - i});
		write_char(out, line[i] == '\t' ? '\t' : ' ');
	}
	uint32_t marks = grapheme_count((struct text){line + before, marked});
	for (uint32_t i = 0; i < marks || i == 0; i++)
		write_char(out, '^');
	write_char(out, '\n');
}

static void write_line(struct writer *out, struct hcl2_range at, uint32_t number)
{
	const char *data = at.source->text.data;
	uint32_t from = line_start(at.source, at.from), to = from, size = at.source->text.size;
	while (to < size && data[to] != '\n' && data[to] != '\r')
		to++;
	if (at.from > from + SHOWN_BYTES / 2) {
		from = at.from - SHOWN_BYTES / 2;
		while (from < at.from && is_continuation(data[from]))
			from++;
	}
	if (to > from + SHOWN_BYTES) {
		to = from + SHOWN_BYTES;
		while (to > at.from && is_continuation(data[to]))
			to--;
	}
	uint32_t marked = at.to > at.from ? at.to - at.from : 0;
	if (at.from + marked > to)
		marked = to > at.from ? to - at.from : 0;
	write_string(out, hcl2_print(out->run, "%6u | %.*s\n       | ", number, (int)(to - from),
				  data + from));
	write_mark(out, data + from, at.from - from, marked);
}

static void write_mistake(struct writer *out, const struct hcl2_mistake *mistake)
{
	uint32_t line, column;
	if (!mistake->at.source) {
		write_string(out, hcl2_print(out->run, "%s\n", mistake->text));
		return;
	}
	hcl2_place(mistake->at.source, mistake->at.from, &line, &column);
	write_string(out, hcl2_print(out->run, "%s:%u,%u: %s\n", mistake->at.source->name, line,
				  column, mistake->text));
	write_line(out, mistake->at, line);
}

const char *hcl2_mistakes_text(struct hcl2_run *run)
{
	struct writer out = {.run = run};
	for (uint32_t i = 0; i < run->mistake_count; i++)
		write_mistake(&out, &run->mistakes[i]);
	return writer_text(&out).data;
}
