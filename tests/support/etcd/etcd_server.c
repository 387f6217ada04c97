#include "tests/support/etcd/etcd_server.h"
#include "tests/support/listening.h"
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HEALTHY_WITHIN_MS 60000u
#define BEGINS_MOST 5u
#define STEP_MS 50u
#define NOT_INSTALLED 127 // as a shell says it
#define FREE_PORT_LEAST 12000u
#define FREE_PORTS 20000u

int listen_anywhere(uint16_t *port)
{
	*port = 0;
	return listen_on_loopback(port, 16);
}

// Below those that the kernel gives to whoever asks for any, which would be somebody else's at any time.
uint16_t free_port(void)
{
	uint32_t random;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int error = -1;

	while (error != 0) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(fd >= 0);
		assert_int_equal(getrandom(&random, sizeof random, 0), sizeof random);
		at.sin_port = htons((uint16_t)(FREE_PORT_LEAST + random % FREE_PORTS));
		error = bind(fd, (struct sockaddr *)&at, sizeof at);
		close(fd);
	}
	return ntohs(at.sin_port);
}

// Starts a program in silence, which ends with this thread, however that comes to its end. It exits with NOT_INSTALLED
// when it is not there.
static pid_t spawn_silently(const char *const *words, char *const *environment)
{
	pid_t parent = getpid(), pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	// The parent may have gone before that.
	if (getppid() == parent)
		execvpe(words[0], (char *const *)words, environment);
	_exit(NOT_INSTALLED);
}

int etcd_server_control(const struct etcd_server *s, const char *const *words)
{
	const char *all[16] = {"etcdctl", "--endpoints", s->url, "--command-timeout", "60s"};
	int status = 0;
	char *environment[] = {(char *)"ETCDCTL_API=3", NULL};
	for (size_t i = 0; words[i]; i++) {
		assert_true(i + 6 < sizeof all / sizeof all[0]);
		all[i + 5] = words[i];
	}
	pid_t pid = spawn_silently(all, environment);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
		fail_msg("etcdctl is not installed: install the package etcd-client");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool server_is_gone(struct etcd_server *s)
{
	int status = 0;
	if (waitpid(s->pid, &status, WNOHANG) != s->pid)
		return false;
	s->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
		fail_msg("etcd is not installed: install the package etcd-server");
	return true;
}

// At a port of its own, which wants neither user nor certificate.
static bool server_is_healthy(const struct etcd_server *s)
{
	static const char request[] = "GET /health HTTP/1.0\r\n\r\n";
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(s->health_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char answer[1024] = "";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
		send(fd, request, sizeof request - 1, MSG_NOSIGNAL) > 0)
		recv(fd, answer, sizeof answer - 1, MSG_WAITALL);
	close(fd);
	return strstr(answer, "\"health\":\"true\"");
}

// False when it ended.
static bool server_await(struct etcd_server *s)
{
	for (uint32_t waited = 0; !server_is_healthy(s); waited += STEP_MS) {
		if (server_is_gone(s))
			return false;
		if (waited > HEALTHY_WITHIN_MS)
			fail_msg("etcd did not become healthy");
		usleep(STEP_MS * 1000);
	}
	return true;
}

static bool server_run(struct etcd_server *s)
{
	char peer[ETCD_SERVER_URL_BYTES], cluster[ETCD_SERVER_URL_BYTES + 8], quota[32];
	char health[ETCD_SERVER_URL_BYTES];
	snprintf(peer, sizeof peer, "http://127.0.0.1:%u", s->peer_port);
	snprintf(health, sizeof health, "http://127.0.0.1:%u", s->health_port);
	snprintf(cluster, sizeof cluster, "one=%s", peer);
	snprintf(quota, sizeof quota, "%llu", (unsigned long long)s->quota_bytes);
	// The words about TLS are left out by the NULL.
	const char *const words[] = {"etcd", "--name", "one", "--data-dir", s->folder,
		"--listen-client-urls", s->url, "--advertise-client-urls", s->url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", cluster, "--quota-backend-bytes", quota,
		"--listen-metrics-urls", health, "--unsafe-no-fsync",
		s->ca_file ? "--client-cert-auth" : NULL, "--trusted-ca-file", s->ca_file,
		"--cert-file", s->certificate_file, "--key-file", s->key_file, NULL};
	s->pid = spawn_silently(words, environ);
	return server_await(s);
}

void etcd_server_start_again(struct etcd_server *s)
{
	if (!server_run(s))
		fail_msg("etcd ended at once");
}

void etcd_server_signal(const struct etcd_server *s, int signal)
{
	int status = 0;
	assert_int_equal(kill(s->pid, signal), 0);
	// On a busy machine other threads of it still work, until the one that was told stops them.
	if (signal == SIGSTOP) {
		assert_int_equal(waitpid(s->pid, &status, WUNTRACED), s->pid);
		assert_true(WIFSTOPPED(status));
	}
}

void etcd_server_kill(struct etcd_server *s)
{
	etcd_server_signal(s, SIGKILL);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

void etcd_server_stop(struct etcd_server *s)
{
	if (s->pid)
		etcd_server_kill(s);
	if (*s->folder)
		nftw(s->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

// A port that was free may be another test's by the time etcd wants it: then others are taken.
static void server_begin(struct etcd_server *s, const char *scheme)
{
	uint32_t tries = 0;

	do {
		if (tries++ == BEGINS_MOST)
			fail_msg("etcd ended at once, %u times", BEGINS_MOST);
		etcd_server_stop(s);
		snprintf(s->folder, sizeof s->folder, "/tmp/berth-etcd-XXXXXX");
		assert_non_null(mkdtemp(s->folder));
		s->client_port = free_port();
		s->peer_port = free_port();
		s->health_port = free_port();
		snprintf(s->url, sizeof s->url, "%s://127.0.0.1:%u", scheme, s->client_port);
	} while (!server_run(s));
}

void etcd_server_start(struct etcd_server *s, uint64_t quota_bytes)
{
	*s = (struct etcd_server){.quota_bytes = quota_bytes};
	server_begin(s, "http");
}

void etcd_server_start_tls(struct etcd_server *s, const char *ca_file, const char *certificate_file,
	const char *key_file)
{
	*s = (struct etcd_server){
		.ca_file = ca_file, .certificate_file = certificate_file, .key_file = key_file};
	server_begin(s, "https");
}
