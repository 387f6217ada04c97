#include "tools/api/events/event_log.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/nodes/admit_rule.h"
#include "state/records/nodes/node_pool.h"
#include "state/records/nodes/sender.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

// One thread at a time writes a slot. The slot's number is 0 while it changes and one more than the event's afterwards,
// so that a reader sees whether its whole copy belongs to one event.

#define EVENT_WORDS 4u
#define NAME_WORDS ((NAME_BYTES_MAX + 1) / 8)

struct event_slot {
	_Atomic uint64_t number;
	_Atomic uint64_t words[EVENT_WORDS]; // index, kind, id
};
// Names of records without ids, in rings of slots: one ring for jobs, which have two names, and one for the rest, so
// that many changes of machines do not overwrite names of jobs.
struct names {
	_Atomic uint64_t *slots; // number, then the words of each name
	uint32_t room, count;    // slots; names in each
	uint64_t head;           // applier
};
enum name_ring { NAMES_OF_JOBS, NAMES_OF_MACHINES, NAME_RINGS };
static const struct names empty_names[NAME_RINGS] = {
	[NAMES_OF_JOBS] = {.room = EVENT_LOG_JOBS, .count = 2}, // with the namespace
	[NAMES_OF_MACHINES] = {.room = EVENT_LOG_MACHINES, .count = 1},
};
#define NAMES_MOST 2u

static uint32_t slot_words(const struct names *names)
{
	return 1 + names->count * NAME_WORDS;
}

static size_t names_bytes(const struct names *names)
{
	return (size_t)names->room * slot_words(names) * sizeof names->slots[0];
}

static _Atomic uint64_t *name_slot(const struct names *names, uint64_t number)
{
	return names->slots + number % names->room * slot_words(names);
}

struct event_log {
	struct state_observer observer;
	struct event_slot *events;
	struct names names[NAME_RINGS];
	_Atomic uint64_t head;
	_Atomic uint32_t listeners;
	pthread_mutex_t writing; // the applier, or rarely another for one event
	int fd;
};

static void slot_write(_Atomic uint64_t *number_at, _Atomic uint64_t *words, const uint64_t *from,
	uint32_t count, uint64_t number)
{
	atomic_store_explicit(number_at, 0, memory_order_relaxed);
	// A reader that sees one of these words also sees that the slot changes.
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&words[i], from[i], memory_order_release);
	atomic_store_explicit(number_at, number + 1, memory_order_release);
}

static bool slot_read(const _Atomic uint64_t *number_at, const _Atomic uint64_t *words,
	uint64_t *to, uint32_t count, uint64_t number)
{
	if (atomic_load_explicit(number_at, memory_order_acquire) != number + 1)
		return false;
	for (uint32_t i = 0; i < count; i++)
		to[i] = atomic_load_explicit(&words[i], memory_order_acquire);
	return atomic_load_explicit(number_at, memory_order_relaxed) == number + 1;
}

// The kind of a change's event: topic, type and, for records without an id, the place of the name.
struct kind {
	uint8_t topic, type;
	uint32_t name;
};

static void push_event(
	struct event_log *log, uint64_t index, struct kind kind, const struct uuid *id)
{
	uint64_t number = atomic_load_explicit(&log->head, memory_order_relaxed);
	struct event_slot *slot = &log->events[number % EVENT_LOG_EVENTS];
	uint64_t words[EVENT_WORDS] = {
		index, kind.topic | (uint64_t)kind.type << 8 | (uint64_t)kind.name << 16};
	memcpy(&words[2], id, sizeof *id);
	slot_write(&slot->number, slot->words, words, EVENT_WORDS, number);
	atomic_store_explicit(&log->head, number + 1, memory_order_release);
}

static void push_named(struct event_log *log, enum name_ring ring, enum event_topic topic,
	enum event_type type, const char *const *texts, uint64_t index)
{
	static const struct uuid none;
	struct names *names = &log->names[ring];
	uint64_t words[NAMES_MOST * NAME_WORDS] = {0}, number = names->head++;
	for (uint32_t i = 0; i < names->count; i++) {
		struct text text = text_of(texts[i]);
		CHECK(text.size <= NAME_BYTES_MAX);
		memcpy(words + i * NAME_WORDS, text.data, text.size);
	}
	_Atomic uint64_t *slot = name_slot(names, number);
	slot_write(slot, slot + 1, words, names->count * NAME_WORDS, number);
	push_event(
		log, index, (struct kind){(uint8_t)topic, (uint8_t)type, (uint32_t)number}, &none);
}

