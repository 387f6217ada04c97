// The stored form of changes: what is written is read, what is damaged or newer is refused.
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/records/evaluation.h"
#include "state/records/job_notes.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/node_description.h"
#include "state/records/nodes/node_metadata.h"
#include "state/records/nodes/node_pool.h"
#include "state/records/nodes/sender.h"
#include "state/records/scheduler_config.h"
#include "state/records/variable.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {1000, 1000, 100};

static struct bytes_writer encode(const struct entry *e)
{
	struct bytes_writer w = bytes_writer_growing(256);

	entry_encode(e, &w);
	assert_false(w.failed);
	return w;
}

static int decode(struct entry *e, struct node_registration *d, const void *data, size_t size)
{
	struct bytes_reader r = bytes_reader_over(data, size);

	return entry_decode(e, d, &r);
}

static struct alloc_report *report_with_handle(void)
{
	struct alloc_report *report = alloc_report_create();
	struct task_state *state = map_item(&report->task_states, sizeof(struct task_state), "web");

	state->handle = memory_take(sizeof *state->handle);
	state->handle->version = 2;
	state->handle->driver_state = text_copy(TEXT("c3RhdGU="));
	return report;
}

static void add_metrics(struct array *to, uint32_t back)
{
	struct shared_metrics *base =
		back ? *ARRAY_AT(to, struct shared_metrics *, to->count - back) : NULL;
	struct shared_metrics *metrics =
		shared_metrics_create(&(struct alloc_metrics){.back = back}, base);

	*(struct shared_metrics **)array_append(to, sizeof metrics) = metrics;
}

static void make_plan(struct entry_plan *e)
{
	*e = (struct entry_plan){.eval_id = number_uuid(3)};
	add_metrics(&e->metrics, 0);
	add_metrics(&e->metrics, 0);
	add_metrics(&e->metrics, 2);
	struct plan_stop *stop = array_append(&e->stops, sizeof *stop);
	*stop = (struct plan_stop){.id = number_uuid(4), .cause = STOP_LOST, .lost = true};
	stop->followup_eval = number_uuid(5);
	struct plan_stop *victim = array_append(&e->preemptions, sizeof *victim);
	*victim = (struct plan_stop){.cause = STOP_PREEMPTED, .preempted_by = number_uuid(6)};
	struct plan_update *update = array_append(&e->updates, sizeof *update);
	*update = (struct plan_update){.job_version = 7, .client_status = ALLOC_UNKNOWN};
	update->details = alloc_details_create();
	for (uint32_t i = 0; i < 3; i++) { // the second has much in common with the first
		struct plan_placement *p = array_append(&e->placements, sizeof *p);
		*p = (struct plan_placement){.id = number_uuid(i), .slot = i, .score = 0.5};
		p->job_version = 8;
		p->name_index = i / 2;
		p->resources.cpu_mhz = 100;
		p->devices.groups[1] = i;
		p->metrics = i ? 0 : PLAN_NO_METRICS;
		p->details = i == 2 ? alloc_details_create() : NULL;
		p->report = i == 1 ? report_with_handle() : NULL;
	}
	e->deployment = deployment_create();
	struct deployment_update *ends = array_append(&e->deployment_updates, sizeof *ends);
	*ends = (struct deployment_update){
		number_uuid(7), DEPLOYMENT_CANCELLED, text_copy(TEXT("over"))};
}

static struct evaluation *an_evaluation(void)
{
	struct evaluation *e = evaluation_create();

	e->id = number_uuid(4);
	e->job_id = text_copy(TEXT("web"));
	count_add(&e->queued, "g0", 3);
	return e;
}

