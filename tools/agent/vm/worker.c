#include "tools/agent/vm/worker.h"
#include "state/base/limits.h"
#include "tools/agent/vm/qemu.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOURCE_PREFIX "vm.resource."
#define LABEL_PREFIX "vm.label."
#define IMAGES_BYTES_MAX 300u // leaves room for names in it

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

// Two resources are known without being said.
bool worker_resources_are_sound(const struct flag_list *list, char *message, uint32_t message_size)
{
	return are_sound(list, "worker-resource", RESOURCE_PREFIX, VM_RESOURCES_MAX - 2, true,
		message, message_size);
}

bool worker_labels_are_sound(const struct flag_list *list, char *message, uint32_t message_size)
{
	return are_sound(
		list, "worker-label", LABEL_PREFIX, VM_LABELS_MAX, false, message, message_size);
}

bool worker_options_are_sound(const struct agent_options *o, char *message, uint32_t message_size)
{
	return worker_resources_are_sound(&o->worker_resources, message, message_size) &&
	       worker_labels_are_sound(&o->worker_labels, message, message_size);
}

static bool setting(struct fingerprint *f, const char *name, const char *value)
{
	return fingerprint_pair(f, WIRE_PAIR_SETTING, name, text_of(value));
}

static bool setting_number(struct fingerprint *f, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%lu", (unsigned long)value);
	return value == 0 || setting(f, name, text);
}

static bool settings(struct fingerprint *f, const char *prefix, const struct flag_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		char name[ATTRIBUTE_NAME_BYTES_MAX + 1];
		const char *item = list->items[i], *equals = strchr(item, '=');
		snprintf(name, sizeof name, "%s%.*s", prefix, (int)(equals - item), item);
		if (!setting(f, name, equals + 1))
			return false;
	}
	return true;
}

bool worker_list_says(const struct flag_list *list, const char *name)
{
	size_t size = strlen(name);
	for (uint32_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], name, size) == 0 && list->items[i][size] == '=')
			return true;
	return false;
}

static uint64_t attribute_number(const struct fingerprint *f, const char *name)
{
	const struct wire_register *d = &f->description;
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == WIRE_PAIR_ATTRIBUTE &&
			text_equal(d->pairs[i].name, text_of(name)))
			return strtoull(d->pairs[i].value.data, NULL, 10);
	return 0;
}

// What is measured stands where nothing else was said.
static bool measured(struct fingerprint *f, const struct agent_options *o)
{
	const struct flag_list *said = &o->worker_resources;
	return (worker_list_says(said, WORKER_RESOURCE_CORES) ||
		       setting_number(f, RESOURCE_PREFIX WORKER_RESOURCE_CORES,
			       attribute_number(f, "cpu.numcores"))) &&
	       (worker_list_says(said, WORKER_RESOURCE_MEMORY) ||
		       setting_number(f, RESOURCE_PREFIX WORKER_RESOURCE_MEMORY,
			       f->description.memory_mb));
}

static bool arch(struct fingerprint *f)
{
	const struct wire_register *d = &f->description;
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == WIRE_PAIR_ATTRIBUTE &&
			text_equal(d->pairs[i].name, TEXT("cpu.arch")))
			return fingerprint_pair(f, WIRE_PAIR_SETTING, "vm.arch", d->pairs[i].value);
	return true;
}

// The system's own, which a new state directory does not change; else the node's.
static bool machine_id(struct fingerprint *f, const struct agent_options *o)
{
	char id[64] = "";
	FILE *file = o->worker_machine_id ? NULL : fopen("/etc/machine-id", "re");
	if (file && !fgets(id, sizeof id, file))
		id[0] = '\0';
	if (file)
		fclose(file);
	id[strcspn(id, "\n")] = '\0';
	if (!*id)
		uuid_format(&f->description.node, id);
	return setting(f, "vm.machine_id", o->worker_machine_id ? o->worker_machine_id : id);
}

static bool is_chosen(const char *option, const char *value)
{
	return option && strcmp(option, value) == 0;
}

bool worker_describe(struct fingerprint *f, const struct agent_options *o)
{
	if (!o->worker)
		return true;
	const char *driver = is_chosen(o->vm_driver, "mock") || !qemu_program() ? "mock" : "qemu";
	return fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, "vm.driver", text_of(driver)) &&
	       setting(f, "vm.worker", "1") && machine_id(f, o) && arch(f) &&
	       (!o->worker_runtime || setting(f, "vm.runtime", o->worker_runtime)) &&
	       setting_number(f, "vm.default_cpu", o->worker_default_cpu) &&
	       setting_number(f, "vm.default_memory", o->worker_default_memory_mib) &&
	       measured(f, o) && settings(f, RESOURCE_PREFIX, &o->worker_resources) &&
	       settings(f, LABEL_PREFIX, &o->worker_labels);
}

int worker_machines(const struct agent_options *o, struct machine_settings *m,
	char images[static WORKER_IMAGES_BYTES], char *message, uint32_t message_size)
{
	if (o->vm_images)
		snprintf(images, WORKER_IMAGES_BYTES, "%s", o->vm_images);
	else
		snprintf(images, WORKER_IMAGES_BYTES, "%.300s/images",
			o->data_dir ? o->data_dir : o->state_dir);
	*m = (struct machine_settings){
		.qemu = is_chosen(o->vm_driver, "mock") ? NULL : qemu_program(),
		.images = images,
		.user = o->vm_user ? o->vm_user : "",
		.has_network = is_chosen(o->vm_network, "user"),
		.is_emulated = is_chosen(o->vm_acceleration, "none")};
	if (o->vm_images && strlen(o->vm_images) > IMAGES_BYTES_MAX) {
		snprintf(message, message_size, "--vm-images is longer than %u bytes",
			IMAGES_BYTES_MAX);
		return -ENAMETOOLONG;
	}
	if (!is_chosen(o->vm_driver, "qemu") || m->qemu)
		return 0;
	snprintf(message, message_size,
		"--vm-driver is qemu, but there is no qemu-system-x86_64 in PATH for this machine");
	return -ENOENT;
}
