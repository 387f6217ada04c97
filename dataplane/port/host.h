// What this machine says about its interfaces, devices and huge pages: sysfs, ioctls, /proc.
// Control path.
#pragma once
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define HOST_NAME_BYTES 32

bool host_interface_exists(const char *interface);
// "eth0, lo, veth1": for a message about one that does not exist.
void host_interfaces(char *list, uint32_t size);
// "veth", "mlx5_core"; "" when the kernel does not say.
void host_interface_driver(const char *interface, char driver[static HOST_NAME_BYTES]);
// PCI address behind an interface; "" when there is none.
void host_interface_pci(const char *interface, char pci[static HOST_NAME_BYTES]);
struct host_queues {
	uint32_t receive;  // over which the interface spreads packets
	uint32_t combined; // how many of them AF_XDP can use
};
// One of each when the kernel does not say.
struct host_queues host_interface_queues(const char *interface);
bool host_interface_is_ethernet(const char *interface);
bool host_interface_is_up(const char *interface);
// False when it is down, has no carrier or is gone; true also when the kernel cannot be asked.
bool host_interface_runs(const char *interface);
uint32_t host_interface_mtu(const char *interface); // 0: unknown
// True when the kernel itself holds this address ("10.0.0.1", "fd00::1") on that interface.
bool host_interface_has_address(const char *interface, const char *address);
// The interface on which the kernel holds the address; "" when there is none.
void host_interface_of(const char *address, char interface[static IFNAMSIZ]);

bool host_pci_exists(const char *pci);
void host_pci_driver(const char *pci, char driver[static HOST_NAME_BYTES]); // "" unbound
int host_pci_numa_node(const char *pci);                                    // -1 unknown

uint64_t host_huge_free_bytes(void); // of all sizes
// The capability by number (linux/capability.h) is in the effective set.
bool host_capable(uint32_t capability);
// The kernel lets this process open an AF_XDP socket.
bool host_af_xdp(void);
// First line of a file without its newline; false when it cannot be read.
bool host_read_line(const char *path, char *line, uint32_t size);
