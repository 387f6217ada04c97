#include "tools/agent/vm/qemu.h"
#include "state/base/memory.h"
#include "tools/agent/vm/machine.h"
#include "tools/agent/vm/qcow2.h"
#include "tools/agent/vm/qemu_talk.h"
#include "tools/agent/vm/qmp.h"
#include "tools/agent/vm/vm_image.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PROGRAM "qemu-system-x86_64"
#define ARGUMENTS_MAX 64u
#define ARGUMENT_BYTES_MAX 2100u
#define GIB (1ull << 30)

const char *qemu_program(void)
{
	static char path[512];
	struct utsname system;
	const char *at = getenv("PATH");
	if (uname(&system) < 0 || strcmp(system.machine, "x86_64") != 0)
		return NULL;
	at = at ? at : "/usr/local/bin:/usr/bin:/bin";
	while (*at) {
		size_t size = strcspn(at, ":");
		snprintf(path, sizeof path, "%.*s/" PROGRAM, (int)(size < 400 ? size : 400), at);
		if (*path == '/' && access(path, X_OK) == 0)
			return path;
		at += size + (at[size] == ':');
	}
	return NULL;
}

struct command {
	uint32_t count;
	char *arguments[ARGUMENTS_MAX + 1]; // NULL-ended
};

__attribute__((format(printf, 2, 3))) static void add_argument(
	struct command *c, const char *format, ...)
{
	char text[ARGUMENT_BYTES_MAX];
	va_list values;
	if (c->count == ARGUMENTS_MAX)
		return;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	c->arguments[c->count++] = text_copy(text_of(text));
}

static void add_all(struct command *c, const char *const *arguments)
{
	for (; *arguments; arguments++)
		add_argument(c, "%s", *arguments);
}

static void command_free(struct command *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free(c->arguments[i]);
}

static void add_what_it_has(
	struct command *c, const struct vm_shape *shape, const struct machine_settings *settings)
{
	static const char *const fixed[] = {"-nodefaults", "-no-user-config", "-display", "none",
		"-machine", "q35", "-chardev", "stdio,id=console,signal=off", "-serial",
		"chardev:console", "-device", "virtio-rng-pci", "-qmp",
		"unix:" QMP_SOCKET ",server=on,wait=off",
		// A suspended machine goes on by itself where it is resumed.
		"-global", "migration.store-global-state=off", "-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", NULL};
	static const char *const network[] = {
		"-netdev", "user,id=net0", "-device", "virtio-net-pci,netdev=net0,romfile=", NULL};
	add_all(c, fixed);
	if (!settings->is_emulated && access("/dev/kvm", R_OK | W_OK) == 0)
		add_all(c, (const char *const[]){"-accel", "kvm", NULL});
	add_all(c, (const char *const[]){"-accel", "tcg", "-cpu", NULL});
	// A worker that is a machine itself sees that register, but cannot set it.
	add_argument(c, "max,arch-capabilities=off%s", shape->is_nested ? "" : ",vmx=off,svm=off");
	add_argument(c, "-smp");
	add_argument(c, "%lu", (unsigned long)shape->cpus);
	add_argument(c, "-m");
	add_argument(c, "%luM", (unsigned long)shape->memory_mib);
	if (shape->has_network)
		add_all(c, network);
}

static void add_image(struct command *c, const struct vm_image *image, int state_fd)
{
	static const char *const disk[] = {"-blockdev",
		"driver=qcow2,node-name=disk,discard=unmap,file.driver=file,"
		"file.filename=" SUSPENDED_DISK,
		"-device", "virtio-blk-pci,drive=disk,bootindex=1", NULL}; // a kernel has 0
	if (*image->disk)
		add_all(c, disk);
	if (*image->kernel)
		add_all(c, (const char *const[]){
				   "-kernel", image->kernel, "-append", image->command_line, NULL});
	if (*image->initrd)
		add_all(c, (const char *const[]){"-initrd", image->initrd, NULL});
	if (state_fd > 0) {
		add_argument(c, "-incoming");
		add_argument(c, "fd:%d", state_fd);
	}
}

static int make_disk(const struct task *t, const struct task_start *start,
	const struct vm_image *image, uint64_t least_bytes, char *message, uint32_t message_size)
{
	char path[700];
	snprintf(path, sizeof path, "%s/%s", start->folders->secrets, SUSPENDED_DISK);
	int error = qcow2_create(
		path, image->disk, *image->state ? 0 : least_bytes, message, message_size);
	if (error)
		return error;
	error = process_give_file(AT_FDCWD, path, t->spec->user);
	if (error)
		snprintf(message, message_size, "cannot give %.200s away: %s", path,
			strerror(-error));
	return error;
}

