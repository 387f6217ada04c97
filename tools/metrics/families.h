// Families of metrics: one row each, with name, type, unit and help. What is emitted names its row, so that there is no
// family that does not say what it is. Names stay as they are: dashboards and alerts of operators have them.
#pragma once

// A counter as is: OpenMetrics calls a counter by its name without _total, and here that is none or another family's.
// The info is 1, and its labels tell something.
enum metric_type {
	METRIC_TYPE_COUNTER,
	METRIC_TYPE_COUNTER_AS_IS,
	METRIC_TYPE_GAUGE,
	METRIC_TYPE_HISTOGRAM,
	METRIC_TYPE_INFO
};

// F(what follows METRIC_, type, name, unit, help). The unit is the word of the name that says it; dots of names are
// underscores in Prometheus' forms. Families of the types of evaluations and of the statuses of jobs stand in the
// order of eval_type_names and job_status_names.
// clang-format off
// Packet threads and their ports.
#define METRICS_OF_PACKETS(F) \
	F(PACKETS_RECEIVED_TOTAL, COUNTER, "berth_packets_received_total", "", \
		"Packets that packet threads took from their ports.") \
	F(PACKETS_REFUSED_TOTAL, COUNTER, "berth_packets_refused_total", "", \
		"Packets that were not accepted, by the first check that failed.") \
	F(PACKETS_UNACCOUNTED, GAUGE, "berth_packets_unaccounted", "", \
		"Packets received that are neither accepted, requests, answered for neighbours nor refused: 0.") \
	F(HEARTBEATS_ACCEPTED_TOTAL, COUNTER, "berth_heartbeats_accepted_total", "", \
		"Heartbeats that were authentic, new and of the newest generation and term.") \
	F(HEARTBEATS_FOREIGN_TOTAL, COUNTER, "berth_heartbeats_foreign_total", "", \
		"Heartbeats accepted by a packet thread from nodes of another one.") \
	F(REQUESTS_TOTAL, COUNTER, "berth_requests_total", "", \
		"Authentic requests over the wire that were handed on, such as registrations and placements.") \
	F(NEIGHBOUR_ANSWERS_TOTAL, COUNTER, "berth_neighbour_answers_total", "", \
		"ARP requests, neighbour solicitations and pings that were answered.") \
	F(REPLIES_TOTAL, COUNTER, "berth_replies_total", "", "Packets sent as answers.") \
	F(REPLY_DROPS_TOTAL, COUNTER, "berth_reply_drops_total", "", "Answers that a port did not take.") \
	F(NOTICES_TOTAL, COUNTER, "berth_notices_total", "", "Packets sent to nodes that did not ask.") \
	F(SPECS_SEALED_TOTAL, COUNTER, "berth_specs_sealed_total", "", \
		"Pieces of what nodes are to run that went out encrypted.") \
	F(SPECS_CLEAR_TOTAL, COUNTER, "berth_specs_clear_total", "", \
		"Pieces of what nodes are to run that went out as plain text.") \
	F(BURSTS_TOTAL, COUNTER, "berth_bursts_total", "", \
		"Bursts of packets that packet threads took from their ports.") \
	F(BUSY_CYCLES_TOTAL, COUNTER, "berth_busy_cycles_total", "cycles", \
		"Cycles of the time stamp counter that packet threads spent on bursts.") \
	F(STALLS_TOTAL, COUNTER, "berth_stalls_total", "", \
		"Gaps in the loops of packet threads that stopped the clock by which nodes expire.") \
	F(STALLED_MS_TOTAL, COUNTER, "berth_stalled_ms_total", "ms", \
		"Time that the clock by which nodes expire was stopped for stalls, in milliseconds.") \
	F(PORT_RECEIVED_TOTAL, COUNTER, "berth_port_received_total", "", "Packets that the port received.") \
	F(PORT_RECEIVED_BYTES_TOTAL, COUNTER, "berth_port_received_bytes_total", "bytes", \
		"Bytes that the port received.") \
	F(PORT_SENT_TOTAL, COUNTER, "berth_port_sent_total", "", "Packets that the port sent.") \
	F(PORT_SENT_BYTES_TOTAL, COUNTER, "berth_port_sent_bytes_total", "bytes", "Bytes that the port sent.") \
	F(PORT_MISSED_TOTAL, COUNTER, "berth_port_missed_total", "", \
		"Packets that the port dropped because nobody took them in time.") \
	F(PORT_ERRORS_TOTAL, COUNTER, "berth_port_errors_total", "", "Packets that the port received with errors.") \
	F(PORT_NO_MBUF_TOTAL, COUNTER, "berth_port_no_mbuf_total", "", \
		"Packets that the port dropped because no buffer was free.") \
	F(PORT_LINK_UP, GAUGE, "berth_port_link_up", "", "1 while the link of the port is up.")

