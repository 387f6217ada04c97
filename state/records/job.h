// A job as registered: fields of Nomad's job specification, described once in job.c for the binary
// codec, the JSON form, copy and comparison (state/base/schema.h).
#pragma once
#include "state/base/schema.h"
#include "state/records/record.h"
#include "state/records/resources.h"

enum job_type { JOB_SERVICE, JOB_BATCH, JOB_SYSTEM, JOB_SYSBATCH, JOB_DIRECT, JOB_TYPES };
enum job_status { JOB_PENDING, JOB_RUNNING, JOB_DEAD };
extern const char *const job_type_names[];   // "service" "batch" "system" "sysbatch" "direct" NULL
extern const char *const job_status_names[]; // "pending" "running" "dead" NULL

// The value of a field that a job leaves open when its default depends on the type of the job or on a block of the
// same name further out. job_canonicalize() replaces it: no canonical job has it.
#define JOB_UNSET INT64_MIN

struct constraint {
	char *l_target, *r_target, *operand;
};
struct affinity {
	char *l_target, *r_target, *operand;
	int64_t weight;
};
struct spread_target {
	char *value;
	int64_t percent;
};
struct spread {
	char *attribute;
	int64_t weight;
	struct array targets; // spread_target
};
struct device_ask {
	char *name; // type, vendor/type or vendor/type/name
	int64_t count;
	struct array constraints, affinities;
};
struct task_resources {
	int64_t cpu, cores, memory_mb, memory_max_mb;
	struct array devices;  // device_ask
	struct array networks; // network_ask
};
struct port {
	char *label;
	int64_t value, to;
	char *host_network;
};
struct network_ask {
	char *mode, *hostname;
	int64_t mbits;
	char *dns;                                  // JSON, kept as given
	struct array reserved_ports, dynamic_ports; // port
};
struct restart_policy {
	int64_t attempts, interval_ns, delay_ns;
	char *mode;
	bool render_templates; // again on each restart
};
struct reschedule_policy {
	int64_t attempts, interval_ns, delay_ns;
	char *delay_function;
	int64_t max_delay_ns;
	struct optional_bool unlimited; // always set in a canonical job
};
struct update_strategy {
	int64_t stagger_ns, max_parallel;
	char *health_check;
	int64_t min_healthy_time_ns, healthy_deadline_ns, progress_deadline_ns;
	struct optional_bool auto_revert, auto_promote; // always set in a canonical job
	int64_t canary;
};
struct migrate_strategy {
	int64_t max_parallel;
	char *health_check;
	int64_t min_healthy_time_ns, healthy_deadline_ns;
};
struct ephemeral_disk {
	bool sticky, migrate;
	int64_t size_mb;
};
struct volume_ask {
	char *name, *type, *source;
	bool read_only, per_alloc;
};
struct task_lifecycle {
	char *hook;
	bool sidecar;
};
struct task {
	char *name, *driver, *user;
	char *config;           // JSON
	struct array env, meta; // string_pair
	struct array constraints, affinities;
	struct task_resources resources;
	int64_t kill_timeout_ns, shutdown_delay_ns;
	char *kill_signal, *kind;
	struct restart_policy *restart;
	struct task_lifecycle *lifecycle;
	bool leader;
	// JSON, kept as given
	char *templates, *artifacts, *volume_mounts, *log_config, *services, *vault, *identity,
		*dispatch_payload;
};
struct task_group {
	char *name;
	int64_t count;
	struct update_strategy *update;
	struct migrate_strategy *migrate;
	struct array constraints, affinities, spreads;
	struct restart_policy *restart;
	struct reschedule_policy *reschedule;
	struct array tasks;
	struct ephemeral_disk disk;
	struct array meta;
	struct array networks; // network_ask
	struct array volumes;  // volume_ask by name
	struct optional_i64 shutdown_delay_ns, stop_after_client_disconnect_ns,
		max_client_disconnect_ns;
	char *services, *scaling, *consul; // JSON, kept as given
	char *snapshot; // idle nodes that ran it last are preferred (row E32); "": none
};
struct periodic_config {
	bool enabled, prohibit_overlap;
	char *spec, *spec_type, *time_zone;
	struct array specs; // char *
};
struct region_strategy {
	int64_t max_parallel;
	char *on_failure; // "", "fail_all", "fail_local"
};
struct job_region {
	char *name;
	int64_t count;
	struct array datacenters; // char *
	char *node_pool;
	struct array meta; // string_pair
};
struct multiregion {
	struct region_strategy *strategy; // NULL: none given
	struct array regions;             // job_region, in the order in which they are deployed
	// Names the submission: by it the regions know each other's deployments. Empty: not submitted yet.
	char *rollout;
	// The JSON of the job as it was submitted: the region that took it keeps it for the other regions.
	char *submission;
	// Of a stopped version: the time (unix) from which the other regions are to stop the job too, 0: they are not;
	// and whether all regions are to forget it.
	int64_t stop_everywhere_ns;
	bool purge_everywhere;
	// Of the evaluation that the submission, or the stop, asked for: the other regions give theirs the same (row
	// C50). 0: the job's.
	int64_t eval_priority;
};
struct parameterized_config {
	char *payload;
	struct array meta_required, meta_optional; // char *
};
// Who may place instances of a direct job.
struct direct_policy {
	struct array clients; // char *, globs; none: every client
};
struct job {
	struct record record; // first; of it only the indexes are part of the description
	bool stop;
	char *region, *namespace_name, *id, *parent_id, *name;
	int type; // enum job_type
	int64_t priority;
	bool all_at_once;
	struct array datacenters; // char *, globs
	char *node_pool;
	struct array constraints, affinities, spreads;
	struct array task_groups;
	// A submitted job: defaults that its groups take over. A canonical job: update holds stagger
	// and max_parallel alone (used by system jobs), the others are NULL.
	struct update_strategy *update;
	struct migrate_strategy *migrate;
	struct reschedule_policy *reschedule;
	struct multiregion *multiregion; // NULL: of this region alone
	struct periodic_config *periodic;
	struct parameterized_config *parameterized;
	bool dispatched;
	char *dispatch_idempotency_token;
	char *payload; // base64 text
	struct array meta;
	struct direct_policy *direct; // NULL: as one that names no clients
	// kept by the applier
	int status; // enum job_status
	char *status_description;
	bool stable;
	uint64_t version;
	int64_t submit_time_ns;
	uint64_t job_modify_index;
	// derived when the version is built, not stored
	struct array asks; // struct group_ask, one per task group, in order
	// bookkeeping of the tables, not stored: kept lists and allocations that hold this version,
	// and where it is among all versions
	uint32_t references, position;
	struct rcu_head rcu; // once it is out of every table
};

