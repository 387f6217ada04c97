// Text from outside: identities, UTF-8 and log values.
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_uuid(const char *string)
{
	struct uuid id, again;
	char text[UUID_TEXT_BYTES];
	if (!uuid_parse(string, &id))
		return;
	CHECK(strcasecmp(uuid_format(&id, text), string) == 0);
	CHECK(uuid_parse(text, &again) && uuid_equal(&id, &again));
}

// A quoted value is one printable word between two quotes that are not escaped.
static void check_quote(const char *string, uint32_t room)
{
	char *quoted = memory_take(room);
	log_quote(string, quoted, room);
	size_t length = strlen(quoted);
	CHECK(length >= 2 && length < room);
	CHECK(quoted[0] == '"' && quoted[length - 1] == '"');
	CHECK(text_is_printable((struct text){quoted, (uint32_t)length}) ||
		!text_is_printable(text_of(string)));
	size_t i = 1;
	while (i < length - 1) {
		CHECK(quoted[i] != '"' && (unsigned char)quoted[i] >= 0x20);
		i += quoted[i] == '\\' ? 2 : 1;
	}
	CHECK(i == length - 1);
	free(quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text whole = {(const char *)data, (uint32_t)size};
	bool printable = text_is_printable(whole);
	CHECK(!printable || size == 0 || text_utf8_bytes(whole) > 0);
	char *string = text_copy(whole);
	check_uuid(string);
	check_quote(string, 8 + (uint32_t)size % 64);
	free(string);
	return 0;
}
