// One request on its way to who answers it, the leader (forwarder.h) or a node (tools/api/line/line_hub.h), and its
// answer as it comes: the carrier's thread writes it, one thread of the server reads it. What was not read yet is
// bounded; then who answers waits.
#pragma once
#include "state/base/uuid.h"
#include "tools/api/forward/answer_head.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <urcu/list.h>

#define EXCHANGE_HEADERS_MAX 12u
// Of an answer, received and not read yet.
#define EXCHANGE_BYTES_MAX (256u * 1024)

enum exchange_stage {
	EXCHANGE_WAITS,       // for a leader, or for its answer
	EXCHANGE_ANSWERS,     // the head is whole, and bytes may follow
	EXCHANGE_IS_OVER,     // the answer is whole
	EXCHANGE_IS_BROKEN,   // it ended in its midst
	EXCHANGE_HAS_FAILED,  // no leader took it
	EXCHANGE_IS_LOST,     // a leader took it and did not answer: a change may still take effect
	EXCHANGE_IS_HERE,     // this member leads now, and no other one took it
	EXCHANGE_IS_SWITCHED, // from here on another protocol is spoken (exchange_carrier.join)
};

// What became of requests that somebody else is to answer.
enum forward_outcome {
	FORWARD_ANSWERED,
	FORWARD_BROKEN,      // in the midst of the answer
	FORWARD_NO_LEADER,   // none is known
	FORWARD_UNREACHABLE, // one is known, and cannot be reached from here
	FORWARD_LOST,        // a change that may still take effect
	FORWARD_LEFT,        // the client went away
	FORWARD_HERE,        // this member became the leader meanwhile
	FORWARD_TOO_MANY,    // under way
	FORWARD_LOOPED,      // was forwarded before
	FORWARD_OUTCOMES,
};
extern const char *const forward_outcome_names[];

struct exchange;

// What is to be done with a client that has to say first who it is.
enum joint_verdict {
	JOINT_WAITS,  // it has not said all of it
	JOINT_SPEAKS, // from here on everything goes on, with what it has said so far
	JOINT_ENDS,   // it is refused, and was told so
};

// The connection of a client, after a 101: a socket that does not block, and what was read from it already. It is the
// carrier's until end is called, on the carrier's thread and once.
struct exchange_joint {
	int fd;
	const void *extra;
	size_t extra_size;
	// Whether the client may still speak, and is there; asked every half second or so.
	bool (*holds)(void *context);
	void (*end)(void *context);
	void *context;
};

// Who brings requests to where they are answered. Any thread calls these.
struct exchange_carrier {
	void (*has_room)(struct exchange *); // after exchange_read said so
	void (*drop)(struct exchange *);     // also ends it
	void (*note)(struct exchange *, enum forward_outcome);
	// Carries bytes both ways until one side ends, or it is dropped. NULL: nothing is ever switched.
	void (*join)(struct exchange *, const struct exchange_joint *);
};

struct exchange {
	// Of the request; owned, and not changed once it is on its way.
	char *method, *target, *body;
	size_t body_size;
	char *headers[EXCHANGE_HEADERS_MAX]; // "Name: value"
	uint32_t header_count;
	bool is_upgrade; // it asks for another protocol
	// Once another protocol is spoken: judges all that the client has said so far, of which nothing goes on before.
	// May make it say less. The context is the joint's. NULL: nobody judges.
	enum joint_verdict (*judge)(void *context, int fd, void *data, size_t *size);

	pthread_mutex_t lock; // guards what follows
	enum exchange_stage stage;
	struct answer_head head; // whole, and not changed any more, once the stage says so
	unsigned char *bytes;
	size_t from, to, capacity; // bytes[from..to) were not read yet
	bool is_held;              // the carrier's thread took no more, because there was no room
	bool is_awaited;           // the reader found nothing

	// Why it has failed, when the carrier knows: the status, and a sentence. As constant as the head.
	unsigned failure_status;
	char failure[256];

	// Of the carrier alone.
	const struct exchange_carrier *carrier;
	void *owner;
	struct uuid node;  // that is to answer
	struct link *link; // over which it is asked
	struct exchange_joint joint;
	struct exchange_joint offered; // under the owner's lock
	bool is_joined;                // under the owner's lock
	struct cds_list_head on_the_way, queued;
	bool is_queued, is_dropped; // under the owner's lock
	bool is_on_the_way;
	// Of the forwarder.
	void *easy;  // of libcurl; NULL: waits for a leader
	void *lines; // of libcurl: the headers
	char leader[40];
	uint64_t term;           // of the leader that was asked
	uint64_t failed_term;    // the newest whose leader did not answer; 0: none
	uint64_t repeat_ns;      // not to be asked again before
	uint64_t give_up_ns;     // 0: not known yet
	bool was_refused;        // by a member that does not lead
	bool is_unwatched;       // no event of its socket comes
	struct upgrade *upgrade; // its connection, once that stands
};

// Takes copies; body NULL: none.
struct exchange *exchange_create(
	const char *method, const char *target, const char *body, size_t body_size);
void exchange_free(struct exchange *);
// Before it is on its way. Nothing when the value is NULL.
void exchange_add_header(struct exchange *, const char *name, const char *value);
// The request as it is sent over a connection to that host, with its body. The caller frees it, and erases it before:
// it holds secrets.
char *exchange_write(const struct exchange *, const char *host, size_t *size);

// For the reader.
enum exchange_stage exchange_stage_of(struct exchange *);
struct exchange_news {
	size_t size;               // of the bytes that were copied
	enum exchange_stage stage; // when they were
	bool was_held;             // there is room again, of which the carrier is to be told
};
// Copies at most so many bytes of the answer. None, and more may follow: the reader is woken once there are some, or
// the stage has changed.
struct exchange_news exchange_read(struct exchange *, void *to, size_t most);
// Whether a reader that found nothing finds something now.
bool exchange_has_news(struct exchange *);

// For the carrier's thread. False: there is no room, and it is held.
bool exchange_take(struct exchange *, const void *data, size_t size);
void exchange_turn(struct exchange *, enum exchange_stage);
// Whether the reader waits, who is then to be woken: once.
bool exchange_wakes(struct exchange *);
