#include "tools/api/events/live_lines.h"
#include "state/base/check.h"
#include "tools/api/server/access.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/parking.h"
#include <string.h>

bool live_lines_are_sent(const struct live_lines *l)
{
	CHECK(l->sent <= l->writer.size);
	return l->sent == l->writer.size;
}

uint64_t live_lines_deadline_ns(const struct live_lines *l, uint64_t deadline_ns)
{
	uint64_t look_ns = access_look_ns(l->request);
	return look_ns < deadline_ns ? look_ns : deadline_ns;
}

bool live_lines_are_wanted(const struct live_lines *l)
{
	return !l->request->hung_up && parking_is_open(l->request->api->parking) &&
	       access_still_holds(l->request);
}

ssize_t live_lines_send(struct live_lines *l, char *to, size_t most)
{
	connection_enter(l->request->api->connections, l->request->socket, CONNECTION_SENDING);
	size_t size = l->writer.size - l->sent;
	size = size < most ? size : most;
	memcpy(to, l->writer.data + l->sent, size);
	l->sent += size;
	return (ssize_t)size;
}
