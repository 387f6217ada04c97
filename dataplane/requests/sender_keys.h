// Keys of senders, as far as they count: what operators said of the sender is looked up in the published state.
// Worker's thread, under read lock.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "dataplane/requests/packet_worker.h"

enum hot_key sender_node_key(
	const struct packet_workers *, const struct uuid *, uint8_t key_id, struct wire_key *);
enum hot_key sender_client_key(
	const struct packet_workers *, struct text name, uint8_t key_id, struct wire_key *);
// Whether an operator said anything of the node: its line is to have no key but one that was asked for afterwards.
bool sender_node_is_noted(const struct packet_workers *, const struct uuid *);
// Has the lines of this worker's nodes forget the keys that count no more. A node that is down meanwhile is news when
// it is heard again.
void sender_keys_forget(struct packet_worker *);
