// Senders of the wire, nodes and clients, of which an operator said something: whether the sender is revoked, and which
// of its keys counts. A sender without a record has its first key and is heard.
#pragma once
#include "state/base/limits.h"
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/record.h"

#define SENDER_NODE "node/"
#define SENDER_CLIENT "client/"
// Of the longest name, its end included.
#define SENDER_NAME_BYTES (sizeof SENDER_CLIENT + CLIENT_NAME_BYTES_MAX)

struct sender {
	struct record record; // first
	char *name;           // SENDER_NODE and the uuid, or SENDER_CLIENT and the client's name
	bool is_revoked;
	// Which key the sender has now: 0 its first. Keys of lower generations never count again.
	int64_t key_generation;
	char *reason;    // for people
	int64_t time_ns; // of the newest change
};

extern const struct record_type sender_description;

bool sender_is_sound(const struct sender *);
// The key of the sender's record, written to memory of the caller.
struct text sender_of_node(const struct uuid *, char name[static SENDER_NAME_BYTES]);
struct text sender_of_client(struct text client, char name[static SENDER_NAME_BYTES]);
// Whether the name is that of a node, and of which one.
bool sender_is_node(struct text name, struct uuid *);
