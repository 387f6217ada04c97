#include "dataplane/dataplane.h"
#include "dataplane/port/address.h"
#include "dataplane/port/beside_kernel.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/port_memory.h"
#include "dataplane/port/socket_port.h"
#include "dataplane/roles.h"
#include <errno.h>
#include <linux/capability.h>
#include <rte_build_config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Beyond this MTU most kernel drivers refuse native XDP: a packet must fit one page with its
// headroom.
#define XDP_MTU_MAX 3498u
#define FRAME_MTU_MIN 1500u

struct check {
	const struct dataplane_settings *settings;
	const struct port_settings *port;
	uint32_t index;
	struct device device;
	struct topology_plan *plan;
};

// A message of device_resolve() and friends is "what; what to do".
static void add_message(
	struct topology_plan *plan, enum topology_severity severity, const char *message)
{
	const char *remedy = strrchr(message, ';');
	int length = remedy != NULL ? (int)(remedy - message) : (int)strlen(message);
	topology_problem(plan, severity, remedy != NULL ? remedy + 2 : "", "%.*s", length, message);
}

static void check_pci(const struct check *c)
{
	static const char *const usable[] = {
		"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core"};
	char remedy[160];
	for (size_t i = 0; i < sizeof usable / sizeof usable[0]; i++)
		if (strcmp(c->device.driver, usable[i]) == 0)
			return;
	snprintf(remedy, sizeof remedy,
		"dpdk-devbind.py --bind=vfio-pci %s (its kernel interface goes away), or use io: "
		"af_xdp",
		c->device.pci);
	topology_problem(c->plan, TOPOLOGY_ERROR, remedy,
		"port %u: %s is bound to %s, not to vfio-pci", c->index, c->device.pci,
		c->device.driver[0] ? c->device.driver : "no driver");
}

static void check_addresses(const struct check *c)
{
	for (uint32_t i = 0; i < c->port->address_count; i++) {
		char remedy[160];
		if (!host_interface_has_address(c->device.interface, c->port->addresses[i]))
			continue;
		snprintf(remedy, sizeof remedy, "ip address del %s dev %s", c->port->addresses[i],
			c->device.interface);
		topology_problem(c->plan, TOPOLOGY_WARNING, remedy,
			"port %u: the kernel holds %s on %s too and would answer in Berth's place",
			c->index, c->port->addresses[i], c->device.interface);
	}
}

// A shared port answers nobody who asks whose an address is.
static void check_held_addresses(const struct check *c)
{
	for (uint32_t i = 0; i < c->port->address_count; i++) {
		char remedy[160], holder[IFNAMSIZ];
		host_interface_of(c->port->addresses[i], holder);
		snprintf(remedy, sizeof remedy, "ip address add %s dev %s, or set io to af_xdp",
			c->port->addresses[i], c->device.interface);
		if (holder[0] == '\0')
			topology_problem(c->plan, TOPOLOGY_ERROR, remedy,
				"port %u: the kernel does not have %s, and a shared port leaves it "
				"to the kernel to answer for it",
				c->index, c->port->addresses[i]);
	}
}

static void check_xdp(const struct check *c)
{
	char remedy[160];
	struct host_queues theirs = host_interface_queues(c->device.interface);
	uint32_t ours = port_queues(c->port);
	uint32_t mtu = host_interface_mtu(c->device.interface);
	// It finds programs and maps by their numbers, for which CAP_BPF is not enough.
	if (!host_af_xdp() || !host_capable(CAP_SYS_ADMIN))
		topology_problem(c->plan, TOPOLOGY_ERROR,
			"run with CAP_SYS_ADMIN too, or set io to af_packet or socket",
			"port %u: AF_XDP on %s is not permitted", c->index, c->device.interface);
	if (mtu > XDP_MTU_MAX) {
		snprintf(remedy, sizeof remedy, "ip link set %s mtu 1500", c->device.interface);
		topology_problem(c->plan, TOPOLOGY_WARNING, remedy,
			"port %u: XDP may refuse %s with an MTU of %u", c->index,
			c->device.interface, mtu);
	}
	snprintf(remedy, sizeof remedy,
		"set queues to %u, io to af_packet, or ethtool -L %s combined %u (or rx %u)",
		theirs.combined, c->device.interface, ours, ours);
	if (ours > theirs.combined)
		topology_problem(c->plan, TOPOLOGY_ERROR, remedy,
			"port %u: %u queues are asked for, AF_XDP finds %u on %s", c->index, ours,
			theirs.combined, c->device.interface);
	if (ours < theirs.receive)
		topology_problem(c->plan, TOPOLOGY_WARNING, remedy,
			"port %u: %s spreads packets over %u queues, of which %u are read; the "
			"rest goes to the kernel",
			c->index, c->device.interface, theirs.receive, ours);
}

