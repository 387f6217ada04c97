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

// Master keys are changed in two steps, by one thread at a time: these are the ones that count from each worker's next
// turn on. -EBUSY: those before them are not retired.
int sender_keys_publish(struct packet_workers *, const struct master_keys *);
// Once every worker has begun a turn since: lines forget what follows from keys that count no more, and these are
// wiped.
void sender_keys_retire(struct packet_workers *);
