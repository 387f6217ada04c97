// Operators.
#include "tools/hcl2/eval.h"
#include "tools/hcl2/grammar.h"

typedef int arithmetic_fn(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// The remainder has the sign of the dividend; of nothing it is the dividend itself.
static int remainder_of(mpfr_ptr result, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t round)
{
	if (mpfr_inf_p(a) || mpfr_inf_p(b))
		return mpfr_mul(result, a, b, round);
	return mpfr_zero_p(b) ? mpfr_set(result, a, round) : mpfr_fmod(result, a, b, round);
}

static const struct {
	int operation;
	const struct hcl2_type *operands;
	arithmetic_fn *compute; // NULL: it compares
} operators[] = {
	{T_OR, &hcl2_bool_type, NULL},
	{T_AND, &hcl2_bool_type, NULL},
	{T_EQUAL, &hcl2_any, NULL},
	{T_NOT_EQUAL, &hcl2_any, NULL},
	{'<', &hcl2_number_type, NULL},
	{'>', &hcl2_number_type, NULL},
	{T_AT_LEAST, &hcl2_number_type, NULL},
	{T_AT_MOST, &hcl2_number_type, NULL},
	{'+', &hcl2_number_type, mpfr_add},
	{'-', &hcl2_number_type, mpfr_sub},
	{'*', &hcl2_number_type, mpfr_mul},
	{'/', &hcl2_number_type, mpfr_div},
	{'%', &hcl2_number_type, remainder_of},
};

static bool compare(
	struct hcl2_run *run, int operation, const struct hcl2_value *a, const struct hcl2_value *b)
{
	switch (operation) {
	case T_OR: return a->boolean || b->boolean;
	case T_AND: return a->boolean && b->boolean;
	case T_EQUAL: return value_is_equal(run, a, b);
	case T_NOT_EQUAL: return !value_is_equal(run, a, b);
	case '<': return mpfr_less_p(a->number, b->number);
	case '>': return mpfr_greater_p(a->number, b->number);
	case T_AT_LEAST: return mpfr_greaterequal_p(a->number, b->number);
	default: return mpfr_lessequal_p(a->number, b->number);
	}
}

static const struct hcl2_value *operand(struct hcl2_run *run, const struct hcl2_node *node,
	const struct hcl2_value *value, const struct hcl2_type *type)
{
	return value_as(run, value, type, hcl2_range(node), "Unsuitable operand");
}

const struct hcl2_value *evaluate_binary(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	uint32_t row = 0;
	while (operators[row].operation != node->operation)
		row++;
	const struct hcl2_type *type = operators[row].operands;
	const struct hcl2_value *values[2];
	for (int i = 0; i < 2; i++) {
		values[i] = hcl2_evaluate(run, scope, node->inside[i]);
		if (values[i])
			values[i] = operand(run, node->inside[i], values[i], type);
	}
	if (!values[0] || !values[1])
		return NULL;
	if (type->kind != HCL2_ANY && (values[0]->is_null || values[1]->is_null))
		return no_value(run, hcl2_range(node), "An operand is null.");
	if (!operators[row].compute)
		return value_bool(run, compare(run, node->operation, values[0], values[1]));
	mpfr_ptr result = number_new(run);
	operators[row].compute(result, values[0]->number, values[1]->number, MPFR_RNDN);
	if (mpfr_nan_p(result))
		return no_value(run, hcl2_range(node), "This has no result.");
	return value_number(run, result);
}

const struct hcl2_value *evaluate_unary(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	bool negates = node->operation == '-';
	const struct hcl2_value *value = hcl2_evaluate(run, scope, node->inside[0]);
	if (value)
		value = operand(
			run, node->inside[0], value, negates ? &hcl2_number_type : &hcl2_bool_type);
	if (!value)
		return NULL;
	if (value->is_null)
		return no_value(run, hcl2_range(node), "The operand is null.");
	if (!negates)
		return value_bool(run, !value->boolean);
	mpfr_ptr result = number_new(run);
	mpfr_neg(result, value->number, MPFR_RNDN);
	if (mpfr_zero_p(result))
		mpfr_set_zero(result, 1);
	return value_number(run, result);
}
