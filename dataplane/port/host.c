#include "dataplane/port/host.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATH_BYTES 256

bool host_read_line(const char *path, char *line, uint32_t size)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	bool read = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

// Last part of what a symbolic link points to.
static void link_name(const char *path, char name[static HOST_NAME_BYTES])
{
	char target[PATH_BYTES];
	name[0] = '\0';
	ssize_t n = readlink(path, target, sizeof target - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	const char *slash = strrchr(target, '/');
	snprintf(name, HOST_NAME_BYTES, "%.*s", HOST_NAME_BYTES - 1, slash ? slash + 1 : target);
}

bool host_interface_exists(const char *interface)
{
	return if_nametoindex(interface) != 0;
}

void host_interfaces(char *list, uint32_t size)
{
	list[0] = '\0';
	struct if_nameindex *all = if_nameindex();
	if (all == NULL)
		return;
	uint32_t used = 0;
	for (struct if_nameindex *i = all; i->if_index != 0 && used + 1 < size; i++) {
		int n = snprintf(list + used, size - used, "%s%s", used ? ", " : "", i->if_name);
		used += n > 0 ? (uint32_t)n : 0;
	}
	if_freenameindex(all);
}

// Runs one interface ioctl; request->ifr_name is filled here.
static bool interface_ioctl(const char *interface, unsigned long number, struct ifreq *request)
{
	if (strlen(interface) >= IFNAMSIZ)
		return false;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	snprintf(request->ifr_name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, interface);
	bool done = ioctl(fd, number, request) == 0;
	close(fd);
	return done;
}

void host_interface_driver(const char *interface, char driver[static HOST_NAME_BYTES])
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {.ifr_data = (void *)&info};
	driver[0] = '\0';
	if (interface_ioctl(interface, SIOCETHTOOL, &request))
		snprintf(driver, HOST_NAME_BYTES, "%.*s", HOST_NAME_BYTES - 1, info.driver);
}

void host_interface_pci(const char *interface, char pci[static HOST_NAME_BYTES])
{
	char path[PATH_BYTES], subsystem[HOST_NAME_BYTES];
	snprintf(path, sizeof path, "/sys/class/net/%s/device/subsystem", interface);
	link_name(path, subsystem);
	pci[0] = '\0';
	if (strcmp(subsystem, "pci") != 0)
		return;
	snprintf(path, sizeof path, "/sys/class/net/%s/device", interface);
	link_name(path, pci);
}

struct host_queues host_interface_queues(const char *interface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq request = {.ifr_data = (void *)&channels};
	if (!interface_ioctl(interface, SIOCETHTOOL, &request))
		return (struct host_queues){1, 1};
	uint32_t receive = channels.combined_count + channels.rx_count;
	// The driver counts an interface without combined queues (veth) as one.
	return (struct host_queues){.receive = receive > 0 ? receive : 1,
		.combined = channels.combined_count > 0 ? channels.combined_count : 1};
}

bool host_interface_is_ethernet(const char *interface)
{
	struct ifreq request = {0};
	return interface_ioctl(interface, SIOCGIFHWADDR, &request) &&
	       request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

bool host_interface_is_up(const char *interface)
{
	struct ifreq request = {0};
	return interface_ioctl(interface, SIOCGIFFLAGS, &request) &&
	       (request.ifr_flags & IFF_UP) != 0;
}

bool host_interface_runs(const char *interface)
{
	struct ifreq request = {0};
	errno = 0;
	if (!interface_ioctl(interface, SIOCGIFFLAGS, &request))
		return errno != ENODEV;
	return (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

uint32_t host_interface_mtu(const char *interface)
{
	struct ifreq request = {0};
	return interface_ioctl(interface, SIOCGIFMTU, &request) ? (uint32_t)request.ifr_mtu : 0;
}

// Returns the family of a text and its address, or AF_UNSPEC.
static int address_of_text(const char *text, uint8_t address[static 16])
{
	int family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	return inet_pton(family, text, address) == 1 ? family : AF_UNSPEC;
}

static bool same_address(const struct sockaddr *held, int family, const void *address)
{
	if (held == NULL || held->sa_family != family)
		return false;
	if (family == AF_INET)
		return memcmp(&((const struct sockaddr_in *)(const void *)held)->sin_addr, address,
			       4) == 0;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)held)->sin6_addr, address, 16) ==
	       0;
}

bool host_interface_has_address(const char *interface, const char *address)
{
	struct ifaddrs *all;
	uint8_t bytes[16];
	int family = address_of_text(address, bytes);
	if (family == AF_UNSPEC || getifaddrs(&all) != 0)
		return false;
	bool found = false;
	for (struct ifaddrs *i = all; i != NULL && !found; i = i->ifa_next)
		found = strcmp(i->ifa_name, interface) == 0 &&
			same_address(i->ifa_addr, family, bytes);
	freeifaddrs(all);
	return found;
}

void host_interface_of(const char *address, char interface[static IFNAMSIZ])
{
	struct ifaddrs *all;
	uint8_t bytes[16];
	int family = address_of_text(address, bytes);
	interface[0] = '\0';
	if (family == AF_UNSPEC || getifaddrs(&all) != 0)
		return;
	for (struct ifaddrs *i = all; i != NULL && interface[0] == '\0'; i = i->ifa_next)
		if (same_address(i->ifa_addr, family, bytes))
			snprintf(interface, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, i->ifa_name);
	freeifaddrs(all);
}

bool host_pci_exists(const char *pci)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", pci);
	return access(path, F_OK) == 0;
}

void host_pci_driver(const char *pci, char driver[static HOST_NAME_BYTES])
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/driver", pci);
	link_name(path, driver);
}

int host_pci_numa_node(const char *pci)
{
	char path[PATH_BYTES], line[32];
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", pci);
	return host_read_line(path, line, sizeof line) ? (int)strtol(line, NULL, 10) : -1;
}

uint64_t host_huge_free_bytes(void)
{
	static const char folder[] = "/sys/kernel/mm/hugepages";
	DIR *d = opendir(folder);
	if (d == NULL)
		return 0;
	uint64_t bytes = 0;
	const struct dirent *entry;
	while ((entry = readdir(d)) != NULL) {
		char path[PATH_BYTES * 2], line[32];
		unsigned long kib;
		if (sscanf(entry->d_name, "hugepages-%lukB", &kib) != 1)
			continue;
		snprintf(path, sizeof path, "%s/%s/free_hugepages", folder, entry->d_name);
		if (host_read_line(path, line, sizeof line))
			bytes += strtoull(line, NULL, 10) * kib * 1024;
	}
	closedir(d);
	return bytes;
}

bool host_capable(uint32_t capability)
{
	FILE *f = fopen("/proc/self/status", "re");
	if (f == NULL)
		return false;
	char line[PATH_BYTES];
	unsigned long long effective = 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(f);
	return (effective >> capability & 1) != 0;
}

bool host_af_xdp(void)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}
