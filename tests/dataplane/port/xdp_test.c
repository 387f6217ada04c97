// What the kernel's answer about an interface says of its XDP program, and what is no such answer.
#include "dataplane/port/xdp.h"
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct answer {
	struct nlmsghdr header;
	struct ifinfomsg link;
	struct rtattr xdp, program;
	uint32_t number;
};

struct refusal {
	struct nlmsghdr header;
	struct nlmsgerr said;
};

static struct answer answer_of(uint16_t type)
{
	return (struct answer){.header = {.nlmsg_len = sizeof(struct answer), .nlmsg_type = type},
		.xdp = {2 * sizeof(struct rtattr) + sizeof(uint32_t), IFLA_XDP | NLA_F_NESTED},
		.program = {sizeof(struct rtattr) + sizeof(uint32_t), IFLA_XDP_PROG_ID},
		.number = 77};
}

static int read_bytes(const void *answer, size_t bytes, uint32_t *program)
{
	*program = 1;
	return xdp_read_answer(answer, bytes, program);
}

static void the_program_is_read(void **unused)
{
	struct answer a = answer_of(RTM_NEWLINK);
	uint32_t program;
	assert_int_equal(read_bytes(&a, sizeof a, &program), 0);
	assert_int_equal(program, 77);
	a.program.rta_len = 200; // longer than what holds it
	assert_int_equal(read_bytes(&a, sizeof a, &program), 0);
	assert_int_equal(program, 0);
	a.header.nlmsg_len = NLMSG_LENGTH(sizeof a.link);
	assert_int_equal(read_bytes(&a, sizeof a, &program), 0);
	assert_int_equal(program, 0);
}

static void what_is_no_answer_is_refused(void **unused)
{
	struct refusal refused = {
		{.nlmsg_len = sizeof refused, .nlmsg_type = NLMSG_ERROR}, {.error = -ENODEV}};
	struct answer a = answer_of(RTM_NEWADDR);
	uint32_t program;
	assert_int_equal(read_bytes(&refused, sizeof refused, &program), -ENODEV);
	refused.said.error = 0; // nothing is wrong, and nothing is told
	assert_int_equal(read_bytes(&refused, sizeof refused, &program), -EPROTO);
	assert_int_equal(read_bytes(&a, sizeof a, &program), -EPROTO);
	a = answer_of(RTM_NEWLINK);
	assert_int_equal(read_bytes(&a, sizeof a.header - 1, &program), -EPROTO);
	assert_int_equal(read_bytes(&a, sizeof a - 1, &program), -EPROTO); // was cut
	a.header.nlmsg_len = sizeof a.header;
	assert_int_equal(read_bytes(&a, sizeof a, &program), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_is_read),
		cmocka_unit_test(what_is_no_answer_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
