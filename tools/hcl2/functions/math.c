// Functions of numbers.
#include "tools/hcl2/functions/functions.h"
#include <gmp.h>
#include <math.h>

static const struct hcl2_value *unary_result(
	struct call *call, int compute(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t))
{
	mpfr_ptr result = number_new(call->run);
	compute(result, call->arguments[0]->number, MPFR_RNDN);
	if (mpfr_zero_p(result))
		mpfr_set_zero(result, 1);
	return value_number(call->run, result);
}

static int absolute(mpfr_ptr result, mpfr_srcptr number, mpfr_rnd_t round)
{
	return mpfr_abs(result, number, round);
}

static int next_whole(mpfr_ptr result, mpfr_srcptr number, mpfr_rnd_t round)
{
	return mpfr_ceil(result, number);
}

static int previous_whole(mpfr_ptr result, mpfr_srcptr number, mpfr_rnd_t round)
{
	return mpfr_floor(result, number);
}

static const struct hcl2_value *fn_abs(struct call *call)
{
	return unary_result(call, absolute);
}

static const struct hcl2_value *fn_ceil(struct call *call)
{
	return unary_result(call, next_whole);
}

static const struct hcl2_value *fn_floor(struct call *call)
{
	return unary_result(call, previous_whole);
}

static const struct hcl2_value *extreme(struct call *call, int sign)
{
	if (!call->count)
		return call_failed(call, "at least one number is required");
	const struct hcl2_value *chosen = call->arguments[0];
	for (uint32_t i = 1; i < call->count; i++)
		if (mpfr_cmp(call->arguments[i]->number, chosen->number) * sign > 0)
			chosen = call->arguments[i];
	return chosen;
}

static const struct hcl2_value *fn_max(struct call *call)
{
	return extreme(call, 1);
}

static const struct hcl2_value *fn_min(struct call *call)
{
	return extreme(call, -1);
}

static double as_double(const struct call *call, uint32_t argument)
{
	return mpfr_get_d(call->arguments[argument]->number, MPFR_RNDN);
}

static const struct hcl2_value *from_double(struct call *call, double number)
{
	return isnan(number) ? call_failed(call, "this has no result")
			     : value_double(call->run, number);
}

static const struct hcl2_value *fn_log(struct call *call)
{
	return from_double(call, log(as_double(call, 0)) / log(as_double(call, 1)));
}

static const struct hcl2_value *fn_pow(struct call *call)
{
	return from_double(call, pow(as_double(call, 0), as_double(call, 1)));
}

static const struct hcl2_value *fn_signum(struct call *call)
{
	int64_t number;
	if (!call_int(call, 0, INT64_MIN, INT64_MAX, &number))
		return NULL;
	return value_int(call->run, (number > 0) - (number < 0));
}

static const struct hcl2_value *fn_parseint(struct call *call)
{
	const struct hcl2_value *text = call->arguments[0];
	int64_t base;
	mpz_t number;
	if (text->type->kind != HCL2_STRING)
		return call_wrong(call, 0, "a string is required");
	if (!hcl2_number_is_int(call->arguments[1], 2, 62, &base))
		return call_wrong(call, 1, "the base is a whole number from 2 to 62");
	const char *digits = hcl2_copy(call->run, text->string).data;
	// Up to base 36 the library takes no difference between small and large letters; beyond, it orders them the
	// other way round.
	char *turned = hcl2_print(call->run, "%s", digits + (*digits == '+'));
	for (char *c = turned; base > 36 && *c; c++)
		*c ^= (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ? 0x20 : 0;
	bool wrong = !*turned || strpbrk(turned, " \t\n\r\v\f+_") || text->string.size > 65536;
	if (wrong || mpz_init_set_str(number, turned, (int)base) != 0) {
		if (!wrong)
			mpz_clear(number);
		return call_wrong(
			call, 0, "\"%s\" is no whole number of base %d", digits, (int)base);
	}
	mpfr_ptr result = number_new(call->run);
	mpfr_set_z(result, number, MPFR_RNDN);
	mpz_clear(number);
	return value_number(call->run, result);
}

const struct function math_functions[] = {
	{"abs", "n", fn_abs},
	{"ceil", "n", fn_ceil},
	{"floor", "n", fn_floor},
	{"log", "nn", fn_log},
	{"max", "n*", fn_max},
	{"min", "n*", fn_min},
	{"parseint", "an", fn_parseint},
	{"pow", "nn", fn_pow},
	{"signum", "n", fn_signum},
	{0},
};
