// Values as text: as Go prints them, and by Go's formats.
#include "state/base/log.h"
#include "tools/template/template.h"
#include "tools/template/values.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PRINT_DEPTH_MAX 200u
// Of a format: a width or a precision is no way to make much of nothing.
#define FORMAT_WIDTH_MAX 1000
#define FORMATTED_BYTES_MAX TEMPLATE_RESULT_BYTES_MAX

static void put_string(struct bytes_writer *out, const char *text)
{
	bytes_put(out, text, strlen(text));
}

// The fewest digits that are this number, with an exponent where Go writes one.
static void print_float(struct bytes_writer *out, double real)
{
	char digits[40];
	int precision = 1;

	do
		snprintf(digits, sizeof digits, "%.*e", precision - 1, real);
	while (strtod(digits, NULL) != real && ++precision <= 17);
	double size = fabs(real);
	if (size != 0 && (size < 1e-4 || size >= 1e21)) {
		put_string(out, digits);
		return;
	}
	const char *exponent = strchr(digits, 'e');
	int decimals = precision - 1 - (int)(exponent ? strtol(exponent + 1, NULL, 10) : 0);
	char plain[64];
	snprintf(plain, sizeof plain, "%.*f", decimals > 0 ? decimals : 0, real);
	put_string(out, plain);
}

static void print_list(struct bytes_writer *out, struct value v, uint32_t depth)
{
	put_string(out, "[");
	for (uint32_t i = 0; i < v.count; i++) {
		put_string(out, i ? " " : "");
		value_print(out, v.items[i], depth + 1);
	}
	put_string(out, "]");
}

static void print_map(struct bytes_writer *out, struct value v, uint32_t depth)
{
	put_string(out, "map[");
	for (uint32_t i = 0; i < v.count; i++) {
		put_string(out, i ? " " : "");
		bytes_put(out, v.members[i].name.data, v.members[i].name.size);
		put_string(out, ":");
		value_print(out, v.members[i].value, depth + 1);
	}
	put_string(out, "]");
}

void value_print(struct bytes_writer *out, struct value v, uint32_t depth)
{
	char number[32];

	v = value_plain(v);
	if (depth > PRINT_DEPTH_MAX || out->size > FORMATTED_BYTES_MAX)
		return;
	switch (v.kind) {
	case VALUE_NIL: put_string(out, depth ? "<nil>" : "<no value>"); break;
	case VALUE_BOOL: put_string(out, v.truth ? "true" : "false"); break;
	case VALUE_INT:
		snprintf(number, sizeof number, "%" PRId64, v.integer);
		put_string(out, number);
		break;
	case VALUE_FLOAT: print_float(out, v.real); break;
	case VALUE_TEXT: bytes_put(out, v.text.data, v.text.size); break;
	case VALUE_LIST: print_list(out, v, depth); break;
	case VALUE_MAP: print_map(out, v, depth); break;
	case VALUE_RECORD: break; // is never plain
	}
}

struct verb {
	char flags[8];        // of "-+# 0"
	int width, precision; // -1: not given
	char letter;
};

// The verb behind a %. Returns the bytes it takes; 0: it is none.
static uint32_t read_verb(struct text rest, struct verb *verb)
{
	uint32_t at = 0, flags = 0;

	*verb = (struct verb){.width = -1, .precision = -1};
	while (at < rest.size && memchr("-+# 0", rest.data[at], 5)) {
		if (flags + 1 < sizeof verb->flags)
			verb->flags[flags++] = rest.data[at];
		at++;
	}
	for (int part = 0; part < 2; part++) {
		int *number = part ? &verb->precision : &verb->width;
		if (part && (at >= rest.size || rest.data[at] != '.'))
			break;
		at += part ? 1 : 0;
		if (part)
			*number = 0;
		for (; at < rest.size && isdigit((unsigned char)rest.data[at]); at++) {
			*number = (*number < 0 ? 0 : *number) * 10 + rest.data[at] - '0';
			if (*number > FORMAT_WIDTH_MAX)
				return 0;
		}
	}
	if (at >= rest.size)
		return 0;
	verb->letter = rest.data[at];
	return at + 1;
}

static void put_padded(struct bytes_writer *out, const struct verb *verb, struct text text)
{
	uint32_t characters = 0;
	for (uint32_t i = 0; i < text.size; i++)
		characters += (text.data[i] & 0xc0) != 0x80;
	int missing = verb->width - (int)characters;
	bool left = strchr(verb->flags, '-');

	for (int i = 0; i < missing && !left; i++)
		put_string(out, " ");
	bytes_put(out, text.data, text.size);
	for (int i = 0; i < missing && left; i++)
		put_string(out, " ");
}

static void put_quoted(struct bytes_writer *out, struct text text)
{
	static const char special[] = "\"\\\n\t\r", letters[] = "\"\\ntr";

	put_string(out, "\"");
	for (uint32_t i = 0; i < text.size; i++) {
		char c = text.data[i], escape[8];
		const char *known = c ? strchr(special, c) : NULL;
		if (known)
			snprintf(escape, sizeof escape, "\\%c", letters[known - special]);
		else
			snprintf(escape, sizeof escape, (uint8_t)c < 0x20 ? "\\x%02x" : "%c", c);
		put_string(out, escape);
	}
	put_string(out, "\"");
}

