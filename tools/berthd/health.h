// Whether the daemon is healthy, and whether it doubts what it hears. context is the struct berthd.
#pragma once
#include "tools/berthd/daemon.h"

// How long the applier may be at one turn, or the log at one batch, before health fails.
#define BERTHD_PATIENCE_S 5u

// Says in the log when the machine's clock was set, and when it is right again. lag_ns: time_source_steady_lag_ns();
// whoever asks for that again and again keeps the daemon's time going evenly, too. On one thread.
void berthd_look_at_clock(struct berthd *, int64_t lag_ns);
// Every worker makes turns, and the applier has not been at one for six times as long as health bears: what the
// watchdog asks.
bool berthd_alive(const struct berthd *);
// All that health consists of: how many checks.
uint32_t berthd_checks(void *context, struct health_check *);
// Alive, every port hears, and changes become durable. Else, or when expiry is held although it is healthy
// ("degraded: …"), message says why.
bool berthd_healthy(void *context, char *message, uint32_t message_size);
// Says in the log why it is not healthy.
void berthd_look_at_health(struct berthd *);
// For /v1/berth/liveness: one JSON object; the caller frees.
char *berthd_liveness(void *context);
// Lets nodes expire whose expiry is held. False when none is.
bool berthd_liveness_release(void *context);
// For /v1/berth/senders: a JSON array; the caller frees.
char *berthd_senders(void *context);
