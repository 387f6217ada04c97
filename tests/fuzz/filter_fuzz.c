// A filter as a client may send it. What is refused says where; what is taken says the same of an item twice, and
// the opposite when it is negated.
#include "state/base/check.h"
#include "tools/forms/filter.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char item_text[] = "{\"A\": \"b\", \"N\": 5, \"F\": 0.5, \"T\": true, \"L\": [\"x\", "
				"2, [1], null], \"M\": {\"k.e\": \"v\"},"
				" \"O\": {\"I\": {\"C\": 3}}, \"Z\": null}";

static void follow(const struct filter *filter, struct text text)
{
	json_t *item = json_loads(item_text, 0, NULL);
	char message[FILTER_MESSAGE_BYTES], *negated;
	bool fits = filter_fits(filter, item);

	CHECK(filter_fits(filter, item) == fits);
	CHECK(asprintf(&negated, "not (%.*s)", (int)text.size, text.data) > 0);
	struct filter *opposite = filter_parse(text_of(negated), message);
	// It may have become too long, too deep or too many by that.
	if (opposite)
		CHECK(filter_fits(opposite, item) != fits);
	filter_free(opposite);
	free(negated);
	json_decref(item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = {(const char *)data, (uint32_t)size};
	char message[FILTER_MESSAGE_BYTES];
	struct filter *filter = filter_parse(text, message);

	CHECK(strlen(message) < FILTER_MESSAGE_BYTES);
	CHECK(filter || strncmp(message, "filter: at character ", 21) == 0);
	// A text with NUL in it is none that a query parameter can bring.
	if (filter && !memchr(data, 0, size))
		follow(filter, text);
	filter_free(filter);
	return 0;
}
