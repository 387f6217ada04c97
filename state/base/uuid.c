#include "state/base/uuid.h"

static const uint8_t hyphen_after[16] = {[3] = 1, [5] = 1, [7] = 1, [9] = 1};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool uuid_parse(const char *text, struct uuid *out)
{
	struct uuid id;
	for (int i = 0; i < 16; i++) {
		int high = hex_value(text[0]);
		int low = high < 0 ? -1 : hex_value(text[1]);
		if (low < 0)
			return false;
		id.bytes[i] = (uint8_t)(high << 4 | low);
		text += 2;
		if (hyphen_after[i] && *text++ != '-')
			return false;
	}
	if (*text)
		return false;
	*out = id;
	return true;
}

char *uuid_format(const struct uuid *id, char text[static UUID_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	static const uint8_t places[16] = {
		0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
	for (int i = 0; i < 16; i++) {
		text[places[i]] = digits[id->bytes[i] >> 4];
		text[places[i] + 1] = digits[id->bytes[i] & 15];
	}
	text[8] = text[13] = text[18] = text[23] = '-';
	text[UUID_TEXT_BYTES - 1] = 0;
	return text;
}
