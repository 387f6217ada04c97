#include "tools/api/forward/forwarder.h"
#include "state/base/check.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/forward/forwarder_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Between two tries of a request, and between two looks at who leads.
#define LOOK_MS 100
#define IDLE_MS 10000
#define STATUS_NO_LEADER 500u

const char *const forward_outcome_names[] = {"answered", "broken", "no_leader", "unreachable",
	"lost", "left", "here", "too_many", "looped"};

uint64_t forwarder_now_ns(const struct forwarder *f)
{
	return time_monotonic_ns(f->settings.time);
}

void forwarder_wake_reader(struct forwarder *f, struct exchange *x)
{
	if (exchange_wakes(x))
		f->settings.wake(f->settings.wake_context);
}

void forwarder_turns(struct forwarder *f, struct exchange *x, enum exchange_stage stage)
{
	exchange_turn(x, stage);
	forwarder_wake_reader(f, x);
}

static bool follows(const struct cluster_status *s)
{
	return s->role == CLUSTER_FOLLOWER && s->knows_leader && !s->leader.is_self;
}

static bool is_asked_of(const struct exchange *x, const struct cluster_status *s)
{
	return x->term == s->term && strcmp(x->leader, s->leader.id) == 0;
}

static void let_go(struct forwarder *f, struct exchange *x)
{
	if (x->upgrade)
		upgrade_end(x->upgrade);
	if (x->easy)
		leader_request_end(f, x);
}

// Sends it to the leader.
static void ask_leader(struct forwarder *f, struct exchange *x)
{
	CHECK(!x->easy && follows(&f->status));
	snprintf(x->leader, sizeof x->leader, "%s", f->status.leader.id);
	x->term = f->status.term;
	x->was_refused = x->is_unwatched = false;
	answer_head_clear(&x->head);
	if (!leader_request_begin(f, x)) {
		forwarder_turns(f, x, EXCHANGE_HAS_FAILED);
		return;
	}
	curl_begin(curl_events_multi(f->events), x->easy);
}

// No event will come of it.
static void note_unwatched(CURL *easy)
{
	struct exchange *x = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &x);
	if (x) // libcurl's own, too, close connections
		x->is_unwatched = true;
}

// Whether the leader that was asked can have begun with a change.
static bool may_have_begun(const struct exchange *x)
{
	long sent = 0;
	if (x->upgrade)
		return upgrade_has_spoken(x->upgrade) && !x->was_refused;
	curl_easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &sent);
	return sent > 0 && !x->was_refused && strcmp(x->method, "GET") != 0;
}

// Nobody led for a while, or this is the first that is known of it: another leader may come.
static uint64_t end_of_patience(const struct forwarder *f, uint64_t now_ns)
{
	uint64_t since_ns = f->leaderless_since_ns ? f->leaderless_since_ns : now_ns;
	return since_ns + f->settings.hold_ms * NS_PER_MS;
}

// Its way to the leader ended before an answer came. However long that leader was asked, there is time for the next.
static void try_again(struct forwarder *f, struct exchange *x)
{
	uint64_t now_ns = forwarder_now_ns(f);
	bool is_lost = may_have_begun(x);
	let_go(f, x);
	if (is_lost) {
		forwarder_turns(f, x, EXCHANGE_IS_LOST);
		return;
	}
	x->repeat_ns = now_ns + LOOK_MS * NS_PER_MS;
	if (x->failed_term != x->term)
		x->give_up_ns = end_of_patience(f, now_ns);
	x->failed_term = x->term;
	f->repeated++;
}

void forwarder_ends_way(struct forwarder *f, struct exchange *x, bool is_good)
{
	switch (exchange_stage_of(x)) {
	case EXCHANGE_ANSWERS:
		let_go(f, x);
		forwarder_turns(f, x, is_good ? EXCHANGE_IS_OVER : EXCHANGE_IS_BROKEN);
		break;
	case EXCHANGE_IS_SWITCHED:
		if (!is_good)
			forwarder_note(f, FORWARD_BROKEN);
		let_go(f, x);
		break;
	default: try_again(f, x); break;
	}
}

// Its connection to the leader stands, or its way has ended.
static void take_message(struct forwarder *f, struct exchange *x, bool is_good)
{
	if (!x->is_upgrade || !is_good)
		forwarder_ends_way(f, x, is_good);
	else if (!upgrade_begin(f, x))
		forwarder_ends_way(f, x, false);
}

static void take_ended(struct forwarder *f)
{
	int left;
	for (CURLMsg *m; (m = curl_multi_info_read(curl_events_multi(f->events), &left));) {
		struct exchange *x = NULL;
		CHECK(m->msg == CURLMSG_DONE);
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x);
		take_message(f, x, m->data.result == CURLE_OK);
	}
}

