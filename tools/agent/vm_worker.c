#include "tools/agent/vm_worker.h"
#include "state/base/limits.h"
#include "tools/agent/vm/qemu.h"
#include "tools/agent/vm/vm_worker_lists.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES_BYTES_MAX 300u // leaves room for file names

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

static uint64_t attribute_number(const struct fingerprint *f, const char *name)
{
	const struct wire_register *d = &f->description;
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == WIRE_PAIR_ATTRIBUTE &&
			text_equal(d->pairs[i].name, text_of(name)))
			return strtoull(d->pairs[i].value.data, NULL, 10);
	return 0;
}

// Adds a measured value for each resource that the command line does not give.
static bool measured(struct fingerprint *f, const struct agent_options *o)
{
	const struct flag_list *said = &o->worker_resources;
	return (vm_worker_list_says(said, VM_WORKER_RESOURCE_CORES) ||
		       setting_number(f, VM_WORKER_RESOURCE_PREFIX VM_WORKER_RESOURCE_CORES,
			       attribute_number(f, "cpu.numcores"))) &&
	       (vm_worker_list_says(said, VM_WORKER_RESOURCE_MEMORY) ||
		       setting_number(f, VM_WORKER_RESOURCE_PREFIX VM_WORKER_RESOURCE_MEMORY,
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

// The system's own id, which a new state directory does not change; else the node's.
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

bool vm_worker_describe(struct fingerprint *f, const struct agent_options *o)
{
	if (!o->worker)
		return true;
	const char *driver = is_chosen(o->vm_driver, "mock") || !qemu_program() ? "mock" : "qemu";
	return fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, "vm.driver", text_of(driver)) &&
	       setting(f, "vm.worker", "1") && machine_id(f, o) && arch(f) &&
	       (!o->worker_runtime || setting(f, "vm.runtime", o->worker_runtime)) &&
	       setting_number(f, "vm.default_cpu", o->worker_default_cpu) &&
	       setting_number(f, "vm.default_memory", o->worker_default_memory_mib) &&
	       measured(f, o) && settings(f, VM_WORKER_RESOURCE_PREFIX, &o->worker_resources) &&
	       settings(f, VM_WORKER_LABEL_PREFIX, &o->worker_labels);
}

int vm_worker_machines(const struct agent_options *o, struct machine_settings *m,
	char images[static VM_WORKER_IMAGES_BYTES], char *message, uint32_t message_size)
{
	if (o->vm_images)
		snprintf(images, VM_WORKER_IMAGES_BYTES, "%s", o->vm_images);
	else
		snprintf(images, VM_WORKER_IMAGES_BYTES, "%.300s/images",
			o->data_dir ? o->data_dir : o->state_dir);
	*m = (struct machine_settings){
		.qemu = is_chosen(o->vm_driver, "mock") ? NULL : qemu_program(),
		.images = images,
		.user = o->vm_user ? o->vm_user : "",
		.has_network = is_chosen(o->vm_network, "user"),
		.suspended_days = o->vm_suspended_days,
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