static void make_of_records(struct entry *e)
{
	switch (e->kind) {
	case ENTRY_VM:
	case ENTRY_VM_NOTED:
		e->vm = (struct entry_vm){.change = VM_IS_REPORTED,
			.is_noted = e->kind == ENTRY_VM_NOTED,
			.name = TEXT("a")};
		e->vm.report = (struct vm_report){.parts = VM_REPORT_PARTS,
			.status = VM_RUNNING,
			.message = TEXT("up"),
			.observed_generation = 5,
			.condition_count = 1,
			.conditions = {{VM_CONDITION_RUNNING, 1}}};
		break;
	case ENTRY_RECORD_PUT:
		e->record_put = (struct entry_record_put){STATE_EVALUATIONS, true, an_evaluation()};
		break;
	case ENTRY_RECORD_DELETE:
		e->record_delete =
			(struct entry_record_delete){STATE_VMS, number_uuid(4), TEXT("a")};
		break;
	default: fail();
	}
}

static void make_of_schedulers(struct entry *e)
{
	switch (e->kind) {
	case ENTRY_GC:
		e->gc = (struct entry_gc){.kind = GC_EVALUATION, .count = 2};
		e->gc.ids = memory_take_array(2, sizeof e->gc.ids[0]);
		e->gc.ids[1] = number_uuid(9);
		break;
	case ENTRY_PLAN: make_plan(&e->plan); break;
	case ENTRY_ALLOC_UPDATE:
		e->alloc_update = (struct entry_alloc_update){.slot = 3, .sequence = 9, .count = 2};
		e->alloc_update.items = memory_take_array(2, sizeof e->alloc_update.items[0]);
		e->alloc_update.items[0].healthy = (struct optional_bool){true, true};
		e->alloc_update.items[1].id = number_uuid(9);
		e->alloc_update.items[1].flaky = true;
		e->alloc_update.items[1].unready = true;
		e->alloc_update.items[1].report = alloc_report_create();
		break;
	case ENTRY_ALLOC_TRANSITION:
		e->alloc_transition.count = 1;
		e->alloc_transition.items = memory_take(sizeof e->alloc_transition.items[0]);
		e->alloc_transition.items[0].transition = (struct desired_transition){
			.migrate = {true, true}, .no_shutdown_delay = {true, false}};
		break;
	case ENTRY_NODE_ELIGIBILITY:
		e->node_eligibility = (struct entry_node_eligibility){1, 2, NODE_INELIGIBLE};
		break;
	case ENTRY_DEPLOYMENT:
		e->deployment = (struct entry_deployment){
			.status = DEPLOYMENT_PAUSED, .description = TEXT("paused")};
		break;
	case ENTRY_NODE_PURGE: e->node_purge = (struct entry_node_purge){1, 2}; break;
	case ENTRY_NODE_DRAIN:
		e->node_drain = (struct entry_node_drain){
			.slot = 1, .end = DRAIN_CANCELED, .mark_eligible = true, .deadline_ns = -1};
		assert_true(drain_meta_take(&e->node_drain.meta,
			&(struct node_pair){.name = TEXT("why"), .value = TEXT("fan")}, 1));
		break;
	case ENTRY_NODE_STANDING:
		e->standing.count = 2;
		e->standing.items = memory_take_array(2, sizeof e->standing.items[0]);
		e->standing.items[0] = (struct standing_change){
			1, 2, STANDING_BY_OPERATOR, {.lost_ns = 5, .offlined = true}};
		e->standing.items[1] = (struct standing_change){
			2, 9, STANDING_REJOINED, {.readiness = READINESS_AWAITED, .unready = true}};
		break;
	case ENTRY_JOB_STABLE:
		e->job_stable = (struct entry_job_stable){TEXT("default"), TEXT("web"), 7, true};
		break;
	case ENTRY_JOB_NOTE:
		e->job_note = (struct entry_job_note){TEXT("default"), TEXT("web"), 0, TEXT("g0"),
			memory_take(sizeof *e->job_note.event)};
		e->job_note.event->count = (struct optional_i64){true, 3};
		break;
	default: make_of_records(e);
	}
}