static bool drains_differ(const struct drain_strategy *a, const struct drain_strategy *b)
{
	if (!a || !b)
		return a != b;
	return a->deadline_ns != b->deadline_ns || a->force_deadline_ns != b->force_deadline_ns ||
	       a->ignore_system_jobs != b->ignore_system_jobs;
}

static void push_node(
	struct event_log *log, const struct node *before, const struct node *after, uint64_t index)
{
	enum event_type type = EVENT_NODE_STREAM_EVENT;
	if (after->record.deleted)
		type = EVENT_NODE_DEREGISTRATION;
	else if (!before || before->described_index != after->described_index)
		type = EVENT_NODE_REGISTRATION;
	else if (drains_differ(before->drain, after->drain))
		type = EVENT_NODE_DRAIN;
	else if (before->eligibility != after->eligibility)
		type = EVENT_NODE_ELIGIBILITY;
	push_event(log, index, (struct kind){TOPIC_NODE, (uint8_t)type, 0}, &after->id);
}

// of_status: the type of a change of its status.
static void push_job(struct event_log *log, const struct job *before, const struct job *after,
	enum event_type of_status, uint64_t index)
{
	const char *const names[2] = {after->namespace_name, after->id};
	enum event_type type = of_status;
	if (after->record.deleted || (after->stop && !(before && before->stop)))
		type = EVENT_JOB_DEREGISTERED;
	else if (!before || before->job_modify_index != after->job_modify_index)
		type = EVENT_JOB_REGISTERED;
	push_named(log, NAMES_OF_JOBS, TOPIC_JOB, type, names, index);
}

static void push_evaluation(struct event_log *log, const struct evaluation *before,
	const struct evaluation *after, uint64_t index)
{
	enum event_type type = EVENT_EVALUATION_UPDATED;
	if (after->record.deleted)
		return;
	if (!before && after->triggered_by == TRIGGER_JOB_REGISTER)
		type = EVENT_JOB_REGISTERED;
	else if (!before && after->triggered_by == TRIGGER_JOB_DEREGISTER)
		type = EVENT_JOB_DEREGISTERED;
	push_event(log, index, (struct kind){TOPIC_EVALUATION, (uint8_t)type, 0}, &after->id);
}

static enum event_type allocation_event(
	const struct allocation *before, const struct allocation *after)
{
	if (before && before->alloc_modify_index == after->alloc_modify_index)
		return EVENT_ALLOCATION_UPDATED;
	if (before && before->desired == after->desired && before->job == after->job)
		return EVENT_ALLOCATION_UPDATE_DESIRED_STATUS;
	return EVENT_PLAN_RESULT;
}

static void push_allocation(struct event_log *log, const struct allocation *before,
	const struct allocation *after, uint64_t index)
{
	enum event_type type = allocation_event(before, after);
	if (!after->record.deleted)
		push_event(
			log, index, (struct kind){TOPIC_ALLOCATION, (uint8_t)type, 0}, &after->id);
}

// What made a batch, as far as the types of its events tell.
struct batch {
	bool has_plan, has_report;
};

// Only a node's report changes what a client says; verdicts on health may also come from elsewhere.
static bool is_reported(const struct allocation *before, const struct allocation *after)
{
	return before && !after->record.deleted &&
	       (before->client_status != after->client_status || before->report != after->report);
}

static struct batch batch_of(const struct state_change *changes, uint32_t count)
{
	struct batch batch = {false, false};
	for (uint32_t i = 0; i < count; i++) {
		const struct allocation *before = (const void *)changes[i].before;
		const struct allocation *after = (const void *)changes[i].after;
		if (changes[i].table != STATE_ALLOCATIONS || after->record.deleted)
			continue;
		enum event_type type = allocation_event(before, after);
		batch.has_plan |= type == EVENT_PLAN_RESULT;
		batch.has_report |= type == EVENT_ALLOCATION_UPDATED && is_reported(before, after);
	}
	return batch;
}

