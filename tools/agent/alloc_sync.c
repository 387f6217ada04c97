#include "tools/agent/alloc_sync.h"
#include "dataplane/wire/seal.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/vm/machine.h"
#include <stdlib.h>

void alloc_sync_start(struct alloc_sync *s, struct runner *runner, struct readiness *readiness,
	const struct node_session *session, uint64_t seed, uint64_t wall_ms)
{
	*s = (struct alloc_sync){
		.runner = runner, .readiness = readiness, .session = session, .sequence = wall_ms};
	prng_seed(&s->prng, seed);
	s->spec = bytes_writer_growing(4096);
	wire_seal_prepare();
}

void alloc_sync_stop(struct alloc_sync *s)
{
	bytes_writer_free(&s->spec);
	free(s->wanted);
	free(s->listed);
	vm_sync_stop(&s->vms);
}

void alloc_sync_registered(struct alloc_sync *s)
{
	s->awaiting = 0;
	s->due_ns = 0;
	s->known_index = 0;
	s->wanted_count = 0;
	s->spec.size = 0;
	s->may_report = false;
	s->wants_all = true;
	s->lists_all = false;
	vm_sync_registered(&s->vms);
	runner_report_all(s->runner);
}

void alloc_sync_heard(struct alloc_sync *s, uint64_t now_ns, uint64_t wall_ns)
{
	// The controller counts the time to live from the heartbeat, the agent from the answer.
	uint64_t silence_ns = (uint64_t)s->session->ttl_ms * NS_PER_MS * 4 / 5;
	bool was_away = s->heard_ns && (now_ns - s->heard_ns > silence_ns ||
					       wall_ns - s->heard_wall_ns > silence_ns);
	s->heard_ns = now_ns;
	s->heard_wall_ns = wall_ns;
	s->may_report = true;
	runner_heard(s->runner);
	if (was_away)
		runner_report_all(s->runner);
}

void alloc_sync_missed(struct alloc_sync *s)
{
	s->may_report = false;
	// The next report is built anew, from the state at that time.
	if (s->awaiting == WIRE_ALLOC_UPDATED || s->awaiting == WIRE_READINESS_TAKEN)
		s->awaiting = 0;
}

static void add_notes(struct wire_alloc_update *u, const struct task *t, uint32_t most)
{
	uint32_t count = t->note_count < most ? t->note_count : most;
	struct wire_task *task = &u->tasks[u->task_count - 1];
	for (uint32_t i = t->note_count - count; i < t->note_count; i++) {
		if (u->event_count == WIRE_UPDATE_EVENTS_MAX)
			return;
		const struct task_note *note = &t->notes[i];
		u->events[u->event_count++] = (struct wire_task_event){text_of(note->type),
			text_of(note->message), note->time_ns, note->exit_code};
		task->event_count++;
	}
}

static uint8_t state_of(const struct task *t)
{
	if (t->phase == PHASE_ENDED)
		return WIRE_TASK_DEAD;
	return task_is_up(t) && !t->is_starting ? WIRE_TASK_RUNNING : WIRE_TASK_PENDING;
}

static uint8_t flags_of(const struct alloc_run *a)
{
	return (uint8_t)((alloc_run_is_nodes_fault(a) ? WIRE_UPDATE_FLAKY : 0) |
			 (a->end == END_UNREADY ? WIRE_UPDATE_UNREADY : 0));
}

static void add_item(
	struct wire_alloc_update *u, const struct alloc_run *a, uint32_t notes, uint32_t tasks)
{
	struct wire_alloc_update_item *item = &u->items[u->count++];
	*item = (struct wire_alloc_update_item){.allocation = a->id,
		.client = a->status,
		.healthy = a->health.verdict,
		.flags = flags_of(a),
		.description = text_of(alloc_run_description(a))};
	for (uint32_t i = 0; i < a->task_count && i < tasks; i++) {
		const struct task *t = &a->tasks[i];
		if (u->task_count == WIRE_UPDATE_TASKS_MAX)
			return;
		u->tasks[u->task_count++] = (struct wire_task){.name = text_of(t->spec->name),
			.state = state_of(t),
			.failed = t->failed,
			.restarts = (uint16_t)(t->restarts < UINT16_MAX ? t->restarts : UINT16_MAX),
			.started_ns = t->started_ns,
			.finished_ns = t->finished_ns,
			.last_restart_ns = t->last_restart_ns,
			.has_handle = task_is_up(t) && t->handle.size > 0,
			.handle_version = t->handle.version,
			.handle = {t->handle.bytes, t->handle.size}};
		item->task_count++;
		add_notes(u, t, notes);
	}
}

