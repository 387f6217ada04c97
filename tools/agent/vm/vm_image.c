#include "tools/agent/vm/vm_image.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *reason(int error)
{
	switch (error) {
	case -EPERM: return "it is not named as one of the images folder";
	case -ENOEXEC: return "a folder wants a kernel";
	case -E2BIG: return "its cmdline is longer than 2047 bytes";
	default: return strerror(-error);
	}
}

static int refuse_image(int error, char *message, uint32_t message_size, const char *image)
{
	snprintf(
		message, message_size, "cannot use the image \"%.100s\": %s", image, reason(error));
	return error;
}

struct vm_shape vm_shape_of(const json_t *machine, const struct machine_settings *settings)
{
	return (struct vm_shape){.cpus = machine_number(machine, "assignedCPU"),
		.memory_mib = machine_number(machine, "assignedMemory"),
		.is_nested = json_is_true(json_object_get(machine, "nested")),
		.has_network = settings->has_network};
}

void vm_suspended_folder(const char *data_folder, const char *name, char path[static 600])
{
	snprintf(path, 600, "%.300s/suspended%s%.200s", data_folder, *name ? "/" : "", name);
}

void vm_suspended_name(const json_t *machine, char name[static 200])
{
	snprintf(name, 200, "%.128s-%.64s", spec_text(machine, "name"), spec_text(machine, "uid"));
}

// Makes the path absolute; "": no such file. 0, or -errno: a machine must not begin without a part of its own.
static int part_of(const char *folder, const char *name, char path[static 600])
{
	char named[600], real[PATH_MAX];
	*path = '\0';
	snprintf(named, sizeof named, "%.500s/%s", folder, name);
	if (!realpath(named, real))
		return errno == ENOENT ? 0 : -errno;
	if (strlen(real) >= 600)
		return -ENAMETOOLONG;
	snprintf(path, 600, "%s", real);
	return 0;
}

static int read_command_line(const char *folder, char line[static 2048])
{
	char path[600];
	int error = part_of(folder, "cmdline", path);
	if (error)
		return error;
	if (!*path) {
		snprintf(line, 2048, "console=ttyS0");
		return 0;
	}
	FILE *file = fopen(path, "re");
	if (!file)
		return -errno;
	size_t size = fread(line, 1, 2047, file);
	bool is_whole = fgetc(file) == EOF && !ferror(file);
	fclose(file);
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return is_whole ? 0 : -E2BIG;
}

static int look_at_folder(struct vm_image *v, const char *folder)
{
	int error = part_of(folder, "kernel", v->kernel);
	error = error ? error : part_of(folder, "initrd", v->initrd);
	error = error ? error : part_of(folder, "disk", v->disk);
	if (error)
		return error;
	return *v->kernel ? read_command_line(folder, v->command_line) : -ENOEXEC;
}

// Finds images only in the images folder and where its links lead, because the operator made the links.
static int look_at_image(struct vm_image *v, const char *image, const char *images_folder)
{
	struct stat st;
	char path[600];
	if (!spec_is_inner_path(image) || strlen(image) >= sizeof v->origin)
		return -EPERM;
	snprintf(v->origin, sizeof v->origin, "%s", image);
	snprintf(path, sizeof path, "%.300s/%s", images_folder, image);
	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return look_at_folder(v, path);
	snprintf(v->disk, sizeof v->disk, "%s", path);
	return 0;
}

static bool is_of_shape(const json_t *json, const struct vm_shape *shape)
{
	const struct vm_shape was = {
		.cpus = (uint64_t)json_integer_value(json_object_get(json, "cpus")),
		.memory_mib = (uint64_t)json_integer_value(json_object_get(json, "memory")),
		.is_nested = json_is_true(json_object_get(json, "nested")),
		.has_network = json_is_true(json_object_get(json, "network"))};
	return was.cpus == shape->cpus && was.memory_mib == shape->memory_mib &&
	       was.is_nested == shape->is_nested && was.has_network == shape->has_network;
}

int vm_image_describe(const char *folder, const char *origin, const struct vm_shape *shape)
{
	char path[700];
	snprintf(path, sizeof path, "%.600s/%s", folder, SUSPENDED_MACHINE);
	json_t *json = json_pack("{s:s s:I s:I s:b s:b}", "image", origin, "cpus",
		(json_int_t)shape->cpus, "memory", (json_int_t)shape->memory_mib, "nested",
		shape->is_nested, "network", shape->has_network);
	int error = json_dump_file(json, path, JSON_COMPACT) < 0 ? -EIO : 0;
	json_decref(json);
	return error;
}

static int look_at_suspended(struct vm_image *v, const char *name, const char *images_folder,
	const char *data_folder, const struct vm_shape *shape, char *message, uint32_t message_size)
{
	char folder[600], path[700];
	vm_suspended_folder(data_folder, name, folder);
	snprintf(path, sizeof path, "%s/%s", folder, SUSPENDED_MACHINE);
	json_t *json = spec_is_safe_name(name) ? json_load_file(path, 0, NULL) : NULL;
	if (!json) {
		snprintf(message, message_size,
			"no machine was suspended here as \"%.100s\" (NAME-UID)", name);
		return -ENOENT;
	}
	int error = look_at_image(v, spec_text(json, "image"), images_folder);
	bool fits = is_of_shape(json, shape);
	error = error ? error : part_of(folder, SUSPENDED_DISK, v->disk);
	error = error ? error : part_of(folder, SUSPENDED_STATE, v->state);
	if (!error && !*v->state)
		error = -ENODATA;
	if (error)
		refuse_image(error, message, message_size, spec_text(json, "image"));
	else if (!fits)
		snprintf(message, message_size,
			"\"%.64s\" had %lld cpus and %lld MiB, or another network or nesting, and "
			"can only go on so",
			name, (long long)json_integer_value(json_object_get(json, "cpus")),
			(long long)json_integer_value(json_object_get(json, "memory")));
	json_decref(json);
	return error ? error : fits ? 0 : -EINVAL;
}

int vm_image_find(struct vm_image *v, const char *image, const char *images_folder,
	const char *data_folder, const struct vm_shape *shape, char *message, uint32_t message_size)
{
	size_t prefix = strlen(SUSPENDED_PREFIX);
	*v = (struct vm_image){0};
	if (strncmp(image, SUSPENDED_PREFIX, prefix) == 0)
		return look_at_suspended(v, image + prefix, images_folder, data_folder, shape,
			message, message_size);
	int error = look_at_image(v, image, images_folder);
	return error ? refuse_image(error, message, message_size, image) : 0;
}