// Nodes: their life signs, their states, and what watchers do about them.
#define METRICS_OF_NODES(F) \
	F(NODES, GAUGE, "berth_nodes", "", "Nodes by status.") \
	F(NODES_ARMED, GAUGE, "berth_nodes_armed", "", "Nodes whose heartbeats are waited for.") \
	F(NODES_SILENT, GAUGE, "berth_nodes_silent", "", \
		"Nodes that have been silent for longer than half their time to live.") \
	F(NODES_INELIGIBLE, GAUGE, "berth_nodes_ineligible", "", "Nodes that take no new work.") \
	F(NODES_AVAILABLE, GAUGE, "berth_nodes_available", "", "Healthy nodes.") \
	F(NODES_FREE, GAUGE, "berth_nodes_free", "", "Healthy nodes on which nothing runs, at least so many.") \
	F(NODES_RUNNING, GAUGE, "berth_nodes_running", "", "Nodes on which something runs.") \
	F(NODES_LOST, GAUGE, "berth_nodes_lost", "", "Nodes that are suspended.") \
	F(NODES_FLAKY, GAUGE, "berth_nodes_flaky", "", "Suspended nodes that come and go.") \
	F(NODES_OFFLINED, GAUGE, "berth_nodes_offlined", "", "Nodes that operators took out.") \
	F(NODES_DRAINING_WATCHED, GAUGE, "berth_nodes_draining_watched", "", "Drains of nodes under way.") \
	F(NODES_DISCONNECTED_WATCHED, GAUGE, "berth_nodes_disconnected_watched", "", \
		"Nodes that lost touch and whose allocations may still come back.") \
	F(NODES_EXPIRED_TOTAL, COUNTER, "berth_nodes_expired_total", "", \
		"Nodes whose heartbeats stayed away for their time to live.") \
	F(NODES_RETURNED_TOTAL, COUNTER, "berth_nodes_returned_total", "", "Nodes that were heard again.") \
	F(NODES_SWEPT_TOTAL, COUNTER, "berth_nodes_swept_total", "", \
		"Suspended nodes whose time was over and that were forgotten.") \
	F(REPORTS_DEFERRED_TOTAL, COUNTER, "berth_reports_deferred_total", "", \
		"Reports of expired and returned nodes that found their queue full and were tried again.") \
	F(EXPIRY_HELD, GAUGE, "berth_expiry_held", "", \
		"1 while silent nodes do not expire, or only at a bounded rate, because too many are silent at once.") \
	F(EXPIRY_HOLDS_TOTAL, COUNTER, "berth_expiry_holds_total", "", \
		"Times that the expiry of silent nodes was held.") \
	F(NODE_UPDATE_SECONDS, GAUGE, "berth_node_update_seconds", "seconds", \
		"Time that the newest sweep over the nodes took.") \
	F(NODE_UPDATES_TOTAL, COUNTER, "berth_node_updates_total", "", \
		"Looks at the nodes, by whether one had come or gone.") \
	F(NODE_CLASSES, GAUGE, "berth_node_classes", "", "Distinct sets of what nodes have in common.") \
	F(NODE_BYTES, GAUGE, "berth_node_bytes", "bytes", "Memory of nodes, their classes and texts.") \
	F(DRAINS_TOTAL, COUNTER, "berth_drains_total", "", \
		"Drains that ended: nothing was left, or their deadline came.") \
	F(SCOOT_AVAILABLE_NODES, GAUGE, "availableNodes", "", "Healthy nodes, under the name of Scoot.") \
	F(SCOOT_FREE_NODES, GAUGE, "freeNodes", "", "Healthy nodes on which nothing runs, under the name of Scoot.") \
	F(SCOOT_RUNNING_NODES, GAUGE, "runningNodes", "", "Nodes on which something runs, under the name of Scoot.") \
	F(SCOOT_LOST_NODES, GAUGE, "lostNodes", "", "Nodes that are suspended, under the name of Scoot.") \
	F(SCOOT_UPDATE_MS, GAUGE, "schedUpdateClusterLatency_ms", "ms", \
		"Milliseconds that the newest sweep over the nodes took, under the name of Scoot.")