// Adds the allocation's update if the frame still holds it: with its newest events, or with fewer; the first update of
// a frame even with fewer tasks.
static bool try_item(struct alloc_sync *s, struct wire_alloc_update *u, const struct alloc_run *a)
{
	static const struct {
		uint32_t notes, tasks;
	} tries[] = {{TASK_EVENTS_KEPT, SPEC_TASKS_MAX}, {4, SPEC_TASKS_MAX}, {2, SPEC_TASKS_MAX},
		{1, SPEC_TASKS_MAX}, {0, SPEC_TASKS_MAX}, {0, 8}, {0, 1}};
	const struct wire_alloc_update before = *u;
	for (uint32_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		if (tries[i].tasks < SPEC_TASKS_MAX && before.count > 0)
			break;
		*u = before;
		add_item(u, a, tries[i].notes, tries[i].tasks);
		if (wire_alloc_update_encode(s->frame, sizeof s->frame, (struct wire_header){0}, u))
			return true;
	}
	*u = before;
	return false;
}

static struct wire_header next_header(struct alloc_sync *s)
{
	return (struct wire_header){.key_id = s->session->key_id,
		.slot = s->session->slot,
		.generation = s->session->generation,
		.sequence = ++s->sequence};
}

// The answer says of which term its controller is.
static struct wire_header question_header(struct alloc_sync *s)
{
	struct wire_header h = next_header(s);
	h.flags = WIRE_FLAG_TERM;
	return h;
}

static uint32_t build_report(struct alloc_sync *s)
{
	struct wire_alloc_update u = {0};
	s->told_count = 0;
	for (const struct alloc_run *a = s->runner->allocs; a; a = a->next) {
		if (!alloc_run_has_news(a))
			continue;
		if (u.count == ALLOC_UPDATES_MAX || !try_item(s, &u, a))
			break;
		s->told[s->told_count].id = a->id;
		s->told[s->told_count++].change = a->change;
	}
	if (u.count == 0)
		return 0;
	s->counters.reports++;
	return wire_alloc_update_encode(s->frame, sizeof s->frame, next_header(s), &u);
}

static uint32_t build_readiness(struct alloc_sync *s)
{
	if (!s->readiness->has_news)
		return 0;
	struct wire_readiness readiness = readiness_tell(s->readiness);
	return wire_readiness_encode(s->frame, sizeof s->frame, next_header(s), &readiness);
}

static uint32_t build_question(struct alloc_sync *s)
{
	if (s->wants_all) {
		s->wants_all = false;
		s->lists_all = true;
		s->known_index = 0;
		s->listed_count = 0;
	} else if (!s->lists_all && s->session->alloc_index <= s->known_index) {
		return 0;
	}
	struct wire_allocs allocs = {s->known_index, ALLOC_ITEMS_MAX};
	s->counters.questions++;
	return wire_allocs_encode(s->frame, sizeof s->frame, question_header(s), &allocs);
}

static uint32_t build_spec_question(struct alloc_sync *s)
{
	if (s->wanted_count == 0)
		return 0;
	struct wire_alloc_spec spec = {
		s->wanted[0].id, (uint32_t)s->spec.size, WIRE_SPEC_BYTES_SEALED};
	struct wire_header header = question_header(s);
	header.flags |= WIRE_FLAG_SEALED;
	s->counters.pieces++;
	return wire_alloc_spec_encode(s->frame, sizeof s->frame, header, &spec);
}

static uint32_t build_machines_question(struct alloc_sync *s, uint64_t now_ns)
{
	if (vm_sync_next_ns(&s->vms, s->session->alloc_index) > now_ns)
		return 0;
	struct wire_vms vms = vm_sync_ask(&s->vms, s->session->alloc_index);
	s->counters.questions++;
	return wire_vms_encode(s->frame, sizeof s->frame, question_header(s), &vms);
}

static bool build_next(struct alloc_sync *s, uint64_t now_ns)
{
	if (s->may_report && (s->length = build_report(s)) > 0) {
		s->awaiting = WIRE_ALLOC_UPDATED;
		return true;
	}
	if (s->may_report && (s->length = build_readiness(s)) > 0) {
		s->awaiting = WIRE_READINESS_TAKEN;
		return true;
	}
	if ((s->length = build_question(s)) > 0) {
		s->awaiting = WIRE_ALLOCS_REPLY;
		return true;
	}
	if ((s->length = build_machines_question(s, now_ns)) > 0) {
		s->awaiting = WIRE_VMS_REPLY;
		return true;
	}
	if ((s->length = build_spec_question(s)) > 0) {
		s->awaiting = WIRE_ALLOC_SPEC_REPLY;
		return true;
	}
	return false;
}

