// Messages between a node and the controller about the node's allocations. The node asks all of them, under its slot
// and generation.
//
// ALLOC_UPDATE: what became of them. header.sequence grows from one report to the next (unix ms to begin
// with); one that is not above the newest of the node is answered and changes nothing.
//	24 u8   count       1 … 16
//	25 u8   reserved, u16 reserved
//	28 count times:
//	   uuid  allocation
//	   u8    client      0 pending, 1 running, 2 complete, 3 failed
//	   u8    healthy     of its deployment: 0 not said, 1 yes, 2 no
//	   u8    flags       enum wire_update_flag, of one that has ended
//	   u8    tasks
//	   text8 description
//	   each task: text8 name, u8 state (0 pending, 1 running, 2 dead), u8 flags (enum wire_task_flag),
//	      u16 restarts, i64 started, i64 finished, i64 last restart (unix ns, 0: not); with a handle: u32
//	      version, u16 bytes, the bytes; u8 events
//	      each event: text8 type, text8 message, i64 time (unix ns), i32 exit code
// ALLOC_UPDATED, durable before it is sent
//	24 u64  index       of the state, at which it was committed
//	32 u8   count, count times u8 known: 0 is no allocation of this node
// ALLOCS: which are the node's
//	24 u64  since       those changed after this index; 0: all there are
//	32 u8   count       1 … 32, at most so many
//	   zeros up to the reply's size
// ALLOCS_REPLY
//	24 u64  index       since of the next question
//	32 u8   count, u8 more (1: ask again), u16 reserved
//	36 count times (40 bytes), oldest change first: uuid allocation, u64 version (grows when the controller
//	   changes something, as ALLOC_SPEC_REPLY has it), u64 job index (of the job's version that it runs),
//	   u8 desired, u8 client, u16 group, u16 flags (enum wire_alloc_flag), u16 reserved; with
//	   WIRE_FLAG_TERM u64 term
// ALLOC_SPEC: a piece of the JSON that describes what is to run
//	24 uuid allocation, u32 offset, u16 bytes (1 … 1392 wanted), u16 reserved; zeros up to the reply's size, which
//	   WIRE_FLAG_SEALED makes 40 bytes longer
// ALLOC_SPEC_REPLY
//	24 u64  version     of the whole; when it changes, begin again
//	32 u32  total, u32 offset, u16 bytes, u16 seal, then the bytes or, with a seal of 1, a nonce (24 bytes), the
//	   bytes sealed and their tag (16 bytes); with WIRE_FLAG_TERM u64 term
#pragma once
#include "dataplane/wire/wire.h"

enum wire_alloc_desired { WIRE_DESIRED_RUN, WIRE_DESIRED_STOP, WIRE_DESIRED_EVICT };
enum wire_alloc_client {
	WIRE_CLIENT_PENDING,
	WIRE_CLIENT_RUNNING,
	WIRE_CLIENT_COMPLETE,
	WIRE_CLIENT_FAILED,
	WIRE_CLIENT_LOST,
	WIRE_CLIENT_UNKNOWN,
};
enum wire_alloc_flag {
	WIRE_ALLOC_IN_DEPLOYMENT =
		1, // the update strategy judges its health, else the migrate strategy
	WIRE_ALLOC_HEALTH_KNOWN = 2, // the node has reported its health
};
#define WIRE_ALLOC_FLAGS 3u
enum wire_task_state { WIRE_TASK_PENDING, WIRE_TASK_RUNNING, WIRE_TASK_DEAD };
enum wire_task_flag {
	WIRE_TASK_FAILED = 1,
	WIRE_TASK_HANDLE = 2, // runs away from its node; another node could go on with it
};
#define WIRE_TASK_FLAGS 3u