// What the state holds, and the applier that changes it.
#define METRICS_OF_STATE(F) \
	F(JOBS, GAUGE, "berth_jobs", "", "Jobs.") \
	F(JOBS_MARKED, GAUGE, "berth_jobs_marked", "", "Jobs for which an evaluation is to be made.") \
	F(ALLOCATIONS, GAUGE, "berth_allocations", "", "Allocations, those that ended included.") \
	F(ALLOCATIONS_TERMINAL, GAUGE, "berth_allocations_terminal", "", "Allocations that ended.") \
	F(ALLOCATIONS_FLAGGED_TOTAL, COUNTER, "berth_allocations_flagged_total", "", \
		"Allocations that watchers had moved or placed again.") \
	F(EVALUATIONS, GAUGE, "berth_evaluations", "", "Evaluations, those that ended included.") \
	F(EVALUATIONS_PENDING, GAUGE, "berth_evaluations_pending", "", \
		"Evaluations that wait for a scheduler or are with one.") \
	F(EVALUATIONS_BLOCKED, GAUGE, "berth_evaluations_blocked", "", "Evaluations that wait for room.") \
	F(PLACE_REQUESTS_REMEMBERED, GAUGE, "berth_place_requests_remembered", "", \
		"Placement requests over the wire whose answers are remembered.") \
	F(CLIENTS, GAUGE, "berth_clients", "", "Clients that may ask for placements over the wire.") \
	F(VARIABLES, GAUGE, "berth_variables", "", "Variables.") \
	F(STATE_INDEX, GAUGE, "berth_state_index", "", "Index of the newest change of the state.") \
	F(TERM, GAUGE, "berth_term", "", "Term that packets have to name.") \
	F(COMMANDS_TOTAL, COUNTER, "berth_commands_total", "", "Commands of the applier, by type and outcome.") \
	F(COMMAND_QUEUE_DEPTH, GAUGE, "berth_command_queue_depth", "", "Commands that wait for the applier.") \
	F(BATCHES_TOTAL, COUNTER, "berth_batches_total", "", \
		"Batches of commands that the applier wrote to the log.") \
	F(LOG_ENTRIES_TOTAL, COUNTER, "berth_log_entries_total", "entries", \
		"Entries that the applier wrote to the log.") \
	F(LOG_BYTES_TOTAL, COUNTER, "berth_log_bytes_total", "bytes", "Bytes that the applier wrote to the log.") \
	F(LOG_WAITS_TOTAL, COUNTER, "berth_log_waits_total", "", \
		"Times that the log had no room and the applier waited for it.") \
	F(LOG_SLOW_TOTAL, COUNTER, "berth_log_slow_total", "", "Writes to the log that took a second or longer.") \
	F(JOURNAL_COMMIT_SECONDS, HISTOGRAM, "berth_journal_commit_seconds", "seconds", \
		"Time until a batch was durable.") \
	F(PLACE_SECONDS, HISTOGRAM, "berth_place_seconds", "seconds", \
		"Time from the submission of a placement request to its end.") \
	F(PLACEMENTS_TOTAL, COUNTER, "berth_placements_total", "", \
		"Instances that were placed, by plans and directly.") \
	F(PLACEMENT_DECISIONS_TOTAL, COUNTER, "berth_placement_decisions_total", "", \
		"Placements that the direct path decided.") \
	F(PLACEMENT_REFUSALS_TOTAL, COUNTER, "berth_placement_refusals_total", "", \
		"Placements for which the direct path found no node.") \
	F(PLACEMENT_SCANS_TOTAL, COUNTER, "berth_placement_scans_total", "", \
		"Decisions of the direct path that had to read every node.") \
	F(PLACEMENT_BAD_CHOICES_TOTAL, COUNTER, "berth_placement_bad_choices_total", "", \
		"Placements on nodes where they do not fit, which the applier refused: 0.") \
	F(STORE_APPENDS_TOTAL, COUNTER, "berth_store_appends_total", "", "Appends to the journal.") \
	F(STORE_APPEND_BYTES_TOTAL, COUNTER, "berth_store_append_bytes_total", "bytes", \
		"Bytes appended to the journal.") \
	F(STORE_LOG_BYTES, GAUGE, "berth_store_log_bytes", "bytes", \
		"Bytes of the journal since the older of the snapshots that are kept.") \
	F(STORE_ROOM_BYTES, GAUGE, "berth_store_room_bytes", "bytes", \
		"Bytes that the next batch of the journal may have; 0: no change is taken.") \
	F(STORE_LOG_TAILS_CUT_TOTAL, COUNTER, "berth_store_log_tails_cut_total", "", \
		"Ends of the journal that were cut off at a start because they were never whole.") \
	F(STORE_SEGMENTS_LATE_TOTAL, COUNTER, "berth_store_segments_late_total", "", \
		"Segments of the journal that were not prepared when they were needed.") \
	F(SNAPSHOTS_TOTAL, COUNTER, "berth_snapshots_total", "", "Snapshots of the state that were written.") \
	F(SNAPSHOT_FAILURES_TOTAL, COUNTER, "berth_snapshot_failures_total", "", \
		"Snapshots of the state that could not be written.") \
	F(SNAPSHOT_INDEX, GAUGE, "berth_snapshot_index", "", "Index of the newest snapshot.") \
	F(KEYRING_KEYS, GAUGE, "berth_keyring_keys", "", \
		"Keys that variables may be encrypted with; 0 when the keyring was lost.") \
	F(VARIABLES_UNREADABLE_TOTAL, COUNTER, "berth_variables_unreadable_total", "", \
		"Reads of variables that could not be decrypted, by why.")

