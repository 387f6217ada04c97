#include "tools/fleet/work/running_alloc.h"
#include "state/base/memory.h"
#include "tools/fleet/nodes/fleet.h"

#define WAIT_MS 100u // between checks whether the description has come

static uint32_t take_place(struct running *r)
{
	uint32_t at = r->free_alloc;
	if (at != RUNNING_NONE) {
		r->free_alloc = r->allocs[at].next;
		return at;
	}
	if (r->alloc_count == r->alloc_capacity) {
		r->alloc_capacity *= 2;
		r->allocs = memory_resize(r->allocs, r->alloc_capacity * sizeof r->allocs[0]);
		wheel_widen(&r->alloc_wheel, r->alloc_capacity);
	}
	return r->alloc_count++;
}

static void tell_change(struct running *r, struct running_alloc *a)
{
	a->flags = (uint8_t)((a->flags | RUNNING_NEWS) & ~RUNNING_TOLD);
	running_enqueue(r, a->node);
}

static void set_phase(struct running *r, struct running_alloc *a, enum running_phase phase,
	uint8_t status, uint32_t act_ms)
{
	r->up += (uint32_t)(phase == RUNNING_UP) - (uint32_t)(a->phase == RUNNING_UP);
	a->phase = (uint8_t)phase;
	a->status = status;
	a->act_ms = act_ms;
	tell_change(r, a);
}

// flags: FLAKY when the node caused the failure. The report of an end also says whether the node is ready now.
static void end_with(struct running *r, struct running_alloc *a, bool failed, uint8_t flags)
{
	if (r->fleet->nodes[a->node].flags & FLEET_UNREADY) {
		flags |= WIRE_UPDATE_UNREADY;
		r->nodes[a->node].flags |= RUNNING_WAS_UNREADY;
	}
	r->counters.failed += failed;
	r->counters.completed += !failed;
	r->counters.flaky += flags & WIRE_UPDATE_FLAKY;
	a->failed = failed;
	a->end_flags = flags;
	a->ended_ms = fleet_now_ms(r->fleet);
	set_phase(r, a, RUNNING_ENDED, failed ? WIRE_CLIENT_FAILED : WIRE_CLIENT_COMPLETE,
		BEHAVIOUR_NEVER);
}

static void end_alloc(struct running *r, struct running_alloc *a, bool failed)
{
	end_with(r, a, failed, 0);
}

// flags apply if it fails for good.
static void restart_or_fail(struct running *r, struct running_alloc *a, uint8_t flags)
{
	const struct behaviour *b = running_behaviour(r, a);
	uint32_t now_ms = fleet_now_ms(r->fleet);
	if (now_ms - a->interval_ms >= b->restart.interval_ms) {
		a->interval_ms = now_ms;
		a->attempts = 0;
	}
	uint32_t wait_ms = b->restart.delay_ms;
	if (a->attempts >= b->restart.attempts) {
		if (!b->restart.waits || b->restart.interval_ms == 0) {
			end_with(r, a, true, flags);
			return;
		}
		wait_ms = a->interval_ms + b->restart.interval_ms - now_ms;
	} else {
		a->attempts++;
	}
	r->counters.restarted++;
	if (a->restarts < UINT8_MAX)
		a->restarts++;
	set_phase(r, a, RUNNING_RESTARTING, WIRE_CLIENT_RUNNING, now_ms + (wait_ms ? wait_ms : 1));
}

// When the allocation ends by itself.
static uint32_t end_ms(struct running *r, const struct behaviour *b)
{
	uint32_t now_ms = fleet_now_ms(r->fleet);
	double run_for_s = r->settings.run_for_s;
	if (b->run_ms != BEHAVIOUR_NEVER)
		return now_ms + b->run_ms;
	// From half of run_for_s to one and a half times it.
	return run_for_s > 0 ? now_ms + (uint32_t)(run_for_s * 500) + running_drawn_ms(r, run_for_s)
			     : BEHAVIOUR_NEVER;
}

static void start(struct running *r, struct running_alloc *a)
{
	const struct behaviour *b = running_behaviour(r, a);
	bool is_broken = r->fleet->nodes[a->node].flags & FLEET_BROKEN;
	uint8_t flags = is_broken || b->start_is_nodes_fault ? WIRE_UPDATE_FLAKY : 0;
	if (!is_broken && b->fails_to_start && b->start_is_tried_again) {
		restart_or_fail(r, a, flags);
		return;
	}
	if (is_broken || b->fails_to_start) {
		end_with(r, a, true, flags);
		return;
	}
	r->counters.started++;
	a->started_ms = fleet_now_ms(r->fleet);
	set_phase(r, a, RUNNING_UP, WIRE_CLIENT_RUNNING, end_ms(r, b));
}

// An allocation that ends by the flags is over; one that ends by its job may restart.
static void has_run(struct running *r, struct running_alloc *a)
{
	const struct behaviour *b = running_behaviour(r, a);
	if (b->run_ms == BEHAVIOUR_NEVER)
		end_alloc(r, a, prng_unit(&r->fleet->prng) < r->settings.fail_share);
	else if (b->fails || b->restart.on_success)
		restart_or_fail(r, a, 0);
	else
		end_alloc(r, a, false);
}

