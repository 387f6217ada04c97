// Runs in the kernel for each packet of a shared port: hands datagrams for Berth's UDP port at one of its addresses to
// the sockets of the port, and everything else to the kernel. Compiled for BPF; DPDK's net_af_xdp loads it and fills
// xsks_map, berthd the other maps. Until it has, everything is the kernel's.
#include "dataplane/port/shared/shared_program.h"
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define QUEUES_MAX 64
#define FRAGMENT_BITS 0x3fff // of the header's word: more fragments, or not the first

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, QUEUES_MAX);
} xsks_map SEC(".maps");

// The UDP port, in the order of the network; 0: not known yet.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} berth_aim SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct shared_address);
	__type(value, __u8);
	__uint(max_entries, SHARED_ADDRESSES_MAX);
} berth_addresses SEC(".maps");

static __always_inline int is_ours(const struct shared_address *address)
{
	return bpf_map_lookup_elem(&berth_addresses, address) != 0;
}

static __always_inline int is_our_port(const struct udphdr *udp, const void *end)
{
	const __u32 first = 0;
	const __u32 *port = bpf_map_lookup_elem(&berth_aim, &first);
	if ((const void *)(udp + 1) > end)
		return 0;
	return port && udp->dest && udp->dest == *port;
}

// Of a fragment nobody knows the port but the kernel, which puts them together.
static __always_inline int is_for_us_ipv4(const struct iphdr *ip, const void *end)
{
	struct shared_address address = {.version = 4};
	if ((const void *)(ip + 1) > end || ip->protocol != IPPROTO_UDP || ip->ihl < 5 ||
		ip->frag_off & bpf_htons(FRAGMENT_BITS))
		return 0;
	__builtin_memcpy(address.bytes, &ip->daddr, 4);
	const struct udphdr *udp = (const void *)ip + ip->ihl * 4;
	return is_our_port(udp, end) && is_ours(&address);
}

static __always_inline int is_for_us_ipv6(const struct ipv6hdr *ip, const void *end)
{
	struct shared_address address = {.version = 6};
	if ((const void *)(ip + 1) > end || ip->nexthdr != IPPROTO_UDP)
		return 0;
	__builtin_memcpy(address.bytes, &ip->daddr, 16);
	return is_our_port((const struct udphdr *)(ip + 1), end) && is_ours(&address);
}

SEC("xdp")
int berth_shared(struct xdp_md *packet)
{
	const void *end = (const void *)(long)packet->data_end;
	const struct ethhdr *ethernet = (const void *)(long)packet->data;
	int is_for_us = 0;
	if ((const void *)(ethernet + 1) > end)
		return XDP_PASS;
	if (ethernet->h_proto == bpf_htons(ETH_P_IP))
		is_for_us = is_for_us_ipv4((const void *)(ethernet + 1), end);
	else if (ethernet->h_proto == bpf_htons(ETH_P_IPV6))
		is_for_us = is_for_us_ipv6((const void *)(ethernet + 1), end);
	// A queue that no socket reads is the kernel's.
	return is_for_us ? bpf_redirect_map(&xsks_map, packet->rx_queue_index, XDP_PASS) : XDP_PASS;
}
