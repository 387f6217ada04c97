#include "dataplane/port/eal.h"
#include "dataplane/port/port_memory.h"
#include "state/base/log.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64
#define TEXT_BYTES (PORTS_MAX * DEVICE_ARGUMENTS_BYTES + 2048)

// The command line that EAL wants: pointers into one text.
struct arguments {
	char text[TEXT_BYTES];
	size_t used;
	char *items[ARGUMENTS_MAX + 1];
	int count;
	bool failed;
};

static void add_argument(struct arguments *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_argument(struct arguments *a, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	int n = vsnprintf(a->text + a->used, sizeof a->text - a->used, format, values);
	va_end(values);
	if (n < 0 || (size_t)n >= sizeof a->text - a->used || a->count == ARGUMENTS_MAX) {
		a->failed = true;
		return;
	}
	a->items[a->count++] = a->text + a->used;
	a->items[a->count] = NULL;
	a->used += (size_t)n + 1;
}

bool eal_wants_huge(const char *huge, const struct port_settings *ports, uint32_t port_count)
{
	if (strcmp(huge, "yes") == 0)
		return true;
	return strcmp(huge, "no") != 0 &&
	       host_huge_free_bytes() >= ports_memory_bytes(ports, port_count, true);
}

static bool has_card(const struct eal_ask *ask)
{
	for (uint32_t i = 0; i < ask->device_count; i++)
		if (!device_is_virtual(&ask->devices[i]))
			return true;
	return false;
}

// EAL itself has huge pages only for cards, which reach no memory but EAL's: it reserves 128 GB of addresses for them.
static void add_memory(struct arguments *a, const struct eal_ask *ask)
{
	bool huge = eal_wants_huge(ask->huge, ask->ports, ask->device_count);
	uint64_t bytes = ports_memory_bytes(ask->ports, huge ? 0 : ask->device_count, huge);
	uint32_t memory_mb = ask->memory_mb > 0 ? ask->memory_mb : (uint32_t)(bytes >> 20) + 1;
	// EAL leaves no files in /dev/hugepages or /var/run, and several daemons may run side by side.
	if (huge && has_card(ask)) {
		add_argument(a, "--in-memory");
	} else {
		add_argument(a, "--no-huge");
		add_argument(a, "--no-shconf");
		add_argument(a, "-m");
		add_argument(a, "%u", memory_mb);
	}
	add_argument(a, "--file-prefix=berth-%d", (int)getpid());
	log_info("memory", "huge=%s megabytes=%u", huge ? "yes" : "no", memory_mb);
}

// Virtual devices are made one by one once EAL runs, so that each can fail with its own reason.
static void add_devices(struct arguments *a, const struct eal_ask *ask)
{
	uint32_t pci = 0;
	for (uint32_t i = 0; i < ask->device_count; i++) {
		if (device_is_virtual(&ask->devices[i]))
			continue;
		add_argument(a, "--allow=%s", ask->devices[i].pci);
		pci++;
	}
	// Without a card nothing on the bus is ours to look at, and addresses may be virtual.
	if (pci == 0) {
		add_argument(a, "--no-pci");
		add_argument(a, "--iova-mode=va");
	}
}

static void add_extra(struct arguments *a, const char *extra)
{
	while (*extra != '\0') {
		size_t length = strcspn(extra, " ");
		if (length > 0)
			add_argument(a, "%.*s", (int)length, extra);
		extra += length;
		extra += strspn(extra, " ");
	}
}

// DPDK's output goes to our log. Its first line is kept, because the later ones only say what followed from it.
static char first_line[256], asked_line[sizeof first_line];

const char *eal_complaint(void)
{
	memcpy(asked_line, first_line, sizeof asked_line);
	first_line[0] = '\0';
	return asked_line;
}

static ssize_t take_lines(void *cookie, const char *data, size_t size)
{
	(void)cookie;
	char line[sizeof first_line], quoted[2 * sizeof first_line];
	for (size_t at = 0; at < size;) {
		size_t length = 0;
		while (at + length < size && data[at + length] != '\n')
			length++;
		snprintf(line, sizeof line, "%.*s", (int)length, data + at);
		if (line[0] != '\0') {
			if (first_line[0] == '\0')
				memcpy(first_line, line, sizeof first_line);
			log_warn("dpdk", "line=%s", log_quote(line, quoted, sizeof quoted));
		}
		at += length + 1;
	}
	return (ssize_t)size;
}

static FILE *open_log(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take_lines});
	if (stream != NULL)
		setvbuf(stream, NULL, _IOLBF, 1024);
	return stream;
}

// The libraries below net_af_xdp write to standard error by themselves; their lines become ours.
typedef int library_print(int level, const char *format, va_list arguments);

__attribute__((format(printf, 2, 0))) static int take_library_line(
	int level, const char *format, va_list arguments)
{
	(void)level;
	char line[sizeof first_line], quoted[2 * sizeof first_line];
	int n = vsnprintf(line, sizeof line, format, arguments);
	line[strcspn(line, "\n")] = '\0';
	log_debug("xdp", "line=%s", log_quote(line, quoted, sizeof quoted));
	return n;
}

