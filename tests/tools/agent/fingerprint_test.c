// The fingerprint of machines that are folders: proc/, etc/ and sys/ are written, the topology is synthetic.
#include "state/base/nomad_version.h"
#include "tools/agent/fingerprint.h"
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/berth-fingerprint-XXXXXX";
static struct fingerprint f;
static hwloc_topology_t topology;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int make_root(void **unused)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **unused)
{
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const char *content)
{
	char path[256];
	snprintf(path, sizeof path, "%s%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

static int machine(void **unused)
{
	remove_root(NULL);
	mkdir(root, 0700);
	write_file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Turbo 9000 @ 2.60GHz\n"
				    "cpu MHz\t\t: 1234.567\n\nprocessor\t: 1\n");
	write_file("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n");
	write_file("/etc/os-release", "PRETTY_NAME=\"Some Linux\"\nVERSION_ID=\"12\"\nID=debian\n");
	assert_int_equal(hwloc_topology_init(&topology), 0);
	assert_int_equal(hwloc_topology_set_synthetic(topology, "numa:2 pack:1 core:4 pu:2"), 0);
	return hwloc_topology_load(topology);
}

static int forget(void **unused)
{
	hwloc_topology_destroy(topology);
	return 0;
}

static bool take(uint32_t cpu_mhz)
{
	struct fingerprint_source source = {.topology = topology,
		.root = root,
		.volume = root,
		.address = "192.0.2.5",
		.cpu_mhz = cpu_mhz};
	return fingerprint_take(&f, &source);
}

static void expect(const char *name, const char *value)
{
	for (uint32_t i = 0; i < f.description.pair_count; i++) {
		const struct wire_pair *pair = &f.description.pairs[i];
		if (!text_equal(pair->name, text_of(name)))
			continue;
		assert_int_equal(pair->kind, WIRE_PAIR_ATTRIBUTE);
		if (!value)
			fail_msg("%s is reported", name);
		if (!text_equal(pair->value, text_of(value)))
			fail_msg("%s is \"%.*s\"", name, (int)pair->value.size, pair->value.data);
		return;
	}
	if (value)
		fail_msg("%s is missing", name);
}

// Valid until the next call.
static const char *attribute_of(const char *name)
{
	static char value[1024];
	for (uint32_t i = 0; i < f.description.pair_count; i++) {
		const struct wire_pair *pair = &f.description.pairs[i];
		if (text_equal(pair->name, text_of(name)))
			snprintf(value, sizeof value, "%.*s", (int)pair->value.size,
				pair->value.data);
	}
	return value;
}

static void reports_what_is_there(void **unused)
{
	assert_true(take(0));
	assert_int_equal(f.description.cpu_mhz, 16 * 1234);
	assert_int_equal(f.description.memory_mb, 16000);
	assert_true(f.description.disk_mb > 0);
	expect("cpu.numcores", "16");
	expect("cpu.packages", "2");
	expect("cpu.frequency", "1234");
	expect("cpu.totalcompute", "19744");
	expect("cpu.modelname", "Turbo 9000 @ 2.60GHz");
	expect("memory.totalbytes", "16777216000");
	expect("os.name", "debian");
	expect("os.version", "12");
	expect("kernel.name", "linux");
	expect("unique.network.ip-address", "192.0.2.5");
	expect("unique.storage.volume", root);
	expect("numa.node.count", "2");
	expect("numa.node0.cores", "0-7");
	expect("numa.node1.cores", "8-15");
	expect("nomad.version", NOMAD_VERSION_FULL);
	assert_int_equal(strncmp(NOMAD_VERSION_FULL, "1.6.5+berth.", 12), 0);
	assert_non_null(strstr(attribute_of("os.signals"), ",SIGTERM,"));
	char host[128];
	gethostname(host, sizeof host);
	expect("unique.hostname", host);
	assert_true(text_equal(f.description.name, text_of(host)));
	assert_int_equal(f.description.device_group_count, 0);
}

static void base_clock_comes_before_the_present_one(void **unused)
{
	write_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "5100000\n");
	assert_true(take(0));
	expect("cpu.frequency", "5100");
	write_file("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2600000\n");
	assert_true(take(0));
	expect("cpu.frequency", "2600");
	assert_int_equal(f.description.cpu_mhz, 16 * 2600);
}

static void unknown_clock_needs_the_operator(void **unused)
{
	write_file("/proc/cpuinfo", "processor : 0\nBogoMIPS : 50\n");
	assert_false(take(0));
	assert_non_null(strstr(f.failure, "--cpu-mhz"));
	assert_true(take(32000));
	assert_int_equal(f.description.cpu_mhz, 32000);
	expect("cpu.totalcompute", "32000");
	expect("cpu.frequency", NULL);
	expect("cpu.modelname", NULL);
}

static void missing_memory_is_a_failure(void **unused)
{
	write_file("/proc/meminfo", "MemFree: 1 kB\n");
	assert_false(take(0));
	assert_non_null(strstr(f.failure, "MemTotal"));
}

static void missing_os_release_is_none(void **unused)
{
	write_file("/etc/os-release", "");
	assert_true(take(0));
	expect("os.name", NULL);
	expect("os.version", NULL);
}

static void pairs_are_bounded(void **unused)
{
	assert_true(take(0));
	uint32_t added = 0;
	while (added < 1000 && fingerprint_pair(&f, WIRE_PAIR_META, "name", TEXT("value")))
		added++;
	assert_int_equal(f.description.pair_count, NODE_ATTRIBUTES_MAX);
	assert_true(take(0));
	static char value[ATTRIBUTE_VALUE_BYTES_MAX];
	memset(value, 'v', sizeof value);
	struct text large = {value, sizeof value};
	for (added = 0; added < 1000 && fingerprint_pair(&f, WIRE_PAIR_META, "name", large);)
		added++;
	assert_in_range(added, 20, sizeof f.text / sizeof value);
}

#define ON_MACHINE(t) cmocka_unit_test_setup_teardown(t, machine, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MACHINE(reports_what_is_there),
		ON_MACHINE(base_clock_comes_before_the_present_one),
		ON_MACHINE(unknown_clock_needs_the_operator),
		ON_MACHINE(missing_memory_is_a_failure),
		ON_MACHINE(missing_os_release_is_none),
		ON_MACHINE(pairs_are_bounded),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
