// berth vm port-forward and worker port-forward: ports of a virtual machine, or of a worker, on this machine.
#include "state/base/memory.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/inside/vm_way.h"
#include "tools/http_client/http_socket.h"
#include "tools/web_socket/relay.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct forwarded_port {
	struct session *session;
	const struct vm_way *way;
	int listener;
	pthread_mutex_t lock;
	pthread_cond_t has_ended; // a connection
	uint32_t connections;     // open ones, each with a thread
};

struct connection {
	struct forwarded_port *port;
	struct vm_way way;
	int fd;
};

static void count_connection(struct forwarded_port *p, bool begins)
{
	pthread_mutex_lock(&p->lock);
	p->connections += begins ? 1u : UINT32_MAX;
	pthread_cond_signal(&p->has_ended);
	pthread_mutex_unlock(&p->lock);
}

static void *serve_connection(void *context)
{
	struct connection *c = context;
	struct forwarded_port *port = c->port;
	enum exit_status status;
	struct http_socket *way = vm_way_open(port->session, &c->way, &status);
	if (way && fcntl(c->fd, F_SETFL, O_NONBLOCK) == 0)
		relay_run(http_socket_messages(way), http_socket_stream(way), c->fd, c->fd, -1);
	http_socket_close(way);
	close(c->fd);
	free(c);
	count_connection(port, false);
	return NULL;
}

static uint32_t open_connections(struct forwarded_port *p)
{
	pthread_mutex_lock(&p->lock);
	uint32_t count = p->connections;
	pthread_mutex_unlock(&p->lock);
	return count;
}

// Until one of so many, which were open before there was no room for one more, has ended.
static void await_room(struct forwarded_port *p, uint32_t before)
{
	pthread_mutex_lock(&p->lock);
	while (p->connections == before)
		pthread_cond_wait(&p->has_ended, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void begin_connection(struct forwarded_port *p, int fd)
{
	pthread_t thread;
	struct connection *c = memory_take(sizeof *c);

	*c = (struct connection){p, *p->way, fd};
	count_connection(p, true);
	if (pthread_create(&thread, NULL, serve_connection, c) == 0) {
		pthread_detach(thread);
		return;
	}
	close(fd);
	free(c);
	count_connection(p, false);
}

// Ends with the program only, or when no connection is open and none can be taken.
static enum exit_status serve_port(struct forwarded_port *p)
{
	for (;;) {
		uint32_t before = open_connections(p);
		int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC), error = errno;
		if (fd >= 0)
			begin_connection(p, fd);
		else if (error == EINTR || error == ECONNABORTED)
			continue;
		else if (before > 0)
			await_room(p, before);
		else
			return complain(STATUS_FAILURE,
				"no connection to port %u of \"%s\" can be taken any more: %s",
				p->way->port, p->way->name, strerror(error));
	}
}

static enum exit_status listen_for(
	struct session *session, const struct vm_way *way, uint16_t local)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons(local)};
	socklen_t size = sizeof address;
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
		bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
		listen(listener, 16) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		return complain(STATUS_FAILURE,
			"cannot listen on 127.0.0.1:%u: %s; name another port, or none", local,
			strerror(errno));
	printf("127.0.0.1:%u is port %u of \"%s\", until Ctrl-C\n", ntohs(address.sin_port),
		way->port, way->name);
	fflush(stdout);
	struct forwarded_port port = {.session = session,
		.way = way,
		.listener = listener,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.has_ended = PTHREAD_COND_INITIALIZER};
	return serve_port(&port);
}

static bool read_number(const char *text, size_t size, unsigned long least, uint16_t *port)
{
	char copy[8];
	char *end = NULL;
	if (size == 0 || size >= sizeof copy)
		return false;
	snprintf(copy, sizeof copy, "%.*s", (int)size, text);
	unsigned long number = *copy >= '0' && *copy <= '9' ? strtoul(copy, &end, 10) : 0;
	*port = (uint16_t)number;
	return end && !*end && number >= least && number <= UINT16_MAX;
}

// "[LOCAL:]PORT"; a LOCAL that is not there is 0: any.
static bool read_ports(const char *text, uint16_t *local, uint16_t *port)
{
	const char *colon = strchr(text, ':');
	*local = 0;
	if (colon && colon > text && !read_number(text, (size_t)(colon - text), 0, local))
		return false;
	text = colon ? colon + 1 : text;
	return read_number(text, strlen(text), 1, port);
}

static enum exit_status forward_port(
	struct session *session, const char **arguments, bool is_machine)
{
	struct vm_way way = {.list = is_machine ? "/v1/vms" : "/v1/workers", .name = arguments[0]};
	uint16_t local;
	if (!read_ports(arguments[1], &local, &way.port))
		return complain(STATUS_USAGE, "\"%s\" is not [LOCAL:]PORT, of numbers up to 65535",
			arguments[1]);
	if (is_machine)
		vm_way_note_wait(session, way.name);
	if (!flag_given(&session->flags, FLAG_STDIO))
		return listen_for(session, &way, local);
	enum exit_status status;
	struct http_socket *socket = vm_way_open(session, &way, &status);
	if (socket)
		relay_run(http_socket_messages(socket), http_socket_stream(socket), STDIN_FILENO,
			STDOUT_FILENO, -1);
	http_socket_close(socket);
	return status;
}

enum exit_status machine_port_forward(struct session *session, const char **arguments, int count)
{
	return forward_port(session, arguments, true);
}

enum exit_status worker_port_forward(struct session *session, const char **arguments, int count)
{
	return forward_port(session, arguments, false);
}
