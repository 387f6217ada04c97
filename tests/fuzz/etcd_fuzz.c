// Answers of etcd, or of whatever stands in its place: an error, or an item of a range.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/etcd/etcd_answer.h"
#include "state/etcd/etcd_item.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A view of a value lies within the text, and there is a NUL behind a key.
static void look_at_item(const char *text, size_t size, const struct etcd_item *item)
{
	const char *value = item->value;
	if (item->size)
		CHECK(value >= text && value + item->size < text + size);
	CHECK(strlen(item->key) < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memory_take(size + 1);
	memcpy(text, data, size);
	struct etcd_outcome o = etcd_answer_outcome(200, text, size);
	CHECK((o.verdict == VERDICT_ANSWERED) == (o.error == 0));
	struct etcd_json all = etcd_json_over(text, size);
	etcd_json_skip(&all);
	CHECK(all.at <= all.end && (all.failed || all.depth == 0));
	struct etcd_json j = etcd_json_over(text, size);
	struct etcd_item item;
	etcd_item_read(&j, &item);
	if (!j.failed)
		look_at_item(text, size, &item);
	free(text);
	return 0;
}
