#include "tools/agent/fingerprint.h"
#include "state/base/nomad_version.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

// A NUL-terminated copy that lives as long as the fingerprint; NULL when there is no room.
static const char *keep_text(struct fingerprint *f, const char *data, uint32_t size)
{
	if (sizeof f->text - f->text_used < (size_t)size + 1)
		return NULL;
	char *copy = f->text + f->text_used;
	memcpy(copy, data, size);
	copy[size] = '\0';
	f->text_used += size + 1;
	return copy;
}

bool fingerprint_pair(
	struct fingerprint *f, enum wire_pair_kind kind, const char *name, struct text value)
{
	if (f->description.pair_count == NODE_ATTRIBUTES_MAX)
		return false;
	struct text name_text = text_of(name);
	const char *kept_name = keep_text(f, name, name_text.size);
	const char *kept_value = keep_text(f, value.data, value.size);
	if (!kept_name || !kept_value)
		return false;
	f->description.pairs[f->description.pair_count++] = (struct wire_pair){
		.kind = (uint8_t)kind,
		.name = {kept_name, name_text.size},
		.value = {kept_value, value.size},
	};
	return true;
}

static void attribute(struct fingerprint *f, const char *name, const char *value)
{
	if (*value)
		fingerprint_pair(f, WIRE_PAIR_ATTRIBUTE, name, text_of(value));
}

static void attribute_number(struct fingerprint *f, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%lu", (unsigned long)value);
	attribute(f, name, text);
}

static FILE *open_below(const struct fingerprint_source *s, const char *path)
{
	char full[512];
	snprintf(full, sizeof full, "%s%s", s->root, path);
	return fopen(full, "re");
}

// Finds the value behind "name<separator>" in a file of such lines; "" when no line has the name.
static void find_value(const struct fingerprint_source *s, const char *path, const char *name,
	char separator, char *value, size_t size)
{
	char line[1024];
	size_t name_size = strlen(name);
	*value = '\0';
	FILE *file = open_below(s, path);
	if (!file)
		return;
	while (!*value && fgets(line, sizeof line, file)) {
		char *end = line + name_size;
		if (strncmp(line, name, name_size) != 0)
			continue;
		end += strspn(end, " \t");
		if (*end++ != separator)
			continue;
		end += strspn(end, " \t\"");
		end[strcspn(end, "\"\n")] = '\0';
		snprintf(value, size, "%s", end);
	}
	fclose(file);
}

static uint64_t read_number(const struct fingerprint_source *s, const char *path)
{
	unsigned long value = 0;
	FILE *file = open_below(s, path);
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

// The clock rate that the cores sustain if the kernel reports it, else their highest rate, else the present one.
static uint32_t clock_mhz(const struct fingerprint_source *s)
{
	static const char *const khz_files[] = {
		"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
	};
	for (uint32_t i = 0; i < sizeof khz_files / sizeof khz_files[0]; i++) {
		uint64_t khz = read_number(s, khz_files[i]);
		if (khz)
			return (uint32_t)(khz / 1000);
	}
	char value[32];
	find_value(s, "/proc/cpuinfo", "cpu MHz", ':', value, sizeof value);
	return (uint32_t)strtod(value, NULL);
}

static bool has_address(const struct sockaddr *have, const char *address)
{
	char text[INET6_ADDRSTRLEN] = "";
	if (have->sa_family == AF_INET)
		inet_ntop(
			AF_INET, &((const struct sockaddr_in *)have)->sin_addr, text, sizeof text);
	else if (have->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)have)->sin6_addr, text,
			sizeof text);
	return strcmp(text, address) == 0;
}

static const char *architecture(const char *machine)
{
	static const char *const names[][2] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "386"}};
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(machine, names[i][0]) == 0)
			return names[i][1];
	return machine;
}

static bool take_cpu(struct fingerprint *f, const struct fingerprint_source *s)
{
	int cores = hwloc_get_nbobjs_by_type(s->topology, HWLOC_OBJ_PU);
	int packages = hwloc_get_nbobjs_by_type(s->topology, HWLOC_OBJ_PACKAGE);
	uint32_t mhz = clock_mhz(s);
	uint64_t total = s->cpu_mhz ? s->cpu_mhz : (uint64_t)(cores > 0 ? cores : 0) * mhz;
	if (total == 0 || total > UINT32_MAX) {
		snprintf(f->failure, sizeof f->failure,
			"the clock rate of the processor is in neither cpufreq nor /proc/cpuinfo; "
			"give the total of all cores with --cpu-mhz");
		return false;
	}
	char model[128];
	find_value(s, "/proc/cpuinfo", "model name", ':', model, sizeof model);
	f->description.cpu_mhz = (uint32_t)total;
	attribute_number(f, "cpu.numcores", (uint64_t)cores);
	if (packages > 0)
		attribute_number(f, "cpu.packages", (uint64_t)packages);
	if (mhz)
		attribute_number(f, "cpu.frequency", mhz);
	attribute_number(f, "cpu.totalcompute", total);
	attribute(f, "cpu.modelname", model);
	return true;
}