// The most that one instance may ask of a dimension: the sum of two still fits its counter.
#define ASK_MAX INT32_MAX

// What one instance of a task group needs (its footprint, docs/spec/scoring.md), derived once per job
// version.
struct group_ask {
	struct resources resources;
	uint32_t
		row; // of the tables, applier only: where the group was last among its job's counters
	uint32_t device_count;
	struct {
		const char *name; // of device_ask; view into the job
		uint32_t count;
	} devices[NODE_DEVICE_GROUPS_MAX];
};

// Descriptions of whole structs: record_encode(&job_type_description, job, writer). Names are
// Nomad's. record_init, record_decode and record_copy write a whole struct job, its record
// included.
extern const struct record_type job_type_description, task_group_description, task_description,
	constraint_description, affinity_description, spread_description, device_ask_description,
	network_ask_description, port_description, update_description, migrate_description,
	restart_description, reschedule_description, multiregion_description,
	task_lifecycle_description, periodic_config_description, direct_policy_description;

struct job *job_create(void);             // defaults set; caller frees with job_free
void job_free(struct job *);              // NULL is allowed
struct job *job_copy(const struct job *); // derived parts included, the record's links not
// True when the specifications differ (status, indexes and version aside).
bool job_specification_differs(const struct job *, const struct job *);
// What one instance of the group needs, in numbers that may be out of bounds.
struct group_footprint {
	int64_t cpu_mhz, memory_mb, disk_mb;
};
struct group_footprint task_group_footprint(const struct task_group *);
// Fills job->asks; call once after building or decoding. Returns false, and leaves asks empty, for
// a job that validation refuses: asks that are negative, do not fit their type, or name too many
// devices.
bool job_derive(struct job *);
// Periodic and parameterized jobs run nothing themselves: they make child jobs. A dispatched child keeps the block of
// its parent, but makes no jobs.
static inline bool job_makes_jobs(const struct job *job)
{
	return job->periodic || (job->parameterized && !job->dispatched);
}
// Whether the job is for nodes of this pool, or of this datacenter. NULL and "" are the default pool, and no
// datacenter. A job without datacenters is for all.
bool job_takes_pool(const struct job *, const char *pool);
bool job_takes_datacenter(const struct job *, const char *datacenter);
// Whether a client of this name may place instances of the direct job. An operator, who has none, may.
bool job_admits_client(const struct job *, struct text client);
// Index of a task group by name, or -1.
int job_group_index(const struct job *, struct text name);