// Broker, schedulers and plans.
#define METRICS_OF_EVALUATIONS(F) \
	F(EVALUATIONS_PROCESSED_TOTAL, COUNTER, "berth_evaluations_processed_total", "", \
		"Evaluations that schedulers processed.") \
	F(EVALUATIONS_NACKED_TOTAL, COUNTER, "berth_evaluations_nacked_total", "", \
		"Evaluations that schedulers gave back to the broker.") \
	F(EVALUATIONS_YIELDED_TOTAL, COUNTER, "berth_evaluations_yielded_total", "", \
		"Evaluations that ended after a pass because another one had its turn.") \
	F(EVALUATIONS_BROKEN_TOTAL, COUNTER, "berth_evaluations_broken_total", "", \
		"Evaluations that failed because an invariant did not hold: 0.") \
	F(EVALUATIONS_WAITING_NOT_SHOWN, GAUGE, "berth_evaluations_waiting_not_shown", "", \
		"Evaluations that wait for their time and have no series of nomad.nomad.broker.eval_waiting.") \
	F(PLANS_SUBMITTED_TOTAL, COUNTER, "berth_plans_submitted_total", "", "Plans that schedulers submitted.") \
	F(PLANS_PARTIAL_TOTAL, COUNTER, "berth_plans_partial_total", "", \
		"Plans of which only a part could be carried out.") \
	F(BROKER_TOTAL_READY, GAUGE, "nomad.nomad.broker.total_ready", "", \
		"Evaluations that wait for a scheduler.") \
	F(BROKER_TOTAL_UNACKED, GAUGE, "nomad.nomad.broker.total_unacked", "", \
		"Evaluations that schedulers work at.") \
	F(BROKER_TOTAL_PENDING, GAUGE, "nomad.nomad.broker.total_pending", "", \
		"Evaluations that wait for another one of their job.") \
	F(BROKER_TOTAL_WAITING, GAUGE, "nomad.nomad.broker.total_waiting", "", \
		"Evaluations that wait for their time.") \
	F(BROKER_TOTAL_CANCELABLE, GAUGE, "nomad.nomad.broker.total_cancelable", "", \
		"Evaluations that newer ones of their job made superfluous.") \
	F(BROKER_EVAL_WAITING, GAUGE, "nomad.nomad.broker.eval_waiting", "", \
		"Seconds until the evaluation is due.") \
	F(BROKER_FAILED_READY, GAUGE, "nomad.nomad.broker._failed.ready", "", \
		"Evaluations that were delivered too often without success.") \
	F(BROKER_SERVICE_READY, GAUGE, "nomad.nomad.broker.service.ready", "", \
		"Evaluations of type service that wait for a scheduler.") \
	F(BROKER_BATCH_READY, GAUGE, "nomad.nomad.broker.batch.ready", "", \
		"Evaluations of type batch that wait for a scheduler.") \
	F(BROKER_SYSTEM_READY, GAUGE, "nomad.nomad.broker.system.ready", "", \
		"Evaluations of type system that wait for a scheduler.") \
	F(BROKER_SYSBATCH_READY, GAUGE, "nomad.nomad.broker.sysbatch.ready", "", \
		"Evaluations of type sysbatch that wait for a scheduler.") \
	F(BROKER_CORE_READY, GAUGE, "nomad.nomad.broker._core.ready", "", \
		"Evaluations of type _core that wait for a scheduler.") \
	F(BROKER_SERVICE_UNACKED, GAUGE, "nomad.nomad.broker.service.unacked", "", \
		"Evaluations of type service that schedulers work at.") \
	F(BROKER_BATCH_UNACKED, GAUGE, "nomad.nomad.broker.batch.unacked", "", \
		"Evaluations of type batch that schedulers work at.") \
	F(BROKER_SYSTEM_UNACKED, GAUGE, "nomad.nomad.broker.system.unacked", "", \
		"Evaluations of type system that schedulers work at.") \
	F(BROKER_SYSBATCH_UNACKED, GAUGE, "nomad.nomad.broker.sysbatch.unacked", "", \
		"Evaluations of type sysbatch that schedulers work at.") \
	F(BROKER_CORE_UNACKED, GAUGE, "nomad.nomad.broker._core.unacked", "", \
		"Evaluations of type _core that schedulers work at.") \
	F(BLOCKED_EVALS_TOTAL_BLOCKED, GAUGE, "nomad.nomad.blocked_evals.total_blocked", "", \
		"Evaluations that wait for room.") \
	F(BLOCKED_EVALS_TOTAL_ESCAPED, GAUGE, "nomad.nomad.blocked_evals.total_escaped", "", \
		"Evaluations that wait for room and may fit on nodes of any class.") \
	F(BLOCKED_EVALS_TOTAL_QUOTA_LIMIT, GAUGE, "nomad.nomad.blocked_evals.total_quota_limit", "", \
		"Evaluations that wait because of a quota.") \
	F(BLOCKED_EVALS_CPU, GAUGE, "nomad.nomad.blocked_evals.cpu", "", \
		"CPU, in MHz, that blocked evaluations ask for.") \
	F(BLOCKED_EVALS_MEMORY, GAUGE, "nomad.nomad.blocked_evals.memory", "", \
		"Memory, in MiB, that blocked evaluations ask for.") \
	F(WORKER_DEQUEUE_EVAL, HISTOGRAM, "nomad.nomad.worker.dequeue_eval", "", \
		"Seconds that schedulers waited for an evaluation.") \
	F(WORKER_SEND_ACK, HISTOGRAM, "nomad.nomad.worker.send_ack", "", \
		"Seconds that schedulers took to say that an evaluation is done.") \
	F(WORKER_WAIT_FOR_INDEX, HISTOGRAM, "nomad.nomad.worker.wait_for_index", "", \
		"Seconds that schedulers waited for the state that an evaluation needs.") \
	F(WORKER_SUBMIT_PLAN, HISTOGRAM, "nomad.nomad.worker.submit_plan", "", \
		"Seconds from the submission of a plan to its result, as schedulers see it.") \
	F(WORKER_UPDATE_EVAL, HISTOGRAM, "nomad.nomad.worker.update_eval", "", \
		"Seconds that schedulers took to update an evaluation.") \
	F(WORKER_CREATE_EVAL, HISTOGRAM, "nomad.nomad.worker.create_eval", "", \
		"Seconds that schedulers took to create an evaluation.") \
	F(WORKER_REBLOCK_EVAL, HISTOGRAM, "nomad.nomad.worker.reblock_eval", "", \
		"Seconds that schedulers took to block an evaluation again.") \
	F(WORKER_INVOKE_SCHEDULER_SERVICE, HISTOGRAM, "nomad.nomad.worker.invoke_scheduler.service", "", \
		"Seconds that schedulers took for an evaluation of type service.") \
	F(WORKER_INVOKE_SCHEDULER_BATCH, HISTOGRAM, "nomad.nomad.worker.invoke_scheduler.batch", "", \
		"Seconds that schedulers took for an evaluation of type batch.") \
	F(WORKER_INVOKE_SCHEDULER_SYSTEM, HISTOGRAM, "nomad.nomad.worker.invoke_scheduler.system", "", \
		"Seconds that schedulers took for an evaluation of type system.") \
	F(WORKER_INVOKE_SCHEDULER_SYSBATCH, HISTOGRAM, "nomad.nomad.worker.invoke_scheduler.sysbatch", "", \
		"Seconds that schedulers took for an evaluation of type sysbatch.") \
	F(WORKER_INVOKE_SCHEDULER_CORE, HISTOGRAM, "nomad.nomad.worker.invoke_scheduler._core", "", \
		"Seconds that schedulers took for an evaluation of type _core.") \
	F(PLAN_QUEUE_DEPTH, GAUGE, "nomad.nomad.plan.queue_depth", "", "Plans that wait for the applier.") \
	F(PLAN_SUBMIT, HISTOGRAM, "nomad.nomad.plan.submit", "", \
		"Seconds from the submission of a plan to its result.") \
	F(PLAN_EVALUATE, HISTOGRAM, "nomad.nomad.plan.evaluate", "", \
		"Seconds that the check of a plan against its nodes took.") \
	F(PLAN_APPLY, HISTOGRAM, "nomad.nomad.plan.apply", "", \
		"Seconds from the check of a plan until it was durable.") \
	F(PLAN_NODE_REJECTED, COUNTER_AS_IS, "nomad.nomad.plan.node_rejected", "", \
		"Nodes on which a plan could not be carried out.") \
	F(SCHEDULER_ALLOCS_RESCHEDULE_ATTEMPTED, GAUGE, "nomad.nomad.scheduler.allocs.reschedule.attempted", "", \
		"Attempts to reschedule the allocation.") \
	F(SCHEDULER_ALLOCS_RESCHEDULE_LIMIT, GAUGE, "nomad.nomad.scheduler.allocs.reschedule.limit", "", \
		"Most attempts to reschedule the allocation.") \
	F(SCHEDULER_ALLOCS_RESCHEDULE_WAIT_UNTIL, GAUGE, "nomad.nomad.scheduler.allocs.reschedule.wait_until", "", \
		"Time at which the allocation is rescheduled, in seconds since 1970.") \
	F(HEARTBEAT_ACTIVE, GAUGE, "nomad.nomad.heartbeat.active", "", \
		"Nodes whose heartbeats are waited for, under the name of Nomad.") \
	F(JOB_STATUS_PENDING, GAUGE, "nomad.nomad.job_status.pending", "", "Jobs that are pending.") \
	F(JOB_STATUS_RUNNING, GAUGE, "nomad.nomad.job_status.running", "", "Jobs that are running.") \
	F(JOB_STATUS_DEAD, GAUGE, "nomad.nomad.job_status.dead", "", "Jobs that are dead.")

