#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include "state/records/job_traits.h"

static const char client_status_field[] = "ClientStatus";

const struct node *allocation_node(const struct scheduler_view *view, const struct allocation *a)
{
	if (a->node_slot == NODE_SLOT_NONE)
		return NULL;
	const struct node *node = view_node_in_no_order(view, a->node_slot);
	CHECK(!node || node->slot == a->node_slot);
	return node && uuid_equal(&node->id, &a->node_id) ? node : NULL;
}

bool allocation_is_to_migrate(const struct allocation *a)
{
	return a->details && a->details->transition.migrate.set &&
	       a->details->transition.migrate.value;
}

bool allocation_ran_successfully(const struct allocation *a)
{
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(a->report, &room);
	bool succeeded = report && report->task_states.count > 0;

	for (uint32_t i = 0; report && i < report->task_states.count; i++) {
		const struct task_state *task =
			ARRAY_AT(&report->task_states, struct task_state, i);
		succeeded &= task->state == TASK_DEAD && !task->failed;
	}
	alloc_report_close(&room);
	return succeeded;
}

bool allocation_supports_disconnect(const struct allocation *a, bool cluster_supports)
{
	return cluster_supports && allocation_group(a)->max_client_disconnect_ns.set;
}

static bool notes_client_status(const struct alloc_state *state)
{
	return state->field && strcmp(state->field, client_status_field) == 0;
}

static bool says_unknown(const struct alloc_state *state)
{
	return state->value && strcmp(state->value, alloc_client_names[ALLOC_UNKNOWN]) == 0;
}

bool allocation_needs_reconnect(const struct allocation *a)
{
	for (uint32_t i = a->details ? a->details->states.count : 0; i > 0; i--) {
		const struct alloc_state *state =
			ARRAY_AT(&a->details->states, struct alloc_state, i - 1);
		if (notes_client_status(state))
			return says_unknown(state);
	}
	return false;
}

int64_t allocation_last_unknown_ns(const struct allocation *a)
{
	int64_t latest = 0;
	for (uint32_t i = 0; a->details && i < a->details->states.count; i++) {
		const struct alloc_state *state =
			ARRAY_AT(&a->details->states, struct alloc_state, i);
		if (notes_client_status(state) && says_unknown(state) && state->time_ns > latest)
			latest = state->time_ns;
	}
	CHECK(latest >= 0);
	return latest;
}

int64_t allocation_first_lost_ns(const struct allocation *a)
{
	for (uint32_t i = 0; a->details && i < a->details->states.count; i++) {
		const struct alloc_state *state =
			ARRAY_AT(&a->details->states, struct alloc_state, i);
		if (notes_client_status(state) && state->value &&
			strcmp(state->value, alloc_client_names[ALLOC_LOST]) == 0)
			return state->time_ns;
	}
	return 0;
}

bool allocation_is_expired(const struct allocation *a, int64_t now_ns)
{
	int64_t unknown_ns = allocation_last_unknown_ns(a), end_ns;
	const struct optional_i64 *limit = &allocation_group(a)->max_client_disconnect_ns;
	if (a->client_status != ALLOC_UNKNOWN || !unknown_ns || !limit->set)
		return false;
	return !__builtin_add_overflow(unknown_ns, limit->value, &end_ns) && end_ns <= now_ns;
}

struct alloc_details *details_with_client_status(
	const struct allocation *a, uint8_t client_status, int64_t now_ns)
{
	CHECK(client_status <= ALLOC_UNKNOWN);
	struct alloc_details *details = alloc_details_copy(a->details);
	struct alloc_state *state = array_append(&details->states, sizeof *state);
	state->field = text_copy(TEXT("ClientStatus"));
	state->value = text_copy(text_of(alloc_client_names[client_status]));
	state->time_ns = now_ns;
	CHECK(details->states.count > 0);
	return details;
}

const char *allocation_name_prefix(const struct job *job)
{
	bool by_name = job_traits_of(job)->is_on_every_node;
	const char *prefix = by_name ? job->name : job->id;
	return prefix ? prefix : "";
}

int allocation_name_compare(const struct allocation *a, const struct allocation *b)
{
	CHECK(a->job && b->job);
	char x[ALLOCATION_NAME_BYTES], y[ALLOCATION_NAME_BYTES];
	return strcmp(allocation_name(a, x, sizeof x), allocation_name(b, y, sizeof y));
}

bool node_is_lost(const struct node *node)
{
	CHECK(!node || node->status < NODE_STATUSES);
	return !node || node->status == NODE_DOWN;
}

bool node_is_tainted(const struct node *node)
{
	return node_is_lost(node) || node->drain || node->status == NODE_DISCONNECTED;
}
