#include "tools/berth/flag_meta.h"
#include <string.h>

json_t *flags_meta(const struct flags *flags)
{
	json_t *meta = json_object();
	uint32_t at = 0;
	const char *pair;
	while ((pair = flag_next(flags, FLAG_META, &at))) {
		const char *equals = strchr(pair, '=');
		if (!equals || equals == pair) {
			complain(STATUS_USAGE, "--meta \"%s\" is not NAME=VALUE", pair);
			json_decref(meta);
			return NULL;
		}
		json_object_setn_new(meta, pair, (size_t)(equals - pair), json_string(equals + 1));
	}
	return meta;
}