// What goes on by itself: deployments, launches, regions, virtual machines.
#define METRICS_OF_WATCHERS(F) \
	F(DEPLOYMENTS_WATCHED, GAUGE, "berth_deployments_watched", "", "Deployments under way.") \
	F(DEPLOYMENTS_TOTAL, COUNTER, "berth_deployments_total", "", \
		"Deployments that the daemon decided about, by what it decided.") \
	F(PERIODIC_JOBS, GAUGE, "berth_periodic_jobs", "", "Periodic jobs.") \
	F(PERIODIC_LAUNCHES_TOTAL, COUNTER, "berth_periodic_launches_total", "", \
		"Launches of periodic jobs, and those that were skipped because the former one still ran.") \
	F(ROLLOUTS_WATCHED, GAUGE, "berth_rollouts_watched", "", "Deployments of several regions under way.") \
	F(REGION_STEPS_TOTAL, COUNTER, "berth_region_steps_total", "", "Steps of deployments of several regions.") \
	F(REGIONS_TOLD_TOTAL, COUNTER, "berth_regions_told_total", "", \
		"What controllers of other regions were told, by their answer.") \
	F(WATCHER_COMMANDS_REFUSED_TOTAL, COUNTER, "berth_watcher_commands_refused_total", "", \
		"Commands of the daemon itself that its state refused and that it asks again.") \
	F(VMS, GAUGE, "berth_vms", "", "Virtual machines by status.") \
	F(VM_WORKERS, GAUGE, "berth_vm_workers", "", "Workers of virtual machines by status.") \
	F(VM_TURNS_TOTAL, COUNTER, "berth_vm_turns_total", "", "Looks at the virtual machines.") \
	F(VMS_ASSIGNED_TOTAL, COUNTER, "berth_vms_assigned_total", "", \
		"Virtual machines that were given to a worker.") \
	F(VM_WORKER_CLAIMS_REFUSED_TOTAL, COUNTER, "berth_vm_worker_claims_refused_total", "", \
		"Registrations that named the worker of another node or machine and were refused.") \
	F(VM_SCHEDULING_SECONDS, HISTOGRAM, "berth_vm_scheduling_seconds", "seconds", \
		"Time from the creation of a virtual machine to its assignment.") \
	F(ORCHARD_SCHEDULER_LOOP_ITERATION_TOTAL, COUNTER, "orchard_scheduler_loop_iteration_total", "", \
		"Looks at the virtual machines, under the name of Orchard.") \
	F(ORCHARD_VMS, GAUGE, "orchard_vms", "", "Virtual machines by status, under the name of Orchard.") \
	F(ORCHARD_WORKERS, GAUGE, "orchard_workers", "", \
		"1 when the worker has the status, under the name of Orchard.") \
	F(ORCHARD_SCHEDULING_TIME, HISTOGRAM, "org.cirruslabs.orchard.controller.scheduling_time", "", \
		"Seconds from the creation of a virtual machine to its assignment, under the name of Orchard.")