static void stop(struct running *r, struct running_alloc *a)
{
	bool is_up = a->phase == RUNNING_UP;
	if (a->phase == RUNNING_ENDED || a->phase == RUNNING_STOPPING)
		return;
	r->counters.stopped++;
	a->deadline_ms = BEHAVIOUR_NEVER;
	if (is_up && running_behaviour(r, a)->kill_ms > 0)
		set_phase(r, a, RUNNING_STOPPING, WIRE_CLIENT_RUNNING,
			fleet_now_ms(r->fleet) + running_behaviour(r, a)->kill_ms);
	else
		end_alloc(r, a, false);
}

static const struct health_wait *wait_of(const struct running *r, const struct running_alloc *a)
{
	const struct behaviour *b = running_behaviour(r, a);
	return a->flags & RUNNING_DEPLOYED ? &b->update : &b->migrate;
}

static void watch_health(struct running *r, struct running_alloc *a)
{
	const struct health_wait *wait = wait_of(r, a);
	a->health = WIRE_HEALTH_UNSAID;
	a->deadline_ms =
		wait->is_asked ? fleet_now_ms(r->fleet) + wait->deadline_ms : BEHAVIOUR_NEVER;
}

static uint32_t healthy_at_ms(const struct running *r, const struct running_alloc *a)
{
	bool may_be = a->deadline_ms != BEHAVIOUR_NEVER && a->phase == RUNNING_UP;
	return may_be ? a->started_ms + wait_of(r, a)->min_healthy_ms : BEHAVIOUR_NEVER;
}

static void judge_health(struct running *r, struct running_alloc *a)
{
	uint32_t now_ms = fleet_now_ms(r->fleet), healthy_ms = healthy_at_ms(r, a);
	if (a->deadline_ms == BEHAVIOUR_NEVER)
		return;
	if (healthy_ms <= now_ms && healthy_ms <= a->deadline_ms)
		a->health = WIRE_HEALTHY;
	else if (a->phase == RUNNING_ENDED || a->deadline_ms <= now_ms)
		a->health = WIRE_UNHEALTHY;
	else
		return;
	r->counters.healthy += a->health == WIRE_HEALTHY;
	r->counters.unhealthy += a->health == WIRE_UNHEALTHY;
	a->deadline_ms = BEHAVIOUR_NEVER;
	tell_change(r, a);
}

void running_broke(struct running *r, uint32_t node)
{
	for (uint32_t at = r->nodes[node].first; at != RUNNING_NONE; at = r->allocs[at].next) {
		struct running_alloc *a = &r->allocs[at];
		if (a->phase != RUNNING_UP && a->phase != RUNNING_RESTARTING)
			continue;
		end_with(r, a, true, WIRE_UPDATE_FLAKY);
		judge_health(r, a);
	}
}

// When the allocation must stop because the controller has been silent for too long.
static uint32_t alone_ms(const struct running *r, const struct running_alloc *a)
{
	uint32_t after_ms = running_behaviour(r, a)->stop_after_ms;
	bool runs = a->phase != RUNNING_ENDED && a->phase != RUNNING_STOPPING;
	return runs && after_ms > 0 ? r->nodes[a->node].heard_ms + after_ms : BEHAVIOUR_NEVER;
}

static void act_phase(struct running *r, struct running_alloc *a)
{
	const struct behaviour *b = running_behaviour(r, a);
	uint32_t now_ms = fleet_now_ms(r->fleet);
	switch ((enum running_phase)a->phase) {
	case RUNNING_WAITING:
		if (b->is_known) {
			watch_health(r, a);
			a->phase = RUNNING_STARTING;
			a->act_ms = now_ms + b->start_ms +
				    running_drawn_ms(r, r->settings.start_delay_s);
		} else {
			a->act_ms = now_ms + WAIT_MS;
			running_enqueue(r, a->node);
		}
		break;
	case RUNNING_STARTING:
	case RUNNING_RESTARTING: start(r, a); break;
	case RUNNING_UP: has_run(r, a); break;
	case RUNNING_STOPPING: end_alloc(r, a, false); break;
	case RUNNING_ENDED: a->act_ms = BEHAVIOUR_NEVER; break;
	}
}

