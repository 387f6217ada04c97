// Finds the parts of a virtual machine of the driver qemu by the image that its description names:
//
//	a file of the images folder    its disk: raw, or qcow2
//	a folder of it                 kernel, and of initrd, cmdline and disk those that are there
//	suspended:NAME-UID             a machine that was suspended on this worker
#pragma once
#include "tools/agent/vm/machine.h"

#define SUSPENDED_PREFIX "suspended:"
#define SUSPENDED_STATE "state"     // its memory
#define SUSPENDED_DISK "disk.qcow2" // its disk as it was left, if it has one
#define SUSPENDED_MACHINE "machine.json"

// What a machine shares with the one that resumes its memory.
struct vm_shape {
	uint64_t cpus, memory_mib;
	bool is_nested, has_network;
};

struct vm_image {
	char origin[256]; // the image in the images folder, also for a suspended machine
	char kernel[600], initrd[600], disk[600], state[600]; // "": it has none
	char command_line[2048];
};

// The shape that this worker gives the machine.
struct vm_shape vm_shape_of(const json_t *machine, const struct machine_settings *);
// The folder of a suspended machine.
void vm_suspended_folder(const char *data_folder, const char *name, char path[static 600]);
// Name of a machine's folder, from its JSON.
void vm_suspended_name(const json_t *machine, char name[static 200]);
// 0, or -errno and a sentence.
int vm_image_find(struct vm_image *, const char *image, const char *images_folder,
	const char *data_folder, const struct vm_shape *, char *message, uint32_t message_size);
// Writes what vm_image_find needs to know about a suspended machine. 0, or -errno.
int vm_image_describe(const char *folder, const char *origin, const struct vm_shape *);
