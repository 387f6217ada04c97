// The bytes of a reply that goes on for as long as something happens: lines are written, sent piece by piece, and then
// the connection is parked until there are more.
#pragma once
#include "tools/api/server/request.h"
#include "tools/json/json_writer.h"

struct live_lines {
	struct request *request;
	struct json_writer writer; // emptied by the owner before it writes more
	size_t sent;               // of its bytes
};

// Whether everything that was written is sent.
bool live_lines_are_sent(const struct live_lines *);
// Whether anybody still reads, and may: false once the client has hung up, its token is gone or the server stops.
bool live_lines_are_wanted(const struct live_lines *);
// Until when the connection may be parked at most: whether the client still may is looked at before.
uint64_t live_lines_deadline_ns(const struct live_lines *, uint64_t deadline_ns);
// Copies what was not sent yet, at most so many bytes. Returns how many; a reply_source's answer.
ssize_t live_lines_send(struct live_lines *, char *to, size_t most);