// A node's report also is an event of the node, once in its batch.
static void push_reporters(
	struct event_log *log, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct uuid last = {{0}};
	for (uint32_t i = 0; i < count; i++) {
		const struct allocation *before = (const void *)changes[i].before;
		const struct allocation *after = (const void *)changes[i].after;
		if (changes[i].table != STATE_ALLOCATIONS ||
			allocation_event(before, after) != EVENT_ALLOCATION_UPDATED ||
			!is_reported(before, after) || uuid_equal(&after->node_id, &last))
			continue;
		last = after->node_id;
		push_event(log, index, (struct kind){TOPIC_NODE, EVENT_ALLOCATION_UPDATED, 0},
			&after->node_id);
	}
}

static bool is_promoted(const struct deployment *d, uint32_t group)
{
	return group < d->groups.count &&
	       ARRAY_AT(&d->groups, struct deployment_group, group)->promoted;
}

static int64_t verdicts(const struct deployment *d)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		// A reversed verdict keeps the number of verdicts but changes this sum.
		sum += g->healthy_allocs + 2 * g->unhealthy_allocs;
	}
	return sum;
}

// of_health: the type of a change of its verdicts.
static void push_deployment(struct event_log *log, const struct deployment *before,
	const struct deployment *after, enum event_type of_health, uint64_t index)
{
	enum event_type type = EVENT_PLAN_RESULT;
	bool promoted = false;
	if (after->record.deleted)
		return;
	for (uint32_t i = 0; before && i < after->groups.count; i++)
		promoted = promoted || (is_promoted(after, i) && !is_promoted(before, i));
	if (promoted)
		type = EVENT_DEPLOYMENT_PROMOTION;
	else if (before && before->status != after->status)
		type = EVENT_DEPLOYMENT_STATUS_UPDATE;
	else if (before && verdicts(before) != verdicts(after))
		type = of_health;
	push_event(log, index, (struct kind){TOPIC_DEPLOYMENT, (uint8_t)type, 0}, &after->id);
}

static void push_vm(
	struct event_log *log, const struct vm *before, const struct vm *after, uint64_t index)
{
	const char *const name = after->name;
	enum event_type types[EVENT_TYPES_AT_ONCE];
	uint32_t count = event_types_of_vm(before, after, types);
	for (uint32_t i = 0; i < count; i++)
		push_named(log, NAMES_OF_MACHINES, TOPIC_VM, types[i], &name, index);
}

static void push_vm_worker(struct event_log *log, const struct vm_worker *before,
	const struct vm_worker *after, uint64_t index)
{
	const char *const name = after->name;
	enum event_type type = event_type_of_vm_worker(before, after);
	if (type != EVENT_TYPES)
		push_named(log, NAMES_OF_MACHINES, TOPIC_VM_WORKER, type, &name, index);
}

// Who leaves the list of the newest ones is no news.
static void push_refused_node(
	struct event_log *log, const struct refused_node *after, uint64_t index)
{
	bool is_clone = after->claim == ADMIT_CLONE;
	enum event_type type = is_clone ? EVENT_NODE_QUARANTINED : EVENT_NODE_REFUSED;
	if (!after->record.deleted)
		push_event(
			log, index, (struct kind){TOPIC_ADMISSION, (uint8_t)type, 0}, &after->id);
}

_Static_assert(SENDER_NAME_BYTES <= NAME_BYTES_MAX, "a sender's name fits");

static void push_sender(struct event_log *log, const struct sender *before,
	const struct sender *after, uint64_t index)
{
	const char *const name = after->name;
	bool is_gone = after->record.deleted, was_there = before && !before->record.deleted;
	enum event_type type = EVENT_SENDER_RESTORED;
	if (!is_gone && after->is_revoked)
		type = EVENT_SENDER_REVOKED;
	else if (!is_gone && after->key_generation != (was_there ? before->key_generation : 0))
		type = EVENT_SENDER_REKEYED;
	push_named(log, NAMES_OF_MACHINES, TOPIC_SENDER, type, &name, index);
}

