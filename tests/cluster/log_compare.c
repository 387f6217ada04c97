#include "tests/cluster/log_compare.h"
#include <inttypes.h>
#include <string.h>

static bool is_same_batch_of(const struct logged_batch *a, const struct logged_batch *b)
{
	return a->indexes == b->indexes && a->size == b->size &&
	       memcmp(a->bytes, b->bytes, a->size) == 0;
}

static uint32_t first_different_byte(const struct logged_batch *a, const struct logged_batch *b)
{
	uint32_t at = 0;

	while (at < a->size && at < b->size && a->bytes[at] == b->bytes[at])
		at++;
	return at;
}

// The first index of the newer of both, since before it one of them has nothing to compare.
static uint64_t common_first(const struct log_source *a, const struct log_source *b)
{
	uint64_t first = a->batches[0].first_index, other = b->batches[0].first_index;
	return first > other ? first : other;
}

static void complain_missing(struct verdict *v, const struct log_source *lacks,
	const struct log_source *has, uint64_t index)
{
	verdict_complain(v, "missing", lacks->name,
		"its log has no batch of index %" PRIu64 ", which that of %s has", index,
		has->name);
}

void logs_compare(struct verdict *v, const struct log_source *one, const struct log_source *other)
{
	if (one->count == 0 || other->count == 0)
		return;
	uint64_t first = common_first(one, other);
	uint32_t i = log_source_after(one, first - 1), j = log_source_after(other, first - 1);
	for (; i < one->count && j < other->count; i++, j++) {
		const struct logged_batch *a = &one->batches[i], *b;
		if (one->has_holes)
			j = log_source_after(other, a->first_index - 1);
		if (j == other->count)
			return;
		b = &other->batches[j];
		if (a->first_index < b->first_index)
			return complain_missing(v, other, one, a->first_index);
		if (a->first_index > b->first_index)
			return complain_missing(v, one, other, b->first_index);
		if (!is_same_batch_of(a, b))
			return verdict_complain(v, "unequal", one->name,
				"the batch of index %" PRIu64
				" is not that of %s: %u and %u bytes, which differ at %u",
				a->first_index, other->name, a->size, b->size,
				first_different_byte(a, b));
	}
}
