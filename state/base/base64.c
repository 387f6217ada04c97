#include "state/base/base64.h"
#include "state/base/memory.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Least value of what is no digit.
#define NO_DIGIT 0xffu

// The value of each character and one more, so that 0 stands for all others.
static const uint8_t digit_values[256] = {['A'] = 1,
	2,
	3,
	4,
	5,
	6,
	7,
	8,
	9,
	10,
	11,
	12,
	13,
	14,
	15,
	16,
	17,
	18,
	19,
	20,
	21,
	22,
	23,
	24,
	25,
	26,
	['a'] = 27,
	28,
	29,
	30,
	31,
	32,
	33,
	34,
	35,
	36,
	37,
	38,
	39,
	40,
	41,
	42,
	43,
	44,
	45,
	46,
	47,
	48,
	49,
	50,
	51,
	52,
	['0'] = 53,
	54,
	55,
	56,
	57,
	58,
	59,
	60,
	61,
	62,
	['+'] = 63,
	['/'] = 64};

// The value of a base64 character, or NO_DIGIT and more.
static uint32_t digit_of(char c)
{
	return (uint32_t)digit_values[(uint8_t)c] - 1;
}

// How many of the last four characters are padding.
static size_t padding_of(const char *text, size_t size)
{
	if (size == 0 || text[size - 1] != '=')
		return 0;
	return text[size - 2] == '=' ? 2 : 1;
}

// The last one or two bytes, from two or three characters; bits left over must be zeros.
static bool decode_rest(const char *text, size_t characters, uint8_t *bytes)
{
	uint32_t word = 0;
	for (size_t k = 0; k < 4; k++) {
		uint32_t digit = k < characters ? digit_of(text[k]) : 0;
		if (digit >= NO_DIGIT)
			return false;
		word = word << 6 | digit;
	}
	for (size_t k = 0; k + 1 < characters; k++)
		bytes[k] = (uint8_t)(word >> (16 - 8 * k));
	return (word & ((1u << (32 - 8 * characters)) - 1)) == 0;
}

bool base64_decode(const char *text, size_t size, uint8_t *bytes, size_t *decoded)
{
	size_t padding = size % 4 == 0 ? padding_of(text, size) : 0;
	size_t whole = (size - padding) / 4 * 4;
	uint8_t *to = bytes;
	*decoded = 0;
	if (size % 4 != 0)
		return false;
	for (size_t i = 0; i < whole; i += 4, to += 3) {
		uint32_t a = digit_of(text[i]), b = digit_of(text[i + 1]);
		uint32_t c = digit_of(text[i + 2]), d = digit_of(text[i + 3]);
		if ((a | b | c | d) >= NO_DIGIT)
			return false;
		uint32_t word = a << 18 | b << 12 | c << 6 | d;
		to[0] = (uint8_t)(word >> 16);
		to[1] = (uint8_t)(word >> 8);
		to[2] = (uint8_t)word;
	}
	if (padding && !decode_rest(text + whole, 4 - padding, to))
		return false;
	*decoded = (size_t)(to - bytes) + (padding ? 3 - padding : 0);
	return true;
}

void base64_write(char *to, const uint8_t *bytes, size_t size)
{
	size_t i = 0;
	for (; i + 3 <= size; i += 3, to += 4) {
		uint32_t word =
			(uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
		to[0] = digits[word >> 18];
		to[1] = digits[word >> 12 & 63];
		to[2] = digits[word >> 6 & 63];
		to[3] = digits[word & 63];
	}
	if (i == size)
		return;
	uint32_t word = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0);
	to[0] = digits[word >> 18];
	to[1] = digits[word >> 12 & 63];
	to[2] = i + 1 < size ? digits[word >> 6 & 63] : '=';
	to[3] = '=';
}

char *base64_encode(struct text bytes)
{
	size_t characters = BASE64_ENCODED(bytes.size);
	char *text = memory_take(characters + 1);
	base64_write(text, (const uint8_t *)bytes.data, bytes.size);
	return text;
}
