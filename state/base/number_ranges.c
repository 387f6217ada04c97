#include "state/base/number_ranges.h"

bool number_read(struct text text, uint32_t most, uint32_t *number)
{
	uint64_t value = 0;

	if (text.size == 0)
		return false;
	for (uint32_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text.data[i] - '0');
		if (value > most)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

bool number_ranges_next(struct text *list, uint32_t most, struct number_range *range)
{
	uint32_t size = 0, dash = 0;

	while (size < list->size && list->data[size] != ',') {
		if (list->data[size] == '-' && dash == 0)
			dash = size;
		size++;
	}
	if (size + 1 == list->size) // ends with a comma
		return false;
	struct text first = {list->data, dash ? dash : size};
	if (!number_read(first, most, &range->least))
		return false;
	range->most = range->least;
	if (dash && (!number_read((struct text){list->data + dash + 1, size - dash - 1}, most,
			     &range->most) ||
			    range->most < range->least))
		return false;
	uint32_t taken = size < list->size ? size + 1 : size;
	list->data += taken;
	list->size -= taken;
	return true;
}

bool number_ranges_are_sound(struct text list, uint32_t most)
{
	struct number_range range;

	while (list.size > 0)
		if (!number_ranges_next(&list, most, &range))
			return false;
	return true;
}
