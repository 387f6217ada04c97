// Numbers of arbitrary precision as values and as texts.
#include "tools/hcl2/values.h"
#include <stdio.h>

mpfr_ptr number_new(struct hcl2_run *run)
{
	mpfr_ptr number = hcl2_take(run, sizeof(__mpfr_struct));
	void *bits = hcl2_take(run, mpfr_custom_get_size(HCL2_PRECISION));
	mpfr_custom_init(bits, HCL2_PRECISION);
	mpfr_custom_init_set(number, MPFR_ZERO_KIND, 0, HCL2_PRECISION, bits);
	return number;
}

const struct hcl2_value *value_number(struct hcl2_run *run, mpfr_srcptr number)
{
	struct hcl2_value *value = hcl2_take(run, sizeof *value);
	value->type = &hcl2_number_type;
	value->number = number;
	return value;
}

const struct hcl2_value *value_int(struct hcl2_run *run, int64_t n)
{
	mpfr_ptr number = number_new(run);
	mpfr_set_sj(number, n, MPFR_RNDN);
	return value_number(run, number);
}

const struct hcl2_value *value_double(struct hcl2_run *run, double d)
{
	mpfr_ptr number = number_new(run);
	mpfr_set_d(number, d, MPFR_RNDN);
	return value_number(run, number);
}

// Whether it is digits with at most one point, and an exponent of bounded size.
static bool looks_like_number(struct text text)
{
	uint32_t i = 0, digits = 0, exponent_digits = 0;
	if (i < text.size && (text.data[i] == '-' || text.data[i] == '+'))
		i++;
	for (bool point = false; i < text.size; i++) {
		if (text.data[i] == '.' && !point)
			point = true;
		else if (text.data[i] >= '0' && text.data[i] <= '9')
			digits++;
		else
			break;
	}
	if (!digits || i == text.size)
		return digits > 0;
	if (text.data[i] != 'e' && text.data[i] != 'E')
		return false;
	i++;
	if (i < text.size && (text.data[i] == '-' || text.data[i] == '+'))
		i++;
	for (; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		exponent_digits++;
	return i == text.size && exponent_digits > 0 && exponent_digits < 10;
}

const struct hcl2_value *value_parse_number(struct hcl2_run *run, struct text text)
{
	if (!looks_like_number(text))
		return NULL;
	mpfr_ptr number = number_new(run);
	mpfr_set_str(number, hcl2_copy(run, text).data, 10, MPFR_RNDN);
	return mpfr_number_p(number) ? value_number(run, number) : NULL;
}

bool hcl2_number_is_int(
	const struct hcl2_value *value, int64_t least, int64_t most, int64_t *number)
{
	if (!mpfr_integer_p(value->number) || !mpfr_fits_intmax_p(value->number, MPFR_RNDN))
		return false;
	*number = mpfr_get_sj(value->number, MPFR_RNDN);
	return *number >= least && *number <= most;
}

double hcl2_number_double(const struct hcl2_value *value)
{
	return mpfr_get_d(value->number, MPFR_RNDN);
}

static bool digits_suffice(mpfr_srcptr number, uint32_t count, char *digits, mpfr_exp_t *exponent)
{
	char text[HCL2_PRECISION];
	mpfr_t again;
	mpfr_get_str(digits, exponent, 10, count, number, MPFR_RNDN);
	bool negative = digits[0] == '-';
	snprintf(text, sizeof text, "%s0.%se%ld", negative ? "-" : "", digits + negative,
		(long)*exponent);
	mpfr_init2(again, HCL2_PRECISION);
	mpfr_set_str(again, text, 10, MPFR_RNDN);
	bool same = mpfr_equal_p(again, number);
	mpfr_clear(again);
	return same;
}

// The fewest digits that are this number again. Returns their count; exponent: "0.DIGITS" times ten to it. More digits
// are never farther away, so the count can be halved to.
static uint32_t shortest_digits(mpfr_srcptr number, char *digits, mpfr_exp_t *exponent)
{
	uint32_t least = 1, most = (uint32_t)mpfr_get_str_ndigits(10, HCL2_PRECISION);
	// Whole numbers of a machine word need no search; they are most of all.
	if (mpfr_integer_p(number) && mpfr_fits_intmax_p(number, MPFR_RNDN))
		least = most = 20;
	while (least < most) {
		uint32_t middle = least + (most - least) / 2;
		if (digits_suffice(number, middle, digits, exponent))
			most = middle;
		else
			least = middle + 1;
	}
	mpfr_get_str(digits, exponent, 10, most, number, MPFR_RNDN);
	uint32_t used = (uint32_t)strlen(digits);
	while (used > 1 && digits[used - 1] == '0')
		digits[--used] = 0;
	return used;
}

// Digits of a large or small number are zeros for the most part.
#define PLAIN_ZEROS_MAX 100000
// What it costs more than another step.
#define STEPS_TO_PRINT 8u

static void write_zeros(struct writer *w, mpfr_exp_t count)
{
	if (count > PLAIN_ZEROS_MAX)
		w->overflow = true;
	for (mpfr_exp_t i = 0; i < count && !w->overflow; i++)
		write_char(w, '0');
}

static void write_plain(struct writer *w, struct text digits, mpfr_exp_t exponent)
{
	if (exponent <= 0) {
		write_string(w, "0.");
		write_zeros(w, -exponent);
		write_text(w, digits);
	} else if ((uint64_t)exponent >= digits.size) {
		write_text(w, digits);
		write_zeros(w, exponent - (mpfr_exp_t)digits.size);
	} else {
		write_text(w, (struct text){digits.data, (uint32_t)exponent});
		write_char(w, '.');
		write_text(
			w, (struct text){digits.data + exponent, digits.size - (uint32_t)exponent});
	}
}

static void write_scientific(struct writer *w, struct text digits, mpfr_exp_t exponent)
{
	long power = (long)exponent - 1;
	write_text(w, (struct text){digits.data, 1});
	if (digits.size > 1) {
		write_char(w, '.');
		write_text(w, (struct text){digits.data + 1, digits.size - 1});
	}
	write_string(w,
		hcl2_print(w->run, "e%c%02ld", power < 0 ? '-' : '+', power < 0 ? -power : power));
}

static struct text print_number(struct hcl2_run *run, mpfr_srcptr number, bool general)
{
	struct writer w = {.run = run};
	char digits[HCL2_PRECISION];
	mpfr_exp_t exponent;
	run->steps += STEPS_TO_PRINT;
	if (mpfr_inf_p(number))
		return mpfr_sgn(number) < 0 ? TEXT("-Inf") : TEXT("+Inf");
	if (mpfr_zero_p(number))
		return mpfr_signbit(number) ? TEXT("-0") : TEXT("0");
	uint32_t size = shortest_digits(number, digits, &exponent);
	struct text text = {digits, size};
	if (digits[0] == '-') {
		write_char(&w, '-');
		text = (struct text){digits + 1, size - 1};
	}
	mpfr_exp_t most = 6;
	if (general && (exponent - 1 < -4 || exponent - 1 >= most))
		write_scientific(&w, text, exponent);
	else
		write_plain(&w, text, exponent);
	if (w.overflow) {
		w = (struct writer){.run = run};
		write_scientific(&w, text, exponent);
	}
	return writer_text(&w);
}

struct text number_text(struct hcl2_run *run, mpfr_srcptr number)
{
	return print_number(run, number, false);
}

struct text number_text_general(struct hcl2_run *run, mpfr_srcptr number)
{
	return print_number(run, number, true);
}