uint32_t alloc_sync_due(struct alloc_sync *s, uint64_t now_ns)
{
	if (s->session->generation == 0 || now_ns < s->due_ns)
		return 0;
	if (s->awaiting) {
		s->counters.resent++;
	} else {
		backoff_reset(&s->backoff);
		if (!build_next(s, now_ns))
			return 0;
		wire_sign(&s->session->key, s->frame, s->length);
	}
	s->due_ns = now_ns + (SYNC_WAIT_MS + backoff_jittered_ms(&s->backoff, SYNC_WAIT_MS,
						     SYNC_CAP_MS, &s->prng)) *
				     NS_PER_MS;
	return s->length;
}

uint64_t alloc_sync_next_ns(const struct alloc_sync *s)
{
	if (s->session->generation == 0)
		return UINT64_MAX;
	bool has_news = s->readiness->has_news;
	for (const struct alloc_run *a = s->runner->allocs; a && !has_news; a = a->next)
		has_news = alloc_run_has_news(a);
	bool has_work = s->awaiting || s->wants_all || s->lists_all || s->wanted_count > 0 ||
			s->session->alloc_index > s->known_index || (s->may_report && has_news);
	if (has_work)
		return s->due_ns;
	uint64_t machines_ns = vm_sync_next_ns(&s->vms, s->session->alloc_index);
	return machines_ns > s->due_ns ? machines_ns : s->due_ns;
}

static void done(struct alloc_sync *s)
{
	s->awaiting = 0;
	s->due_ns = 0;
}

static void take_updated(struct alloc_sync *s, const struct wire_alloc_updated *updated)
{
	for (uint32_t i = 0; i < s->told_count && i < updated->count; i++) {
		struct alloc_run *a = runner_find(s->runner, &s->told[i].id);
		if (!a)
			continue;
		a->reported = s->told[i].change;
		if (!updated->known[i])
			runner_forget(s->runner, a);
	}
}

static void add_wanted(struct alloc_sync *s, struct sync_wanted wanted)
{
	for (uint32_t i = 0; i < s->wanted_count; i++)
		if (uuid_equal(&s->wanted[i].id, &wanted.id))
			return;
	if (s->wanted_count == s->wanted_capacity) {
		s->wanted_capacity = s->wanted_capacity ? s->wanted_capacity * 2 : 16;
		s->wanted = memory_resize(s->wanted, s->wanted_capacity * sizeof s->wanted[0]);
	}
	s->wanted[s->wanted_count++] = wanted;
}

static void want_alloc(struct alloc_sync *s, const struct wire_alloc_item *item)
{
	add_wanted(
		s, (struct sync_wanted){item->allocation, item->job_index, item->version, false});
}

static void want_machine(void *context, const struct wire_vm_item *item)
{
	add_wanted(context, (struct sync_wanted){item->instance, 0, item->version, true});
}

static void list(struct alloc_sync *s, const struct uuid *id)
{
	if (s->listed_count == s->listed_capacity) {
		s->listed_capacity = s->listed_capacity ? s->listed_capacity * 2 : 64;
		s->listed = memory_resize(s->listed, s->listed_capacity * sizeof s->listed[0]);
	}
	s->listed[s->listed_count++] = *id;
}

// Does what the controller wants of an allocation that runs here. The agent applies the controller's change first, then
// reports again what the controller does not know or has forgotten.
static void take_running(
	struct alloc_sync *s, struct alloc_run *a, const struct wire_alloc_item *item)
{
	bool is_newer = item->version > a->version;
	if (is_newer && a->spec)
		want_alloc(s, item);
	if (item->client == WIRE_CLIENT_UNKNOWN) {
		if (is_newer)
			runner_reconnect(s->runner, a);
	} else if (item->client != a->status) {
		a->change++;
	} else if (a->health.verdict && !(item->flags & WIRE_ALLOC_HEALTH_KNOWN) && !is_newer) {
		a->change++;
	}
}

