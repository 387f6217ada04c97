// When an agent sends what: a state machine without socket or clock.
//
//	REGISTERING --registered--> BEATING --leave--> LEAVING --acknowledged or tired--> LEFT
//	     ^----stale generation, directive, new description----'
//
// Heartbeats go out every third of the granted time to live, a little shaken, answered or not: three may
// be lost before the node is down. Registrations back off with full jitter up to 30 s. A controller that
// lost its state cannot say so to a node whose key it cannot find, so the 6th, 12th, 24th … heartbeat
// without an answer is a registration instead.
#pragma once
#include "state/base/backoff.h"
#include "tools/client/node_session.h"

#define BEAT_REGISTER_WAIT_MS 1000u // wait for an answer, before the back-off starts
#define BEAT_BACKOFF_BASE_MS 250u
#define BEAT_BACKOFF_CAP_MS 30000u
#define BEAT_GOODBYE_WAIT_MS 300u
#define BEAT_GOODBYES_MAX 5u
#define BEAT_SILENT_BEATS 6u       // twice the time to live
#define BEAT_INTERVAL_MS_LEAST 50u // however short the granted time to live is
#define BEAT_HASTE_MS 300u         // a hastened heartbeat waits no longer
#define BEAT_RESYNCS_MAX 3u        // in a row; then the next heartbeat is sent at its usual time
#define BEAT_REDIRECTS_MAX 3u      // the same, of refusals by controllers that do not lead

enum beat_state { BEAT_REGISTERING, BEAT_BEATING, BEAT_LEAVING, BEAT_LEFT };
enum beat_send { BEAT_SEND_NOTHING, BEAT_SEND_REGISTER, BEAT_SEND_HEARTBEAT, BEAT_SEND_GOODBYE };

struct beat {
	struct node_session session;
	struct backoff backoff;
	struct prng prng;
	enum beat_state state;
	uint64_t due_ns; // when to call beat_due again
	// Least sequence of the next registration. When it is not above the newest one, that was too far ahead of the
	// controller's clock, and the next has just this sequence.
	uint64_t registration_least;
	uint32_t missed; // frames in a row without an answer
	uint32_t resyncs, redirects;
	uint32_t goodbyes;
	bool describe; // the next REGISTER needs a new description and a new sequence
};

// The caller sets the session's key, key_id and term.
void beat_start(struct beat *, uint64_t seed, uint64_t now_ns);
// The sequence of a new registration, at that time by the agent's clock.
uint64_t beat_registration(struct beat *, uint64_t wall_ms);
// What to send now.
enum beat_send beat_due(struct beat *, uint64_t now_ns);
struct node_answer beat_receive(
	struct beat *, const uint8_t *frame, uint32_t size, uint64_t now_ns);
// The description has changed: the agent registers again now.
void beat_describe(struct beat *, uint64_t now_ns);
// Sends the next heartbeat soon, if the node sends heartbeats at all.
void beat_hasten(struct beat *, uint64_t now_ns);
void beat_leave(struct beat *, uint64_t now_ns);
