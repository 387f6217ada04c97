#include "tools/api/events/event_types.h"
#include "state/records/nodes/vm_events.h"

const char *const event_topic_names[] = {"Node", "Job", "Evaluation", "Allocation", "Deployment",
	"VM", "VMWorker", "Liveness", "NodePool", "ACLToken", "ACLPolicy", "ACLRole", "Audit",
	"Admission", "Sender", NULL};
const char *const event_type_names[] = {
	"NodeRegistration",
	"NodeDeregistration",
	"NodeEligibility",
	"NodeDrain",
	"NodeStreamEvent",
	"JobRegistered",
	"JobDeregistered",
	"EvaluationUpdated",
	"PlanResult",
	"AllocationUpdated",
	"AllocationUpdateDesiredStatus",
	"DeploymentStatusUpdate",
	"DeploymentPromotion",
	"DeploymentAllocHealth",
	"VMCreated",
	"VMDeleted",
	"VMScheduled",
	"VMRestarted",
	"VMStarted",
	"VMFailed",
	"VMWorkerLost",
	"VMReleased",
	"VMPowerChanged",
	"VMSpecChanged",
	"VMUpdated",
	"VMWorkerRegistration",
	"VMWorkerDeregistration",
	"VMWorkerPause",
	"VMWorkerUpdated",
	"ExpiryHeld",
	"ExpiryReleased",
	"NodePoolUpserted",
	"NodePoolDeleted",
	"ACLTokenUpserted",
	"ACLTokenDeleted",
	"ACLPolicyUpserted",
	"ACLPolicyDeleted",
	"ACLRoleUpserted",
	"ACLRoleDeleted",
	"RequestEnded",
	"NodeRefused",
	"NodeQuarantined",
	"SenderRevoked",
	"SenderRestored",
	"SenderRekeyed",
};

static const struct {
	uint32_t news; // a bit of enum vm_news
	enum event_type type;
} vm_types[] = {
	{VM_NEWS_DELETED, EVENT_VM_DELETED},
	{VM_NEWS_CREATED, EVENT_VM_CREATED},
	{VM_NEWS_RESTARTED, EVENT_VM_RESTARTED},
	{VM_NEWS_POWER, EVENT_VM_POWER},
	{VM_NEWS_SPEC, EVENT_VM_SPEC},
	{VM_NEWS_SCHEDULED, EVENT_VM_SCHEDULED},
	{VM_NEWS_STARTED, EVENT_VM_STARTED},
	{VM_NEWS_FAILED, EVENT_VM_FAILED},
	{VM_NEWS_RELEASED, EVENT_VM_RELEASED},
};

uint32_t event_types_of_vm(
	const struct vm *before, const struct vm *after, enum event_type types[EVENT_TYPES_AT_ONCE])
{
	const struct vm_marks then = vm_marks(before), now = vm_marks(after);
	uint32_t news = vm_news(&then, &now), count = 0;

	for (size_t i = 0; i < sizeof vm_types / sizeof vm_types[0]; i++) {
		bool is_told = news & vm_types[i].news && count < EVENT_TYPES_AT_ONCE;
		bool is_lost = vm_types[i].type == EVENT_VM_FAILED && vm_lost_its_worker(after);
		if (is_told)
			types[count++] = is_lost ? EVENT_VM_WORKER_LOST : vm_types[i].type;
	}
	if (count == 0)
		types[count++] = EVENT_VM_UPDATED;
	return count;
}

enum event_type event_type_of_vm_worker(
	const struct vm_worker *before, const struct vm_worker *after)
{
	if (after->record.deleted)
		return EVENT_VM_WORKER_DEREGISTRATION;
	if (!before || before->record.deleted || !vm_worker_is_described_as(after, before))
		return EVENT_VM_WORKER_REGISTRATION;
	if (before->scheduling_paused != after->scheduling_paused)
		return EVENT_VM_WORKER_PAUSE;
	return before->beats == after->beats ? EVENT_TYPES : EVENT_VM_WORKER_UPDATED;
}