// Opens a suspended machine's memory, above the three standard descriptors. 0: it has none.
static int open_state(const struct vm_image *image, char *message, uint32_t message_size)
{
	if (!*image->state)
		return 0;
	int fd = open(image->state, O_RDONLY | O_CLOEXEC), error = errno;
	int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		close(fd);
	if (kept >= 0) {
		// It was wanted now (suspended.h); of a file of somebody else nobody knows.
		(void)futimens(kept, NULL);
		return kept;
	}
	error = fd < 0 ? -error : -EMFILE;
	snprintf(message, message_size, "cannot read %.200s: %s", image->state, strerror(-error));
	return error;
}

static int run_machine(struct task *t, const struct task_start *start, const struct vm_shape *shape,
	const struct vm_image *image, char *message, uint32_t message_size)
{
	char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
	struct command command = {0};
	int state_fd = open_state(image, message, message_size);
	if (state_fd < 0)
		return state_fd;
	add_argument(&command, "%s", start->machines->qemu);
	add_what_it_has(&command, shape, start->machines);
	add_image(&command, image, state_fd);
	struct process_start process = {.arguments = command.arguments,
		.environment = environment,
		.folder = start->folders->secrets,
		.output_path = start->output_path,
		.error_path = start->error_path,
		.output_rule = t->spec->output_rule,
		.exit_path = start->exit_path,
		.user = t->spec->user,
		.kept_fd = state_fd,
		.started = start->started,
		.context = start->context};
	int error = process_start(&process, &t->process, message, message_size);
	command_free(&command);
	if (state_fd > 0)
		close(state_fd);
	return error;
}

// A size that overflows is too large for any disk.
static uint64_t disk_bytes(const json_t *machine)
{
	uint64_t size_gib = machine_number(machine, "diskSize");
	return size_gib < UINT64_MAX / GIB ? size_gib * GIB : UINT64_MAX;
}

static bool is_asked_for(const json_t *value)
{
	return json_is_true(value) || json_string_length(value) > 0 || json_array_size(value) > 0;
}

// The first thing that the machine asks for and qemu has not; NULL: there is none. Running it without would give up
// what was asked for: its isolation, its network, its files.
static const char *beyond_qemu(const json_t *machine)
{
	static const char *const members[] = {"netSoftnet", "netSoftnetAllow", "netSoftnetBlock",
		"net-bridged", "randomSerial", "hostDirs"};

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		if (is_asked_for(json_object_get(machine, members[i])))
			return members[i];
	return NULL;
}

static int start_machine(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	struct vm_image image;
	const json_t *machine = json_object_get(start->alloc->root, "Machine");
	*recoverable = false;
	if (!start->alloc->is_machine || !start->machines->qemu) {
		snprintf(message, message_size, "%s",
			start->alloc->is_machine
				? "qemu is not installed on this worker any more"
				: "the driver qemu runs virtual machines, not tasks of jobs");
		return -EINVAL;
	}
	const char *beyond = beyond_qemu(machine);
	if (beyond) {
		snprintf(message, message_size,
			"this worker runs machines with qemu, which has no %s; name a runtime or "
			"labels of a worker that has",
			beyond);
		return -EINVAL;
	}
	struct vm_shape shape = vm_shape_of(machine, start->machines);
	if (shape.cpus == 0 || shape.memory_mib == 0) {
		snprintf(message, message_size, "the machine was given no cpus or no memory");
		return -EINVAL;
	}
	int error = vm_image_find(&image, spec_text(t->spec->config, "image"),
		start->machines->images, start->data_folder, &shape, message, message_size);
	if (!error && *image.disk)
		error = make_disk(t, start, &image, disk_bytes(machine), message, message_size);
	return error ? error : run_machine(t, start, &shape, &image, message, message_size);
}

static void signal_machine(struct task *t, int number, int64_t now_ns)
{
	if (number == SIGKILL)
		process_signal(&t->process, number);
	else
		t->poll_ns = now_ns; // the next turn tells its monitor
}

// Notes the last line of its error output.
static void explain_end(
	struct task *t, const struct process_end *how, const char *error_path, int64_t now_ns)
{
	char text[512];
	bool is_by_itself = how->exit_code || (how->signal && how->signal != SIGKILL);
	FILE *file = is_by_itself ? fopen(error_path, "re") : NULL;
	if (!file)
		return;
	size_t size = fseek(file, -(long)sizeof text + 1, SEEK_END) == 0 || fseek(file, 0, 0) == 0
			      ? fread(text, 1, sizeof text - 1, file)
			      : 0;
	fclose(file);
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	text[size] = '\0';
	const char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (*line)
		task_note(t, now_ns, how->exit_code, "Driver Failure", "%s", line);
}

const struct driver driver_qemu = {.name = "qemu",
	.start = start_machine,
	.signal = signal_machine,
	.turn = qemu_talk_turn,
	.explain = explain_end,
	.forget = qemu_talk_forget};