static void make(struct entry *e, enum entry_kind kind, struct node_registration *description)
{
	*e = (struct entry){.kind = kind, .time_ns = -5};
	switch (kind) {
	case ENTRY_TERM: e->term = 7; break;
	case ENTRY_NODE_REGISTER:
	case ENTRY_NODE_AWAITED:
		build_node(description, 3, 9);
		assert_true(node_description_complete(description));
		e->node_register = (struct entry_node_register){
			1, 2, 3, description, true, kind == ENTRY_NODE_AWAITED};
		break;
	case ENTRY_NODE_STATUS: e->node_status = (struct entry_node_status){1, 2, 2, 1}; break;
	case ENTRY_JOB_REGISTER: e->job_register.job = build_job("web", &small, 1); break;
	case ENTRY_JOB_DEREGISTER:
		e->job_deregister = (struct entry_job_deregister){
			TEXT("default"), TEXT("web"), true, PURGE_EVERYWHERE};
		break;
	case ENTRY_CLIENT: e->client = (struct entry_client){4, TEXT("ann")}; break;
	case ENTRY_ALLOC_PLACE:
		e->alloc_place = (struct entry_alloc_place){.id = number_uuid(1),
			.slot = 4,
			.devices = {{0, 6}},
			.score = 0.25,
			.number = 77,
			.nodes_feasible = 5};
		break;
	case ENTRY_PLACE_REQUEST:
		e->place_request = (struct entry_place_request){.client = 1,
			.issued_ms = -9,
			.request = 8,
			.count = 2,
			.items = {{.node_slot = 3}, {.score = 0.5}}};
		break;
	case ENTRY_PLACE_IN_PART:
		e->place_request = (struct entry_place_request){
			.client = 2, .request = 9, .requested = 7, .count = 1};
		break;
	case ENTRY_ALLOC_RELEASE:
		e->alloc_release =
			(struct entry_alloc_release){2, {number_uuid(1), number_uuid(2)}};
		break;
	case ENTRY_COLLECT: e->collect = (struct entry_collect){-1, 2, 3}; break;
	default: make_of_schedulers(e);
	}
}

// Written again, what was read is the same bytes; and no shorter piece of them is anything.
static void expect_same(struct entry *e, struct node_registration *read)
{
	struct entry again;

	struct bytes_writer first = encode(e);
	assert_int_equal(decode(&again, read, first.data, first.size), 0);
	struct bytes_writer second = encode(&again);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	entry_release(&again);
	for (size_t size = 0; size < first.size; size++) {
		assert_int_equal(decode(&again, read, first.data, size), -ERROR_CORRUPT);
		uint32_t body = (uint32_t)size - 6; // as if it were meant to end there
		if (size < 6)
			continue;
		memcpy(first.data + 2, &body, sizeof body);
		assert_true(decode(&again, read, first.data, size) < 0);
	}
	entry_release(e);
	bytes_writer_free(&first);
	bytes_writer_free(&second);
}

static void every_kind_comes_back(void **unused)
{
	struct node_registration *d = memory_take(sizeof *d), *read = memory_take(sizeof *read);

	for (enum entry_kind kind = ENTRY_TERM; kind < ENTRY_KINDS; kind++) {
		struct entry e;
		make(&e, kind, d);
		expect_same(&e, read);
	}
	free(d);
	free(read);
}

static void metrics_of_a_plan_rest_on_those_before_them(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);
	struct entry e = {.kind = ENTRY_PLAN}, again;

	make_plan(&e.plan);
	struct shared_metrics **metrics = e.plan.metrics.items;
	struct bytes_writer w = encode(&e);
	assert_int_equal(decode(&again, read, w.data, w.size), 0);
	struct shared_metrics **decoded = again.plan.metrics.items;
	assert_ptr_equal(shared_metrics_base(decoded[2]), decoded[0]);
	assert_null(shared_metrics_base(decoded[1]));
	entry_release(&again);
	bytes_writer_free(&w);
	struct shared_metrics *moved = metrics[0]; // the third becomes the second
	metrics[0] = metrics[1];
	metrics[1] = metrics[2];
	metrics[2] = moved;
	w = encode(&e);
	assert_int_equal(decode(&again, read, w.data, w.size), -ERROR_CORRUPT);
	bytes_writer_free(&w);
	entry_release(&e);
	free(read);
}

