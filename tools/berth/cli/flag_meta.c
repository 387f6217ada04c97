#include "tools/berth/cli/flag_meta.h"
#include <string.h>

json_t *flags_pairs(const struct flags *flags, enum flag flag)
{
	json_t *pairs = json_object();
	uint32_t at = 0;
	const char *pair;
	while ((pair = flag_next(flags, flag, &at))) {
		const char *equals = strchr(pair, '=');
		if (!equals || equals == pair) {
			complain(STATUS_USAGE, "--%s \"%s\" is not %s",
				flag_descriptions[flag].name, pair, flag_descriptions[flag].value);
			json_decref(pairs);
			return NULL;
		}
		json_object_setn_new(pairs, pair, (size_t)(equals - pair), json_string(equals + 1));
	}
	return pairs;
}

json_t *flags_meta(const struct flags *flags)
{
	return flags_pairs(flags, FLAG_META);
}
