// What a controller tells a worker to run: whatever it is, it is understood or refused, and nothing of it leads out of
// the folders that are there for it.
#include "state/base/check.h"
#include "tools/agent/vm/vm_image.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct uuid id = {{0xa1}};
static const struct machine_settings with_qemu = {.qemu = "/q", .images = "/none", .user = ""};
static const struct machine_settings without_qemu = {.images = "/none", .user = ""};

static void look_for_image(const struct alloc_spec *spec)
{
	char message[200] = "", name[200], path[600];
	struct vm_image image;
	const json_t *machine = json_object_get(spec->root, "Machine");
	struct vm_shape shape = vm_shape_of(machine, &with_qemu);
	CHECK(vm_image_find(&image, spec_text(machine, "image"), with_qemu.images, "/none", &shape,
		      message, sizeof message) < 0);
	CHECK(*message);
	vm_suspended_name(machine, name);
	vm_suspended_folder("/none", name, path);
	CHECK(strncmp(path, "/none/suspended/", 16) == 0);
	CHECK(path[16] != '.' && !strchr(path + 16, '/'));
}

static void read_as(const uint8_t *data, size_t size, const struct machine_settings *settings)
{
	char message[200];
	struct alloc_spec *spec =
		machine_spec_read((const char *)data, size, &id, settings, message, sizeof message);
	if (!spec)
		return;
	CHECK(spec->is_machine && spec->task_count == 1);
	CHECK(strcmp(spec->tasks[0].name, MACHINE_TASK) == 0);
	bool is_mock = strcmp(spec->tasks[0].driver, "mock") == 0;
	CHECK(is_mock || (settings->qemu && strcmp(spec->tasks[0].driver, "qemu") == 0));
	look_for_image(spec);
	machine_spec_suspend(spec);
	CHECK(strcmp(spec->tasks[0].kill_signal, MACHINE_SUSPEND_SIGNAL) == 0);
	alloc_spec_free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, &with_qemu);
	read_as(data, size, &without_qemu);
	return 0;
}