// Members of a cluster, and the etcd that holds its log.
#define METRICS_OF_CLUSTER(F) \
	F(CLUSTER_ROLE, GAUGE, "berth_cluster_role", "", "1 when this member leads.") \
	F(CLUSTER_LEADER_KNOWN, GAUGE, "berth_cluster_leader_known", "", "1 when this member knows who leads.") \
	F(CLUSTER_TERM, GAUGE, "berth_cluster_term", "", "Number of the leadership.") \
	F(CLUSTER_INDEX, GAUGE, "berth_cluster_index", "", \
		"Index of the newest entry of the log that this member applied.") \
	F(CLUSTER_LAG_ENTRIES, GAUGE, "berth_cluster_lag_entries", "entries", \
		"Entries of the log that this member has not applied.") \
	F(CLUSTER_LAST_CONTACT_MILLISECONDS, GAUGE, "berth_cluster_last_contact_milliseconds", "milliseconds", \
		"Time since this member heard of a living leader; -1: never.") \
	F(CLUSTER_MEMBERS, GAUGE, "berth_cluster_members", "", "Members.") \
	F(CLUSTER_MEMBERS_ALIVE, GAUGE, "berth_cluster_members_alive", "", "Members whose lease holds.") \
	F(CLUSTER_TAKEOVERS_TOTAL, COUNTER, "berth_cluster_takeovers_total", "", \
		"Times that this process took over the leadership.") \
	F(CLUSTER_BATCHES_UNDER_WAY, GAUGE, "berth_cluster_batches_under_way", "", \
		"Pieces of batches that etcd has not answered.") \
	F(CLUSTER_LOG_BYTES_TOTAL, COUNTER, "berth_cluster_log_bytes_total", "bytes", \
		"Bytes that this process added to the log in etcd, packed as they are there.") \
	F(CLUSTER_ETCD_AWAY, GAUGE, "berth_cluster_etcd_away", "", \
		"1 while nothing is decided because etcd is away.") \
	F(CLUSTER_CLOCK_ODD, GAUGE, "berth_cluster_clock_odd", "", \
		"1 while the time of day of this member is another than that of most.") \
	F(ETCD_REQUESTS_TOTAL, COUNTER, "berth_etcd_requests_total", "", "Requests to etcd.") \
	F(ETCD_FAILURES_TOTAL, COUNTER, "berth_etcd_failures_total", "", "Requests to etcd without a good answer.") \
	F(ETCD_FAILOVERS_TOTAL, COUNTER, "berth_etcd_failovers_total", "", "Changes to another endpoint of etcd.") \
	F(ETCD_TRANSACTIONS_UNDER_WAY, GAUGE, "berth_etcd_transactions_under_way", "", \
		"Transactions that etcd has not answered.") \
	F(ETCD_TRANSACTION_SECONDS, HISTOGRAM, "berth_etcd_transaction_seconds", "seconds", \
		"Time that etcd took to answer a transaction.")