static void give_up(struct forwarder *f, struct exchange *x)
{
	const struct cluster_member *leader = &f->status.leader;
	if (follows(&f->status) && !x->was_refused) {
		x->failure_status = STATUS_NO_LEADER;
		snprintf(x->failure, sizeof x->failure,
			FORWARD_NO_LEADER_TEXT ": %s leads, and cannot be reached at %s from here",
			leader->name, leader->http);
		forwarder_note(f, FORWARD_UNREACHABLE);
	}
	forwarder_turns(f, x, EXCHANGE_HAS_FAILED);
}

// One that waits for a leader.
static void look_for_leader(struct forwarder *f, struct exchange *x, uint64_t now_ns)
{
	if (!x->give_up_ns)
		x->give_up_ns = now_ns + f->settings.hold_ms * NS_PER_MS;
	if (cluster_leads(&f->status))
		forwarder_turns(f, x, EXCHANGE_IS_HERE);
	else if (now_ns >= x->give_up_ns)
		give_up(f, x);
	else if (follows(&f->status) && now_ns >= x->repeat_ns)
		ask_leader(f, x);
}

// One that was sent to a leader that leads no more, or of which nobody has heard for long.
static bool was_left_alone(const struct forwarder *f, const struct exchange *x, uint64_t now_ns)
{
	if (f->status.knows_leader)
		return !is_asked_of(x, &f->status);
	return now_ns >= end_of_patience(f, now_ns);
}

static void look_at_leader(struct forwarder *f, uint64_t now_ns)
{
	f->settings.cluster(f->settings.context, &f->status);
	if (f->status.knows_leader)
		f->leaderless_since_ns = 0;
	else if (!f->leaderless_since_ns)
		f->leaderless_since_ns = now_ns;
}

static void look_at_all(struct forwarder *f, uint64_t now_ns)
{
	struct exchange *x;

	if (now_ns < f->looked_ns + LOOK_MS * NS_PER_MS)
		return;
	f->looked_ns = now_ns;
	look_at_leader(f, now_ns);
	cds_list_for_each_entry (x, &f->all, on_the_way) {
		if (x->easy && (x->is_unwatched || was_left_alone(f, x, now_ns)))
			forwarder_ends_way(f, x, false);
		else if (x->upgrade)
			upgrade_look(x->upgrade, now_ns);
		else if (!x->easy && exchange_stage_of(x) == EXCHANGE_WAITS)
			look_for_leader(f, x, now_ns);
	}
}

static void set_out(struct forwarder *f, struct exchange *x)
{
	uint64_t now_ns = forwarder_now_ns(f);
	x->is_on_the_way = true;
	cds_list_add_tail(&x->on_the_way, &f->all);
	look_at_leader(f, now_ns);
	look_for_leader(f, x, now_ns);
}

static void end_exchange(struct forwarder *f, struct exchange *x)
{
	let_go(f, x);
	if (x->is_on_the_way)
		cds_list_del(&x->on_the_way);
	pthread_mutex_lock(&f->lock);
	f->under_way--;
	f->upgrades -= x->is_upgrade;
	f->body_bytes -= x->body_size;
	pthread_mutex_unlock(&f->lock);
	free((void *)x->joint.extra);
	exchange_free(x);
}

// What the reader of an exchange wants of it.
struct asked {
	struct exchange *exchange;
	bool is_dropped, is_joined;
	struct exchange_joint joint;
};

static bool take_asked(struct forwarder *f, struct asked *asked)
{
	pthread_mutex_lock(&f->lock);
	bool has = !cds_list_empty(&f->queue);
	if (has) {
		struct exchange *x = cds_list_first_entry(&f->queue, struct exchange, queued);
		cds_list_del(&x->queued);
		x->is_queued = false;
		*asked = (struct asked){x, x->is_dropped, x->is_joined, x->offered};
		x->is_joined = false;
	}
	pthread_mutex_unlock(&f->lock);
	return has;
}

static void take_queue(struct forwarder *f)
{
	for (struct asked a; take_asked(f, &a);) {
		struct exchange *x = a.exchange;
		if (a.is_joined)
			upgrade_join(x, &a.joint);
		if (a.is_dropped)
			end_exchange(f, x);
		else if (!x->is_on_the_way)
			set_out(f, x);
		else if (x->upgrade)
			upgrade_continue(x->upgrade);
		else if (x->easy)
			curl_easy_pause(x->easy, CURLPAUSE_CONT);
	}
}

static bool forwarder_goes_on(struct forwarder *f)
{
	pthread_mutex_lock(&f->lock);
	bool goes_on = !f->stops;
	f->is_ending = f->is_closed;
	pthread_mutex_unlock(&f->lock);
	return goes_on;
}

