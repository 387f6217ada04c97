// The XDP program of shared ports, run by the kernel over packets: what is Berth's goes to its sockets, everything else
// is the kernel's. Needs the right to load programs; is skipped without.
#include "dataplane/port/shared/shared_port.h"
#include "dataplane/port/shared/shared_program.h"
#include "dataplane/port/xdp.h"
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cmocka.h>

#define FRAME_BYTES 128
#define UDP_PORT 4647
#define PORT_LIKE_ADDRESS "10.0.18.39" // its last two bytes are UDP_PORT

struct loaded {
	struct bpf_object *object;
	int program, socket;
};

static int setup(void **state)
{
	static struct loaded l;
	const char *path;
	uint32_t queue = 0;
	assert_int_equal(shared_port_program(&path), 0);
	l.object = bpf_object__open_file(path, NULL);
	l.socket = socket(AF_XDP, SOCK_RAW, 0);
	if (!l.object || l.socket < 0 || bpf_object__load(l.object) != 0)
		return 0; // *state stays NULL
	l.program =
		bpf_program__fd(bpf_object__find_program_by_name(l.object, SHARED_PROGRAM_NAME));
	int sockets = bpf_object__find_map_fd_by_name(l.object, "xsks_map");
	assert_int_equal(bpf_map_update_elem(sockets, &queue, &l.socket, BPF_ANY), 0);
	*state = &l;
	return 0;
}

static int teardown(void **state)
{
	struct loaded *l = *state;
	if (l) {
		bpf_object__close(l->object);
		close(l->socket);
	}
	return 0;
}

static uint32_t number_of(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof info;
	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &bytes), 0);
	return info.id;
}

static int addresses_of(const struct loaded *l)
{
	return bpf_object__find_map_fd_by_name(l->object, SHARED_ADDRESSES_MAP);
}

