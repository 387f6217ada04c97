#include "dataplane/port/shared/shared_port.h"
#include "dataplane/port/shared/shared_program.h"
#include "dataplane/port/xdp.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/writing/write_whole.h"
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define MAPS_MAX 8u

// The linker puts the compiled program here (meson.build).
extern const uint8_t shared_program_first[] __asm__(SHARED_PROGRAM_SYMBOL "_start");
extern const uint8_t shared_program_end[] __asm__(SHARED_PROGRAM_SYMBOL "_end");

int shared_port_program(const char **path)
{
	static char known[32];
	*path = known;
	if (known[0] != '\0')
		return 0;
	int fd = CAN_FAIL(XDP_PROGRAM, memfd_create("berth-shared", MFD_CLOEXEC));
	if (fd < 0)
		return -errno;
	int error = write_whole(
		fd, shared_program_first, (size_t)(shared_program_end - shared_program_first));
	if (error != 0) {
		close(fd);
		return error;
	}
	snprintf(known, sizeof known, "/proc/self/fd/%d", fd);
	return 0;
}

// What the kernel knows of a program; maps: room for the numbers of its maps.
static int describe_program(
	uint32_t program, struct bpf_prog_info *info, uint32_t maps[static MAPS_MAX])
{
	uint32_t bytes = sizeof *info;
	int fd = CAN_FAIL(XDP_DESCRIBE, bpf_prog_get_fd_by_id(program));
	if (fd < 0)
		return -errno;
	*info = (struct bpf_prog_info){
		.nr_map_ids = MAPS_MAX, .map_ids = (uint64_t)(uintptr_t)maps};
	int error = bpf_obj_get_info_by_fd(fd, info, &bytes) == 0 ? 0 : -errno;
	close(fd);
	return error;
}

int shared_port_clear(const char *interface, char other[static SHARED_PORT_NAME_BYTES])
{
	struct bpf_prog_info info;
	uint32_t program = 0, maps[MAPS_MAX];
	int error = xdp_program(interface, &program);
	other[0] = '\0';
	if (error != 0 || program == 0)
		return error;
	error = describe_program(program, &info, maps);
	if (error != 0)
		return error == -ENOENT ? 0 : error; // it went meanwhile
	snprintf(other, SHARED_PORT_NAME_BYTES, "%s", info.name);
	if (strcmp(info.name, SHARED_PROGRAM_NAME) != 0)
		return -EBUSY;
	return CAN_BREAK(
		XDP_DETACH, -errno, bpf_xdp_detach((int)if_nametoindex(interface), 0, NULL));
}

static int open_map(const char *name, const struct bpf_prog_info *info, const uint32_t *maps)
{
	for (uint32_t i = 0; i < info->nr_map_ids && i < MAPS_MAX; i++) {
		struct bpf_map_info map = {0};
		uint32_t bytes = sizeof map;
		int fd = CAN_FAIL(XDP_MAP, bpf_map_get_fd_by_id(maps[i]));
		int error = fd >= 0 && bpf_obj_get_info_by_fd(fd, &map, &bytes) == 0 ? 0 : -errno;
		if (error == 0 && strcmp(map.name, name) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
		if (error != 0)
			return error;
	}
	return -ENOENT;
}

static int tell_program(int map, const void *key, const void *value)
{
	return CAN_FAIL(XDP_AIM, bpf_map_update_elem(map, key, value, BPF_ANY)) == 0 ? 0 : -errno;
}

static int add_address(int map, const struct shared_address *address)
{
	const uint8_t yes = 1;
	return tell_program(map, address, &yes);
}

static int add_addresses(int map, const struct hot_port *port)
{
	int error = 0;
	for (uint32_t i = 0; i < port->ipv4_count && error == 0; i++) {
		struct shared_address address = {.version = 4};
		memcpy(address.bytes, port->ipv4[i], 4);
		error = add_address(map, &address);
	}
	for (uint32_t i = 0; i < port->ipv6_count && error == 0; i++) {
		struct shared_address address = {.version = 6};
		memcpy(address.bytes, port->ipv6[i], 16);
		error = add_address(map, &address);
	}
	return error;
}

int shared_port_aim(uint32_t program, const struct hot_port *port)
{
	struct bpf_prog_info info;
	uint32_t maps[MAPS_MAX], first = 0, udp_port = htons(port->udp_port);
	int error = describe_program(program, &info, maps);
	if (error != 0)
		return error;
	if (strcmp(info.name, SHARED_PROGRAM_NAME) != 0)
		return -EBUSY;
	int aim = open_map(SHARED_AIM_MAP, &info, maps);
	int addresses = open_map(SHARED_ADDRESSES_MAP, &info, maps);
	error = aim < 0 ? aim : addresses < 0 ? addresses : add_addresses(addresses, port);
	// Only now, when all is known, does it begin.
	if (error == 0)
		error = tell_program(aim, &first, &udp_port);
	if (aim >= 0)
		close(aim);
	if (addresses >= 0)
		close(addresses);
	return error;
}
_Static_assert(2 * HOT_ADDRESSES_MAX <= SHARED_ADDRESSES_MAX, "the map holds all addresses");
