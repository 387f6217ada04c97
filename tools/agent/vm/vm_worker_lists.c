#include "tools/agent/vm/vm_worker_lists.h"
#include "state/base/limits.h"
#include <stdio.h>
#include <string.h>

static bool is_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits > 0 && digits <= 18 && text[digits] == '\0';
}

static bool are_sound(const struct flag_list *list, const char *option, const char *prefix,
	uint32_t most, bool numbers, char *message, uint32_t message_size)
{
	size_t room = ATTRIBUTE_NAME_BYTES_MAX - strlen(prefix);
	for (uint32_t i = 0; i < list->count; i++) {
		const char *item = list->items[i], *equals = strchr(item, '=');
		if (equals && equals != item && (size_t)(equals - item) <= room &&
			strlen(equals + 1) <= ATTRIBUTE_VALUE_BYTES_MAX &&
			(!numbers || is_number(equals + 1)))
			continue;
		snprintf(message, message_size,
			"--%s wants NAME=%s with a name of 1 to %zu bytes, not \"%.64s\"", option,
			numbers ? "NUMBER" : "VALUE", room, item);
		return false;
	}
	if (list->count <= most)
		return true;
	snprintf(message, message_size, "--%s may be given %u times", option, most);
	return false;
}

// Every worker has two resources that the command line need not name.
bool vm_worker_resources_are_sound(
	const struct flag_list *list, char *message, uint32_t message_size)
{
	return are_sound(list, "worker-resource", VM_WORKER_RESOURCE_PREFIX, VM_RESOURCES_MAX - 2,
		true, message, message_size);
}

bool vm_worker_labels_are_sound(const struct flag_list *list, char *message, uint32_t message_size)
{
	return are_sound(list, "worker-label", VM_WORKER_LABEL_PREFIX, VM_LABELS_MAX, false,
		message, message_size);
}

bool vm_worker_list_says(const struct flag_list *list, const char *name)
{
	size_t size = strlen(name);
	for (uint32_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], name, size) == 0 && list->items[i][size] == '=')
			return true;
	return false;
}