static void push_node_pool(struct event_log *log, const struct node_pool *after, uint64_t index)
{
	const char *const name = after->name;
	push_named(log, NAMES_OF_MACHINES, TOPIC_NODE_POOL,
		after->record.deleted ? EVENT_NODE_POOL_DELETED : EVENT_NODE_POOL_UPSERTED, &name,
		index);
}

static void push_acl_policy(struct event_log *log, const struct acl_policy *after, uint64_t index)
{
	const char *const name = after->name;
	push_named(log, NAMES_OF_MACHINES, TOPIC_ACL_POLICY,
		after->record.deleted ? EVENT_ACL_POLICY_DELETED : EVENT_ACL_POLICY_UPSERTED, &name,
		index);
}

static void push_acl_role(struct event_log *log, const struct acl_role *after, uint64_t index)
{
	bool is_gone = after->record.deleted;
	enum event_type type = is_gone ? EVENT_ACL_ROLE_DELETED : EVENT_ACL_ROLE_UPSERTED;
	push_event(log, index, (struct kind){TOPIC_ACL_ROLE, (uint8_t)type, 0}, &after->id);
}

static void push_acl_token(struct event_log *log, const struct acl_token *after, uint64_t index)
{
	bool is_gone = after->record.deleted;
	enum event_type type = is_gone ? EVENT_ACL_TOKEN_DELETED : EVENT_ACL_TOKEN_UPSERTED;
	push_event(log, index, (struct kind){TOPIC_ACL_TOKEN, (uint8_t)type, 0}, &after->accessor);
}

static void push_change(struct event_log *log, const struct state_change *change,
	const struct batch *batch, uint64_t index)
{
	const void *before = change->before, *after = change->after;
	switch (change->table) {
	case STATE_NODES: push_node(log, before, after, index); break;
	case STATE_JOBS:
		// The same version: its status, or only counts of its allocations changed.
		if (before != after || change->shown_anew)
			push_job(log, before, after,
				batch->has_plan ? EVENT_PLAN_RESULT : EVENT_EVALUATION_UPDATED,
				index);
		break;
	case STATE_ALLOCATIONS: push_allocation(log, before, after, index); break;
	case STATE_EVALUATIONS: push_evaluation(log, before, after, index); break;
	case STATE_DEPLOYMENTS:
		push_deployment(log, before, after,
			batch->has_report ? EVENT_ALLOCATION_UPDATED
					  : EVENT_DEPLOYMENT_ALLOC_HEALTH,
			index);
		break;
	case STATE_VMS: push_vm(log, before, after, index); break;
	case STATE_VM_WORKERS: push_vm_worker(log, before, after, index); break;
	case STATE_NODE_POOLS: push_node_pool(log, after, index); break;
	case STATE_ACL_POLICIES: push_acl_policy(log, after, index); break;
	case STATE_ACL_ROLES: push_acl_role(log, after, index); break;
	case STATE_ACL_TOKENS: push_acl_token(log, after, index); break;
	case STATE_SENDERS: push_sender(log, before, after, index); break;
	case STATE_REFUSED_NODES: push_refused_node(log, after, index); break;
	default: break;
	}
}

static void wake_listeners(struct event_log *log)
{
	uint64_t one = 1;
	if (!atomic_load(&log->listeners))
		return;
	// Fails only when the counter is full, and then the listener is awake anyway.
	ssize_t written = write(log->fd, &one, sizeof one);
	(void)written;
}

// Applier thread.
static void state_changed(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct event_log *log = context;
	const struct batch batch = batch_of(changes, count);
	CHECK(pthread_mutex_lock(&log->writing) == 0);
	for (uint32_t i = 0; i < count; i++)
		push_change(log, &changes[i], &batch, index);
	if (batch.has_report)
		push_reporters(log, changes, count, index);
	CHECK(pthread_mutex_unlock(&log->writing) == 0);
	wake_listeners(log);
}

uint64_t event_log_head(const struct event_log *log)
{
	return atomic_load_explicit(&log->head, memory_order_acquire);
}