static uint32_t sooner_ms(uint32_t a_ms, uint32_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

static void put_in_wheel(struct running *r, uint32_t at)
{
	const struct running_alloc *a = &r->allocs[at];
	uint32_t due_ms = sooner_ms(a->act_ms, alone_ms(r, a));
	due_ms = sooner_ms(due_ms, sooner_ms(healthy_at_ms(r, a), a->deadline_ms));
	// The wheel cannot move an allocation whose stop takes time to an earlier time, so that it comes out often.
	if (a->phase == RUNNING_UP && running_behaviour(r, a)->kill_ms > 0)
		due_ms = sooner_ms(due_ms, fleet_now_ms(r->fleet) + WAIT_MS);
	wheel_add(&r->alloc_wheel, at, due_ms);
}

void running_alloc_due(struct running *r, uint32_t at)
{
	struct running_alloc *a = &r->allocs[at];
	uint32_t now_ms = fleet_now_ms(r->fleet);
	if (a->node == RUNNING_NONE) {
		a->next = r->free_alloc;
		r->free_alloc = at;
		return;
	}
	if (alone_ms(r, a) < now_ms)
		stop(r, a);
	while (a->act_ms <= now_ms)
		act_phase(r, a);
	judge_health(r, a);
	put_in_wheel(r, at);
}

static uint32_t begin_alloc(struct running *r, uint32_t node, const struct wire_alloc_item *item)
{
	uint32_t at = take_place(r), now_ms = fleet_now_ms(r->fleet);
	r->allocs[at] = (struct running_alloc){.id = item->allocation,
		.node = node,
		.next = r->nodes[node].first,
		.behaviour = behaviours_find(&r->behaviours, item->job_index, item->group),
		.act_ms = now_ms,
		.deadline_ms = BEHAVIOUR_NEVER,
		.interval_ms = now_ms,
		.phase = RUNNING_WAITING,
		.status = WIRE_CLIENT_PENDING,
		.flags = item->flags & WIRE_ALLOC_IN_DEPLOYMENT ? RUNNING_DEPLOYED : 0};
	r->nodes[node].first = at;
	wheel_add(&r->alloc_wheel, at, now_ms);
	return at;
}

// Another version of the job, or another deployment, took the allocation over in place.
static void revise_alloc(
	struct running *r, struct running_alloc *a, const struct wire_alloc_item *item)
{
	uint32_t behaviour = behaviours_find(&r->behaviours, item->job_index, item->group);
	bool is_known = r->behaviours.items[behaviour]->is_known;
	bool is_told = !(a->flags & RUNNING_NEWS);
	a->flags &= (uint8_t)~RUNNING_DEPLOYED;
	a->flags |= item->flags & WIRE_ALLOC_IN_DEPLOYMENT ? RUNNING_DEPLOYED : 0;
	if (is_known || a->phase == RUNNING_WAITING)
		a->behaviour = behaviour;
	if (a->health == WIRE_HEALTH_UNSAID || !is_told || (item->flags & WIRE_ALLOC_HEALTH_KNOWN))
		return;
	watch_health(r, a);
	judge_health(r, a);
}

void running_take_item(struct running *r, uint32_t node, const struct wire_alloc_item *item)
{
	uint32_t at = running_find(r, node, &item->allocation);
	bool has_ended = item->client >= WIRE_CLIENT_COMPLETE && item->client <= WIRE_CLIENT_LOST;
	bool is_wanted = item->desired == WIRE_DESIRED_RUN && !has_ended;
	if (at == RUNNING_NONE && has_ended)
		return;
	if (at == RUNNING_NONE)
		at = begin_alloc(r, node, item);
	struct running_alloc *a = &r->allocs[at];
	a->flags |= RUNNING_LISTED;
	if (!is_wanted) {
		stop(r, a);
		return;
	}
	revise_alloc(r, a, item);
	if (item->client != a->status)
		a->flags |= RUNNING_NEWS;
}

static uint32_t begin_machine(struct running *r, uint32_t node, const struct wire_vm_item *item)
{
	uint32_t at = take_place(r), now_ms = fleet_now_ms(r->fleet);
	bool is_to_run = item->power == WIRE_VM_RUNNING;
	r->allocs[at] = (struct running_alloc){.id = item->instance,
		.version = item->version,
		.node = node,
		.next = r->nodes[node].first,
		.behaviour = r->unread_machine,
		.act_ms = is_to_run ? now_ms : BEHAVIOUR_NEVER,
		.deadline_ms = BEHAVIOUR_NEVER,
		.interval_ms = now_ms,
		.phase = is_to_run ? RUNNING_WAITING : RUNNING_ENDED,
		.status = is_to_run ? WIRE_CLIENT_PENDING : WIRE_CLIENT_COMPLETE,
		.flags = RUNNING_MACHINE};
	r->nodes[node].first = at;
	wheel_add(&r->alloc_wheel, at, now_ms);
	return at;
}

void running_take_machine(struct running *r, uint32_t node, const struct wire_vm_item *item)
{
	uint32_t at = running_find(r, node, &item->instance);
	bool is_new = at == RUNNING_NONE;
	if (is_new)
		at = begin_machine(r, node, item);
	struct running_alloc *a = &r->allocs[at];
	if (item->power != WIRE_VM_RUNNING)
		stop(r, a);
	// The controller asks for something else, so that the node reports again, also for a machine that was stopped
	// before it began.
	if (item->version > a->version || (is_new && a->phase == RUNNING_ENDED))
		tell_change(r, a);
	a->version = item->version;
}

void running_report_all(struct running *r, uint32_t node)
{
	for (uint32_t at = r->nodes[node].first; at != RUNNING_NONE; at = r->allocs[at].next)
		tell_change(r, &r->allocs[at]);
}
