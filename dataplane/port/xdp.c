#include "dataplane/port/xdp.h"
#include "state/base/failpoint/failpoint.h"
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// A description of one interface; with many virtual functions it is longer than a page.
#define ANSWER_BYTES 32768u

struct link_question {
	struct nlmsghdr header;
	struct ifinfomsg link;
};

static int ask_link(int fd, unsigned interface, char answer[static ANSWER_BYTES])
{
	struct link_question question = {
		.header = {.nlmsg_len = sizeof question,
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST},
		.link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)interface},
	};
	if (CAN_FAIL(XDP_ASK, send(fd, &question, sizeof question, 0)) != (ssize_t)sizeof question)
		return -errno;
	ssize_t got = CAN_FAIL(XDP_ANSWER, recv(fd, answer, ANSWER_BYTES, 0));
	return got < 0 ? -errno : (int)got;
}

static const struct rtattr *link_attribute(
	const struct rtattr *attributes, size_t bytes, unsigned short type)
{
	while (bytes >= sizeof *attributes) {
		size_t step = RTA_ALIGN(attributes->rta_len);
		if (attributes->rta_len < sizeof *attributes || attributes->rta_len > bytes)
			return NULL;
		if ((attributes->rta_type & NLA_TYPE_MASK) == type)
			return attributes;
		bytes = step < bytes ? bytes - step : 0;
		attributes = (const struct rtattr *)((const char *)attributes + step);
	}
	return NULL;
}

// A driver may run one program in each mode; the first that is there stands for all.
static uint32_t program_of(const struct rtattr *xdp)
{
	static const unsigned short types[] = {
		IFLA_XDP_PROG_ID, IFLA_XDP_DRV_PROG_ID, IFLA_XDP_SKB_PROG_ID, IFLA_XDP_HW_PROG_ID};
	for (size_t i = 0; xdp != NULL && i < sizeof types / sizeof types[0]; i++) {
		const struct rtattr *id = link_attribute(RTA_DATA(xdp), RTA_PAYLOAD(xdp), types[i]);
		uint32_t program = 0;
		if (id == NULL || RTA_PAYLOAD(id) < sizeof program)
			continue;
		memcpy(&program, RTA_DATA(id), sizeof program);
		return program;
	}
	return 0;
}

int xdp_read_answer(const char *answer, size_t bytes, uint32_t *program)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	if (bytes < sizeof *header || header->nlmsg_len > bytes)
		return -EPROTO;
	if (header->nlmsg_type == NLMSG_ERROR && bytes >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
		int error = ((const struct nlmsgerr *)NLMSG_DATA(header))->error;
		return error < 0 ? error : -EPROTO;
	}
	if (header->nlmsg_type != RTM_NEWLINK ||
		header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		return -EPROTO;
	const struct ifinfomsg *link = NLMSG_DATA(header);
	*program = program_of(link_attribute(IFLA_RTA(link), IFLA_PAYLOAD(header), IFLA_XDP));
	return 0;
}

int xdp_program(const char *interface, uint32_t *program)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	unsigned index = if_nametoindex(interface);
	if (index == 0)
		return -ENODEV;
	int fd = CAN_FAIL(XDP_SOCKET, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
	if (fd < 0)
		return -errno;
	int result = ask_link(fd, index, answer);
	close(fd);
	return result < 0 ? result : xdp_read_answer(answer, (size_t)result, program);
}
