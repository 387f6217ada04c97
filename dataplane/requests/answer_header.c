#include "dataplane/requests/answer_header.h"

struct wire_header answer_header(const struct hot_frame *f, uint32_t bytes)
{
	struct wire_header header = f->header;
	if (header.length < bytes + WIRE_TERM_BYTES)
		header.flags &= (uint8_t)~WIRE_FLAG_TERM;
	return header;
}