static void every_change_of_a_deployment_comes_back(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);

	for (uint8_t change = 0; change < DEPLOYMENT_CHANGES; change++) {
		struct entry e = {.kind = ENTRY_DEPLOYMENT, .time_ns = 8};
		e.deployment = (struct entry_deployment){.change = change, .id = number_uuid(3)};
		e.deployment.status = DEPLOYMENT_FAILED;
		e.deployment.description = TEXT("over");
		e.deployment.count = change == DEPLOYMENT_CHANGES_STATUS ? 0 : 2;
		if (change == DEPLOYMENT_IS_PROMOTED) {
			e.deployment.groups = memory_take_array(2, sizeof e.deployment.groups[0]);
			e.deployment.groups[1] = TEXT("g1");
		}
		if (change == DEPLOYMENT_HEALTH_IS_SET) {
			e.deployment.items = memory_take_array(2, sizeof e.deployment.items[0]);
			e.deployment.items[1] = (struct alloc_health){number_uuid(4), true};
		}
		expect_same(&e, read);
	}
	free(read);
}

static struct vm *a_machine(void)
{
	struct vm *vm = vm_create();

	vm->name = text_copy(TEXT("a"));
	vm->instance = number_uuid(4);
	vm_set_condition(vm, VM_CONDITION_SCHEDULED, true);
	vm_note(vm, VM_TEXT_RESTARTED, 5);
	return vm;
}

static void every_change_of_a_machine_comes_back(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);

	for (uint8_t change = VM_CHANGES_POWER; change < VM_CHANGES; change++) {
		bool is_noted = change > VM_IS_ASSIGNED;
		struct entry e = {.kind = is_noted ? ENTRY_VM_NOTED : ENTRY_VM,
			.time_ns = 8,
			.vm = {.change = change, .is_noted = is_noted}};
		e.vm.name = TEXT("a");
		if (change == VM_CHANGES_POWER)
			e.vm.power_state = VM_POWER_SUSPENDED;
		if (change == VM_IS_JUDGED)
			e.vm.verdict = VM_STOPPED;
		if (change == VM_IS_ASSIGNED) {
			e.vm.worker = TEXT("w");
			e.vm.instance = number_uuid(5);
			e.vm.holds = (struct resources){1, 2, 3};
		}
		if (change == VM_CHANGES_SPEC) {
			e.vm.net_softnet = true;
			e.vm.net_softnet_block = TEXT("[\"0.0.0.0/0\"]");
		}
		if (change == VM_IS_TOLD)
			e.vm.told = TEXT("told");
		expect_same(&e, read);
	}
	free(read);
}

static void *a_deployment(void)
{
	struct deployment *d = deployment_create();

	map_item(&d->groups, sizeof(struct deployment_group), "g0");
	return d;
}

static void *a_worker(void)
{
	struct vm_worker *worker = vm_worker_create();

	worker->name = text_copy(TEXT("w"));
	worker->node = number_uuid(4);
	return worker;
}

static void *some_settings(void)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);

	settings->scheduler_profile = text_copy(TEXT("any"));
	return settings;
}

static void *a_config(void)
{
	struct scheduler_config *config = memory_take(sizeof *config);

	config->algorithm = ALGORITHM_SPREAD;
	return config;
}

static void *a_pool(void)
{
	struct node_pool *pool = record_create(&node_pool_description);

	pool->name = text_copy(TEXT("gpu"));
	pool->description = text_copy(TEXT("with devices"));
	struct string_pair *pair = map_item(&pool->meta, sizeof *pair, "rack");
	pair->value = text_copy(TEXT("r1"));
	pool->scheduler = memory_take(sizeof *pool->scheduler);
	pool->scheduler->algorithm = 1 + ALGORITHM_SPREAD;
	pool->scheduler->memory_oversubscription = (struct optional_bool){true, false};
	return pool;
}

static void *some_metadata(void)
{
	static const struct metadata_change changes[] = {
		{TEXT("rack"), TEXT("r2"), false}, {TEXT("zone"), TEXT(""), true}};
	static const struct attribute said[] = {{"rack", "r1"}, {"zone", "z"}};
	struct node_class node_class = {.meta_count = 2, .meta = said};
	struct node node = {.id = number_uuid(7), .node_class = &node_class};

	return node_metadata_change(NULL, &node, changes, 2);
}

