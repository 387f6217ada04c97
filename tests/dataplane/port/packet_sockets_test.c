// The sockets of packets that this process opens, and others that are not meant. Root only: else all is skipped.
#include "dataplane/port/packet_sockets.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct packet_sockets sockets;

static int open_packet_socket(int family)
{
	int fd = socket(family, SOCK_RAW, 0);
	if (fd < 0)
		skip();
	return fd;
}

static void each_is_taken_once_in_order(void **unused)
{
	int before = open_packet_socket(AF_PACKET);
	packet_sockets_begin(&sockets);
	assert_int_equal(packet_sockets_take(&sockets), -1);
	int other = socket(AF_INET, SOCK_DGRAM, 0);
	int first = open_packet_socket(AF_PACKET), second = open_packet_socket(AF_XDP);
	assert_true(other < first && first < second);
	assert_int_equal(packet_sockets_take(&sockets), first);
	assert_int_equal(packet_sockets_take(&sockets), second);
	assert_int_equal(packet_sockets_take(&sockets), -1);
	packet_sockets_begin(&sockets);
	assert_int_equal(packet_sockets_take(&sockets), -1);
	close(second);
	close(first);
	close(other);
	close(before);
}

// One that is opened later may have a lower number than those before it.
static void one_in_a_gap_is_found(void **unused)
{
	int gap = dup(STDERR_FILENO);
	int first = open_packet_socket(AF_PACKET);
	packet_sockets_begin(&sockets);
	close(gap);
	int second = open_packet_socket(AF_PACKET);
	assert_true(second < first);
	assert_int_equal(packet_sockets_take(&sockets), second);
	close(second);
	close(first);
}

static void no_more_than_there_is_room_for(void **unused)
{
	int fds[PACKET_SOCKETS_MAX + 1];
	for (uint32_t i = 0; i <= PACKET_SOCKETS_MAX; i++)
		fds[i] = open_packet_socket(AF_PACKET);
	packet_sockets_begin(&sockets);
	assert_int_equal(sockets.count, PACKET_SOCKETS_MAX);
	assert_int_equal(packet_sockets_take(&sockets), -1);
	for (uint32_t i = 0; i <= PACKET_SOCKETS_MAX; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_taken_once_in_order),
		cmocka_unit_test(one_in_a_gap_is_found),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