static void put_hex(struct bytes_writer *out, char letter, struct text text)
{
	static const char digits[2][17] = {"0123456789abcdef", "0123456789ABCDEF"};
	const char *of = digits[letter == 'X'];

	for (uint32_t i = 0; i < text.size; i++) {
		uint8_t c = (uint8_t)text.data[i];
		bytes_put_u8(out, (uint8_t)of[c >> 4]);
		bytes_put_u8(out, (uint8_t)of[c & 15]);
	}
}

static void format_text(struct bytes_writer *out, const struct verb *verb, struct value v)
{
	struct bytes_writer printed = bytes_writer_growing(64), quoted = bytes_writer_growing(64);
	value_print(&printed, v, 0);
	struct text text = {(const char *)printed.data, (uint32_t)printed.size};

	if (verb->precision >= 0 && (uint32_t)verb->precision < text.size)
		text.size = (uint32_t)verb->precision;
	if (verb->letter == 'q')
		put_quoted(&quoted, text);
	else if (verb->letter == 'x' || verb->letter == 'X')
		put_hex(&quoted, verb->letter, text);
	else
		bytes_put(&quoted, text.data, text.size);
	put_padded(out, verb, (struct text){(const char *)quoted.data, (uint32_t)quoted.size});
	bytes_writer_free(&quoted);
	bytes_writer_free(&printed);
}

// By the C library's format of the same meaning.
static void format_number(struct bytes_writer *out, const struct verb *verb, struct value v)
{
	char format[48], number[FORMAT_WIDTH_MAX * 2 + 400];
	char width[16] = "", precision[16] = "";

	if (verb->width >= 0)
		snprintf(width, sizeof width, "%d", verb->width);
	if (verb->precision >= 0)
		snprintf(precision, sizeof precision, ".%d", verb->precision);
	snprintf(format, sizeof format, "%%%s%s%s%s%c", verb->flags, width, precision,
		v.kind == VALUE_INT ? "ll" : "", verb->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (v.kind == VALUE_INT)
		snprintf(number, sizeof number, format, (long long)v.integer);
	else
		snprintf(number, sizeof number, format, v.real);
#pragma GCC diagnostic pop
	put_string(out, number);
}

static void format_binary(struct bytes_writer *out, const struct verb *verb, int64_t integer)
{
	char digits[66];
	uint32_t at = sizeof digits;
	uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
	do
		digits[--at] = (char)('0' + (left & 1));
	while (left >>= 1);
	if (integer < 0)
		digits[--at] = '-';
	put_padded(out, verb, (struct text){digits + at, (uint32_t)sizeof digits - at});
}

static bool format_one(struct bytes_writer *out, const struct verb *verb, struct value v)
{
	bool is_int = v.kind == VALUE_INT, is_float = v.kind == VALUE_FLOAT;

	switch (verb->letter) {
	case 'v':
	case 's': format_text(out, verb, v); return true;
	case 'q': format_text(out, verb, v); return v.kind == VALUE_TEXT;
	case 't': format_text(out, verb, v); return v.kind == VALUE_BOOL;
	case 'd':
	case 'o':
		if (is_int)
			format_number(out, verb, v);
		return is_int;
	case 'b':
		if (is_int)
			format_binary(out, verb, v.integer);
		return is_int;
	case 'x':
	case 'X':
		if (is_int)
			format_number(out, verb, v);
		else
			format_text(out, verb, v);
		return is_int || v.kind == VALUE_TEXT;
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		if (is_float)
			format_number(out, verb, v);
		return is_float;
	default: return false;
	}
}

bool value_format(struct bytes_writer *out, struct text format, const struct value *args,
	uint32_t count, char *message, uint32_t message_size)
{
	uint32_t used = 0;

	for (uint32_t at = 0; at < format.size;) {
		if (format.data[at] != '%') {
			bytes_put(out, &format.data[at++], 1);
			continue;
		}
		struct text rest = {format.data + at + 1, format.size - at - 1};
		struct verb verb;
		uint32_t bytes = read_verb(rest, &verb);
		at += 1 + bytes;
		if (bytes && verb.letter == '%') {
			put_string(out, "%");
			continue;
		}
		if (!bytes || used == count || !format_one(out, &verb, value_plain(args[used++]))) {
			snprintf(message, message_size,
				!bytes ? "the format has a %% that is no verb, or a width above "
					 "1000"
				       : "the format's verb %u has no argument, or one that it "
					 "does not print",
				used);
			return false;
		}
		if (out->size > FORMATTED_BYTES_MAX) {
			snprintf(message, message_size, "the result is longer than %u MiB",
				FORMATTED_BYTES_MAX >> 20);
			return false;
		}
	}
	if (used < count)
		snprintf(message, message_size, "the format has %u verbs for %u arguments", used,
			count);
	return used == count;
}