static void take_item(struct alloc_sync *s, const struct wire_alloc_item *item)
{
	struct alloc_run *a = runner_find(s->runner, &item->allocation);
	bool has_ended = item->client >= WIRE_CLIENT_COMPLETE && item->client <= WIRE_CLIENT_LOST;
	bool is_wanted = item->desired == WIRE_DESIRED_RUN && !has_ended;
	if (s->lists_all)
		list(s, &item->allocation);
	if (a && is_wanted)
		take_running(s, a, item);
	else if (a)
		runner_stop(s->runner, a);
	else if (!a && is_wanted)
		want_alloc(s, item);
	else if (!a && !has_ended) // the controller stopped it before it began here
		runner_add_ended(s->runner, &item->allocation, false);
}

static bool is_listed(const struct alloc_sync *s, const struct uuid *id)
{
	for (uint32_t i = 0; i < s->listed_count; i++)
		if (uuid_equal(&s->listed[i], id))
			return true;
	return false;
}

static void take_list(struct alloc_sync *s, const struct wire_allocs_reply *reply)
{
	for (uint32_t i = 0; i < reply->count; i++)
		take_item(s, &reply->items[i]);
	s->known_index = reply->index;
	if (reply->more || !s->lists_all)
		return;
	s->lists_all = false;
	for (struct alloc_run *a = s->runner->allocs; a; a = a->next)
		if (!a->is_machine && !is_listed(s, &a->id))
			runner_forget(s->runner, a);
}

static void drop_wanted(struct alloc_sync *s)
{
	s->wanted_count--;
	memmove(s->wanted, s->wanted + 1, s->wanted_count * sizeof s->wanted[0]);
	s->spec.size = 0;
}

static void take_whole_spec(struct alloc_sync *s)
{
	char message[200], quoted[300], text[UUID_TEXT_BYTES];
	struct sync_wanted wanted = s->wanted[0];
	const char *json = (const char *)s->spec.data;
	struct alloc_spec *spec =
		wanted.is_machine
			? machine_spec_read(json, s->spec.size, &wanted.id,
				  &s->runner->settings.machines, message, sizeof message)
			: alloc_spec_read(json, s->spec.size, &wanted.id, message, sizeof message);
	struct alloc_run *known = runner_find(s->runner, &wanted.id);
	drop_wanted(s);
	if (spec && known && !known->spec) { // it ended here before it began
		alloc_spec_free(spec);
		return;
	}
	if (spec) {
		runner_add(s->runner, &wanted.id, wanted.job_index, s->spec_version, spec);
		return;
	}
	log_error("allocation-not-understood", "id=%s error=%s", uuid_format(&wanted.id, text),
		log_quote(message, quoted, sizeof quoted));
	if (!known)
		runner_add_ended(s->runner, &wanted.id, true)->is_machine = wanted.is_machine;
}

static void take_piece(struct alloc_sync *s, const struct wire_alloc_spec_reply *reply)
{
	if (s->wanted_count == 0)
		return;
	if (reply->version != s->spec_version && reply->offset > 0) {
		s->spec.size = 0; // the description changed between two pieces: begin again
		return;
	}
	if (reply->offset != s->spec.size)
		return;
	s->spec_version = reply->version;
	bytes_put(&s->spec, reply->data, reply->bytes);
	if (s->spec.size >= reply->total)
		take_whole_spec(s);
}

// Opens what is sealed into plain. False: it is not what the controller sealed for this question, and as good as no
// answer. An older controller answers in clear; nobody else can, as the frame is signed.
static bool open_piece(struct alloc_sync *s, const uint8_t *frame,
	struct wire_alloc_spec_reply *piece, uint8_t plain[static WIRE_SPEC_BYTES_MAX])
{
	char text[UUID_TEXT_BYTES];
	if (!piece->is_sealed) {
		if (s->counters.clear_pieces++ == 0)
			log_warn("descriptions-in-clear",
				"why=\"the controller does not know how to seal them\"");
		return true;
	}
	if (s->wanted_count > 0 &&
		wire_alloc_spec_open(frame, &s->session->key, &s->wanted[0].id, piece, plain)) {
		piece->data = plain;
		return true;
	}
	if (s->counters.not_opened++ == 0)
		log_error("description-not-opened", "id=%s",
			s->wanted_count ? uuid_format(&s->wanted[0].id, text) : "");
	return false;
}