// The HTTP API.
#define METRICS_OF_HTTP(F) \
	F(HTTP_REQUESTS_TOTAL, COUNTER, "berth_http_requests_total", "", \
		"Requests by route and class of the answer's status; none: the client left before it.") \
	F(HTTP_CONNECTIONS, GAUGE, "berth_http_connections", "", "Connections that are open.") \
	F(HTTP_CONNECTIONS_TOTAL, COUNTER_AS_IS, "berth_http_connections_total", "", \
		"Connections that were accepted.") \
	F(HTTP_CONNECTIONS_CUT_TOTAL, COUNTER, "berth_http_connections_cut_total", "", \
		"Connections that were closed because their client was too slow, by what it was at.") \
	F(HTTP_CONNECTIONS_REFUSED_TOTAL, COUNTER, "berth_http_connections_refused_total", "", \
		"Connections of places that had as many as they may.") \
	F(HTTP_PLACES, GAUGE, "berth_http_places", "", "Addresses, networks and nodes that are connected.") \
	F(HTTP_MEMORY_BYTES, GAUGE, "berth_http_memory_bytes", "bytes", \
		"Memory of bodies that came and of answers that are being sent.") \
	F(HTTP_MEMORY_BYTES_MOST, GAUGE, "berth_http_memory_bytes_most", "", \
		"Most memory that they ever took.") \
	F(HTTP_MEMORY_REFUSED_TOTAL, COUNTER, "berth_http_memory_refused_total", "", \
		"Bodies and answers for which there was no memory.") \
	F(HTTP_PARKED, GAUGE, "berth_http_parked", "", "Requests that wait for a change.") \
	F(HTTP_PARKED_MOST, GAUGE, "berth_http_parked_most", "", \
		"Most requests that ever waited for a change at once.") \
	F(HTTP_LOOKS_TOTAL, COUNTER, "berth_http_looks_total", "", "Looks at what waiting requests wait for.") \
	F(HTTP_WOKEN_TOTAL, COUNTER, "berth_http_woken_total", "", "Waiting requests that went on, by why.") \
	F(HTTP_HEAVY_WAITING, GAUGE, "berth_http_heavy_waiting", "", \
		"Answers that take long and wait for their thread.") \
	F(HTTP_HEAVY_TOTAL, COUNTER, "berth_http_heavy_total", "", "Answers that took long and were given.") \
	F(HTTP_HEAVY_REFUSED_TOTAL, COUNTER, "berth_http_heavy_refused_total", "", \
		"Answers that take long and were refused because too many waited.") \
	F(HTTP_LISTS_WAITING, GAUGE, "berth_http_lists_waiting", "", "Lists that wait for their thread.") \
	F(HTTP_LISTS_TOTAL, COUNTER, "berth_http_lists_total", "", "Lists that were begun by their thread.") \
	F(HTTP_FORWARDS_UNDER_WAY, GAUGE, "berth_http_forwards_under_way", "", \
		"Requests on their way to the leader.") \
	F(HTTP_FORWARDS_UPGRADED, GAUGE, "berth_http_forwards_upgraded", "", \
		"Of them, WebSockets: they last, and have a connection each.") \
	F(HTTP_FORWARDED_TOTAL, COUNTER, "berth_http_forwarded_total", "", \
		"Requests that were handed to the leader, by what became of them.") \
	F(HTTP_FORWARDS_REPEATED_TOTAL, COUNTER, "berth_http_forwards_repeated_total", "", \
		"Requests that were handed to another leader again.") \
	F(LINE_CONNECTIONS, GAUGE, "berth_line_connections", "", \
		"Connections that nodes dialled, by what they do.") \
	F(LINE_WAITING, GAUGE, "berth_line_waiting", "", \
		"Requests that wait until their node dials.") \
	F(LINE_ACCEPTED_TOTAL, COUNTER, "berth_line_accepted_total", "", \
		"Connections of nodes that showed their key.") \
	F(LINE_REFUSED_TOTAL, COUNTER, "berth_line_refused_total", "", \
		"Connections that were refused where nodes dial, by why.") \
	F(LINE_UNREACHED_TOTAL, COUNTER, "berth_line_unreached_total", "", \
		"Requests whose node did not dial in time.") \
	F(LINE_ACCEPTS_FAILED_TOTAL, COUNTER, "berth_line_accepts_failed_total", "", \
		"Connections of nodes that there was no descriptor or memory for.") \
	F(LINE_ANSWERS_TOTAL, COUNTER, "berth_line_answers_total", "", \
		"Requests that nodes were to answer, by what became of them.") \
	F(HTTP_EVENT_STREAMS, GAUGE, "berth_http_event_streams", "", "Event streams that are open.") \
	F(HTTP_EVENT_STREAMS_LOST_TOTAL, COUNTER, "berth_http_event_streams_lost_total", "", \
		"Event streams that were closed because they fell behind.") \
	F(EVENTS_TOTAL, COUNTER, "berth_events_total", "", "Events of the state.") \
	F(HTTP_COMMANDS_UNDER_WAY, GAUGE, "berth_http_commands_under_way", "", \
		"Commands of requests that are not carried out yet.") \
	F(HTTP_STREAM_BUFFER_BYTES_MOST, GAUGE, "berth_http_stream_buffer_bytes_most", "", \
		"Bytes of the largest buffer that a streamed list ever needed.") \
	F(HTTP_AUDIT_LINES_TOTAL, COUNTER, "berth_http_audit_lines_total", "", \
		"Lines of the audit log that were written.") \
	F(HTTP_AUDIT_FAILED_TOTAL, COUNTER, "berth_http_audit_failed_total", "", \
		"Lines of the audit log that could not be written.") \
	F(HTTP_CERTIFICATE_END_SECONDS, GAUGE, "berth_http_certificate_end_seconds", "seconds", \
		"Time at which the certificate of the server ends, in seconds since 1970.")

