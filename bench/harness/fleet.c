#include "bench/harness/fleet.h"
#include "state/base/check.h"
#include "state/base/prng.h"
#include <stdarg.h>
#include <stdio.h>

// Sorted by name. A value with %u differs from class to class.
static const struct {
	const char *name, *value;
} shared[FLEET_SHARED_ATTRIBUTES] = {
	{"cpu.arch", "amd64"},
	{"cpu.frequency", "26%u0"},
	{"cpu.modelname", "AMD EPYC 7%u43 64-Core Processor"},
	{"cpu.numcores", "64"},
	{"cpu.numthreads", "128"},
	{"cpu.reservablecores", "64"},
	{"cpu.totalcompute", "166400"},
	{"cpu.usablecompute", "16%u000"},
	{"driver.docker.bridge_ip", "172.17.0.1"},
	{"driver.docker.os_type", "linux"},
	{"driver.docker.privileged.enabled", "true"},
	{"driver.docker.runtimes", "io.containerd.runc.v2,runc"},
	{"driver.docker.version", "24.0.%u"},
	{"driver.docker.volumes.enabled", "true"},
	{"driver.qemu.version", "7.2.%u"},
	{"driver.raw_exec.version", "1"},
	{"kernel.arch", "x86_64"},
	{"kernel.landlock", "v2"},
	{"kernel.name", "linux"},
	{"kernel.version", "6.1.0-%u-amd64"},
	{"memory.totalbytes", "27487790694%u"},
	{"network.bridge", "true"},
	{"network.speed", "25000"},
	{"numa.node.count", "2"},
	{"numa.node0.cores", "0-63"},
	{"numa.node1.cores", "64-127"},
	{"os.cgroups.version", "2"},
	{"os.name", "debian"},
	{"os.signals", "SIGHUP,SIGINT,SIGKILL,SIGQUIT,SIGTERM,SIGUSR1,SIGUSR2"},
	{"os.version", "12.%u"},
	{"platform.rack.generation", "gen%u"},
	{"plugins.cni.version.bridge", "v1.3.0"},
	{"plugins.cni.version.host-local", "v1.3.0"},
	{"plugins.cni.version.loopback", "v1.3.0"},
	{"storage.class", "nvme%u"},
	{"vault.version", "1.14.%u"},
};

static char class_values[FLEET_CLASSES][FLEET_SHARED_ATTRIBUTES][64];

static void write_class_values(void)
{
	for (uint32_t c = 0; c < FLEET_CLASSES; c++)
		for (uint32_t i = 0; i < FLEET_SHARED_ATTRIBUTES; i++) {
			const char *value = shared[i].value, *mark = strstr(value, "%u");
			if (mark)
				snprintf(class_values[c][i], sizeof class_values[c][i], "%.*s%u%s",
					(int)(mark - value), value, c + 1, mark + 2);
			else
				snprintf(
					class_values[c][i], sizeof class_values[c][i], "%s", value);
		}
}

struct own_texts {
	char *data;
	uint32_t size;
};

__attribute__((format(printf, 2, 3))) static struct text own_text(
	struct own_texts *texts, const char *format, ...)
{
	char *at = texts->data + texts->size;
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(at, FLEET_TEXT_BYTES - texts->size, format, arguments);
	va_end(arguments);
	CHECK(size >= 0 && (uint32_t)size < FLEET_TEXT_BYTES - texts->size);
	texts->size += (uint32_t)size;
	return (struct text){at, (uint32_t)size};
}

static void add_pair(struct node_registration *d, struct text name, struct text value)
{
	d->pairs[d->pair_count++] =
		(struct node_pair){.kind = PAIR_ATTRIBUTE, .name = name, .value = value};
}

// In the order of names, after the shared ones.
static void add_own(struct node_registration *d, uint32_t n, struct own_texts *texts)
{
	add_pair(d, TEXT("unique.cpu.microcode-serial"), own_text(texts, "%08x", n * 2654435761u));
	add_pair(d, TEXT("unique.hostname"), d->name);
	add_pair(d, TEXT("unique.network.ip-address"), d->address);
	add_pair(d, TEXT("unique.network.mac"),
		own_text(texts, "02:00:%02x:%02x:%02x:%02x", n >> 24, n >> 16 & 255, n >> 8 & 255,
			n & 255));
	add_pair(d, TEXT("unique.platform.rack-position"),
		own_text(texts, "r%u-u%u", n / 40, n % 40));
	add_pair(d, TEXT("unique.platform.serial"), own_text(texts, "CZ22%08u", n));
	add_pair(d, TEXT("unique.storage.bytesfree"),
		own_text(texts, "%llu", 1900000000000ull + n * 4096ull));
	add_pair(d, TEXT("unique.storage.bytestotal"),
		own_text(texts, "%llu", 1920383410176ull + n % 7));
	add_pair(d, TEXT("unique.storage.volume"), own_text(texts, "/dev/disk/by-id/%08x", n));
}

void fleet_describe(
	uint32_t number, struct node_registration *d, char text[static FLEET_TEXT_BYTES])
{
	if (!class_values[0][0][0])
		write_class_values();
	struct own_texts texts = {.data = text};
	struct prng prng;
	prng_seed(&prng, number);
	uint32_t class = number % FLEET_CLASSES;
	*d = (struct node_registration){
		.node = prng_uuid(&prng),
		.sequence = 1,
		.parts = 1,
		.total = {.cpu_mhz = 166400, .memory_mb = 262144, .disk_mb = 1800000},
		.reserved = {.cpu_mhz = 400, .memory_mb = 2144, .disk_mb = 0},
		.datacenter = TEXT("dc1"),
		.class_name = TEXT("general"),
		.pool = TEXT("default"),
		.version = TEXT("1.7.0"),
	};
	d->name = own_text(&texts, "node-%08u", number);
	d->address = own_text(
		&texts, "10.%u.%u.%u", number >> 16 & 255, number >> 8 & 255, number & 255);
	for (uint32_t i = 0; i < FLEET_SHARED_ATTRIBUTES; i++)
		add_pair(d, text_of(shared[i].name), text_of(class_values[class][i]));
	add_own(d, number, &texts);
	CHECK(d->pair_count == FLEET_SHARED_ATTRIBUTES + FLEET_OWN_ATTRIBUTES);
}
