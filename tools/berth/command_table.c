#include "tools/berth/command_table.h"
#include "tools/berth/commands/commands.h"

#define JOB_FILE_FLAGS "var var-file hcl2-strict hcl1"
#define WIRE_FLAGS "wire name key-file master-key"
#define NODE_DRAIN_FLAGS                                                           \
	"enable disable monitor dry-run deadline force no-deadline ignore-system " \
	"keep-ineligible m meta yes detach filter"

static const struct command commands[] = {
	{"node list", "", "List nodes.", "With --status only those that are ready, down, …",
		LIST_FLAGS " status", 0, 0, node_list},
	{"node status", "[ID]", "Show a node, its attributes and what runs on it.",
		"ID may be the beginning of an id, as long as only one node has it. Without an id "
		"nodes are\nlisted.",
		LIST_FLAGS " status", 0, 1, node_status, &kind_node},
	{"node eligibility", "[ID...]", "Let nodes take new work, or not.",
		"What runs on them goes on. One of --enable and --disable is needed. In place of "
		"ids --filter\nfinds the nodes.",
		"enable disable filter", 0, -1, node_eligibility, &kind_node},
	{"node purge", "[ID...]", "Forget nodes; what ran on them is replaced.",
		"For machines that are gone. One that still runs registers again. In place of ids "
		"--filter finds\nthe nodes: --filter 'Status == \"down\"'.",
		"filter yes", 0, -1, node_purge, &kind_node},
	{"node drain", "[ID...]", "Move everything off nodes, or end that.",
		"With --enable the nodes take no new work, and what runs on them goes elsewhere, a "
		"few of each\njob at a time; tells what happens until nothing of it runs there any "
		"more, unless --detach is\ngiven. --monitor follows a drain that was begun before. "
		"--disable ends it where it is, and the\nnode takes new work again, unless "
		"--keep-ineligible is given. --dry-run says where each\nallocation of a node would "
		"go, and fails when something would fit nowhere. In place of ids\n--filter finds "
		"the "
		"nodes; of many it is told how far they are.",
		NODE_DRAIN_FLAGS, 0, -1, node_drain, &kind_node},
	{"node offline", "ID", "Take a healthy node out by hand: nothing new goes there.",
		"What runs on it goes on. A node that is suspended (lost, flaky, or not ready) "
		"cannot be\ntaken out. It stays out until berth node online; when it goes away "
		"meanwhile, it is\nforgotten.",
		NULL, 1, 1, node_offline, &kind_node},
	{"node online", "ID", "Take a node back that was taken out.", NULL, NULL, 1, 1, node_online,
		&kind_node},
	{"node groups", "[SNAPSHOT]", "Show how many nodes ran which snapshot last.",
		"And how many of them are idle. With a snapshot, or with --verbose, the nodes "
		"themselves.",
		TABLE_FLAGS, 0, 1, node_groups},
	{"node what-if", "ID", "Say what would become of its allocations if a node died.",
		"Asks the schedulers and changes nothing. Fails when something would fit nowhere.",
		NULL, 1, 1, node_what_if, &kind_node},
	{"node key", "UUID [GENERATION]", "Derive a node's key from the master keys.",
		"Prints the line that the node's agent is provisioned with. Needs no controller. "
		"The generation\nis what berth node rekey said; 0 without it.",
		"master-key", 1, 2, node_key},
	{"node revoke", "ID [REASON]", "Have a node's key count no more.",
		"Nothing that it sends is heard from then on; it is down at once, and its work is "
		"replaced. The\nnode need not be known: then the whole id is needed. It lasts "
		"until "
		"node restore or node rekey.",
		NULL, 1, 2, node_revoke, &kind_node},
	{"node restore", "ID", "Take a node back that was revoked: its key counts again.", NULL,
		NULL, 1, 1, node_restore, &kind_node},
	{"node rekey", "ID [REASON]", "Give a node another key; the ones before never count again.",
		"Also takes it back when it was revoked. It is down until it is provisioned with "
		"the "
		"key that\nberth node key UUID GENERATION prints.",
		NULL, 1, 2, node_rekey, &kind_node},
	{"node revoked", "", "List nodes and clients that are revoked, or have another key.", NULL,
		LIST_FLAGS, 0, 0, sender_list},
	{"node admit list", "", "List the rules of what nodes may be when they register.", NULL,
		LIST_FLAGS, 0, 0, admit_list},
	{"node admit apply", "FILE", "Say what nodes of a pattern may be.",
		"FILE holds JSON: Pattern (an id, a name or a glob), and what is allowed: "
		"NodePools, Datacenters,\nNodeClasses (lists of globs), CPU, MemoryMB, DiskMB, "
		"Devices (the most). What is left out is\nnot limited. - is standard input.",
		NULL, 1, 1, admit_apply},
	{"node admit delete", "PATTERN", "Take a rule away.", NULL, NULL, 1, 1, admit_delete},
	{"node admit refused", "", "List the newest nodes that were not admitted, and why.", NULL,
		LIST_FLAGS, 0, 0, admit_refused},
	{"node quarantine clear", "ID",
		"Let both agents of a node that has a clone register again.",
		"Clones are in node admit refused: agents that have the id and key of another one "
		"that came first.\nTake away the one that is not the node before: else it is "
		"found again.",
		NULL, 1, 1, quarantine_clear, &kind_node},
	{"node meta read", "ID", "Show a node's metadata, and what was set of it.", NULL, NULL, 1,
		1, node_meta_read, &kind_node},
	{"node meta apply", "ID [NAME=VALUE]...", "Set metadata of a node, or take it away.",
		"It lies over what the node's agent says, until the node is purged; constraints "
		"see it at\nonce. Shows the metadata as it is then.",
		"unset", 1, -1, node_meta_apply, &kind_node},
	{"node pool list", "", "List node pools.", NULL, LIST_FLAGS, 0, 0, node_pool_list},
	{"node pool info", "NAME", "Show a node pool and what it sets for its jobs.", NULL, NULL, 1,
		1, node_pool_info, &kind_pool},
	{"node pool apply", "FILE", "Describe a node pool, or describe it anew.",
		"FILE holds JSON with Nomad's field names: Name, Description, Meta,\n"
		"SchedulerConfiguration. - is standard input.",
		NULL, 1, 1, node_pool_apply},
	{"node pool delete", "NAME", "Forget what was described of a node pool.",
		"Refused while nodes are in it, or jobs that are not dead ask for it.", NULL, 1, 1,
		node_pool_delete, &kind_pool},
	{"drain", "[ID...]", "As node drain.", "See berth node drain --help.", NODE_DRAIN_FLAGS, 0,
		-1, node_drain, &kind_node},
	{"job list", "", "List jobs.", NULL, LIST_FLAGS " status", 0, 0, job_list},
	{"job init", "[FILE]", "Write an example of a job.",
		"In HCL to example.nomad.hcl, or with --json or for a FILE that ends so in JSON to "
		"example.nomad.json;\nnever over a file that is there. Needs no controller.",
		"short", 0, 1, job_init},
	{"job parse", "FILE", "Print the job of a job file as JSON; - is standard input.",
		"Asks no controller. The file is HCL as Nomad's job files are, or JSON.",
		"canonical " JOB_FILE_FLAGS, 1, 1, job_parse},
	{"job run", "FILE", "Register a job from a file; - is standard input.",
		"The file is HCL as Nomad's job files are, or JSON: {\"Job\": {…}} or the job "
		"alone, "
		"with\nNomad's field names. Waits until its evaluation is worked off, and tells "
		"what "
		"happens;\nwith --detach it only names it.",
		"check-index detach eval-priority preserve-counts " JOB_FILE_FLAGS, 1, 1, job_run},
	{"job plan", "FILE", "Say what registering a job would do; change nothing.",
		"The file is as job run takes it. Exit status 0: nothing would change, 1: "
		"something "
		"would.",
		JOB_FILE_FLAGS, 1, 1, job_plan},
	{"job status", "[ID]", "Show a job and its allocations.",
		"Without an id jobs are listed. --verbose shows its evaluations too.",
		LIST_FLAGS " status", 0, 1, job_status, &kind_job},
	{"job restart", "ID", "Restart the allocations of a job, a few at a time.",
		"Where they are; with --reschedule they are stopped, and each batch waits until "
		"what replaces it\nruns. --group and --task may come again: only those are "
		"restarted. A failure ends it, or asks.",
		"batch-size batch-wait group task all-tasks reschedule on-error yes verbose", 1, 1,
		job_restart, &kind_job},
	{"job revert", "ID VERSION", "Register an earlier version of a job again.",
		"Waits until it is deployed, unless --detach is given.", "detach", 2, 2, job_revert,
		&kind_job},
	{"job scale", "ID [GROUP] COUNT", "Change how many instances of a group run.",
		"Waits until they are deployed, unless --detach is given.", "detach", 2, 3,
		job_scale, &kind_job},
	{"job scaling-events", "ID", "Show when a job was scaled.", NULL, TABLE_FLAGS, 1, 1,
		job_scaling_events, &kind_job},
	{"job dispatch", "ID [FILE]", "Launch a parameterized job.",
		"The file is its payload; - is standard input. Waits until it is placed, unless "
		"--detach is given.",
		"meta idempotency-token detach", 1, 2, job_dispatch, &kind_job},
	{"job periodic force", "ID", "Launch a periodic job now.",
		"Whatever its times are, and whether it runs already.", "detach", 1, 1,
		job_periodic_force, &kind_job},
	{"job deployments", "ID", "List the deployments of a job.", NULL, LIST_FLAGS " latest all",
		1, 1, job_deployments, &kind_job},
	{"job promote", "ID", "Promote the canaries of a job's newest deployment.",
		"All groups, or those that --group names.", "group detach", 1, 1, job_promote,
		&kind_job},
	{"job history", "ID", "Show the versions of a job.", NULL, "p", 1, 1, job_history,
		&kind_job},
	{"job stop", "ID", "Stop a job and all its allocations.",
		"Waits until its evaluation is worked off, unless --detach is given.",
		"purge global detach eval-priority yes", 1, 1, job_stop, &kind_job},
	{"job eval", "ID", "Have a job looked at again by its scheduler.",
		"Waits until the evaluation is worked off, unless --detach is given.",
		"detach force-reschedule", 1, 1, job_eval, &kind_job},
	{"job validate", "FILE", "Say every mistake of a job; register nothing.",
		"The file is as job run takes it.", JOB_FILE_FLAGS, 1, 1, job_validate},
	{"job inspect", "ID", "Print a job as JSON, ready for job run.", NULL, NULL, 1, 1,
		job_inspect, &kind_job},
	{"alloc list", "", "List allocations.", NULL, LIST_FLAGS " job node status", 0, 0,
		alloc_list},
	{"alloc status", "ID", "Show an allocation.",
		"ID may be the beginning of an id, as long as only one allocation has it.", NULL, 1,
		1, alloc_status, &kind_alloc},
	{"alloc checks", "ID", "Show what the checks of an allocation's services say.",
		"From the node that runs it.", NULL, 1, 1, alloc_checks, &kind_alloc},
	{"alloc stop", "ID", "Stop an allocation; its job's scheduler replaces it.",
		"Waits until the evaluation is worked off, unless --detach is given.",
		"detach no-shutdown-delay", 1, 1, alloc_stop, &kind_alloc},
	{"alloc exec", "ID COMMAND...", "Run a command inside a task of an allocation.",
		"As the task's user, with its environment, in its folder. With --job in place of "
		"the ID, in any\nrunning allocation of that job. Flags of berth stand before the "
		"ID. The exit status is that of\nthe command. On a terminal, ~. at the beginning "
		"of a line ends the talk and the command.",
		"job task interactive tty escape", 1, -1, alloc_exec, .takes_command = true},
	{"alloc logs", "[ID] [TASK]", "Show what a task has written.",
		"From the node that runs it. The task may be left out when the allocation has "
		"one. With --job in\nplace of the ID, of the newest running allocation of that "
		"job; its task is then --task. What is\nfollowed does not end with the task.",
		"follow stderr tail lines bytes job task", 0, 2, alloc_logs, &kind_alloc},
	{"alloc fs ls", "[ID] [PATH]", "List a folder of an allocation.", NULL, "job", 0, 2,
		alloc_fs_ls, &kind_alloc},
	{"alloc fs cat", "[ID] [PATH]", "Show a file of an allocation.",
		"Files of secrets are not shown.", "follow tail lines bytes job", 0, 2,
		alloc_fs_cat, &kind_alloc},
	{"alloc fs stat", "[ID] [PATH]", "Tell of a file or folder of an allocation.", NULL, "job",
		0, 2, alloc_fs_stat, &kind_alloc},
	{"alloc fs", "[ID] [PATH]", "List a folder of an allocation, or show a file.",
		"Paths begin at the allocation's folder: alloc/logs, TASK/local, TASK/tmp.",
		"stat follow tail lines bytes job", 0, 2, alloc_fs, &kind_alloc},
	{"alloc restart", "[ID] [TASK]", "Restart the tasks of an allocation that run, or one.",
		"Where they are. Their restart policies do not count it. With --all-tasks, those "
		"too that have\nended, in the order of their lifecycle.",
		"all-tasks job task", 0, 2, alloc_restart, &kind_alloc},
	{"alloc signal", "[ID] [TASK]", "Send a signal to the tasks of an allocation, or to one.",
		"To the first process of each.", "signal job task", 0, 2, alloc_signal,
		&kind_alloc},
	{"alloc stats", "[ID] [TASK]", "Show what the tasks of an allocation use.",
		"Measured for half a second.", "job task watch interval", 0, 2, alloc_stats,
		&kind_alloc},
	{"deployment list", "", "List deployments, newest first.", NULL, LIST_FLAGS " status", 0, 0,
		deployment_list},
	{"deployment status", "[ID]", "Show a deployment.",
		"ID may be the beginning of an id. With --monitor, follows it until it ends.",
		LIST_FLAGS " monitor status", 0, 1, deployment_status, &kind_deployment},
	{"deployment pause", "ID", "Let a deployment go no further.", NULL, "detach", 1, 1,
		deployment_pause, &kind_deployment},
	{"deployment resume", "ID", "Let a paused deployment go on.",
		"Follows it until it ends, unless --detach is given.", "detach", 1, 1,
		deployment_resume, &kind_deployment},
	{"deployment promote", "ID", "Let the canaries of a deployment take over.",
		"All groups, or those that --group names. Follows it until it ends, unless "
		"--detach "
		"is given.",
		"group detach", 1, 1, deployment_promote, &kind_deployment},
	{"deployment fail", "ID", "End a deployment as failed.",
		"A job that asks for it goes back to its newest stable version.", "detach", 1, 1,
		deployment_fail, &kind_deployment},
	{"deployment unblock", "ID", "Let a deployment end that waits for other regions.", NULL,
		"detach", 1, 1, deployment_unblock, &kind_deployment},
	{"eval list", "", "List evaluations, newest first.", NULL, LIST_FLAGS " job status", 0, 0,
		eval_list},
	{"eval status", "[ID]", "Show an evaluation.",
		"ID may be the beginning of an id. With --monitor, waits until it is worked off.",
		LIST_FLAGS " monitor job status", 0, 1, eval_status, &kind_eval},
	{"explain job", "ID", "Say why a job runs where it does, or nowhere.",
		"Every reason, on how many nodes it holds, and how little is missing on the "
		"nearest.",
		NULL, 1, 1, explain_job, &kind_job},
	{"explain alloc", "ID", "Say why an allocation is as it is.", NULL, NULL, 1, 1,
		explain_alloc, &kind_alloc},
	{"explain node", "ID", "Say which jobs can run on a node, and why others cannot.", NULL,
		NULL, 1, 1, explain_node, &kind_node},
	{"status", "[ID]", "Show whatever an id belongs to; without one, list jobs.",
		"ID is a job's, the beginning of that of a node, allocation, evaluation or "
		"deployment, or the\nname of a node.",
		LIST_FLAGS " status", 0, 1, find_status},
	{"server members", "", "List the servers.", NULL, TABLE_FLAGS " detailed", 0, 0,
		server_members},
	{"agent-info", "", "Show the server's own figures.", NULL, NULL, 0, 0, agent_info},
	{"acl bootstrap", "[FILE]", "Make the first token, which may do everything.",
		"From then on whoever asks needs a token. FILE holds the token's secret, a UUID; "
		"without it\none is drawn. It is printed once: keep it. - is standard input.",
		NULL, 0, 1, acl_bootstrap},
	{"acl policy list", "", "List policies.", NULL, LIST_FLAGS, 0, 0, acl_policy_list},
	{"acl policy info", "NAME", "Show a policy and its rules.", NULL, NULL, 1, 1,
		acl_policy_info, &kind_policy},
	{"acl policy apply", "NAME FILE", "Describe a policy, or describe it anew.",
		"FILE holds its rules; - is standard input. With --job the tasks of that job have "
		"it by\nthemselves, or those of one of its groups, or one task.",
		"description job group task", 2, 2, acl_policy_apply},
	{"acl policy delete", "NAME", "Take a policy away from whoever has it.", NULL, NULL, 1, 1,
		acl_policy_delete, &kind_policy},
	{"acl token list", "", "List tokens, oldest first.", NULL, LIST_FLAGS, 0, 0,
		acl_token_list},
	{"acl token info", "ACCESSOR", "Show a token.", NULL, NULL, 1, 1, acl_token_info,
		&kind_token},
	{"acl token self", "", "Show the token that the command itself uses.", NULL, NULL, 0, 0,
		acl_token_self},
	{"acl token create", "[NAME]", "Make a token.",
		"A client token needs a policy or a role. The secret is printed once: keep it.",
		"type policy role global ttl", 0, 1, acl_token_create},
	{"acl token update", "ACCESSOR [NAME]", "Change a token.",
		"What is not given stays as it is; policies and roles that are given are all that "
		"it has.",
		"type policy role", 1, 2, acl_token_update, &kind_token},
	{"acl token delete", "ACCESSOR", "Let a token open nothing any more.", NULL, NULL, 1, 1,
		acl_token_delete, &kind_token},
	{"acl role list", "", "List roles.", NULL, LIST_FLAGS, 0, 0, acl_role_list},
	{"acl role info", "ROLE", "Show a role, by its id or its name.", NULL, NULL, 1, 1,
		acl_role_info, &kind_role},
	{"acl role create", "NAME", "Make a role of policies.", NULL, "policy description", 1, 1,
		acl_role_create},
	{"acl role update", "ROLE [NAME]", "Change a role.",
		"What is not given stays as it is; policies that are given are all that it has.",
		"policy description", 1, 2, acl_role_update, &kind_role},
	{"acl role delete", "ROLE", "Take a role away from whoever has it.", NULL, NULL, 1, 1,
		acl_role_delete, &kind_role},
	{"namespace list", "", "List namespaces.", NULL, LIST_FLAGS, 0, 0, namespace_list},
	{"namespace status", "NAME", "Show a namespace, and which drivers its jobs may use.", NULL,
		NULL, 1, 1, namespace_status, &kind_namespace},
	{"namespace inspect", "NAME", "Show a namespace as JSON.", NULL, NULL, 1, 1,
		namespace_inspect, &kind_namespace},
	{"namespace apply", "FILE|NAME", "Make a namespace, or describe it anew.",
		"FILE holds it in HashiCorp's syntax or in JSON: name, description, quota, meta, "
		"and\ncapabilities with enabled_task_drivers and disabled_task_drivers. - is "
		"standard input. With\na NAME instead only what flags say is changed.",
		"description quota", 1, 1, namespace_apply},
	{"namespace delete", "NAME", "Take a namespace away.",
		"Refused while jobs are in it that are not dead. \"default\" stays.", NULL, 1, 1,
		namespace_delete, &kind_namespace},
	{"var list", "[PREFIX]", "List variables whose paths begin so.",
		"With --namespace '*' those of all namespaces. What they hold is not shown.",
		LIST_FLAGS " out", 0, 1, var_list},
	{"var get", "PATH", "Show what a variable holds.", NULL, "out item", 1, 1, var_get},
	{"var put", "PATH [@FILE] [NAME=VALUE]...", "Write a variable.",
		"NAME=VALUE sets an item, NAME= takes it away; a VALUE of @FILE or - is the "
		"content "
		"of a file\nor of standard input. @FILE alone, or -, is a whole variable as var "
		"get "
		"shows it with --out\njson or hcl, and may come without PATH. A variable that is "
		"there is written over only with\nits --check-index, which such a file has, or "
		"--force.",
		"check-index force in out", 1, -1, var_put},
	{"var purge", "PATH", "Delete a variable.", NULL, "check-index", 1, 1, var_purge},
	{"var init", "[FILE]", "Write an example of a file for var put.",
		"spec.nv.hcl, or spec.nv.json with --out json, unless FILE is given. Needs no "
		"controller.",
		"out", 0, 1, var_init},
	{"operator snapshot save", "[FILE]", "Save all that the controller knows.",
		"While it works. Without FILE into berth-state-TIME.snap. What was written is read "
		"again and\nchecked. Keys of variables are not in it: back up the keyring's file, "
		"too. berthd restore FILE\nmakes a data_dir of it.",
		NULL, 0, 1, snapshot_save},
	{"operator snapshot inspect", "FILE", "Check a saved snapshot, and show what it is.",
		"Needs no controller.", NULL, 1, 1, snapshot_inspect},
	{"operator snapshot restore", "FILE",
		"Put a saved snapshot in the place of all that is known.",
		"The controller checks it, takes its state, and begins anew with it: what came "
		"after the "
		"snapshot is forgotten, nodes register again by themselves, and what runs on them "
		"that "
		"the state does not know ends. A damaged snapshot changes nothing. Waits until the "
		"controller is back. Takes a token of management.",
		NULL, 1, 1, snapshot_restore},
	{"operator root keyring list", "", "List the keys that variables are encrypted with.", NULL,
		LIST_FLAGS, 0, 0, keyring_list},
	{"operator root keyring rotate", "", "Make a new key, which encrypts from now on.",
		"What is encrypted already goes on being read with the key that it has; with "
		"-full it is\nencrypted anew, one after the other, while older keys are "
		"rekeying. Back up the keyring's\nfile afterwards.",
		"full", 0, 0, keyring_rotate},
	{"operator root keyring remove", "KEY", "Forget a key that encrypts nothing any more.",
		NULL, NULL, 1, 1, keyring_remove},
	{"quota list", "", "List quotas.", NULL, LIST_FLAGS, 0, 0, quota_list},
	{"quota status", "NAME", "Show what a quota limits, and what is used of it.", NULL, NULL, 1,
		1, quota_status, &kind_quota},
	{"quota inspect", "NAME", "Show a quota and its usage as JSON.", NULL, NULL, 1, 1,
		quota_inspect, &kind_quota},
	{"quota init", "[FILE]", "Write an example of a quota.",
		"To spec.hcl unless told otherwise; never over a file that is there.", NULL, 0, 1,
		quota_init},
	{"quota apply", "FILE", "Make a quota, or describe it anew.",
		"FILE holds it in HashiCorp's syntax or in JSON: name, description, and a limit "
		"with a\nregion_limit of cpu, memory, instances and devices. - is standard input. "
		"It limits the\nnamespaces that name it (berth namespace apply --quota), all "
		"together.",
		NULL, 1, 1, quota_apply},
	{"quota delete", "NAME", "Take a quota away.", "Refused while a namespace names it.", NULL,
		1, 1, quota_delete, &kind_quota},
	{"system gc", "", "Forget at once what has ended.",
		"Evaluations, allocations, jobs and nodes, whatever their age.", NULL, 0, 0,
		system_gc},
	{"system reconcile summaries", "", "Count the summaries of jobs anew.",
		"Known for Nomad's sake: the summaries cannot go wrong by themselves.", NULL, 0, 0,
		system_reconcile},
	{"operator scheduler get-config", "", "Show the schedulers' configuration.", NULL, NULL, 0,
		0, config_get},
	{"operator scheduler set-config", "", "Change the schedulers' configuration.",
		"What no flag names stays as it is.",
		"check-index scheduler-algorithm preempt-system-scheduler "
		"preempt-sysbatch-scheduler preempt-batch-scheduler preempt-service-scheduler "
		"memory-oversubscription reject-job-registration pause-eval-broker",
		0, 0, config_set},
	{"operator raft list-peers", "", "List the servers of the cluster, and who leads.",
		"A controller that stands alone is the only one.", TABLE_FLAGS, 0, 0,
		raft_list_peers},
	{"operator autopilot health", "", "Say how the servers of the cluster are.",
		"And how many of them may go away before nobody is left to lead. Fails when one "
		"is not healthy.",
		TABLE_FLAGS, 0, 0, autopilot_health},
	{"operator cluster init", "[CONFIG]", "Begin a cluster with the state of this controller.",
		"On the controller's machine, while its daemon is stopped, as the two that follow: "
		"has berthd\ndo it, with its configuration, /etc/berth/berthd.yaml if none is "
		"named.",
		NULL, 0, 1, cluster_init_here},
	{"operator cluster join", "[CONFIG]", "Make this controller a member of a cluster.",
		"Its data_dir must have no state: it gets that of the cluster.", NULL, 0, 1,
		cluster_join_here},
	{"operator cluster leave", "[CONFIG]", "End this controller's membership.",
		"Its data_dir keeps the state, and can be used alone.", NULL, 0, 1,
		cluster_leave_here},
	// After commands whose names begin so: the first that fits is run.
	{"operator cluster", "", "Show the cluster as the controller that is asked sees it.",
		"Its role, who leads, how far it is behind, and all members with what each has on "
		"its own disk.\nEvery member answers, also while nobody leads.",
		TABLE_FLAGS, 0, 0, cluster_show},
	{"place", "", "Place instances of a job's group on the best nodes.",
		"Prints node and score of each; a refusal says why, in numbers. The request that "
		"is\n"
		"printed last may be repeated with --request, and gives the same allocations.",
		WIRE_FLAGS " job group count request", 0, 0, place_instances},
	{"release", "ID...", "Release allocations.",
		"Over the wire as the client that placed them; with --operator over HTTP. ID may "
		"be the "
		"beginning\nof an id, or the name of an allocation: then HTTP is asked which one.",
		WIRE_FLAGS " operator", 1, -1, release_allocations, &kind_alloc},
	{"client status", "[ID...]", "Show what became of this client's allocations.",
		"Without ids: what changed after --since. ID may be the beginning of an id, or the "
		"name "
		"of an\nallocation: then HTTP is asked which one.",
		WIRE_FLAGS " since " TABLE_FLAGS, 0, -1, client_allocations, &kind_alloc},
	{"client key", "NAME [GENERATION]", "Derive a client's key from the master keys.",
		"Prints the line for --key-file. Needs no controller. The generation is what berth "
		"client rekey\nsaid; 0 without it.",
		"master-key", 1, 2, client_key},
	{"client revoke", "NAME [REASON]", "Have a client's key count no more.",
		"What it placed stays. It lasts until client restore or client rekey.", NULL, 1, 2,
		client_revoke},
	{"client restore", "NAME", "Take a client back that was revoked: its key counts again.",
		NULL, NULL, 1, 1, client_restore},
	{"client rekey", "NAME [REASON]",
		"Give a client another key; the ones before never count again.",
		"Also takes it back when it was revoked. berth client key NAME GENERATION prints "
		"the "
		"key.",
		NULL, 1, 2, client_rekey},
	{"key generate", "FILE", "Create a file of master keys.",
		"It is readable by its owner only, and must not exist yet.", NULL, 1, 1,
		key_generate},
	{"key rotate", "FILE", "Put a new master key before those of a file.",
		"Old keys stay valid until their lines are removed.", NULL, 1, 1, key_rotate},
	{"tls ca create", "[NAME]", "Make an authority that signs certificates.",
		"Writes berth-ca.pem, which everybody may have, and berth-ca-key.pem: whoever has "
		"that "
		"can\nmake certificates. Nothing is overwritten. Needs no controller.",
		"directory days key-type", 0, 1, tls_ca_create},
	{"tls cert create", "NAME", "Make a certificate that the authority signs.",
		"Writes NAME.pem and NAME-key.pem. With --host it is a server's, which may also be "
		"a "
		"client of\nothers; without one it is a client's. Nothing is overwritten. Needs no "
		"controller.",
		"directory host days key-type ca ca-key", 1, 1, tls_cert_create},
	{"simulate", "SCENARIO", "Say what the schedulers would do in a scenario.",
		"The JSON file holds nodes, jobs, allocations and an evaluation "
		"(docs/simulate.md); "
		"-\n"
		"is standard input. Prints the plans and evaluations that the schedulers make of "
		"it.\n"
		"Needs no controller.",
		"pretty", 1, 1, simulate_scenario},
	{"vm account create", "NAME", "Make an account for Orchard's clients.",
		"Its roles are compute:read, compute:write, compute:connect, admin:read and "
		"admin:write. Prints its\ntoken and what orchard context create "
		"--bootstrap-token takes, with the certificate of --ca-cert.\nBoth are printed "
		"once: keep them.",
		"role", 1, 1, account_create},
	{"vm account list", "", "List accounts, oldest first.", NULL, LIST_FLAGS, 0, 0,
		account_list},
	{"vm account info", "NAME", "Show an account and its roles.", NULL, NULL, 1, 1,
		account_info, &kind_account},
	{"vm account bootstrap-token", "NAME FILE", "Print the bootstrap token of an account anew.",
		"FILE holds the account's token; - is standard input. The controller is not asked.",
		NULL, 2, 2, account_bootstrap_token},
	{"vm account delete", "NAME", "Let the token of an account open nothing any more.", NULL,
		NULL, 1, 1, account_delete, &kind_account},
	{"vm create", "NAME [FILE]", "Create a virtual machine.",
		"Its image is needed; everything else may be left out. FILE holds JSON with the "
		"names of\n/v1/vms, - is standard input; flags come before what it says.",
		"image cpu memory label resource os arch runtime restart-policy suspendable", 1, 2,
		machine_create},
	{"vm list", "", "List virtual machines.", NULL, LIST_FLAGS " status worker", 0, 0,
		machine_list},
	{"vm get", "NAME", "Show a virtual machine.", NULL, NULL, 1, 1, machine_get, &kind_machine},
	{"vm stop", "NAME", "Stop a virtual machine for good; its worker is free of it.",
		"It is not started again: delete it and create it anew.", NULL, 1, 1, machine_stop,
		&kind_machine},
	{"vm suspend", "NAME", "Suspend a virtual machine that was created as suspendable.", NULL,
		NULL, 1, 1, machine_suspend, &kind_machine},
	{"vm delete", "NAME", "End and forget a virtual machine.", NULL, NULL, 1, 1, machine_delete,
		&kind_machine},
	{"vm events", "NAME", "Say what happened to a virtual machine.", NULL, TABLE_FLAGS, 1, 1,
		machine_events, &kind_machine},
	{"vm logs", "NAME", "Show what a virtual machine says on its serial port.",
		"From its worker, after the lines that its worker told of it. With --follow, waits "
		"for a machine that\nhas not begun, goes on when it begins anew, and ends when it "
		"has "
		"ended for good.",
		"follow tail lines bytes wait", 1, 1, machine_logs, &kind_machine},
	{"vm ip", "NAME", "Show the address that a virtual machine has on its worker.",
		"It is the machine's own, in a network of its own: from elsewhere its ports are "
		"reached with vm\nport-forward.",
		"wait", 1, 1, machine_ip, &kind_machine},
	{"vm port-forward", "NAME [LOCAL:]PORT", "Reach a port of a virtual machine from here.",
		"Listens on the loopback until Ctrl-C: on the port LOCAL, or on any. The machine "
		"needs a network\nof its worker's agent (--vm-network user).",
		"wait stdio", 2, 2, machine_port_forward, &kind_machine},
	{"vm ssh", "NAME [COMMAND...]", "Log in to a virtual machine with the ssh of this one.",
		"Over a forwarded port, so that the machine needs none that is open. Flags of "
		"berth stand before\nthe NAME.",
		"user wait tty", 1, -1, machine_ssh, &kind_machine, .takes_command = true},
	{"vm exec", "NAME COMMAND...", "Run a command in a virtual machine, over ssh.",
		"Each word stays one, whatever its characters are. The exit status is that of the "
		"command. Flags\nof berth stand before the NAME.",
		"user wait interactive tty", 2, -1, machine_exec, &kind_machine,
		.takes_command = true},
	{"worker list", "", "List workers of virtual machines.", NULL, LIST_FLAGS, 0, 0,
		worker_list},
	{"worker get", "NAME", "Show a worker and what runs on it.", NULL, NULL, 1, 1, worker_get,
		&kind_worker},
	{"worker pause", "NAME", "Let a worker take no new machines.", "What runs on it goes on.",
		NULL, 1, 1, worker_pause, &kind_worker},
	{"worker resume", "NAME", "Let a paused worker take machines again.", NULL, NULL, 1, 1,
		worker_resume, &kind_worker},
	{"worker delete", "NAME", "Forget a worker.",
		"Its machines fail, and those that may are restarted elsewhere.", NULL, 1, 1,
		worker_delete, &kind_worker},
	{"worker port-forward", "NAME [LOCAL:]PORT", "Reach a port of a worker itself from here.",
		"Listens on the loopback until Ctrl-C: on the port LOCAL, or on any. The worker's "
		"agent has to\nallow it (--worker-ports).",
		"stdio", 2, 2, worker_port_forward, &kind_worker},
	{"settings", "", "Show, or change, how virtual machines are placed.", NULL,
		"profile count-assigned", 0, 0, cluster_settings_run},
	{"top", "", "Show what the controller is busy with, and the largest jobs.",
		"Again and again on a terminal, or with --watch; once elsewhere.", "watch interval",
		0, 0, show_top, .is_live = true},
	{"events", "", "Show what happens, while it happens.",
		"With --since also what happened after that index, as far as it is remembered; "
		"--topic picks\ntopics, like --topic Node or --topic Job:web. --json prints what "
		"the API sends, a line each.",
		"topic since", 0, 0, show_events},
	{"monitor", "", "Show the log of a controller or a node, while it is written.",
		"As berthd writes it on its standard error, with --json as JSON, a line each, "
		"whatever "
		"is\nconfigured. Lines of --log-level debug are shown though they are not written. "
		"Who "
		"reads too\nslowly misses lines, and is told how many. --node-id asks a node for "
		"its "
		"agent's.",
		"log-level server-id node-id", 0, 0, show_log},
	{"doctor", "", "Look for what is wrong, and say what to do about it.",
		"Asks the controller for its health, its nodes, its figures and its settings. "
		"Fails "
		"when something\nis wrong; warnings alone are no failure.",
		NULL, 0, 0, run_doctor},
	{"stats", "", "The controller's figures on one screen.", NULL, NULL, 0, 0, server_stats},
	{"liveness status", "", "Say whether the expiry of silent nodes is held, and why.", NULL,
		NULL, 0, 0, liveness_status},
	{"liveness release", "", "Let silent nodes expire whose expiry is held.",
		"What runs on them is lost and placed elsewhere. Needed only when the nodes are "
		"really\ngone and the end of the hold (liveness.mass_hold_s) is too far away.",
		NULL, 0, 0, liveness_release},
	{"senders", "", "List who was refused most often for asking more than a key may.",
		"Of nodes and clients, the most often refused first; wire.node_rate and "
		"wire.client_rate\nsay how much that is.",
		TABLE_FLAGS, 0, 0, senders_list},
	{"health", "", "Ask whether the controller is healthy.", NULL, NULL, 0, 0, server_health},
};
const struct command_table command_table = {commands, sizeof commands / sizeof commands[0]};
