#include "dataplane/requests/spec_cache.h"

void spec_cache_free(struct spec_cache *cache)
{
	for (uint32_t i = 0; i < SPECS_CACHED; i++)
		bytes_writer_free(&cache->items[i].json);
}

bool spec_cache_may_make(struct spec_cache *cache, uint32_t now_ms)
{
	if (cache->now_ms != now_ms) {
		cache->now_ms = now_ms;
		cache->made = 0;
	}
	return cache->made++ < SPECS_PER_MS;
}