static void take_refusal(struct alloc_sync *s, const struct wire_refused *why, uint64_t now_ns)
{
	uint64_t wait_ms = why->retry_after_ms +
			   backoff_jittered_ms(&s->backoff, SYNC_WAIT_MS, SYNC_CAP_MS, &s->prng);
	s->counters.refused++;
	switch (why->reason) {
	case WIRE_REFUSED_OVERLOADED:
	case WIRE_REFUSED_STOPPING:
	case WIRE_REFUSED_STORE_FULL: break;                       // sends the same frame again
	case WIRE_REFUSED_NOT_LEADER: s->wants_beat = true; break; // which finds who leads
	case WIRE_REFUSED_UNKNOWN_ALLOCATION:
		if (s->awaiting == WIRE_ALLOC_SPEC_REPLY && s->wanted_count > 0)
			drop_wanted(s);
		s->awaiting = 0;
		break;
	case WIRE_REFUSED_NOT_ALLOWED:
		s->may_report = false;
		s->wants_beat = true;
		s->awaiting = 0;
		break;
	case WIRE_REFUSED_STALE_GENERATION: // the next heartbeat is refused, too
		wait_ms += SYNC_STALE_WAIT_MS;
		s->awaiting = 0;
		break;
	default:
		log_error("allocation-request-refused", "request=%s reason=%s",
			wire_type_name(why->request_type), wire_refusal_name(why->reason));
		wait_ms += SYNC_CAP_MS;
		s->awaiting = 0;
	}
	s->due_ns = now_ns + wait_ms * NS_PER_MS;
}

// What a controller of another term says of the node's work is not for the node: a replaced one would stop what the
// true one wants. The question is sent again. A newer term is learnt from a heartbeat.
static bool is_of_term(struct alloc_sync *s, const struct wire_header *h, uint64_t term)
{
	bool says = h->flags & WIRE_FLAG_TERM;
	if (says && term == s->session->term)
		return true;
	s->counters.other_terms++;
	s->wants_beat = says && term > s->session->term;
	return false;
}

static void take_answer(
	struct alloc_sync *s, const uint8_t *frame, const struct wire_header *h, uint64_t now_ns)
{
	struct wire_alloc_updated updated;
	struct wire_allocs_reply list_reply;
	struct wire_alloc_spec_reply piece;
	uint8_t plain[WIRE_SPEC_BYTES_MAX];
	struct wire_vms_reply machines;
	struct wire_refused refused;
	uint64_t index;
	switch (h->type) {
	case WIRE_ALLOC_UPDATED:
		if (wire_alloc_updated_decode(frame, h, &updated))
			take_updated(s, &updated);
		break;
	case WIRE_ALLOCS_REPLY:
		if (!wire_allocs_reply_decode(frame, h, &list_reply))
			break;
		if (!is_of_term(s, h, list_reply.term))
			return;
		take_list(s, &list_reply);
		break;
	case WIRE_ALLOC_SPEC_REPLY:
		if (!wire_alloc_spec_reply_decode(frame, h, &piece))
			break;
		if (!is_of_term(s, h, piece.term) || !open_piece(s, frame, &piece, plain))
			return;
		take_piece(s, &piece);
		break;
	case WIRE_VMS_REPLY:
		if (!wire_vms_reply_decode(frame, h, &machines))
			break;
		if (!is_of_term(s, h, machines.term))
			return;
		if (vm_sync_take(&s->vms, &machines, now_ns))
			vm_sync_settle(&s->vms, s->runner, want_machine, s);
		break;
	case WIRE_READINESS_TAKEN:
		if (wire_readiness_taken_decode(frame, h, &index))
			readiness_told(s->readiness);
		break;
	case WIRE_REFUSED:
		if (wire_refused_decode(frame, h, &refused))
			take_refusal(s, &refused, now_ns);
		return;
	}
	done(s);
}

bool alloc_sync_receive(struct alloc_sync *s, const uint8_t *frame, uint32_t size, uint64_t now_ns)
{
	struct wire_header h;
	if (wire_header_decode(frame, size, &h) != WIRE_OK)
		return false;
	bool is_refusal = h.type == WIRE_REFUSED && size > WIRE_HEADER_BYTES &&
			  frame[WIRE_HEADER_BYTES] >= WIRE_ALLOC_UPDATE;
	if (!is_refusal && (h.type < WIRE_ALLOC_UPDATE || h.type == WIRE_NOTIFY))
		return false;
	if (s->awaiting && (h.type == s->awaiting || is_refusal) && h.sequence == s->sequence &&
		h.slot == s->session->slot && h.generation == s->session->generation &&
		size <= s->length && wire_verify(&s->session->key, frame, size))
		take_answer(s, frame, &h, now_ns);
	return true;
}
