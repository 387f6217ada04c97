// format() and formatlist(): %[flags][width][.precision][[argument]]verb.
#include "tools/hcl2/functions/functions.h"
#include <gmp.h>
#include <stdlib.h>

struct verb {
	char mode;
	bool zero, sharp, plus, minus, space;
	uint32_t width, argument; // the argument counts from 1
	int precision;            // < 0: none
	struct text raw;
};

#define VERB_NUMBER_MAX 100000u

static uint32_t read_digits(struct text format, uint32_t *at)
{
	uint32_t number = 0;
	for (; *at < format.size && format.data[*at] >= '0' && format.data[*at] <= '9'; (*at)++)
		if (number < VERB_NUMBER_MAX)
			number = number * 10 + (uint32_t)(format.data[*at] - '0');
	return number < VERB_NUMBER_MAX ? number : VERB_NUMBER_MAX;
}

static void read_flags(struct text format, uint32_t *at, struct verb *verb)
{
	for (; *at < format.size; (*at)++)
		switch (format.data[*at]) {
		case '0': verb->zero = true; break;
		case '#': verb->sharp = true; break;
		case '-': verb->minus = true; break;
		case '+': verb->plus = true; break;
		case ' ': verb->space = true; break;
		default: return;
		}
}

// Reads the verb behind a "%". False when there is none.
static bool read_verb(struct text format, uint32_t *at, struct verb *verb)
{
	uint32_t from = *at - 1;
	read_flags(format, at, verb);
	verb->width = read_digits(format, at);
	if (*at < format.size && format.data[*at] == '.') {
		(*at)++;
		verb->precision = (int)read_digits(format, at);
	}
	if (*at < format.size && format.data[*at] == '[') {
		(*at)++;
		verb->argument = read_digits(format, at);
		if (*at == format.size || format.data[(*at)++] != ']' || !verb->argument)
			return false;
	}
	char mode = *at < format.size ? format.data[(*at)++] : 0;
	verb->mode = mode;
	verb->raw = (struct text){format.data + from, *at - from};
	return (mode >= 'a' && mode <= 'z') || (mode >= 'A' && mode <= 'Z');
}

static void write_pad(struct writer *w, uint32_t count, char with)
{
	for (uint32_t i = 0; i < count && !w->overflow; i++)
		write_char(w, with);
}

static void write_padded(struct writer *w, const struct verb *verb, struct text text)
{
	uint32_t have = grapheme_count(text);
	uint32_t pad = verb->width > have ? verb->width - have : 0;
	if (!verb->minus)
		write_pad(w, pad, verb->zero ? '0' : ' ');
	write_text(w, text);
	if (verb->minus)
		write_pad(w, pad, verb->zero ? '0' : ' ');
}

// A number: zeros that fill the width stand behind its sign.
static void write_number(
	struct writer *w, const struct verb *verb, struct text digits, bool negative)
{
	const char *sign = negative ? "-" : verb->plus ? "+" : verb->space ? " " : "";
	uint32_t have = digits.size + (*sign != 0);
	uint32_t pad = verb->width > have ? verb->width - have : 0;
	bool zeros = verb->zero && !verb->minus;
	if (!verb->minus && !zeros)
		write_pad(w, pad, ' ');
	write_string(w, sign);
	write_pad(w, zeros ? pad : 0, '0');
	write_text(w, digits);
	if (verb->minus)
		write_pad(w, pad, ' ');
}

static void write_integer(struct writer *w, const struct verb *verb, mpfr_srcptr number)
{
	struct writer digits = {.run = w->run};
	int base = verb->mode == 'b' ? 2 : verb->mode == 'o' ? 8 : verb->mode == 'd' ? 10 : 16;
	mpz_t whole;
	mpz_init(whole);
	mpfr_get_z(whole, number, MPFR_RNDN);
	bool negative = mpz_sgn(whole) < 0;
	mpz_abs(whole, whole);
	char *text = hcl2_take(w->run, mpz_sizeinbase(whole, base) + 2);
	mpz_get_str(text, verb->mode == 'X' ? -base : base, whole);
	mpz_clear(whole);
	if (verb->sharp && verb->mode != 'd')
		write_string(&digits, verb->mode == 'b'   ? "0b"
				      : verb->mode == 'o' ? "0"
				      : verb->mode == 'x' ? "0x"
							  : "0X");
	int missing = verb->precision - (int)strlen(text);
	write_pad(&digits, missing > 0 ? (uint32_t)missing : 0, '0');
	write_string(&digits, text);
	write_number(w, verb, writer_text(&digits), negative);
	w->overflow |= digits.overflow;
}

static void write_fraction(struct writer *w, const struct verb *verb, mpfr_srcptr number)
{
	char *text, pattern[] = {'%', '.', '*', 'R', verb->mode, 0};
	struct text digits;
	int precision = verb->precision < 0 ? 6 : verb->precision;
	if ((verb->mode == 'g' || verb->mode == 'G') && verb->precision < 0)
		digits = number_text_general(w->run, number);
	else if (mpfr_asprintf(&text, pattern, precision, number) >= 0) {
		digits = hcl2_copy(w->run, text_of(text));
		mpfr_free_str(text);
	} else {
		w->overflow = true;
		return;
	}
	bool negative = digits.size && *digits.data == '-';
	digits.data += negative;
	digits.size -= negative;
	write_number(w, verb, digits, negative);
}