// Takes over the library's output if a driver has loaded the library.
static void take_over_printing(const char *library, const char *setter)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	if (handle == NULL)
		return;
	void (*set)(library_print *);
	*(void **)&set = dlsym(handle, setter);
	if (set != NULL)
		set(take_library_line);
	dlclose(handle); // the driver keeps it
}

// EAL makes a folder for its process, and leaves it.
static void clean_up(void)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(folder); // it is not empty for who shares it, and stays then
}

int eal_start(const struct eal_ask *ask, char *message, uint32_t message_size)
{
	static struct arguments a; // EAL keeps pointers into it
	a = (struct arguments){0};
	add_argument(&a, "berthd");
	add_argument(&a, "--lcores=0@%d", ask->main_cpu);
	add_argument(&a, "--no-telemetry");
	add_argument(&a, "--log-level=error");
	add_memory(&a, ask);
	add_devices(&a, ask);
	add_extra(&a, ask->extra);
	if (a.failed) {
		snprintf(message, message_size,
			"too many or too long DPDK arguments; shorten eal_extra or the ports' "
			"devices");
		return -E2BIG;
	}
	FILE *stream = open_log();
	if (stream != NULL)
		rte_openlog_stream(stream);
	cpu_set_t before;
	int error = sched_getaffinity(0, sizeof before, &before) == 0 ? 0 : -errno;
	if (error == 0 && rte_eal_init(a.count, a.items) < 0)
		error = rte_errno > 0 ? -rte_errno : -EIO;
	if (error == 0 && sched_setaffinity(0, sizeof before, &before) != 0)
		error = -errno;
	if (error != 0) {
		const char *why = eal_complaint();
		snprintf(message, message_size,
			"DPDK did not start: %s (%s); see the dpdk lines above, and berthd --check",
			why[0] != '\0' ? why : "no reason given", strerror(-error));
	}
	return error;
}

// In the child: never returns. What getopt and EAL say goes to the pipe.
static void eal_try_here(const char *extra, int said)
{
	static struct arguments a;
	int nowhere = open("/dev/null", O_WRONLY);

	if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0) {
		dprintf(said, "they cannot be tried: %s\n", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	add_argument(&a, "dataplane.eal_extra");
	add_argument(&a, "--no-telemetry");
	add_argument(&a, "--no-huge");
	add_argument(&a, "--no-shconf");
	add_argument(&a, "--no-pci");
	add_argument(&a, "-m");
	add_argument(&a, "16");
	add_argument(&a, "--file-prefix=berth-%d", (int)getpid());
	add_extra(&a, extra);
	bool is_fine = !a.failed && rte_eal_init(a.count, a.items) >= 0;
	clean_up();
	_exit(is_fine ? EXIT_SUCCESS : EXIT_FAILURE);
}

// Starts the child, which writes to the pipe's end. Returns its number or a negative error; *stream: the other end.
static pid_t begin_try(const char *extra, FILE **stream)
{
	int said[2];

	if (pipe2(said, O_CLOEXEC) != 0)
		return -errno;
	*stream = fdopen(said[0], "r");
	pid_t child = *stream ? fork() : -1;
	if (child == 0)
		eal_try_here(extra, said[1]);
	int error = -errno;
	close(said[1]);
	if (child > 0)
		return child;
	if (*stream)
		fclose(*stream);
	else
		close(said[0]);
	return error;
}

int eal_try(const char *extra, char *message, uint32_t message_size)
{
	int status = 0;
	char line[256] = "", rest[256];
	FILE *stream = NULL;

	if (extra[0] == '\0')
		return 0;
	pid_t child = begin_try(extra, &stream);
	if (child < 0) {
		snprintf(message, message_size, "the arguments \"%s\" of DPDK cannot be tried: %s",
			extra, strerror(-child));
		return child;
	}
	(void)!fgets(line, sizeof line, stream);
	while (fgets(rest, sizeof rest, stream)) // so that the child never waits
		;
	fclose(stream);
	line[strcspn(line, "\n")] = '\0';
	if (waitpid(child, &status, 0) == child && status == 0)
		return 0;
	snprintf(message, message_size, "DPDK refuses the arguments \"%s\": %s; correct them",
		extra, line[0] ? line : "no reason given");
	return -EINVAL;
}

int eal_add_device(const struct device *d)
{
	if (!device_is_virtual(d))
		return 0;
	take_over_printing("libbpf.so.1", "libbpf_set_print");
	take_over_printing("libxdp.so.1", "libxdp_set_print");
	const char *arguments = strchr(d->arguments, ',');
	return rte_eal_hotplug_add("vdev", d->name, arguments != NULL ? arguments + 1 : "");
}

void eal_remove_device(const struct device *d)
{
	if (device_is_virtual(d))
		rte_eal_hotplug_remove("vdev", d->name);
}

void eal_stop(void)
{
	clean_up();
}
