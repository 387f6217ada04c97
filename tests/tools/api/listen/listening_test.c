// Sockets that listen, and the sentences about those that cannot.
#include "tools/api/listen/listening.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-listen-XXXXXX", path[64], message[512];

static int set_up(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/api.sock", folder);
	return 0;
}

static int tear_down(void **unused)
{
	unlink(path);
	return rmdir(folder);
}

static int connect_there(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
	close(fd);
	return error;
}

static int listen_with(uint32_t mode, const char *group)
{
	return listen_at_path(&(struct listening_path){path, mode, group}, message, sizeof message);
}

static void expect_message(int error, int wanted, const char *says)
{
	if (error != wanted || !strstr(message, says))
		fail_msg("%d and \"%s\", not %d and \"%s\"", error, message, wanted, says);
}

static void a_socket_has_its_mode_whatever_the_umask(void **unused)
{
	static const uint32_t modes[] = {0600, 0660, 0666, 0620};
	mode_t before = umask(0177);
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		struct stat found;
		int fd = listen_with(modes[i], NULL);
		assert_true(fd >= 0);
		assert_int_equal(stat(path, &found), 0);
		assert_int_equal(found.st_mode & 07777, modes[i]);
		assert_int_equal(connect_there(), 0);
		close(fd);
	}
	umask(before);
}

static void a_group_is_a_name_or_a_number(void **unused)
{
	char number[16];
	struct stat found;
	struct group *mine = getgrgid(getgid());
	snprintf(number, sizeof number, "%u", getgid());
	const char *groups[] = {number, mine ? mine->gr_name : number, ""};
	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		int fd = listen_with(0660, groups[i]);
		assert_true(fd >= 0);
		assert_int_equal(stat(path, &found), 0);
		assert_int_equal(found.st_gid, getgid());
		close(fd);
	}
	expect_message(listen_with(0660, "no-such-group"), -EINVAL,
		"http.socket.group: there is no group \"no-such-group\"");
}

// A file of groups that only this program sees, with one of so many members that it is longer than most.
static void make_crowd(void)
{
	char groups[64];
	snprintf(groups, sizeof groups, "%s/group", folder);
	FILE *file = fopen(groups, "we");
	assert_non_null(file);
	fputs("crowd:x:71000:member", file);
	for (int i = 0; i < 1000; i++)
		fprintf(file, ",member-%d", i);
	fputc('\n', file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount(groups, "/etc/group", NULL, MS_BIND, NULL), 0);
	assert_int_equal(unlink(groups), 0);
}

static void a_group_may_have_many_members(void **unused)
{
	struct stat found;
	if (geteuid() != 0)
		skip();
	make_crowd();
	int fd = listen_with(0660, "crowd");
	assert_int_equal(umount2("/etc/group", MNT_DETACH), 0);
	if (fd < 0)
		fail_msg("%s", message);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_gid, 71000);
	close(fd);
}

static void a_socket_that_is_in_use_is_left_alone(void **unused)
{
	int first = listen_with(0600, NULL);
	assert_true(first >= 0);
	expect_message(listen_with(0600, NULL), -EADDRINUSE, "another process listens there");
	assert_int_equal(connect_there(), 0);
	close(first);
	// Nobody listens there any more.
	assert_int_equal(connect_there(), -ECONNREFUSED);
	int second = listen_with(0600, NULL);
	assert_true(second >= 0);
	close(second);
}

static void a_file_is_left_alone(void **unused)
{
	struct stat found;
	unlink(path);
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	expect_message(listen_with(0600, NULL), -EEXIST, "it is no socket");
	assert_int_equal(stat(path, &found), 0);
	assert_true(S_ISREG(found.st_mode));
	unlink(path);
}

static void paths_are_absolute_short_and_in_a_directory(void **unused)
{
	char longest[200];
	memset(longest, 'a', sizeof longest);
	longest[0] = '/';
	longest[sizeof longest - 1] = '\0';
	const char *wrong[] = {"", "api.sock", longest};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct listening_path p = {wrong[i], 0600, NULL};
		expect_message(listen_at_path(&p, message, sizeof message), -EINVAL,
			"is no absolute path of at most 107 bytes");
		assert_false(listening_path_is_fit(&p, message, sizeof message));
	}
	struct listening_path p = {"/no/such/api.sock", 0600, NULL};
	assert_true(listening_path_is_fit(&p, message, sizeof message));
	expect_message(listen_at_path(&p, message, sizeof message), -ENOENT,
		"must be in a directory that this user may write to");
}

static void an_address_must_be_one_of_this_machine(void **unused)
{
	int fd = listen_at_address("http", "127.0.0.1", 0, message, sizeof message);
	assert_true(fd >= 0);
	close(fd);
	expect_message(listen_at_address("http", "no such host", 0, message, sizeof message),
		-EINVAL, "is no address of this machine");
	expect_message(listen_at_address("http", "192.0.2.1", 0, message, sizeof message),
		-EADDRNOTAVAIL, "http: cannot listen on 192.0.2.1:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_has_its_mode_whatever_the_umask),
		cmocka_unit_test(a_group_is_a_name_or_a_number),
		cmocka_unit_test(a_group_may_have_many_members),
		cmocka_unit_test(a_socket_that_is_in_use_is_left_alone),
		cmocka_unit_test(a_file_is_left_alone),
		cmocka_unit_test(paths_are_absolute_short_and_in_a_directory),
		cmocka_unit_test(an_address_must_be_one_of_this_machine),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
