// The controllers of other regions: their addresses, and requests to them.
#pragma once
#include "placement/watch/jobs/peers.h"
#include "state/base/time_source.h"
#include "tools/berthd/config.h"

struct peer_controllers;

// NULL and a sentence in message when the settings do not fit. No peers at all is fine.
struct peer_controllers *peer_controllers_create(
	const struct config *, const struct time_source *, char *message, uint32_t message_size);
// Reads regions, token and files of TLS anew, for questions from now on. False and a sentence: all is as it was. The
// region itself and how often is asked stay as they were. Any thread.
bool peer_controllers_renew(
	struct peer_controllers *, const struct config *, char *message, uint32_t message_size);
void peer_controllers_destroy(struct peer_controllers *); // NULL is fine
// Cancels the request under way, and lets every later one fail at once.
void peer_controllers_stop(struct peer_controllers *);
bool peer_controllers_know(struct peer_controllers *, const char *region);
// For watchers_settings: one thread uses it.
const struct peers *peer_controllers_peers(const struct peer_controllers *);
