#include "tools/api/server/clients/connections.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/tls/credentials.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <urcu/list.h>

const char *const connection_phase_names[] = {"idle", "headers", "body", "parked", "sending"};

// How long a connection may stay in a phase; 0: for ever (a parked request has its own deadline).
static const uint64_t phase_ms_max[CONNECTION_PHASES] = {
	[CONNECTION_IDLE] = 120000,
	[CONNECTION_HEADERS] = 10000,
	[CONNECTION_BODY] = 30000,
	[CONNECTION_PARKED] = 0,
	[CONNECTION_SENDING] = 600000,
};

struct connection {
	struct cds_list_head list;
	int fd;
	_Atomic int phase;
	_Atomic uint64_t since_ns;
	bool cut, has_spoken;
	struct credentials *credentials; // of TLS; NULL: without
	bool is_of_node, counts;
	struct uuid node;
	struct guest *guest;
};

struct expected {
	struct cds_list_head list;
	int fd;
	struct uuid node;
};

struct connections {
	const struct time_source *time;
	struct guests *guests;
	pthread_mutex_t lock; // guards what follows; a listed connection's descriptor is open
	struct cds_list_head all, expected;
	struct connections_counts counts;
};

struct connections *connections_create(const struct time_source *time, struct guests *guests)
{
	struct connections *c = memory_take(sizeof *c);
	c->time = time;
	c->guests = guests;
	pthread_mutex_init(&c->lock, NULL);
	CDS_INIT_LIST_HEAD(&c->all);
	CDS_INIT_LIST_HEAD(&c->expected);
	return c;
}

void connections_destroy(struct connections *c)
{
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void connections_expect(struct connections *c, int fd, const struct uuid *node)
{
	struct expected *e = memory_take(sizeof *e);
	e->fd = fd;
	e->node = *node;
	pthread_mutex_lock(&c->lock);
	cds_list_add(&e->list, &c->expected);
	pthread_mutex_unlock(&c->lock);
}

// Under the lock. False: it was not expected.
static bool meet_expected(struct connections *c, int fd, struct uuid *node)
{
	struct expected *e;
	cds_list_for_each_entry (e, &c->expected, list) {
		if (e->fd != fd)
			continue;
		*node = e->node;
		cds_list_del(&e->list);
		free(e);
		return true;
	}
	return false;
}

void connections_expect_no_more(struct connections *c, int fd)
{
	struct uuid node;
	pthread_mutex_lock(&c->lock);
	(void)meet_expected(c, fd, &node);
	pthread_mutex_unlock(&c->lock);
}

const struct uuid *connection_node(const struct connection *connection)
{
	return connection && connection->is_of_node ? &connection->node : NULL;
}

// Nodes and the socket have listeners of their own, which others do not fill.
static void enter_as_guest(
	struct connections *c, struct connection *connection, const struct guest_key *from)
{
	struct guest_key key = from                     ? *from
			       : connection->is_of_node ? guest_key_of_node(&connection->node)
							: guest_key_of_socket();
	bool is_over;
	connection->counts = from != NULL;
	connection->guest = guest_enter(c->guests, &key, connection->counts, &is_over);
	// Several threads accept at once, and each asked before the others entered.
	if (is_over)
		shutdown(connection->fd, SHUT_RDWR);
}

struct connection *connection_open(struct connections *c, int fd, const struct guest_key *from)
{
	struct connection *connection = memory_take(sizeof *connection);
	connection->fd = fd;
	connection_enter(c, connection, CONNECTION_HEADERS);
	pthread_mutex_lock(&c->lock);
	connection->is_of_node = meet_expected(c, fd, &connection->node);
	cds_list_add(&connection->list, &c->all);
	c->counts.open++;
	c->counts.accepted++;
	pthread_mutex_unlock(&c->lock);
	enter_as_guest(c, connection, from);
	return connection;
}

void connection_close(struct connections *c, struct connection *connection)
{
	pthread_mutex_lock(&c->lock);
	cds_list_del(&connection->list);
	c->counts.open--;
	pthread_mutex_unlock(&c->lock);
	guest_leave(c->guests, connection->guest, connection->counts);
	credentials_release(connection->credentials);
	free(connection);
}

void connection_enter(
	struct connections *c, struct connection *connection, enum connection_phase phase)
{
	atomic_store(&connection->since_ns, time_monotonic_ns(c->time));
	atomic_store(&connection->phase, phase);
}

void connection_keep(struct connection *connection, struct credentials *credentials)
{
	connection->credentials = credentials;
}

void connection_speaks(struct connection *connection)
{
	connection->has_spoken = true;
}

bool connection_was_silent(const struct connection *connection)
{
	return connection->credentials && !connection->has_spoken;
}

struct guest *connection_guest(const struct connection *connection)
{
	return connection->guest;
}

int connection_fd(const struct connection *connection)
{
	return connection->fd;
}

void connections_sweep(struct connections *c)
{
	uint64_t now = time_monotonic_ns(c->time);
	pthread_mutex_lock(&c->lock);
	struct connection *connection;
	cds_list_for_each_entry (connection, &c->all, list) {
		int phase = atomic_load(&connection->phase);
		uint64_t limit_ns = phase_ms_max[phase] * NS_PER_MS;
		uint64_t since = atomic_load(&connection->since_ns);
		if (connection->cut || !limit_ns || now < since || now - since < limit_ns)
			continue;
		// libmicrohttpd sees the end of the stream and closes the connection.
		connection->cut = true;
		c->counts.cut[phase]++;
		shutdown(connection->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&c->lock);
}

void connections_count(struct connections *c, struct connections_counts *counts)
{
	pthread_mutex_lock(&c->lock);
	*counts = c->counts;
	pthread_mutex_unlock(&c->lock);
}
