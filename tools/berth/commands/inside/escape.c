#include "tools/berth/commands/inside/escape.h"

size_t escape_filter(
	struct escape *e, const uint8_t *typed, size_t size, uint8_t *out, bool *leaves)
{
	size_t count = 0;
	*leaves = false;
	for (size_t i = 0; i < size; i++) {
		uint8_t c = typed[i];
		bool is_escape = e->character && c == (uint8_t)e->character;
		if (e->is_held && c == '.') {
			*leaves = true;
			return count;
		}
		if (e->is_held && !is_escape)
			out[count++] = (uint8_t)e->character;
		e->is_held = is_escape && !e->is_held && !e->is_within_line;
		if (e->is_held)
			continue;
		out[count++] = c;
		e->is_within_line = c != '\r' && c != '\n';
	}
	return count;
}
