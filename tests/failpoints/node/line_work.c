// The line: a question of the agent's to its controller, and one of the controller's, over connections that the agent
// dials.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tests/tools/agent/line/line_controller.h"
#include "tools/agent/line/line.h"
#include "tools/agent/line/line_ask.h"
#include "tools/tls/psk.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct controller {
	uint16_t port;
	_Atomic bool reached, heard; // by the node that is asked, and its answer
} controller;
static struct line *line;

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
		.timeout_ms = 20000,
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
		.node = {{7}}, .key = line_controller_key, .key_id = 7, .serve = serve_ping};
	bool is_done = false;

	served.fd = -1;
	controller.port = line_controller_open(converse);
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
	line_controller_close();
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