static void *a_first_token(void)
{
	struct acl_bootstrap *mark = record_create(&acl_bootstrap_description);

	mark->accessor = number_uuid(3);
	mark->reset_index = 35;
	return mark;
}

static struct acl_token *a_token(void)
{
	struct acl_token *token = record_create(&acl_token_description);

	token->accessor = number_uuid(3);
	memset(token->secret.bytes, 7, sizeof token->secret.bytes);
	token->name = text_copy(TEXT("any"));
	*(char **)array_append(&token->policies, sizeof(char *)) = text_copy(TEXT("readers"));
	*(struct uuid *)array_append(&token->roles, sizeof(struct uuid)) = number_uuid(5);
	token->global = true;
	token->create_time_ns = 5;
	token->expiration_time_ns = 15;
	token->expiration_ttl_ns = 10;
	return token;
}

static void *a_role(void)
{
	struct acl_role *role = record_create(&acl_role_description);

	role->id = number_uuid(5);
	role->name = text_copy(TEXT("ops"));
	struct acl_policy_link *link = array_append(&role->policies, sizeof *link);
	link->name = text_copy(TEXT("readers"));
	return role;
}

static void *a_policy(void)
{
	struct acl_policy *policy = record_create(&acl_policy_description);

	policy->name = text_copy(TEXT("readers"));
	policy->rules = text_copy(TEXT("node {\n policy = \"read\"\n}"));
	policy->job = memory_take(sizeof *policy->job);
	policy->job->namespace_name = text_copy(TEXT("default"));
	return policy;
}

static void *a_namespace(void)
{
	struct job_namespace *n = record_create(&job_namespace_description);

	n->name = text_copy(TEXT("team"));
	n->quota = text_copy(TEXT("small"));
	struct string_pair *pair = map_item(&n->meta, sizeof *pair, "owner");
	pair->value = text_copy(TEXT("ops"));
	n->capabilities = memory_take(sizeof *n->capabilities);
	*(char **)array_append(&n->capabilities->enabled_drivers, sizeof(char *)) =
		text_copy(TEXT("exec"));
	return n;
}

static void *a_sender(void)
{
	struct sender *sender = record_create(&sender_description);

	sender->name = text_copy(TEXT("client/ann"));
	sender->is_revoked = true;
	sender->key_generation = 3;
	sender->reason = text_copy(TEXT("lost"));
	sender->time_ns = 5;
	return sender;
}

static void *an_admit_rule(void)
{
	struct admit_rule *rule = record_create(&admit_rule_description);

	rule->pattern = text_copy(TEXT("gpu-*"));
	*(char **)array_append(&rule->pools, sizeof(char *)) = text_copy(TEXT("gpu"));
	rule->devices = (struct optional_i64){true, 8};
	return rule;
}

static void *a_refused_node(void)
{
	struct refused_node *refused = record_create(&refused_node_description);

	refused->id = number_uuid(4);
	refused->name = text_copy(TEXT("gpu-1"));
	refused->claim = ADMIT_CLONE;
	refused->beside = text_copy(TEXT("10.0.0.1:40001"));
	refused->newest_ns = 7;
	return refused;
}

static void *a_variable(void)
{
	struct variable *variable = record_create(&variable_description);

	variable->name = text_copy(TEXT("default.nomad/jobs/web"));
	variable->key = number_uuid(4);
	variable->sealed = text_copy(TEXT("c2VhbGVk"));
	variable->create_time_ns = 5;
	variable->modify_time_ns = 6;
	return variable;
}

static void *a_quota(void)
{
	struct quota *q = record_create(&quota_description);

	q->name = text_copy(TEXT("small"));
	struct quota_limit *limit = array_append(&q->limits, sizeof *limit);
	limit->region = text_copy(TEXT("global"));
	limit->resources.cpu_mhz = 1000;
	struct quota_device *device = array_append(&limit->resources.devices, sizeof *device);
	*device = (struct quota_device){text_copy(TEXT("gpu")), 2};
	return q;
}

