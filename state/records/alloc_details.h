// What only some allocations have. Immutable once an allocation refers to it, so that versions of an
// allocation share it (counted references); described in alloc_details.c with Nomad's names.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"
#include <stdatomic.h>

struct allocated_port {
	char *label;
	int64_t value, to;
	char *host_ip;
};
struct allocated_network { // NetworkResource of a task or of the group
	char *mode, *device, *ip;
	int64_t mbits;
	struct array reserved_ports, dynamic_ports; // port (state/records/job.h)
};
struct allocated_device {
	char *vendor, *type, *name;
	struct array device_ids; // char *: "<group>-<number of the instance>"
};
struct allocated_task { // FIELD_STRUCT_MAP by task
	char *task;
	struct array networks;       // allocated_network
	struct array devices;        // allocated_device
	struct array reserved_cores; // int64_t
	int64_t cpu_shares;          // what the cores amount to; 0: what the task asks for
	int64_t memory_max_mb;       // granted; 0: no more than the task's memory
};

struct alloc_state {         // AllocStates
	char *field, *value; // "ClientStatus", "unknown"
	int64_t time_ns;
};
struct reschedule_event {
	int64_t reschedule_time_ns;
	struct uuid previous_alloc, previous_node;
	int64_t delay_ns;
};
struct desired_transition {
	struct optional_bool migrate, reschedule, force_reschedule, no_shutdown_delay;
};
struct alloc_deployment_status {
	int64_t timestamp_ns;
	uint64_t modify_index;
	struct optional_bool healthy;
	bool canary;
	bool is_there; // not described: in an allocation, whether it has one of its own
};

struct alloc_details {
	_Atomic uint32_t references; // not described, as is the next
	uint32_t room_bytes;         // behind it, where its tasks lie; 0: in pieces of their own
	struct uuid previous_allocation, next_allocation, followup_eval, preempted_by,
		deployment_id;
	struct desired_transition transition;
	struct array states;                               // alloc_state, oldest first
	struct array reschedule_events;                    // reschedule_event
	struct array preempted;                            // struct uuid (FIELD_UUIDS)
	struct alloc_deployment_status *deployment_status; // see allocation_health()
	struct array tasks;                                // allocated_task
	struct array networks;                             // allocated_network of the group
	struct array ports;                                // allocated_port of the group
};

extern const struct record_type alloc_details_description, allocated_task_description,
	allocated_network_description, allocated_device_description, allocated_port_description,
	alloc_state_description, reschedule_event_description, desired_transition_description,
	alloc_deployment_status_description;

struct alloc_details *alloc_details_create(void); // one reference
// The same with zeroed room for all of its tasks and what they own; only networks of tasks are pieces of their own.
struct alloc_details *alloc_details_create_with_room(size_t bytes);
static inline uint8_t *alloc_details_room(struct alloc_details *details)
{
	return (uint8_t *)(details + 1);
}
struct alloc_details *alloc_details_copy(
	const struct alloc_details *);                             // NULL: empty; one reference
struct alloc_details *alloc_details_share(struct alloc_details *); // NULL is fine
void alloc_details_release(struct alloc_details *);                // NULL is fine
// Takes over the reference. Returns the other details instead, with one more reference, when both say the same and are
// plain, as those of all instances that a plan places. Either may be NULL.
struct alloc_details *alloc_details_unite(struct alloc_details *, struct alloc_details *other);
// One reference. Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; then there are none.
int alloc_details_decode(struct alloc_details **, struct bytes_reader *);
// Whether they hold something of the node: ports, device instances or cores.
bool alloc_details_hold_node(const struct alloc_details *); // NULL is fine

struct task_event {
	char *type, *display_message;
	int64_t time_ns, exit_code;
};
// What the driver of a task that runs away from its node knows it by; its driver on another node goes on with it.
struct task_handle {
	int64_t version;    // of what its driver wrote
	char *driver_state; // bytes in base64
};
struct task_state { // FIELD_STRUCT_MAP by task
	char *task;
	int state; // enum: pending running dead
	bool failed;
	int64_t restarts, last_restart_ns, started_at_ns, finished_at_ns;
	struct array events;        // task_event, at most 10
	struct task_handle *handle; // NULL: none
};
enum { TASK_PENDING, TASK_RUNNING, TASK_DEAD };
extern const char *const task_state_names[];

// An allocation's report is mostly kept packed (state/base/schema_compact.h), so its members are read through
// alloc_report_open().
struct alloc_report {
	_Atomic uint32_t references; // not described, as is the next
	uint32_t packed_bytes;       // of what follows in place of the members; 0: the members
	char *client_description;
	struct array task_states; // task_state
};

// What a packed report is read into.
struct alloc_report_room {
	struct alloc_report report;
	uint64_t items[64];
	void *more; // in place of items
};

extern const struct record_type alloc_report_description, task_state_description,
	task_event_description, task_handle_description;

struct alloc_report *alloc_report_create(void);
// Takes over a report that nobody else has, and returns it packed, which takes a fraction of the memory. Allocations
// keep their reports for long, and nobody may change a report that they have.
struct alloc_report *alloc_report_pack(struct alloc_report *);
// The report with its members, for reading; NULL when there is none. It is valid as long as the given one, and until
// alloc_report_close() of the room.
const struct alloc_report *alloc_report_open(
	const struct alloc_report *, struct alloc_report_room *);
void alloc_report_close(struct alloc_report_room *);
// What the node said of the allocation, NULL or "" for nothing; valid as long as the report.
const char *alloc_report_description_of(const struct alloc_report *);
bool alloc_report_is_sound(const struct alloc_report *); // as record_is_sound
void alloc_report_encode(const struct alloc_report *, struct bytes_writer *);
struct alloc_report *alloc_report_share(struct alloc_report *);
void alloc_report_release(struct alloc_report *);
int alloc_report_decode(struct alloc_report **, struct bytes_reader *); // as alloc_details_decode
