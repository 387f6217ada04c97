#include "tools/agent/line/line.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/line/line_private.h"
#include "tools/tls/tunnel.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// After a connection that could not be made, doubled with each more in a row.
#define BACKOFF_MS 250u
#define BACKOFF_CAP_MS 30000u

bool line_enter(struct line *line)
{
	pthread_mutex_lock(&line->lock);
	bool is_open = !line->is_closed;
	line->threads += is_open;
	pthread_mutex_unlock(&line->lock);
	return is_open;
}

void line_leave(struct line *line)
{
	pthread_mutex_lock(&line->lock);
	line->threads--;
	pthread_cond_broadcast(&line->changed);
	pthread_mutex_unlock(&line->lock);
}

static void note_dialled(struct line *line, int error, const char *message)
{
	pthread_mutex_lock(&line->lock);
	line->counts.dialling--;
	line->counts.dialled += error == 0;
	line->counts.served += error == 0;
	line->counts.failed += error != 0;
	line->failures = error == 0 ? 0 : line->failures + 1;
	uint32_t doubled = line->failures < 8 ? line->failures : 8;
	uint64_t wait_ms = error == 0 ? 0 : (uint64_t)BACKOFF_MS << (doubled - 1);
	wait_ms = wait_ms < BACKOFF_CAP_MS ? wait_ms : BACKOFF_CAP_MS;
	line->not_before_ns = line_now_ns() + wait_ms * NS_PER_MS;
	pthread_mutex_unlock(&line->lock);
	if (error == 0 || error == -ECANCELED)
		return;
	char quoted[LINE_MESSAGE_BYTES + 40];
	log_warn("line-not-dialled", "error=%s again_ms=%lu",
		log_quote(message, quoted, sizeof quoted), (unsigned long)wait_ms);
}

static int await_either(const struct line *line, const struct dialled *d, const struct tunnel *t)
{
	struct pollfd polled[] = {{d->fd, (short)t->session_events, 0},
		{t->fd, (short)t->fd_events, 0}, {line->stop_fd, POLLIN, 0}};
	// A side that is waited for no more, as the other holds it up, is not looked at.
	for (int i = 0; i < 2; i++)
		if (!polled[i].events)
			polled[i].fd = -1;
	int ready = poll(polled, 3, -1);
	return polled[2].revents || ready < 0 ? -ECANCELED : 0; // no signal comes here
}

// Carries what the controller asks to the service, and its answers back, until one of them ends it.
static void carry(struct line *line, struct dialled *d, int fd)
{
	struct tunnel *t = memory_take(sizeof *t);
	t->session = tunnel_session_of_tls(d->tls);
	t->fd = fd;
	while (tunnel_turn(t) && await_either(line, d, t) == 0)
		continue;
	free(t);
}

static int hand_over(struct line *line, int fds[static 2])
{
	if (CAN_FAIL(DIAL_PAIR,
		    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds)) < 0)
		return -errno;
	int error = line->settings.serve(line->settings.context, fds[1]);
	if (error < 0)
		close(fds[0]);
	return error;
}

static void *serve_main(void *context)
{
	struct line *line = context;
	char message[LINE_MESSAGE_BYTES] = "";
	struct dialled d;
	int fds[2];
	int error =
		line_dial(line, LINE_CONTROLLER_ASKS, -1, UINT64_MAX, &d, message, sizeof message);
	note_dialled(line, error, message);
	if (error == 0) {
		error = hand_over(line, fds);
		if (error == 0) {
			carry(line, &d, fds[0]);
			close(fds[0]);
		} else {
			log_warn("line-not-served", "error=\"%s\"", strerror(-error));
		}
		dialled_close(&d);
		pthread_mutex_lock(&line->lock);
		line->counts.served--;
		pthread_mutex_unlock(&line->lock);
	}
	line_leave(line);
	return NULL;
}

// Under the lock.
static bool is_new(const struct line *line, const struct line_call *call)
{
	const struct line_call *newest = &line->newest;
	return call->number == 0 || call->term != newest->term ||
	       call->generation != newest->generation || call->number > newest->number;
}

// Under the lock. Whether one more connection is to be dialled.
static bool may_dial(struct line *line)
{
	return line->settings.serve && !line->is_closed &&
	       line->counts.dialling < LINE_DIALLING_MAX &&
	       line->counts.dialling + line->counts.served < LINE_SERVED_MAX &&
	       line_now_ns() >= line->not_before_ns;
}

static void start_thread(struct line *line)
{
	pthread_t thread;
	sigset_t all, before;
	// Signals are the main thread's.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = CAN_REFUSE(DIAL_THREAD, pthread_create(&thread, NULL, serve_main, line));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0) {
		pthread_setname_np(thread, "line");
		pthread_detach(thread);
		return;
	}
	note_dialled(line, -error, strerror(error));
	line_leave(line);
}

void line_called(struct line *line, const struct line_call *call)
{
	pthread_mutex_lock(&line->lock);
	bool dials = call->port && is_new(line, call) && may_dial(line);
	if (call->port)
		line->port = call->port;
	if (call->number && is_new(line, call))
		line->newest = *call;
	line->counts.dialling += dials;
	line->threads += dials;
	pthread_mutex_unlock(&line->lock);
	if (dials)
		start_thread(line);
}

void line_heard(struct line *line, uint16_t port)
{
	pthread_mutex_lock(&line->lock);
	line->port = port;
	pthread_mutex_unlock(&line->lock);
}

void line_follow(struct line *line, const char *host)
{
	pthread_mutex_lock(&line->lock);
	snprintf(line->host, sizeof line->host, "%s", host);
	pthread_mutex_unlock(&line->lock);
}

void line_count(struct line *line, struct line_counts *counts)
{
	pthread_mutex_lock(&line->lock);
	*counts = line->counts;
	pthread_mutex_unlock(&line->lock);
}

static void line_free(struct line *line)
{
	if (line->stop_fd >= 0)
		close(line->stop_fd);
	psk_client_destroy(line->client);
	pthread_cond_destroy(&line->changed);
	pthread_mutex_destroy(&line->lock);
	free(line);
}

struct line *line_open(const struct line_settings *settings)
{
	struct line *line = memory_take(sizeof *line);
	const struct psk_identity identity = {settings->node, settings->key_id};
	uint8_t key[PSK_KEY_BYTES];
	line->settings = *settings;
	store64(key, settings->key.k[0]);
	store64(key + 8, settings->key.k[1]);
	explicit_bzero(&line->settings.key, sizeof line->settings.key);
	line->client = psk_client_create(&identity, key);
	explicit_bzero(key, sizeof key);
	line->stop_fd = CAN_FAIL(DIAL_STOP, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	pthread_mutex_init(&line->lock, NULL);
	pthread_cond_init(&line->changed, NULL);
	if (line->client && line->stop_fd >= 0)
		return line;
	line_free(line);
	return NULL;
}

void line_close(struct line *line)
{
	uint64_t one = 1;
	if (!line)
		return;
	(void)!write(line->stop_fd, &one, sizeof one); // there is room for it
	pthread_mutex_lock(&line->lock);
	line->is_closed = true;
	while (line->threads > 0)
		pthread_cond_wait(&line->changed, &line->lock);
	pthread_mutex_unlock(&line->lock);
	line_free(line);
}
