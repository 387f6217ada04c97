// What a follower does not answer: packets to the addresses at which the leader answers.
#pragma once
#include "dataplane/hot/counters.h"
#include "dataplane/hot/hot_worker.h"

// True when a packet that was refused for that reason is to one of these addresses, or asks who has one.
bool silence_is_asked(const struct hot_port *, const struct packet *, enum hot_refusal);
