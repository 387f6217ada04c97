// The line: a question of the agent's to its controller, and one of the controller's, over connections that the agent
// dials.
#include "dataplane/wire/little_endian.h"
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tools/agent/line/line.h"
#include "tools/agent/line/line_ask.h"
#include "tools/tls/psk.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const struct wire_key line_key = {{1, 2}};

static struct controller {
	int listener;
	uint16_t port;
	pthread_t thread;
	struct psk_server *psk;
	_Atomic bool reached, heard; // by the node that is asked, and its answer
} controller;
static struct line *line;

static bool find_line_key(
	void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	store64(key, line_key.k[0]);
	store64(key + 8, line_key.k[1]);
	return true;
}

static void converse(gnutls_session_t tls)
{
	static const char answer[] = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char text[500];

	if (psk_session_kind(tls) == LINE_NODE_ASKS) {
		if (gnutls_record_recv(tls, text, sizeof text) > 0)
			(void)gnutls_record_send(tls, answer, sizeof answer - 1);
	} else {
		atomic_store(&controller.reached, true);
		if (gnutls_record_send(tls, "ping", 4) == 4 &&
			gnutls_record_recv(tls, text, sizeof text) == 4)
			atomic_store(&controller.heard, memcmp(text, "pong", 4) == 0);
	}
	(void)gnutls_bye(tls, GNUTLS_SHUT_WR);
}

// One connection after the other; its sockets block.
static void *be_controller(void *unused)
{
	gnutls_session_t tls;

	for (int fd; (fd = accept(controller.listener, NULL, NULL)) >= 0; close(fd)) {
		if (psk_server_session(controller.psk, fd, NULL, &tls) < 0)
			continue;
		int error;
		while ((error = gnutls_handshake(tls)) < 0 && !gnutls_error_is_fatal(error))
			;
		if (error == 0)
			converse(tls);
		gnutls_deinit(tls);
	}
	return NULL;
}

static void begin_controller(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof at;

	controller.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(controller.listener, (struct sockaddr *)&at, size) == 0);
	CHECK(listen(controller.listener, 4) == 0);
	CHECK(getsockname(controller.listener, (struct sockaddr *)&at, &size) == 0);
	controller.port = ntohs(at.sin_port);
	controller.psk = psk_server_create(find_line_key);
	CHECK(controller.psk);
	CHECK(pthread_create(&controller.thread, NULL, be_controller, NULL) == 0);
}

static void end_controller(void)
{
	shutdown(controller.listener, SHUT_RDWR);
	pthread_join(controller.thread, NULL);
	close(controller.listener);
	psk_server_destroy(controller.psk);
}

// In place of the service: one connection.
static struct {
	pthread_t thread;
	int fd; // -1: none was taken
} served;

static void *answer_ping(void *unused)
{
	char text[4];

	if (recv(served.fd, text, sizeof text, MSG_WAITALL) == sizeof text)
		(void)send(served.fd, "pong", 4, MSG_NOSIGNAL);
	close(served.fd);
	return NULL;
}

static int serve_ping(void *context, int fd)
{
	CHECK(fcntl(fd, F_SETFL, 0) == 0); // it blocks
	served.fd = fd;
	CHECK(pthread_create(&served.thread, NULL, answer_ping, NULL) == 0);
	return 0;
}

static bool ask_controller(void)
{
	char message[300] = "";
	struct line_answer answer;
	struct line_question question = {.method = "GET",
		.target = "/v1/var/x",
		.allocation = work_id,
		.task = "t",
		.timeout_ms = 2000,
		.stop_fd = -1};
	bool is_answered = line_ask(line, &question, &answer, message, sizeof message) == 0 &&
			   answer.status == 200;

	walk_said(message);
	line_answer_free(&answer);
	return is_answered;
}

// Until it is over, or the controller was not reached.
static void be_asked(void)
{
	struct line_call call = {.port = controller.port, .generation = 1, .term = 1};
	struct line_counts counts;

	line_called(line, &call);
	do {
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		line_count(line, &counts);
	} while (counts.dialling > 0 || counts.served > 0);
}

static bool talk_over_line(struct work_place *place)
{
	struct line_settings settings = {
		.node = {{7}}, .key = line_key, .key_id = 7, .serve = serve_ping};
	bool is_done = false;

	served.fd = -1;
	begin_controller();
	line = line_open(&settings);
	if (line) {
		line_follow(line, "127.0.0.1");
		line_heard(line, controller.port);
		is_done = ask_controller();
		be_asked();
	} else {
		walk_said("line to the controller: memory or descriptors are short");
	}
	line_close(line);
	if (served.fd >= 0)
		pthread_join(served.thread, NULL);
	end_controller();
	if (atomic_load(&controller.reached) && !atomic_load(&controller.heard))
		walk_said("the controller saw its connection end");
	return is_done && atomic_load(&controller.heard);
}

const struct node_work line_work = {.name = "line",
	.work = talk_over_line,
	.excuses = {.cannot_fail =
			    (const char *const[]){"at state/", "psk_server", "psk_allocate_server",
				    // Of the C library, which never fails there.
				    "pthread_mutex_init at", "pthread_cond_init at", NULL}}};