static void check_memlock(const struct check *c)
{
	struct rlimit limit;
	uint64_t needed = ports_memory_bytes(c->port, 1, false);
	if (host_capable(CAP_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
		limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed)
		return;
	topology_problem(c->plan, TOPOLOGY_ERROR,
		"ulimit -l unlimited, LimitMEMLOCK=infinity, or CAP_IPC_LOCK",
		"port %u: AF_XDP locks %llu MiB of memory, the limit is %llu MiB", c->index,
		(unsigned long long)(needed >> 20), (unsigned long long)(limit.rlim_cur >> 20));
}

// The addresses of the kernel stay where they are when another member leads.
static void check_service_addresses(const struct check *c, const struct hot_port *port)
{
	struct hot_port own = roles_own(port, c->settings->own_address);
	if (c->settings->starts_as_follower &&
		own.ipv4_count + own.ipv6_count < port->ipv4_count + port->ipv6_count)
		topology_problem(c->plan, TOPOLOGY_WARNING,
			"list only this member's own address, and all members at the nodes",
			"port %u: the kernel's addresses stay where they are when another member "
			"leads",
			c->index);
}

// Such a device sets the interface's address and mode through the kernel.
static bool is_of_kernel(const struct device *d)
{
	return strcmp(d->driver, "net_af_packet") == 0 || strcmp(d->driver, "net_af_xdp") == 0;
}

static void check_interface(const struct check *c, const struct hot_port *addresses)
{
	char remedy[160], driver[HOST_NAME_BYTES];
	const char *interface = c->device.interface;
	uint32_t mtu = host_interface_mtu(interface);
	if (!host_interface_is_up(interface)) {
		snprintf(remedy, sizeof remedy, "ip link set %s up", interface);
		topology_problem(c->plan, TOPOLOGY_WARNING, remedy, "port %u: interface %s is down",
			c->index, interface);
	}
	if (mtu != 0 && mtu < FRAME_MTU_MIN) {
		snprintf(remedy, sizeof remedy, "ip link set %s mtu 1500", interface);
		topology_problem(c->plan, TOPOLOGY_WARNING, remedy,
			"port %u: %s has an MTU of %u; large registrations and placements do not "
			"fit",
			c->index, interface, mtu);
	}
	host_interface_driver(interface, driver);
	if (strcmp(driver, "veth") == 0)
		topology_problem(c->plan, TOPOLOGY_NOTE, "on the peer: ethtool -K PEER tx off",
			"port %u: the peer of %s may leave UDP checksums to hardware that is not "
			"there "
			"(counted as udp-checksum)",
			c->index, interface);
	if (!host_capable(CAP_NET_RAW) ||
		(is_of_kernel(&c->device) && !host_capable(CAP_NET_ADMIN)))
		topology_problem(c->plan, TOPOLOGY_ERROR,
			"run with CAP_NET_RAW and CAP_NET_ADMIN, or set io to socket",
			"port %u: raw packets on %s are not permitted", c->index, interface);
	if (c->device.is_shared) {
		check_held_addresses(c);
		check_service_addresses(c, addresses);
	} else {
		check_addresses(c);
	}
	if (strcmp(c->device.driver, "net_af_xdp") == 0) {
		check_xdp(c);
		check_memlock(c);
	}
}

static void check_vdev(const struct check *c)
{
	char path[512];
	const char *capture = strstr(c->device.arguments, "rx_pcap=");
	if (capture != NULL) {
		capture += strlen("rx_pcap=");
		snprintf(path, sizeof path, "%.*s", (int)strcspn(capture, ","), capture);
		if (access(path, R_OK) != 0)
			topology_problem(c->plan, TOPOLOGY_ERROR, "name a capture that exists",
				"port %u: the capture %s cannot be read", c->index, path);
	}
	if (strcmp(c->device.driver, "net_tap") == 0 &&
		(access("/dev/net/tun", R_OK | W_OK) != 0 || !host_capable(CAP_NET_ADMIN)))
		topology_problem(c->plan, TOPOLOGY_ERROR,
			"modprobe tun, and run with CAP_NET_ADMIN",
			"port %u: a TAP interface cannot be made", c->index);
#ifdef RTE_EAL_PMD_PATH
	const char *driver = strcmp(c->device.driver, "virtio_user") == 0 ||
					     strcmp(c->device.driver, "net_virtio_user") == 0
				     ? "net_virtio"
				     : c->device.driver;
	snprintf(path, sizeof path, RTE_EAL_PMD_PATH "/librte_%s.so", driver);
	if (access(RTE_EAL_PMD_PATH, X_OK) == 0 && access(path, F_OK) != 0)
		topology_problem(c->plan, TOPOLOGY_ERROR,
			"apt-get install librte-meta-net, or correct the name",
			"port %u: DPDK has no driver %s here", c->index, c->device.driver);
#endif
}

static void check_socket_address(const struct check *c, const struct hot_port *port, uint32_t i)
{
	int error = socket_port_try(port, i, c->device.interface);
	char message[256];
	if (error == 0)
		return;
	socket_port_refusal(port, i, c->index, error, message, sizeof message);
	// A daemon that runs already may be the very one that is asked about.
	add_message(c->plan, error == -EADDRINUSE ? TOPOLOGY_WARNING : TOPOLOGY_ERROR, message);
}

static void check_buffer(const struct check *c)
{
	char line[32], remedy[96];
	uint32_t wanted = socket_port_buffer(c->port);
	if (host_capable(CAP_NET_ADMIN) ||
		!host_read_line("/proc/sys/net/core/rmem_max", line, sizeof line) ||
		strtoul(line, NULL, 10) >= wanted)
		return;
	snprintf(remedy, sizeof remedy, "sysctl net.core.rmem_max=%u", wanted);
	topology_problem(c->plan, TOPOLOGY_NOTE, remedy,
		"port %u: the kernel keeps %lu KiB of what has come, not %u; what it drops is "
		"counted",
		c->index, strtoul(line, NULL, 10) >> 10, wanted >> 10);
}

static void check_sockets(const struct check *c, struct hot_port *port)
{
	port->udp_port = c->settings->udp_port;
	for (uint32_t i = 0; i < (uint32_t)port->ipv4_count + port->ipv6_count; i++)
		check_socket_address(c, port, i);
	check_buffer(c);
	check_service_addresses(c, port);
}

static void check_port(struct check *c)
{
	char message[512];
	struct hot_port addresses;
	if (device_resolve(c->port, c->index, &c->device, message, sizeof message) != 0) {
		add_message(c->plan, TOPOLOGY_ERROR, message);
		return;
	}
	if (port_addresses(c->port, c->index, &addresses, message, sizeof message) != 0)
		add_message(c->plan, TOPOLOGY_ERROR, message);
	if (c->device.why[0] != '\0')
		topology_problem(c->plan, TOPOLOGY_NOTE, "", "port %u: %s is used: %s", c->index,
			c->device.driver, c->device.why);
	if (c->device.is_sockets)
		check_sockets(c, &addresses);
	else if (!device_is_virtual(&c->device))
		check_pci(c);
	else if (c->device.interface[0] != '\0')
		check_interface(c, &addresses);
	else
		check_vdev(c);
}

// What a start finds when it has resolved them all.
static void check_twice(const struct dataplane_settings *s, struct topology_plan *plan)
{
	struct device devices[PORTS_MAX];
	char message[512];
	for (uint32_t i = 0; i < s->port_count; i++) {
		if (device_resolve(&s->ports[i], i, &devices[i], message, sizeof message) != 0)
			devices[i] = (struct device){0};
		for (uint32_t j = 0; j < i; j++)
			if (device_is_same(&devices[i], &devices[j]))
				topology_problem(plan, TOPOLOGY_ERROR,
					"give each port a device of its own",
					"ports %u and %u are both device %s", j, i,
					devices[i].name);
	}
}

static void check_huge(const struct dataplane_settings *s, struct topology_plan *plan)
{
	char remedy[160];
	uint64_t needed = ports_memory_bytes(s->ports, s->port_count, true),
		 free_bytes = host_huge_free_bytes();
	if (free_bytes >= needed || strcmp(s->huge, "no") == 0 || !dataplane_needs_eal(s))
		return;
	snprintf(remedy, sizeof remedy, "echo %llu > /proc/sys/vm/nr_hugepages (pages of 2 MiB)",
		(unsigned long long)(needed >> 21) + 1);
	bool must = strcmp(s->huge, "yes") == 0;
	topology_problem(plan, must ? TOPOLOGY_ERROR : TOPOLOGY_NOTE, remedy,
		"%llu MiB of huge pages are free, %llu are needed%s",
		(unsigned long long)(free_bytes >> 20), (unsigned long long)(needed >> 20),
		must ? "" : "; small pages are used");
}

static bool slow_governor(int cpu)
{
	char path[96], governor[32];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
	return host_read_line(path, governor, sizeof governor) &&
	       strcmp(governor, "performance") != 0;
}

// "2-5,7" holds 3.
static bool in_cpu_list(const char *list, int cpu)
{
	while (*list != '\0') {
		char *end;
		long from = strtol(list, &end, 10), to = from;
		if (end == list)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (cpu >= from && cpu <= to)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

static void check_cpus(const struct dataplane_settings *s, struct topology_plan *plan)
{
	char isolated[256];
	uint32_t slow = 0, shared = 0;
	if (!host_read_line("/sys/devices/system/cpu/isolated", isolated, sizeof isolated))
		isolated[0] = '\0';
	for (uint32_t i = 0; i < plan->worker_count; i++) {
		slow += slow_governor(plan->workers[i].cpu);
		shared += !in_cpu_list(isolated, plan->workers[i].cpu);
	}
	if (slow > 0)
		topology_problem(plan, TOPOLOGY_NOTE, "cpupower frequency-set -g performance",
			"%u workers run on processors that change their frequency", slow);
	if (s->poll == POLL_SPIN && shared > 0)
		topology_problem(plan, TOPOLOGY_NOTE,
			"boot with isolcpus= or use a systemd slice with its own CPUs",
			"%u spinning workers run on processors that the kernel gives to others too",
			shared);
}

int dataplane_try_arguments(
	const struct dataplane_settings *s, char *message, uint32_t message_size)
{
	return eal_try(s->eal_extra, message, message_size);
}

// With the addresses that a start would add: those of the interfaces of sockets, and the own one on the port that will
// have it, so that they are looked at like the others.
static const struct dataplane_settings *with_added_addresses(const struct dataplane_settings *s,
	struct dataplane_settings *copy, struct topology_plan *plan)
{
	*copy = *s;
	for (uint32_t i = 0; i < copy->port_count; i++)
		beside_kernel_settle(&copy->ports[i]);
	if (!s->starts_as_follower || s->own_address[0] == '\0' || s->port_count == 0)
		return copy;
	if (!roles_add_own(copy->ports, copy->port_count, copy->own_address))
		topology_problem(plan, TOPOLOGY_ERROR,
			"write one IPv4 or IPv6 address that a port has, or for which the first "
			"port has room",
			"\"%s\" cannot be the controller's own address", s->own_address);
	return copy;
}

void dataplane_preflight(const struct dataplane_settings *asked, struct topology_plan *plan)
{
	struct dataplane_settings copy;
	const struct dataplane_settings *s = with_added_addresses(asked, &copy, plan);
	if (s->port_count == 0)
		topology_problem(plan, TOPOLOGY_ERROR, "give at least one under ports",
			"no port is configured");
	for (uint32_t i = 0; i < s->port_count; i++) {
		struct check c = {.settings = s, .port = &s->ports[i], .index = i, .plan = plan};
		check_port(&c);
	}
	check_twice(s, plan);
	check_huge(s, plan);
	check_cpus(s, plan);
}