static bool is_taken(const struct loaded *l, uint8_t *frame, uint32_t size)
{
	uint8_t out[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = size, .data_out = out,
		.data_size_out = sizeof out);
	assert_int_equal(bpf_prog_test_run_opts(l->program, &run), 0);
	assert_true(run.retval == XDP_REDIRECT || run.retval == XDP_PASS);
	assert_true(run.data_size_out == size && memcmp(out, frame, size) == 0);
	return run.retval == XDP_REDIRECT;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

// A datagram of IPv4 with so many words of options.
static uint32_t make_ipv4(uint8_t frame[FRAME_BYTES], const char *to, uint16_t port, uint32_t words)
{
	uint32_t ip_bytes = 20 + 4 * words;
	memset(frame, 0, FRAME_BYTES);
	put16(frame + 12, 0x0800);
	frame[14] = (uint8_t)(0x40 | ip_bytes / 4);
	put16(frame + 16, (uint16_t)(ip_bytes + 8 + 16));
	frame[23] = IPPROTO_UDP;
	inet_pton(AF_INET, to, frame + 30);
	put16(frame + 14 + ip_bytes + 2, port);
	return 14 + ip_bytes + 8 + 16;
}

static uint32_t make_ipv6(uint8_t frame[FRAME_BYTES], const char *to, uint16_t port)
{
	memset(frame, 0, FRAME_BYTES);
	put16(frame + 12, 0x86dd);
	frame[14] = 0x60;
	frame[20] = IPPROTO_UDP;
	inet_pton(AF_INET6, to, frame + 38);
	put16(frame + 56, port);
	return 14 + 40 + 8 + 16;
}

static void aim(const struct loaded *l)
{
	struct hot_port port = {.udp_port = UDP_PORT, .ipv4_count = 3, .ipv6_count = 1};
	inet_pton(AF_INET, "10.0.0.1", port.ipv4[0]);
	inet_pton(AF_INET, "10.0.0.9", port.ipv4[1]);
	inet_pton(AF_INET, PORT_LIKE_ADDRESS, port.ipv4[2]);
	inet_pton(AF_INET6, "fd00::1", port.ipv6[0]);
	assert_int_equal(shared_port_aim(number_of(l->program), &port), 0);
}

// Addresses come before the UDP port.
static void until_it_is_told_everything_is_the_kernels(void **state)
{
	struct loaded *l = *state;
	struct shared_address address = {.bytes = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1}};
	const uint8_t yes = 1;
	uint8_t frame[FRAME_BYTES];
	if (!l)
		skip();
	assert_int_equal(bpf_map_update_elem(addresses_of(l), &address, &yes, BPF_ANY), 0);
	assert_false(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", UDP_PORT, 0)));
	assert_false(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", 0, 0)));
}

static void what_is_ours_is_taken(void **state)
{
	struct loaded *l = *state;
	uint8_t frame[FRAME_BYTES];
	if (!l)
		skip();
	aim(l);
	assert_true(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", UDP_PORT, 0)));
	assert_true(is_taken(l, frame, make_ipv4(frame, "10.0.0.9", UDP_PORT, 0)));
	assert_true(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", UDP_PORT, 10)));
	assert_true(is_taken(l, frame, make_ipv6(frame, "fd00::1", UDP_PORT)));
}

static void everything_else_is_the_kernels(void **state)
{
	struct loaded *l = *state;
	uint8_t frame[FRAME_BYTES];
	uint32_t size;
	if (!l)
		skip();
	aim(l);
	assert_false(is_taken(l, frame, make_ipv4(frame, "10.0.0.2", UDP_PORT, 0)));
	assert_false(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", UDP_PORT + 1, 0)));
	assert_false(is_taken(l, frame, make_ipv4(frame, "10.0.0.1", 22, 0)));
	assert_false(is_taken(l, frame, make_ipv6(frame, "fd00::2", UDP_PORT)));
	assert_false(is_taken(l, frame, make_ipv6(frame, "fd00::1", 53)));
	// An IPv4 address in the place of an IPv6 one is another.
	assert_false(is_taken(l, frame, make_ipv6(frame, "::10.0.0.1", UDP_PORT)));
	assert_false(is_taken(l, frame, make_ipv6(frame, "::ffff:10.0.0.1", UDP_PORT)));
	assert_false(is_taken(l, frame, make_ipv6(frame, "a00:1::", UDP_PORT)));
	static const struct {
		uint8_t at, value;
	} changes[] = {{23, IPPROTO_TCP}, {20, 0x20}, {21, 1}, {20, 0x1f}, {14, 0x44}, {12, 0x81},
		{13, 6}};
	for (uint32_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		size = make_ipv4(frame, "10.0.0.1", UDP_PORT, 0);
		frame[changes[i].at] = changes[i].value;
		assert_false(is_taken(l, frame, size));
	}
	// A header shorter than there is: its end would be taken for a UDP port.
	size = make_ipv4(frame, PORT_LIKE_ADDRESS, UDP_PORT, 0);
	assert_true(is_taken(l, frame, size));
	frame[14] = 0x44;
	assert_false(is_taken(l, frame, size));
	size = make_ipv6(frame, "fd00::1", UDP_PORT);
	frame[20] = IPPROTO_TCP;
	assert_false(is_taken(l, frame, size));
	// Cut anywhere in its headers.
	size = make_ipv4(frame, "10.0.0.1", UDP_PORT, 0);
	for (uint32_t cut = 14; cut < 14 + 20 + 8; cut++)
		assert_false(is_taken(l, frame, cut));
	assert_true(is_taken(l, frame, 14 + 20 + 8));
	size = make_ipv4(frame, "10.0.0.1", UDP_PORT, 10);
	for (uint32_t cut = 14 + 20; cut < 14 + 60 + 8; cut++)
		assert_false(is_taken(l, frame, cut));
}

// The program of somebody else: everything is the kernel's.
static int program_that_passes(const char *name)
{
	const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", pass, 2, NULL);
	assert_true(program >= 0);
	return program;
}

static void only_our_program_is_told(void **state)
{
	struct loaded *l = *state;
	struct hot_port port = {.udp_port = UDP_PORT};
	if (!l)
		skip();
	assert_int_equal(shared_port_aim(UINT32_MAX, &port), -ENOENT);
	int other = program_that_passes("other");
	assert_int_equal(shared_port_aim(number_of(other), &port), -EBUSY);
	close(other);
}

// One of our name without our maps is not ours either.
static void a_program_without_maps_is_not_told(void **state)
{
	struct loaded *l = *state;
	struct hot_port port = {.udp_port = UDP_PORT};
	if (!l)
		skip();
	int bare = program_that_passes(SHARED_PROGRAM_NAME);
	assert_int_equal(shared_port_aim(number_of(bare), &port), -ENOENT);
	close(bare);
}

// On the loopback of a network of its own.
static void only_our_program_is_taken_away(void **state)
{
	struct loaded *l = *state;
	char other[SHARED_PORT_NAME_BYTES];
	uint32_t program = 0;
	if (!l || unshare(CLONE_NEWNET) != 0)
		skip();
	int loopback = (int)if_nametoindex("lo");
	int theirs = program_that_passes("other");
	assert_int_equal(shared_port_clear("lo", other), 0); // there is none
	assert_int_equal(bpf_xdp_attach(loopback, theirs, 0, NULL), 0);
	assert_int_equal(shared_port_clear("lo", other), -EBUSY);
	assert_string_equal(other, "other");
	assert_int_equal(xdp_program("lo", &program), 0);
	assert_int_equal(program, number_of(theirs));
	assert_int_equal(bpf_xdp_detach(loopback, 0, NULL), 0);
	assert_int_equal(bpf_xdp_attach(loopback, l->program, 0, NULL), 0);
	assert_int_equal(shared_port_clear("lo", other), 0);
	assert_int_equal(xdp_program("lo", &program), 0);
	assert_int_equal(program, 0);
	close(theirs);
}

// The last one: the map is as it is from here on.
static void an_address_that_cannot_be_told_fails(void **state)
{
	struct loaded *l = *state;
	struct hot_port port = {.udp_port = UDP_PORT, .ipv4_count = 1};
	if (!l)
		skip();
	assert_int_equal(bpf_map_freeze(addresses_of(l)), 0);
	assert_int_equal(shared_port_aim(number_of(l->program), &port), -EPERM);
	port = (struct hot_port){.udp_port = UDP_PORT, .ipv6_count = 1};
	assert_int_equal(shared_port_aim(number_of(l->program), &port), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_it_is_told_everything_is_the_kernels),
		cmocka_unit_test(what_is_ours_is_taken),
		cmocka_unit_test(everything_else_is_the_kernels),
		cmocka_unit_test(only_our_program_is_told),
		cmocka_unit_test(a_program_without_maps_is_not_told),
		cmocka_unit_test(only_our_program_is_taken_away),
		cmocka_unit_test(an_address_that_cannot_be_told_fails),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
