// The resources and labels of a worker of virtual machines, as its command line gives them.
#pragma once
#include "tools/options/flags.h"

// Registration settings with these prefixes hold them.
#define VM_WORKER_RESOURCE_PREFIX "vm.resource."
#define VM_WORKER_LABEL_PREFIX "vm.label."

// Resources that every worker has, given or measured.
#define VM_WORKER_RESOURCE_CORES "org.cirruslabs.logical-cores"
#define VM_WORKER_RESOURCE_MEMORY "org.cirruslabs.memory-mib"

// Items are RESOURCE=NUMBER or NAME=VALUE. False, and a sentence.
bool vm_worker_resources_are_sound(const struct flag_list *, char *message, uint32_t message_size);
bool vm_worker_labels_are_sound(const struct flag_list *, char *message, uint32_t message_size);
// Whether an item of the list has that name.
bool vm_worker_list_says(const struct flag_list *, const char *name);