static void *forwarder_main(void *argument)
{
	struct forwarder *f = argument;
	while (forwarder_goes_on(f)) {
		take_queue(f);
		look_at_all(f, forwarder_now_ns(f));
		curl_events_await(f->events, cds_list_empty(&f->all) ? IDLE_MS : LOOK_MS);
		take_ended(f);
		upgrades_turn(f);
	}
	take_queue(f);
	return NULL;
}

static void forwarder_free(struct forwarder *f)
{
	curl_events_destroy(f->events);
	if (f->upgrades_fd >= 0)
		close(f->upgrades_fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int forwarder_start(const struct forwarder_settings *settings, struct forwarder **out)
{
	struct forwarder *f = memory_take(sizeof *f);
	f->settings = *settings;
	if (!f->settings.hold_ms)
		f->settings.hold_ms = FORWARD_HOLD_MS;
	pthread_mutex_init(&f->lock, NULL);
	CDS_INIT_LIST_HEAD(&f->queue);
	CDS_INIT_LIST_HEAD(&f->all);
	f->upgrades_fd = -1;
	int error = curl_events_create(settings->time, note_unwatched, &f->events);
	error = error ? error : upgrades_open(f);
	error = error ? error : -pthread_create(&f->thread, NULL, forwarder_main, f);
	if (error) {
		forwarder_free(f);
		return error;
	}
	pthread_setname_np(f->thread, "api-forward");
	*out = f;
	return 0;
}

void forwarder_close(struct forwarder *f)
{
	pthread_mutex_lock(&f->lock);
	f->is_closed = true;
	pthread_mutex_unlock(&f->lock);
	curl_events_wake(f->events);
}

void forwarder_stop(struct forwarder *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stops = f->is_closed = true;
	pthread_mutex_unlock(&f->lock);
	curl_events_wake(f->events);
	pthread_join(f->thread, NULL);
	CHECK(f->under_way == 0);
	forwarder_free(f);
}

// Under the lock.
static void queue_exchange(struct forwarder *f, struct exchange *x)
{
	if (!x->is_queued)
		cds_list_add_tail(&x->queued, &f->queue);
	x->is_queued = true;
}

static void carry_on(struct exchange *x)
{
	struct forwarder *f = x->owner;
	pthread_mutex_lock(&f->lock);
	queue_exchange(f, x);
	pthread_mutex_unlock(&f->lock);
	curl_events_wake(f->events);
}

static void drop_exchange(struct exchange *x)
{
	struct forwarder *f = x->owner;
	pthread_mutex_lock(&f->lock);
	x->is_dropped = true;
	queue_exchange(f, x);
	pthread_mutex_unlock(&f->lock);
	curl_events_wake(f->events);
}

static void join_exchange(struct exchange *x, const struct exchange_joint *joint)
{
	struct forwarder *f = x->owner;
	void *extra = memory_take(joint->extra_size + 1);
	if (joint->extra_size)
		memcpy(extra, joint->extra, joint->extra_size);
	pthread_mutex_lock(&f->lock);
	x->offered = *joint;
	x->offered.extra = extra;
	x->is_joined = true;
	queue_exchange(f, x);
	pthread_mutex_unlock(&f->lock);
	curl_events_wake(f->events);
}

static void note_exchange(struct exchange *x, enum forward_outcome outcome)
{
	forwarder_note(x->owner, outcome);
}

static const struct exchange_carrier forwarder_carrier = {
	.has_room = carry_on, .drop = drop_exchange, .note = note_exchange, .join = join_exchange};

bool forwarder_begin(struct forwarder *f, struct exchange *x)
{
	pthread_mutex_lock(&f->lock);
	bool has_room = f->under_way < FORWARDS_MAX &&
			x->body_size <= FORWARD_BODY_BYTES_MAX - f->body_bytes &&
			(!x->is_upgrade || (f->upgrades < FORWARD_UPGRADES_MAX && !f->is_closed));
	if (has_room) {
		f->under_way++;
		f->upgrades += x->is_upgrade;
		f->body_bytes += x->body_size;
		x->owner = f;
		x->carrier = &forwarder_carrier;
		queue_exchange(f, x);
	}
	pthread_mutex_unlock(&f->lock);
	if (has_room)
		curl_events_wake(f->events);
	return has_room;
}

void forwarder_note(struct forwarder *f, enum forward_outcome outcome)
{
	CHECK(outcome < FORWARD_OUTCOMES);
	f->outcomes[outcome]++;
}

void forwarder_count(struct forwarder *f, struct forward_counts *counts)
{
	pthread_mutex_lock(&f->lock);
	counts->under_way = f->under_way;
	counts->upgrades = f->upgrades;
	pthread_mutex_unlock(&f->lock);
	counts->repeated = f->repeated;
	for (int i = 0; i < FORWARD_OUTCOMES; i++)
		counts->outcomes[i] = f->outcomes[i];
}
