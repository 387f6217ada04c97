// Power cuts: a file system of its own is shut down under the working log, or behind a file that was written, without a
// last word to the disk, and mounted again. Takes privileges and loop devices.
//
// The mounts are made in a mount namespace of the test's own. In the namespace of everybody, any process
// that makes itself one (`ip netns exec` does) takes along a copy of the mount; the file system that was
// shut down then outlives our umount, and the next mount of the image finds it again, dead as it is:
// every read is EIO.
#include "state/base/log.h"
#include "state/base/prng.h"
#include "state/store/direct_stream.h"
#include "state/store/journal.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/slowness.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SKIPPED = 77, ROUNDS = 12 / BUILD_SLOWNESS, IMAGE_BYTES = 96 << 20 };
// Of ext4, which has no header for it: everything that is not on disk by now is lost.
#define SHUTDOWN _IOR('X', 125, uint32_t)
#define SHUTDOWN_WITHOUT_FLUSH 2u

extern char **environ;

static char directory[40], image[64], mounted[64];

static int run(const char *const arguments[])
{
	pid_t child;
	int status;
	posix_spawn_file_actions_t quiet;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int error =
		posix_spawnp(&child, arguments[0], &quiet, NULL, (char *const *)arguments, environ);
	posix_spawn_file_actions_destroy(&quiet);
	if (error != 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int mount_image(void)
{
	return run((const char *[]){"mount", "-o", "loop", image, mounted, NULL});
}

static int prepare(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	snprintf(image, sizeof image, "%s/image", directory);
	snprintf(mounted, sizeof mounted, "%s/mounted", directory);
	int fd = open(image, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, IMAGE_BYTES) < 0 || close(fd) < 0 || mkdir(mounted, 0700) < 0)
		return -1;
	if (run((const char *[]){"mkfs.ext4", "-q", "-F", image, NULL}) != 0)
		return -1;
	return mount_image();
}

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

static struct journal *open_log(void)
{
	struct journal *j;
	struct journal_settings settings = {mounted, 64ll << 20, false, true};
	if (journal_open(&settings, &j, &complaint) < 0)
		fail_msg("%s", message);
	return j;
}

static int note_last(void *context, const struct journal_batch *batch)
{
	const uint8_t *data = batch->data;
	for (uint32_t i = 0; i < batch->size; i++)
		assert_int_equal(data[i], (uint8_t)batch->first_index);
	*(uint64_t *)context = batch->first_index;
	return 0;
}

static uint64_t last_index(struct journal *j)
{
	uint64_t first = journal_first_index(j), last = first ? first - 1 : 0;
	if (journal_walk(j, last, note_last, &last, &complaint) < 0)
		fail_msg("%s", message);
	return last;
}

// Appends until the disk is gone from under it; tells each acknowledged index.
static void append_until_cut(int to)
{
	static uint8_t batch[20000];
	struct journal *j = open_log();
	for (uint64_t index = last_index(j) + 1;; index++) {
		memset(batch, (int)index, sizeof batch);
		uint32_t size = (uint32_t)(index * 7919 % sizeof batch);
		if (journal_append(j, index, 1, batch, size) < 0)
			_exit(0);
		if (write(to, &index, sizeof index) != sizeof index)
			_exit(1);
		if (index % 40 == 0)
			journal_cut(j, index - 20);
	}
}

// Returns the newest index that is told.
static uint64_t last_told(int from, uint64_t newest)
{
	uint64_t index;
	while (read(from, &index, sizeof index) == sizeof index)
		newest = index;
	return newest;
}

// Returns what was acknowledged before the cut began. A sync that runs while the file system is shut down may report
// success for blocks that were never written before (ext4 does not convert them any more, and notes no error): nobody
// is there to hear that when the power is gone.
static uint64_t cut_in_the_middle(uint32_t delay_us)
{
	int pipes[2], status;
	uint64_t acknowledged = 0;
	uint32_t flags = SHUTDOWN_WITHOUT_FLUSH;
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[0]);
		append_until_cut(pipes[1]);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &acknowledged, sizeof acknowledged), sizeof acknowledged);
	usleep(delay_us);
	int fd = open(mounted, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
	acknowledged = last_told(pipes[0], acknowledged);
	assert_int_equal(ioctl(fd, SHUTDOWN, &flags), 0);
	close(fd);
	assert_int_equal(fcntl(pipes[0], F_SETFL, 0), 0);
	last_told(pipes[0], 0); // until the child is gone
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return acknowledged;
}

static void everything_acknowledged_survives_power_cuts(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 11);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t acknowledged = cut_in_the_middle((uint32_t)prng_below(&prng, 60000));
		assert_int_equal(umount(mounted), 0);
		assert_int_equal(mount_image(), 0);
		struct journal *j = open_log();
		uint64_t last = last_index(j);
		if (last < acknowledged)
			fail_msg("round %d: acknowledged up to %lu, found up to %lu", round,
				acknowledged, last);
		journal_close(j);
	}
}

static void cut_and_mount_again(void)
{
	uint32_t flags = SHUTDOWN_WITHOUT_FLUSH;
	int fd = open(mounted, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SHUTDOWN, &flags), 0);
	close(fd);
	assert_int_equal(umount(mounted), 0);
	assert_int_equal(mount_image(), 0);
}

static void write_stream(const char *path, const uint8_t *data, size_t size)
{
	struct direct_stream *s;
	assert_int_equal(direct_stream_create(path, &s), 0);
	direct_stream_write(s, data, size);
	assert_int_equal(direct_stream_close(s), 0);
}

// Of this file system alone: others may have much to write.
static void sync_all(void)
{
	int fd = open(mounted, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(syncfs(fd), 0);
	close(fd);
}

// Its name is on disk before: that is for who writes it to see to.
static void a_stream_survives_a_power_cut_once_it_is_closed(void **unused)
{
	static uint8_t data[(3 << 20) + 17];
	const size_t sizes[] = {5000, 1 << 20, sizeof data};
	struct prng prng;
	char path[80];
	prng_seed(&prng, 12);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)prng_u64(&prng);
	snprintf(path, sizeof path, "%s/stream", mounted);
	for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t size;
		write_stream(path, data, 0);
		sync_all();
		write_stream(path, data, sizes[i]);
		cut_and_mount_again();
		uint8_t *found = file_read(path, &size);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(found, data, size);
		free(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_acknowledged_survives_power_cuts),
		cmocka_unit_test(a_stream_survives_a_power_cut_once_it_is_closed),
	};
	log_configure(LOG_ERROR + 1, false);
	snprintf(directory, sizeof directory, "%s", dir_create());
	if (prepare() != 0) {
		printf("cannot make and mount a file system of its own: %s\n", strerror(errno));
		dir_remove(directory);
		return SKIPPED;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	umount2(mounted, MNT_DETACH); // also when a failed test has files open
	dir_remove(directory);
	return failed;
}
