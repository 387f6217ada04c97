// Checks of https against a real server with a certificate of its own.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/check/checks.h"
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static char folder[] = "/tmp/berth-tls-XXXXXX", certificate[64];
static pid_t server;
static unsigned port;

extern char **environ;

static unsigned read_port(void)
{
	char path[64];
	unsigned number = 0;
	snprintf(path, sizeof path, "%s/port", folder);
	FILE *file = fopen(path, "re");
	char line[200];
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "ACCEPT 127.0.0.1:%u", &number) == 1 && strchr(line, '\n'))
			break;
	if (file)
		fclose(file);
	return number;
}

static int begin(void **unused)
{
	char script[] = TLS_SERVER;
	char *const arguments[] = {script, folder, NULL};
	assert_non_null(mkdtemp(folder));
	snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
	assert_int_equal(posix_spawn(&server, script, NULL, NULL, arguments, environ), 0);
	for (uint32_t i = 0; i < 1000 && (port = read_port()) == 0; i++)
		poll(NULL, 0, 20);
	return port ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int end(void **unused)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	unsetenv("SSL_CERT_FILE");
	return stage_close();
}

// The status of a check of the server, and what is said of it.
static const char *status_with(const char *more, char output[static 4000])
{
	static char status[32];
	char services[600];
	snprintf(services, sizeof services,
		"\"Services\":[{\"Name\":\"web\",\"Address\":\"127.0.0.1\",\"Checks\":[{\"Name\":"
		"\"c\",\"Type\":\"http\",\"Protocol\":\"https\",\"Path\":\"/"
		"\",\"PortLabel\":\"%u\","
		"\"Interval\":5000000000,\"Timeout\":20000000000%s}]}],",
		port, more);
	struct alloc_run *a = stage_run(
		&id, "service", services, "{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{}}");
	snprintf(status, sizeof status, "pending");
	for (uint32_t i = 0; i < 5000 && strcmp(status, "pending") == 0; i++) {
		struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
		poll(&polled, 1, 20);
		stage_pass_ms(1);
		json_t *all = checks_json(a);
		const json_t *one = json_object_iter_value(json_object_iter(all));
		snprintf(status, sizeof status, "%s", spec_text(one, "Status"));
		snprintf(output, 4000, "%s", spec_text(one, "Output"));
		json_decref(all);
	}
	runner_forget(&runner, a);
	runner_step(&runner);
	return status;
}

static void a_certificate_of_nobody_does_not_pass(void **unused)
{
	char output[4000];
	assert_string_equal(status_with("", output), "failure");
	assert_non_null(strstr(output, "certificate"));
}

static void it_passes_where_nobody_asks(void **unused)
{
	char output[4000];
	assert_string_equal(status_with(",\"TLSSkipVerify\":true", output), "success");
	assert_string_equal(output, "nomad: http ok");
}

// The name is the certificate's alone: the connection goes where the service is.
static void a_name_is_what_the_certificate_is_for(void **unused)
{
	char output[4000];
	setenv("SSL_CERT_FILE", certificate, 1);
	const char *status = status_with(",\"TLSServerName\":\"shop.test\"", output);
	assert_string_equal(output, "nomad: http ok");
	assert_string_equal(status, "success");
	assert_string_equal(status_with(",\"TLSServerName\":\"other.test\"", output), "failure");
	assert_non_null(strstr(output, "other.test"));
	assert_string_equal(status_with("", output), "failure"); // its address is not in it
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_certificate_of_nobody_does_not_pass),
		TEST(it_passes_where_nobody_asks),
		TEST(a_name_is_what_the_certificate_is_for),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