static void take_numa(struct fingerprint *f, const struct fingerprint_source *s)
{
	int nodes = hwloc_get_nbobjs_by_type(s->topology, HWLOC_OBJ_NUMANODE);
	attribute_number(f, "numa.node.count", nodes > 0 ? (uint64_t)nodes : 1);
	for (int i = 0; i < nodes && i < 16; i++) {
		hwloc_obj_t node =
			hwloc_get_obj_by_type(s->topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
		char name[32], cpus[128];
		snprintf(name, sizeof name, "numa.node%u.cores", node->os_index);
		hwloc_bitmap_list_snprintf(cpus, sizeof cpus, node->cpuset);
		attribute(f, name, cpus);
	}
}

static bool take_memory(struct fingerprint *f, const struct fingerprint_source *s)
{
	char value[32];
	find_value(s, "/proc/meminfo", "MemTotal", ':', value, sizeof value);
	uint64_t kib = strtoull(value, NULL, 10);
	if (kib == 0) {
		snprintf(f->failure, sizeof f->failure,
			"%s/proc/meminfo has no MemTotal: is /proc mounted?", s->root);
		return false;
	}
	f->description.memory_mb = (uint32_t)(kib / 1024);
	attribute_number(f, "memory.totalbytes", kib * 1024);
	return true;
}

static bool take_storage(struct fingerprint *f, const struct fingerprint_source *s)
{
	struct statvfs room;
	if (statvfs(s->volume, &room) < 0) {
		snprintf(f->failure, sizeof f->failure, "cannot tell the free space of %s: %m",
			s->volume);
		return false;
	}
	uint64_t free_bytes = (uint64_t)room.f_bavail * room.f_frsize;
	uint64_t mib = free_bytes >> 20;
	f->description.disk_mb = mib > UINT32_MAX ? UINT32_MAX : (uint32_t)mib;
	attribute(f, "unique.storage.volume", s->volume);
	attribute_number(f, "unique.storage.bytestotal", (uint64_t)room.f_blocks * room.f_frsize);
	attribute_number(f, "unique.storage.bytesfree", free_bytes);
	return true;
}

// The interface that has the agent's address, and the speed it reports.
static void take_network(struct fingerprint *f, const struct fingerprint_source *s)
{
	struct ifaddrs *list, *at;
	char network[80], name[160], path[160], speed[24] = "";
	if (!*s->address || getifaddrs(&list) < 0)
		return;
	for (at = list; at; at = at->ifa_next)
		if (at->ifa_addr && has_address(at->ifa_addr, s->address))
			break;
	if (at) {
		snprintf(path, sizeof path, "/sys/class/net/%.60s/speed", at->ifa_name);
		uint64_t mbits = read_number(s, path);
		if (mbits > 0 && mbits < UINT32_MAX)
			snprintf(speed, sizeof speed, "%lu", (unsigned long)mbits);
		snprintf(network, sizeof network, "host:%.60s", at->ifa_name);
		snprintf(name, sizeof name, "%s %.64s", network, s->address);
		fingerprint_pair(f, WIRE_PAIR_NETWORK, network, text_of(speed));
		fingerprint_pair(f, WIRE_PAIR_ADDRESS, name, TEXT("default"));
	}
	freeifaddrs(list);
}

static bool take_system(struct fingerprint *f, const struct fingerprint_source *s)
{
	struct utsname u;
	char value[128];
	if (uname(&u) < 0) {
		snprintf(f->failure, sizeof f->failure, "uname: %m");
		return false;
	}
	attribute(f, "cpu.arch", architecture(u.machine));
	attribute(f, "kernel.name", "linux");
	attribute(f, "kernel.arch", u.machine);
	attribute(f, "kernel.version", u.release);
	find_value(s, "/etc/os-release", "ID", '=', value, sizeof value);
	attribute(f, "os.name", value);
	find_value(s, "/etc/os-release", "VERSION_ID", '=', value, sizeof value);
	attribute(f, "os.version", value);
	attribute(f, "unique.hostname", u.nodename);
	attribute(f, "unique.network.ip-address", s->address);
	attribute(f, "berth.version", BERTH_VERSION);
	// What constraints of Nomad's jobs ask of the client that runs them.
	attribute(f, "nomad.version", NOMAD_VERSION_FULL);
	attribute(f, "os.signals",
		"SIGABRT,SIGALRM,SIGBUS,SIGCHLD,SIGCONT,SIGFPE,SIGHUP,SIGILL,SIGINT,SIGIO,SIGKILL,"
		"SIGNULL,SIGPIPE,SIGPROF,SIGQUIT,SIGSEGV,SIGSTOP,SIGSYS,SIGTERM,SIGTRAP,SIGTSTP,"
		"SIGTTIN,SIGTTOU,SIGURG,SIGUSR1,SIGUSR2,SIGVTALRM,SIGWINCH,SIGXCPU,SIGXFSZ");
	const char *name = keep_text(f, u.nodename, (uint32_t)strlen(u.nodename));
	f->description.name = text_of(name);
	return name != NULL;
}

bool fingerprint_take(struct fingerprint *f, const struct fingerprint_source *s)
{
	f->description = (struct wire_register){.parts = 1, .version = TEXT(BERTH_VERSION)};
	f->text_used = 0;
	f->failure[0] = '\0';
	if (!take_cpu(f, s) || !take_memory(f, s) || !take_storage(f, s) || !take_system(f, s))
		return false;
	take_numa(f, s);
	take_network(f, s);
	const char *address = keep_text(f, s->address, (uint32_t)strlen(s->address));
	f->description.address = text_of(address);
	return true;
}
