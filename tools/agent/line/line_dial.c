// To a connection that is ready to speak over: where to, TCP, TLS.
#include "state/base/failpoint/failpoint.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/line/line_private.h"
#include "tools/client/endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Of a connection whose other end went away without a word.
#define KEEP_IDLE_S 30
#define KEEP_INTERVAL_S 10
#define KEEP_PROBES 3

uint64_t line_now_ns(void)
{
	return time_monotonic_ns(&time_source_real);
}

int line_wait(const struct line *line, int fd, short events, int stop_fd, uint64_t deadline_ns)
{
	uint64_t now_ns = line_now_ns();
	uint64_t left_ms = now_ns < deadline_ns ? (deadline_ns - now_ns) / NS_PER_MS + 1 : 0;
	struct pollfd polled[] = {
		{fd, events, 0}, {line->stop_fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
	if (left_ms == 0)
		return -ETIMEDOUT;
	// Whoever waits for ever looks at the time once a minute.
	int ready = poll(polled, 3, left_ms > 60000 ? 60000 : (int)left_ms);
	if (polled[1].revents || polled[2].revents)
		return -ECANCELED;
	return ready < 0 ? -errno : 0; // to no thread that asks signals come
}

static int dial_fails(int error, const char *what, const char *where, char *message, uint32_t size)
{
	snprintf(message, size, "cannot %s %s: %s", what, where, strerror(-error));
	return error;
}

// The one of the settings' whose turn it is, or where the controller said.
static bool choose_address(struct line *line, struct servers *given, char *where, size_t room)
{
	char unused[LINE_MESSAGE_BYTES];
	bool is_known = true;
	pthread_mutex_lock(&line->lock);
	if (line->settings.address) {
		is_known = servers_open(given, line->settings.address, unused, sizeof unused) == 0;
		for (uint32_t i = 0; is_known && i < line->next_address % given->count; i++)
			(void)servers_next(given);
		snprintf(where, room, "%s", given->current);
	} else {
		is_known = *line->host && line->port;
		snprintf(where, room, strchr(line->host, ':') ? "[%s]:%u" : "%s:%u", line->host,
			line->port);
	}
	pthread_mutex_unlock(&line->lock);
	return is_known;
}

static void set_keep_alive(int fd)
{
	static const struct {
		int level, option, value;
	} options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEP_PROBES}, {IPPROTO_TCP, TCP_NODELAY, 1}};
	// Without them only a dead connection is noticed later.
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		(void)setsockopt(fd, options[i].level, options[i].option, &options[i].value,
			sizeof options[i].value);
}

static int await_connection(struct line *line, int fd, int stop_fd, uint64_t deadline_ns)
{
	int error = 0;
	socklen_t size = sizeof error;
	struct pollfd polled = {fd, POLLOUT, 0};
	while (poll(&polled, 1, 0) == 0) {
		error = line_wait(line, fd, POLLOUT, stop_fd, deadline_ns);
		if (error < 0)
			return error;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

static int connect_to(struct line *line, const char *where, int stop_fd, uint64_t deadline_ns,
	int *fd, char *message, uint32_t size)
{
	struct sockaddr_storage address;
	socklen_t address_size;
	int error = endpoint_resolve(where, &address, &address_size, message, size);
	if (error < 0)
		return error;
	*fd = CAN_FAIL(DIAL_SOCKET,
		socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (*fd < 0)
		return dial_fails(-errno, "open a socket to", where, message, size);
	set_keep_alive(*fd);
	if (CAN_FAIL(DIAL_CONNECT, connect(*fd, (struct sockaddr *)&address, address_size)) == 0)
		return 0;
	error = errno == EINPROGRESS ? await_connection(line, *fd, stop_fd, deadline_ns) : -errno;
	if (error == 0)
		return 0;
	close(*fd);
	*fd = -1;
	return dial_fails(error, "connect to", where, message, size);
}

static int shake_hands_with(struct line *line, struct dialled *d, int stop_fd, uint64_t deadline_ns,
	const char *where, char *message, uint32_t size)
{
	for (;;) {
		int error =
			CAN_BREAK(DIAL_HANDSHAKE, GNUTLS_E_PULL_ERROR, gnutls_handshake(d->tls));
		if (error == GNUTLS_E_SUCCESS)
			return 0;
		if (error == GNUTLS_E_AGAIN) {
			bool writes = gnutls_record_get_direction(d->tls);
			int waited = line_wait(
				line, d->fd, writes ? POLLOUT : POLLIN, stop_fd, deadline_ns);
			if (waited < 0)
				return dial_fails(waited, "shake hands with", where, message, size);
		} else if (gnutls_error_is_fatal(error)) {
			snprintf(message, size,
				"%s does not take this node's key, or is not the controller: %s",
				where, gnutls_strerror(error));
			return -EACCES;
		}
	}
}

int line_dial(struct line *line, enum line_kind kind, int stop_fd, uint64_t deadline_ns,
	struct dialled *d, char *message, uint32_t size)
{
	struct servers given = {0};
	char where[SERVER_TEXT_BYTES];
	uint64_t dial_by_ns = line_now_ns() + DIAL_TIMEOUT_MS * NS_PER_MS;
	*d = (struct dialled){.fd = -1};
	dial_by_ns = deadline_ns < dial_by_ns ? deadline_ns : dial_by_ns;
	if (!choose_address(line, &given, where, sizeof where)) {
		snprintf(message, size,
			"the controller is not known, or takes no connections of nodes "
			"(agents.address)");
		return -ENOTCONN;
	}
	int error = connect_to(line, where, stop_fd, dial_by_ns, &d->fd, message, size);
	if (error == 0 && psk_client_session(line->client, d->fd, kind, &d->tls) < 0)
		error = dial_fails(-ENOMEM, "begin TLS with", where, message, size);
	if (error == 0)
		error = shake_hands_with(line, d, stop_fd, dial_by_ns, where, message, size);
	pthread_mutex_lock(&line->lock);
	line->next_address += error != 0 && error != -ECANCELED;
	pthread_mutex_unlock(&line->lock);
	if (error < 0)
		dialled_close(d);
	return error;
}

void dialled_close(struct dialled *d)
{
	if (d->tls) {
		(void)gnutls_bye(d->tls, GNUTLS_SHUT_WR); // as far as there is room for it
		gnutls_deinit(d->tls);
	}
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct dialled){.fd = -1};
}
