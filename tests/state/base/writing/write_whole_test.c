#include "state/base/writing/write_whole.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#define SIGNALS_BEFORE_ROOM 3u

static int ends[2];
static volatile sig_atomic_t signals;
static uint8_t bytes[256 * 1024], read_back[sizeof bytes];
static volatile size_t read_size;

// Only the third makes room, so that the first ones interrupt a write of which nothing was taken.
static void make_room(int signal)
{
	int before = errno;
	ssize_t got = -1;
	if (++signals >= (int)SIGNALS_BEFORE_ROOM)
		got = read(ends[0], read_back + read_size, sizeof bytes - read_size);
	read_size += got > 0 ? (size_t)got : 0;
	errno = before;
}

static void who_is_interrupted_goes_on(void **unused)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = make_room};
	struct sigaction before;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i % 251);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	// A signal more than is needed finds nothing, and waits for nothing.
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	size_t room = (size_t)fcntl(ends[1], F_GETPIPE_SZ);
	assert_true(room < sizeof bytes);
	assert_int_equal(write_whole(ends[1], bytes, room), 0);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	int error = write_whole(ends[1], bytes + room, sizeof bytes - room);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	assert_int_equal(error, 0);
	close(ends[1]);
	for (ssize_t got;
		(got = read(ends[0], read_back + read_size, sizeof bytes - read_size)) > 0;)
		read_size += (size_t)got;
	close(ends[0]);
	assert_int_equal(read_size, sizeof bytes);
	assert_memory_equal(read_back, bytes, sizeof bytes);
}

static void what_has_no_room_is_said(void **unused)
{
	struct rlimit limit;
	int file = memfd_create("whole", MFD_CLOEXEC),
	    full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(file >= 0 && full >= 0);
	assert_int_equal(write_whole(full, "x", 1), -ENOSPC);
	assert_int_equal(write_whole(full, NULL, 0), 0);
	assert_int_equal(write_whole(-1, "x", 1), -EBADF);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, limit.rlim_max}), 0);
	int error = write_whole(file, "12345678", 8);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(error, -EFBIG); // behind a part of them
	assert_int_equal(lseek(file, 0, SEEK_END), 4);
	close(file);
	close(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_interrupted_goes_on),
		cmocka_unit_test(what_has_no_room_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