static void every_kind_of_record_comes_back(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);
	void *const records[] = {
		[STATE_EVALUATIONS] = an_evaluation(),
		[STATE_DEPLOYMENTS] = a_deployment(),
		[STATE_VMS] = a_machine(),
		[STATE_VM_WORKERS] = a_worker(),
		[STATE_CLUSTER_SETTINGS] = some_settings(),
		[STATE_SCHEDULER_CONFIG] = a_config(),
		[STATE_NODE_POOLS] = a_pool(),
		[STATE_NODE_METADATA] = some_metadata(),
		[STATE_ACL_POLICIES] = a_policy(),
		[STATE_ACL_ROLES] = a_role(),
		[STATE_ACL_TOKENS] = a_token(),
		[STATE_ACL_BOOTSTRAP] = a_first_token(),
		[STATE_QUOTAS] = a_quota(),
		[STATE_NAMESPACES] = a_namespace(),
		[STATE_SENDERS] = a_sender(),
		[STATE_ADMIT_RULES] = an_admit_rule(),
		[STATE_REFUSED_NODES] = a_refused_node(),
		[STATE_VARIABLES] = a_variable(),
	};

	for (uint8_t kind = STATE_EVALUATIONS; kind < STATE_TABLES; kind++) {
		struct entry e = {.kind = ENTRY_RECORD_PUT,
			.record_put = {.kind = kind, .record = records[kind]}};
		expect_same(&e, read);
	}
	free(read);
}

static void every_kind_of_garbage_comes_back(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);

	for (uint8_t kind = 0; kind < GC_KINDS; kind++) {
		struct entry e = {.kind = ENTRY_GC, .gc = {.kind = kind, .count = 1}};
		if (kind == GC_JOB)
			e.gc.job_index = memory_take_array(1, sizeof e.gc.job_index[0]);
		else
			e.gc.ids = memory_take_array(1, sizeof e.gc.ids[0]);
		expect_same(&e, read);
	}
	free(read);
}

// What an older program does not know is not damaged.
static void newer_kinds_of_records_are_refused_as_such(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);
	struct entry e = {
		.kind = ENTRY_RECORD_PUT, .record_put = {.kind = STATE_VMS, .record = a_machine()}};
	struct bytes_writer w = encode(&e);

	entry_release(&e);
	w.data[14] = STATE_TABLES;
	assert_int_equal(decode(&e, read, w.data, w.size), -ERROR_VERSION);
	bytes_writer_free(&w);
	free(read);
}

// A node that told of its virtual machines alone.
static void a_report_of_no_allocation_comes_back(void **unused)
{
	struct node_registration *read = memory_take(sizeof *read);
	struct entry e = {.kind = ENTRY_ALLOC_UPDATE,
		.alloc_update = {.slot = 3, .generation = 4, .sequence = 9}};

	expect_same(&e, read);
	free(read);
}

static void newer_kinds_are_refused_as_such(void **unused)
{
	struct node_registration *d = memory_take(sizeof *d);
	struct entry e;

	make(&e, ENTRY_TERM, d);
	struct bytes_writer w = encode(&e);
	w.data[0] = ENTRY_KINDS;
	assert_int_equal(decode(&e, d, w.data, w.size), -ERROR_VERSION);
	w.data[0] = ENTRY_TERM;
	w.data[1]++;
	assert_int_equal(decode(&e, d, w.data, w.size), -ERROR_VERSION);
	bytes_writer_free(&w);
	free(d);
}

// These hold records and lists that may be read in a longer form than they are written in.
static bool has_one_form(enum entry_kind kind)
{
	return kind != ENTRY_JOB_REGISTER && kind != ENTRY_JOB_NOTE &&
	       kind != ENTRY_ALLOC_TRANSITION && kind != ENTRY_PLAN;
}