// The process: its build, and the names that every exporter has.
#define METRICS_OF_PROCESS(F) \
	F(BUILD_INFO, INFO, "berth_build_info", "", "1; the version of the program, and of what it was built with.") \
	F(UPTIME_SECONDS, GAUGE, "berth_uptime_seconds", "seconds", "Time since the daemon started.") \
	F(CLOCK_AHEAD_SECONDS, GAUGE, "berth_clock_ahead_seconds", "seconds", \
		"How far the machine's time of day is ahead of the one that the daemon goes by.") \
	F(PROCESS_CPU_SECONDS_TOTAL, COUNTER, "process_cpu_seconds_total", "seconds", \
		"Processor time of the process, in user and system mode.") \
	F(PROCESS_RESIDENT_MEMORY_BYTES, GAUGE, "process_resident_memory_bytes", "bytes", \
		"Memory of the process that is in RAM.") \
	F(PROCESS_VIRTUAL_MEMORY_BYTES, GAUGE, "process_virtual_memory_bytes", "bytes", \
		"Address space of the process.") \
	F(PROCESS_OPEN_FDS, GAUGE, "process_open_fds", "", "File descriptors that are open.") \
	F(PROCESS_MAX_FDS, GAUGE, "process_max_fds", "", "Most file descriptors that may be open.") \
	F(PROCESS_START_TIME_SECONDS, GAUGE, "process_start_time_seconds", "seconds", \
		"Time at which the process started, in seconds since 1970.") \
	F(PROCESS_THREADS, GAUGE, "process_threads", "", "Threads of the process.")
// clang-format on

#define METRIC_FAMILIES(F)        \
	METRICS_OF_PACKETS(F)     \
	METRICS_OF_NODES(F)       \
	METRICS_OF_STATE(F)       \
	METRICS_OF_EVALUATIONS(F) \
	METRICS_OF_WATCHERS(F)    \
	METRICS_OF_CLUSTER(F)     \
	METRICS_OF_HTTP(F)        \
	METRICS_OF_PROCESS(F)

enum metric_family {
#define F(family, type, name, unit, help) METRIC_##family,
	METRIC_FAMILIES(F)
#undef F
		METRIC_FAMILIES_COUNT
};

struct metric_description {
	const char *name, *unit, *help; // unit "": the name says none
	enum metric_type type;
};
extern const struct metric_description metric_descriptions[METRIC_FAMILIES_COUNT];