// More do not fit a frame.
#define WIRE_UPDATE_TASKS_MAX 48u
#define WIRE_UPDATE_EVENTS_MAX 96u
#define WIRE_SPEC_BYTES_MAX (FRAME_BYTES_MAX - WIRE_FRAME_BYTES_MIN - 20u)
// ... of an answer that ends with the term.
#define WIRE_SPEC_BYTES_OF_TERM (WIRE_SPEC_BYTES_MAX - WIRE_TERM_BYTES)
// ... and is sealed.
#define WIRE_SPEC_BYTES_SEALED (WIRE_SPEC_BYTES_OF_TERM - WIRE_SEAL_BYTES)

static inline uint32_t wire_alloc_updated_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 9 + count;
}
static inline uint32_t wire_allocs_reply_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 12 + 40 * count;
}
static inline uint32_t wire_alloc_spec_reply_bytes(uint32_t bytes, uint8_t flags)
{
	return WIRE_FRAME_BYTES_MIN + 20 + bytes + (flags & WIRE_FLAG_SEALED ? WIRE_SEAL_BYTES : 0);
}

struct wire_task_event {
	struct text type, message;
	int64_t time_ns;
	int32_t exit_code;
};
struct wire_task {
	struct text name;
	uint8_t state;
	bool failed, has_handle;
	uint16_t restarts;
	int64_t started_ns, finished_ns, last_restart_ns;
	uint32_t handle_version;
	struct text handle; // any bytes, at most TASK_HANDLE_BYTES_MAX
	uint8_t event_count;
};
enum wire_update_flag {
	WIRE_UPDATE_FLAKY = 1,   // ended by its node's infrastructure, not by itself
	WIRE_UPDATE_UNREADY = 2, // its node's probe says that the node is not ready any more
};
#define WIRE_UPDATE_FLAGS 3u
enum wire_healthy { WIRE_HEALTH_UNSAID, WIRE_HEALTHY, WIRE_UNHEALTHY };
struct wire_alloc_update_item {
	struct uuid allocation;
	uint8_t client, healthy, flags, task_count;
	struct text description;
};
// Tasks of all items one after the other, and events of all tasks.
struct wire_alloc_update {
	uint8_t count;
	uint8_t task_count, event_count;
	struct wire_alloc_update_item items[ALLOC_UPDATES_MAX];
	struct wire_task tasks[WIRE_UPDATE_TASKS_MAX];
	struct wire_task_event events[WIRE_UPDATE_EVENTS_MAX];
};

struct wire_alloc_updated {
	uint64_t index;
	uint8_t count;
	uint8_t known[ALLOC_UPDATES_MAX];
};

struct wire_allocs {
	uint64_t since;
	uint8_t count;
};

struct wire_alloc_item {
	struct uuid allocation;
	uint64_t version, job_index;
	uint8_t desired, client;
	uint16_t group, flags;
};
struct wire_allocs_reply {
	uint64_t index;
	uint8_t count, more;
	uint64_t term; // with WIRE_FLAG_TERM
	struct wire_alloc_item items[ALLOC_ITEMS_MAX];
};

struct wire_alloc_spec {
	struct uuid allocation;
	uint32_t offset;
	uint16_t bytes;
};
struct wire_alloc_spec_reply {
	uint64_t version;
	uint32_t total, offset;
	uint16_t bytes;
	bool is_sealed;      // to be sealed, or to be opened (dataplane/wire/seal.h)
	const uint8_t *data; // when decoded: in the frame, as it is there
	uint64_t term;       // with WIRE_FLAG_TERM
};

bool wire_alloc_update_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_alloc_update *);
uint32_t wire_alloc_update_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_alloc_update *);
bool wire_alloc_updated_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_alloc_updated *);
uint32_t wire_alloc_updated_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_alloc_updated *);
bool wire_allocs_decode(const uint8_t *frame, const struct wire_header *, struct wire_allocs *);
uint32_t wire_allocs_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_allocs *);
bool wire_allocs_reply_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_allocs_reply *);
uint32_t wire_allocs_reply_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_allocs_reply *);
bool wire_alloc_spec_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_alloc_spec *);
uint32_t wire_alloc_spec_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_alloc_spec *);
bool wire_alloc_spec_reply_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_alloc_spec_reply *);
uint32_t wire_alloc_spec_reply_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_alloc_spec_reply *);