static bool write_as_number(struct call *call, struct writer *w, const struct verb *verb,
	const struct hcl2_value *value)
{
	value = hcl2_convert(call->run, value, &hcl2_number_type, &call->problem);
	if (!value)
		return false;
	if (!strchr("bdoxX", verb->mode)) {
		// No text is as long as numbers whose digits are all zeros may be.
		if (mpfr_regular_p(value->number) && labs(mpfr_get_exp(value->number)) > 1000000)
			w->overflow = true;
		else
			write_fraction(w, verb, value->number);
		return true;
	}
	if (!mpfr_integer_p(value->number) ||
		(mpfr_regular_p(value->number) && mpfr_get_exp(value->number) > 1000000)) {
		call_failed(call, "an integer is required for %%%c", verb->mode);
		return false;
	}
	write_integer(w, verb, value->number);
	return true;
}

static bool write_as_text(struct call *call, struct writer *w, const struct verb *verb,
	const struct hcl2_value *value)
{
	value = hcl2_convert(call->run, value, &hcl2_text_type, &call->problem);
	if (!value)
		return false;
	struct text text = value->string;
	if (verb->precision > 0) {
		uint32_t bytes = 0;
		for (int i = 0; i < verb->precision && bytes < text.size; i++)
			bytes +=
				grapheme_bytes((struct text){text.data + bytes, text.size - bytes});
		text.size = bytes;
	}
	if (verb->mode == 'q') {
		struct writer quoted = {.run = w->run};
		bool finite;
		value_write_json(&quoted, value_string(call->run, text), &finite);
		text = writer_text(&quoted);
		w->overflow |= quoted.overflow;
	}
	write_padded(w, verb, text);
	return true;
}

static bool write_as_is(struct call *call, struct writer *w, const struct verb *verb,
	const struct hcl2_value *value)
{
	struct writer json = {.run = w->run};
	bool finite = true;
	if (!verb->sharp && !value->is_null && value->type->kind == HCL2_STRING) {
		write_padded(w, verb, value->string);
	} else if (!verb->sharp && !value->is_null && value->type->kind == HCL2_NUMBER) {
		write_padded(w, verb, number_text_general(call->run, value->number));
	} else if (!value_write_json(&json, value, &finite) || !finite) {
		call_failed(call, "the value cannot be written");
		return false;
	} else {
		write_padded(w, verb, writer_text(&json));
		w->overflow |= json.overflow;
	}
	return true;
}

static bool write_as_bool(struct call *call, struct writer *w, const struct hcl2_value *value)
{
	value = hcl2_convert(call->run, value, &hcl2_bool_type, &call->problem);
	if (value)
		write_string(w, value->boolean ? "true" : "false");
	return value != NULL;
}

static bool write_verb(struct call *call, struct writer *w, const struct verb *verb,
	const struct hcl2_value *value)
{
	if (value->is_null && verb->mode != 'v') {
		call_failed(call, "null has no form as %.*s", (int)verb->raw.size, verb->raw.data);
		return false;
	}
	switch (verb->mode) {
	case 'v': return write_as_is(call, w, verb, value);
	case 't': return write_as_bool(call, w, value);
	case 's':
	case 'q': return write_as_text(call, w, verb, value);
	default: break;
	}
	if (strchr("bdoxXeEfgG", verb->mode))
		return write_as_number(call, w, verb, value);
	call_failed(call, "%.*s is no verb", (int)verb->raw.size, verb->raw.data);
	return false;
}

static const struct hcl2_value *format_values(struct call *call, struct text format,
	const struct hcl2_value *const *values, uint32_t count)
{
	struct writer w = {.run = call->run};
	uint32_t next = 1, highest = 0;
	for (uint32_t i = 0; i < format.size;) {
		char c = format.data[i++];
		if (c != '%' || (i < format.size && format.data[i] == '%')) {
			write_char(&w, c);
			i += c == '%';
			continue;
		}
		struct verb verb = {.precision = -1, .argument = next};
		if (!read_verb(format, &i, &verb))
			return call_failed(call, "the format has a %% that begins no verb");
		if (verb.argument > count)
			return call_failed(call, "there is no argument %u for %.*s", verb.argument,
				(int)verb.raw.size, verb.raw.data);
		if (!write_verb(call, &w, &verb, values[verb.argument - 1]))
			return NULL;
		highest = verb.argument > highest ? verb.argument : highest;
		next = verb.argument + 1;
	}
	if (highest < count)
		return call_wrong(
			call, (int)highest + 1, "the format uses only %u arguments", highest);
	return call_written(call, &w);
}

static const struct hcl2_value *fn_format(struct call *call)
{
	return format_values(call, call_text(call, 0), call->arguments + 1, call->count - 1);
}

static bool is_per_row(const struct hcl2_value *value)
{
	return kind_is_sequence(value->type->kind) && !value->is_null;
}

static const struct hcl2_value *fn_formatlist(struct call *call)
{
	uint32_t rows = UINT32_MAX;
	const struct hcl2_value **values = hcl2_take(call->run, call->count * sizeof *values);
	for (uint32_t i = 1; i < call->count; i++) {
		if (!is_per_row(call->arguments[i]))
			continue;
		if (rows != UINT32_MAX && rows != call->arguments[i]->count)
			return call_wrong(call, (int)i, "the lists are not equally long");
		rows = call->arguments[i]->count;
	}
	rows = rows == UINT32_MAX ? 1 : rows;
	const struct hcl2_value **items = hcl2_take(call->run, rows * sizeof *items);
	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t i = 1; i < call->count; i++)
			values[i - 1] = is_per_row(call->arguments[i])
						? call->arguments[i]->items[row]
						: call->arguments[i];
		items[row] = format_values(call, call_text(call, 0), values, call->count - 1);
		if (!items[row] || !hcl2_step(call->run, hcl2_range(call->node)))
			return NULL;
	}
	return call_strings(call, items, rows);
}

const struct function format_functions[] = {
	{"format", "s?a*", fn_format},
	{"formatlist", "s?a*", fn_formatlist},
	{0},
};