// What is read of an entry is all that is written in it: what nobody reads would be lost when it is written again.
static void a_flipped_bit_is_refused_or_comes_back(void **unused)
{
	struct node_registration *d = memory_take(sizeof *d), *read = memory_take(sizeof *read);

	for (enum entry_kind kind = ENTRY_TERM; kind < ENTRY_KINDS; kind++) {
		struct entry e, again;
		if (!has_one_form(kind))
			continue;
		make(&e, kind, d);
		struct bytes_writer w = encode(&e);
		for (size_t bit = 6 * 8; bit < w.size * 8; bit++) {
			w.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (decode(&again, read, w.data, w.size) == 0) {
				struct bytes_writer v = encode(&again);
				if (v.size != w.size || memcmp(v.data, w.data, w.size) != 0)
					fail_msg("kind %u, bit %zu", kind, bit);
				bytes_writer_free(&v);
				entry_release(&again);
			}
			w.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		bytes_writer_free(&w);
		entry_release(&e);
	}
	free(d);
	free(read);
}

static void a_request_in_part_lacks_something(void **unused)
{
	struct node_registration *d = memory_take(sizeof *d);
	struct entry e, again;

	make(&e, ENTRY_PLACE_IN_PART, d);
	e.place_request.requested = e.place_request.count + 1;
	struct bytes_writer w = encode(&e);
	assert_int_equal(decode(&again, d, w.data, w.size), 0);
	bytes_writer_free(&w);
	e.place_request.requested = e.place_request.count;
	w = encode(&e);
	assert_int_equal(decode(&again, d, w.data, w.size), -ERROR_CORRUPT);
	bytes_writer_free(&w);
	free(d);
}

static int replay_damaged(const struct memory_batch *batch, uint32_t at, uint8_t bit)
{
	struct controller c;
	uint8_t *copy = memory_take(batch->size);

	memcpy(copy, batch->data, batch->size);
	copy[at] ^= bit;
	controller_init(&c, (struct state_limits){0});
	int error = replay_stored(c.applier, batch->first_index, copy, batch->size);
	free(copy);
	controller_free(&c);
	return error;
}

static void every_flipped_bit_is_found(void **unused)
{
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	const struct memory_batch *term = &c.log.batches[0];
	for (uint32_t at = 0; at < term->size; at++) {
		int error = replay_damaged(term, at, (uint8_t)(1u << at % 8));
		assert_int_equal(error, at == 4 || at == 5 ? -ERROR_VERSION : -ERROR_CORRUPT);
	}
	controller_free(&c);
}

static void batches_follow_each_other(void **unused)
{
	struct controller c, again;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	for (uint32_t i = 0; i < 3; i++)
		controller_register(&c, i, NULL);
	const struct memory_batch *b = c.log.batches;
	controller_init(&again, (struct state_limits){0});
	struct applier *a = again.applier;
	assert_int_equal(replay_stored(a, 2, b[1].data, b[1].size), -ERROR_CORRUPT); // a gap
	assert_int_equal(replay_stored(a, 1, b[0].data, b[0].size), 0);
	assert_int_equal(replay_stored(a, 1, b[0].data, b[0].size), 0); // known already
	assert_int_equal(replay_stored(a, 2, b[1].data, b[1].size), 0);
	assert_int_equal(replay_stored(a, 4, b[2].data, b[2].size), -ERROR_CORRUPT);
	assert_int_equal(replay_stored(a, 3, b[2].data, b[2].size), 0);
	assert_int_equal(state_index(again.state), 3);
	controller_free(&again);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back),
		cmocka_unit_test(metrics_of_a_plan_rest_on_those_before_them),
		cmocka_unit_test(every_change_of_a_deployment_comes_back),
		cmocka_unit_test(every_change_of_a_machine_comes_back),
		cmocka_unit_test(every_kind_of_record_comes_back),
		cmocka_unit_test(every_kind_of_garbage_comes_back),
		cmocka_unit_test(newer_kinds_of_records_are_refused_as_such),
		cmocka_unit_test(a_report_of_no_allocation_comes_back),
		cmocka_unit_test(newer_kinds_are_refused_as_such),
		cmocka_unit_test(a_flipped_bit_is_refused_or_comes_back),
		cmocka_unit_test(a_request_in_part_lacks_something),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(batches_follow_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
