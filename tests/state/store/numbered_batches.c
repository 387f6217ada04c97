#include "tests/state/store/numbered_batches.h"
#include "state/base/prng.h"
#include <string.h>

uint32_t numbered_batch(uint64_t index, uint8_t batch[NUMBERED_BYTES_MOST], uint32_t *entries)
{
	struct prng prng;
	prng_seed(&prng, index);
	uint32_t size = prng_below(&prng, 4) ? (uint32_t)prng_below(&prng, 3000)
					     : (uint32_t)prng_below(&prng, NUMBERED_BYTES_MOST);
	*entries = 1 + (uint32_t)prng_below(&prng, 5);
	for (uint32_t i = 0; i < size; i++)
		batch[i] = (uint8_t)prng_u64(&prng);
	return size;
}

int numbered_append(struct journal *j, uint64_t *index)
{
	static uint8_t batch[NUMBERED_BYTES_MOST];
	uint32_t entries, size = numbered_batch(*index, batch, &entries);
	int error = journal_append(j, *index, entries, batch, size);
	if (error == 0)
		*index += entries;
	return error;
}

static int see_batch(void *context, const struct journal_batch *batch)
{
	static uint8_t expected[NUMBERED_BYTES_MOST];
	struct numbered_seen *seen = context;
	uint32_t entries, size = numbered_batch(batch->first_index, expected, &entries);
	seen->wrong |= size != batch->size || entries != batch->entries ||
		       memcmp(expected, batch->data, size) != 0;
	seen->batches++;
	seen->last_index = batch->first_index + batch->entries - 1;
	return 0;
}

int numbered_walk(struct journal *j, uint64_t index, struct numbered_seen *seen,
	const struct complaint *complaint)
{
	*seen = (struct numbered_seen){.last_index = index};
	return journal_walk(j, index, see_batch, seen, complaint);
}