// An event keeps only the low bits of the name's number.
static void read_names(
	const struct names *names, uint32_t number, char *const texts[static NAMES_MOST])
{
	const _Atomic uint64_t *slot = name_slot(names, number);
	uint64_t words[NAMES_MOST * NAME_WORDS];
	uint64_t now = atomic_load_explicit(slot, memory_order_acquire);
	if (!now || (uint32_t)(now - 1) != number ||
		!slot_read(slot, slot + 1, words, names->count * NAME_WORDS, now - 1))
		return;
	for (uint32_t i = 0; i < names->count; i++)
		memcpy(texts[i], words + i * NAME_WORDS, NAME_BYTES_MAX + 1);
}

bool event_log_read(const struct event_log *log, uint64_t number, struct event *event)
{
	const struct event_slot *slot = &log->events[number % EVENT_LOG_EVENTS];
	uint64_t words[EVENT_WORDS];
	if (!slot_read(&slot->number, slot->words, words, EVENT_WORDS, number))
		return false;
	*event = (struct event){
		.index = words[0], .topic = words[1] & 0xff, .type = words[1] >> 8 & 0xff};
	memcpy(&event->id, &words[2], sizeof event->id);
	uint32_t name = (uint32_t)(words[1] >> 16);
	if (event->topic == TOPIC_JOB)
		read_names(&log->names[NAMES_OF_JOBS], name,
			(char *const[]){event->namespace_name, event->name});
	else if (event_has_name(event))
		read_names(
			&log->names[NAMES_OF_MACHINES], name, (char *const[]){event->name, NULL});
	return true;
}

// The index of an event, or 0 when the log no longer holds it.
static uint64_t index_of(const struct event_log *log, uint64_t number)
{
	const struct event_slot *slot = &log->events[number % EVENT_LOG_EVENTS];
	uint64_t words[EVENT_WORDS];
	return slot_read(&slot->number, slot->words, words, EVENT_WORDS, number) ? words[0] : 0;
}

uint64_t event_log_find(const struct event_log *log, uint64_t index)
{
	uint64_t last = event_log_head(log);
	uint64_t first = last >= EVENT_LOG_EVENTS ? last - EVENT_LOG_EVENTS + 1 : 0;
	while (first < last) {
		uint64_t middle = first + (last - first) / 2;
		if (index_of(log, middle) < index)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

void event_log_expiry(struct event_log *log, bool is_held, uint64_t state_index)
{
	static const struct uuid none;
	struct kind kind = {TOPIC_LIVENESS, is_held ? EVENT_EXPIRY_HELD : EVENT_EXPIRY_RELEASED, 0};
	CHECK(pthread_mutex_lock(&log->writing) == 0);
	uint64_t head = event_log_head(log);
	push_event(log, head ? index_of(log, head - 1) : state_index, kind, &none);
	CHECK(pthread_mutex_unlock(&log->writing) == 0);
	wake_listeners(log);
}

int event_log_fd(const struct event_log *log)
{
	return log->fd;
}

void event_log_listen(struct event_log *log, bool on)
{
	atomic_fetch_add(&log->listeners, on ? 1u : -1u);
}

struct event_log *event_log_create(void)
{
	struct event_log *log = memory_take(sizeof *log);
	CHECK(pthread_mutex_init(&log->writing, NULL) == 0);
	log->events = memory_map_or_end(EVENT_LOG_EVENTS * sizeof log->events[0]);
	for (uint32_t i = 0; i < NAME_RINGS; i++) {
		log->names[i] = empty_names[i];
		log->names[i].slots = memory_map_or_end(names_bytes(&log->names[i]));
	}
	log->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (log->fd < 0) {
		event_log_destroy(log);
		return NULL;
	}
	log->observer = (struct state_observer){.changed = state_changed, .context = log};
	return log;
}

void event_log_destroy(struct event_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	memory_unmap(log->events, EVENT_LOG_EVENTS * sizeof log->events[0]);
	for (uint32_t i = 0; i < NAME_RINGS; i++)
		memory_unmap(log->names[i].slots, names_bytes(&log->names[i]));
	free(log);
}

struct state_observer *event_log_observer(struct event_log *log)
{
	return &log->observer;
}
