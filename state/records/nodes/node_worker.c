#include "state/records/nodes/node_worker.h"
#include "state/base/number_ranges.h"
#include "state/records/nodes/node_pairs.h"
#include "state/records/nodes/vm.h"
#include <stdlib.h>

#define RESOURCE_PREFIX TEXT("vm.resource.")
#define LABEL_PREFIX TEXT("vm.label.")
#define COUNT_DIGITS_MAX 18u

// Decimal digits alone, as many as never overflow.
static bool count_read(struct text text, int64_t *count)
{
	*count = 0;
	for (uint32_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*count = *count * 10 + (text.data[i] - '0');
		if (i == COUNT_DIGITS_MAX)
			return false;
	}
	return text.size > 0;
}

// What follows the prefix; false when that is nothing, or the prefix is another.
static bool key_of(struct text name, struct text prefix, struct text *key)
{
	if (name.size <= prefix.size || memcmp(name.data, prefix.data, prefix.size) != 0)
		return false;
	*key = (struct text){name.data + prefix.size, name.size - prefix.size};
	return true;
}

static bool is_any_text(struct text value)
{
	(void)value;
	return true;
}

static bool is_flag(struct text value)
{
	return text_equal(value, TEXT("0")) || text_equal(value, TEXT("1"));
}

static bool is_number(struct text value)
{
	uint32_t number;
	return number_read(value, UINT32_MAX, &number);
}

static bool is_count(struct text value)
{
	int64_t count;
	return count_read(value, &count);
}

static const struct {
	const char *name;
	bool (*is_sound)(struct text value);
} settings[] = {
	{"vm.worker", is_flag},
	{"vm.machine_id", is_any_text},
	{"vm.arch", is_any_text},
	{"vm.runtime", is_any_text},
	{"vm.default_cpu", is_number},
	{"vm.default_memory", is_number},
};

static bool worker_setting_is_sound(const struct node_pair *pair)
{
	struct text key;

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (text_equal(pair->name, text_of(settings[i].name)))
			return settings[i].is_sound(pair->value);
	if (key_of(pair->name, RESOURCE_PREFIX, &key))
		return is_count(pair->value);
	return key_of(pair->name, LABEL_PREFIX, &key);
}

bool node_is_worker(const struct node_registration *d)
{
	return text_equal(setting_of(d, TEXT("vm.worker")), TEXT("1"));
}

static uint32_t count_with(const struct node_registration *d, struct text prefix)
{
	struct text key;
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->pair_count; i++)
		count += d->pairs[i].kind == PAIR_SETTING && key_of(d->pairs[i].name, prefix, &key);
	return count;
}

bool node_worker_is_sound(const struct node_registration *d)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == PAIR_SETTING && setting_is_of_worker(d->pairs[i].name) &&
			!worker_setting_is_sound(&d->pairs[i]))
			return false;
	return !node_is_worker(d) ||
	       (d->name.size > 0 && count_with(d, RESOURCE_PREFIX) <= VM_RESOURCES_MAX &&
		       count_with(d, LABEL_PREFIX) <= VM_LABELS_MAX);
}

static void add_resource(struct vm_worker *worker, struct text key, int64_t count)
{
	char *name = text_copy(key);
	struct named_count *resource = map_item(&worker->resources, sizeof *resource, name);

	resource->count = count;
	free(name);
}

static void add_label(struct vm_worker *worker, struct text key, struct text value)
{
	char *name = text_copy(key);
	struct string_pair *label = map_item(&worker->labels, sizeof *label, name);

	free(label->value);
	label->value = text_copy(value);
	free(name);
}

static void add_setting(struct vm_worker *worker, const struct node_pair *pair)
{
	struct text key;
	int64_t count;

	if (key_of(pair->name, RESOURCE_PREFIX, &key) && count_read(pair->value, &count))
		add_resource(worker, key, count);
	else if (key_of(pair->name, LABEL_PREFIX, &key))
		add_label(worker, key, pair->value);
}

static char *text_or_null(struct text text)
{
	return text.size ? text_copy(text) : NULL;
}

static uint64_t number_of(const struct node_registration *d, struct text name)
{
	uint32_t number = 0;
	return number_read(setting_of(d, name), UINT32_MAX, &number) ? number : 0;
}

struct vm_worker *node_worker(const struct node_registration *d)
{
	struct text machine_id = setting_of(d, TEXT("vm.machine_id"));
	char node_id[UUID_TEXT_BYTES];

	if (!node_is_worker(d))
		return NULL;
	if (machine_id.size == 0)
		machine_id = text_of(uuid_format(&d->node, node_id));
	struct vm_worker *worker = vm_worker_create();
	worker->name = text_copy(d->name);
	worker->machine_id = text_copy(machine_id);
	worker->arch = text_or_null(setting_of(d, TEXT("vm.arch")));
	worker->runtime = text_or_null(setting_of(d, TEXT("vm.runtime")));
	worker->default_cpu = number_of(d, TEXT("vm.default_cpu"));
	worker->default_memory_mib = number_of(d, TEXT("vm.default_memory"));
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == PAIR_SETTING)
			add_setting(worker, &d->pairs[i]);
	worker->node = worker->owner = d->node;
	return worker;
}
