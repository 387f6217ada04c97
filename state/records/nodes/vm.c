// One row per field of a virtual machine and of a worker, named as in Orchard's JSON. Rows are only ever appended to a
// table: their order is the binary form (state/base/schema.h).
#include "state/records/nodes/vm.h"
#include "state/base/schema_table.h"

const char *const vm_status_names[] = {"pending", "running", "failed", NULL};
const char *const vm_power_names[] = {"running", "stopped", "suspended", NULL};
const char *const vm_restart_names[] = {"Never", "OnFailure", NULL};
const char *const vm_condition_type_names[] = {
	"scheduled", "running", "cloning", "suspending", "stopping", NULL};
const char *const vm_condition_state_names[] = {"false", "true", NULL};

#define OMIT FLAGS(FIELD_OMIT_EMPTY)
#define TIME FLAGS(FIELD_TIME)
#define OWN (FIELD_HIDDEN | FIELD_DERIVED) // stored, and nothing else

static const struct field vm_condition_fields[] = {
	{"type", FIELD_ENUM, OF(vm_condition, type), NULL, vm_condition_type_names},
	{"state", FIELD_ENUM, OF(vm_condition, state), NULL, vm_condition_state_names},
};
DESCRIBE(vm_condition_description, vm_condition);

static const struct field vm_event_fields[] = {
	{"time", FIELD_I64, OF(vm_event, time_ns), TIME},
	{"message", FIELD_STRING, OF(vm_event, message)},
	{"kind", FIELD_STRING, OF(vm_event, kind)},
};
DESCRIBE(vm_event_description, vm_event);

static const struct field vm_fields[] = {
	{"name", FIELD_STRING, OF(vm, name)},
	{"uid", FIELD_STRING, OF(vm, uid)},
	{"image", FIELD_STRING, OF(vm, image)},
	{"imagePullPolicy", FIELD_STRING, OF(vm, image_pull_policy), OMIT},
	{"os", FIELD_STRING, OF(vm, os), OMIT},
	{"arch", FIELD_STRING, OF(vm, arch), OMIT},
	{"runtime", FIELD_STRING, OF(vm, runtime), OMIT},
	{"cpu", FIELD_U64, OF(vm, cpu)},
	{"memory", FIELD_U64, OF(vm, memory_mib)},
	{"diskSize", FIELD_U64, OF(vm, disk_size_gb), OMIT},
	{"headless", FIELD_BOOL, OF(vm, headless), OMIT},
	{"nested", FIELD_BOOL, OF(vm, nested), OMIT},
	{"suspendable", FIELD_BOOL, OF(vm, suspendable), OMIT},
	{"username", FIELD_STRING, OF(vm, username), OMIT},
	{"password", FIELD_STRING, OF(vm, password), FLAGS(FIELD_HIDDEN)},
	{"startup_script", FIELD_JSON, OF(vm, startup_script), OMIT},
	{"hostDirs", FIELD_JSON, OF(vm, host_dirs), OMIT},
	{"resources", FIELD_COUNT_MAP, OF(vm, resources)},
	{"labels", FIELD_MAP, OF(vm, labels)},
	{"restart_policy", FIELD_ENUM, OF(vm, restart_policy), NULL, vm_restart_names},
	{"status", FIELD_ENUM, OF(vm, status), NULL, vm_status_names},
	{"status_message", FIELD_STRING, OF(vm, status_message)},
	{"worker", FIELD_STRING, OF(vm, worker)},
	{"assignedCPU", FIELD_U64, OF(vm, assigned_cpu)},
	{"assignedMemory", FIELD_U64, OF(vm, assigned_memory_mib)},
	{"powerState", FIELD_ENUM, OF(vm, power_state), NULL, vm_power_names},
	{"localName", FIELD_STRING, OF(vm, local_name)},
	{"conditions", FIELD_ARRAY, OF(vm, conditions), &vm_condition_description},
	{"createdAt", FIELD_I64, OF(vm, created_at_ns), TIME},
	{"scheduled_at", FIELD_I64, OF(vm, scheduled_at_ns), TIME},
	{"started_at", FIELD_I64, OF(vm, started_at_ns), TIME},
	{"restarted_at", FIELD_I64, OF(vm, restarted_at_ns), TIME},
	{"restart_count", FIELD_U64, OF(vm, restart_count)},
	{"generation", FIELD_U64, OF(vm, generation)},
	{"observedGeneration", FIELD_U64, OF(vm, observed_generation)},
	{"events", FIELD_ARRAY, OF(vm, events), &vm_event_description, NULL, FIELD_HIDDEN},
	{"instance", FIELD_UUID, OF(vm, instance), FLAGS(FIELD_HIDDEN)},
	{"holds", FIELD_STRUCT, OF(vm, holds), &resources_description, NULL, OWN},
	{"holdsSlot", FIELD_U32, OF(vm, holds_slot), FLAGS(OWN)},
	{"holdsIndex", FIELD_U64, OF(vm, holds_index), FLAGS(OWN)},
	{"netSoftnet", FIELD_BOOL, OF(vm, net_softnet), OMIT},
	{"netSoftnetAllow", FIELD_JSON, OF(vm, net_softnet_allow), OMIT},
	{"netSoftnetBlock", FIELD_JSON, OF(vm, net_softnet_block), OMIT},
	{"net-bridged", FIELD_STRING, OF(vm, net_bridged), OMIT},
	{"randomSerial", FIELD_BOOL, OF(vm, random_serial), OMIT},
};
DESCRIBE(vm_description, vm);

static const struct field vm_worker_fields[] = {
	{"name", FIELD_STRING, OF(vm_worker, name)},
	{"machine_id", FIELD_STRING, OF(vm_worker, machine_id)},
	{"arch", FIELD_STRING, OF(vm_worker, arch), OMIT},
	{"runtime", FIELD_STRING, OF(vm_worker, runtime), OMIT},
	{"scheduling_paused", FIELD_BOOL, OF(vm_worker, scheduling_paused)},
	{"resources", FIELD_COUNT_MAP, OF(vm_worker, resources)},
	{"labels", FIELD_MAP, OF(vm_worker, labels)},
	{"defaultCPU", FIELD_U64, OF(vm_worker, default_cpu), OMIT},
	{"defaultMemory", FIELD_U64, OF(vm_worker, default_memory_mib), OMIT},
	{"last_seen", FIELD_I64, OF(vm_worker, last_seen_ns), TIME},
	{"node", FIELD_UUID, OF(vm_worker, node), FLAGS(FIELD_HIDDEN)},
	{"beats", FIELD_BOOL, OF(vm_worker, beats), FLAGS(FIELD_HIDDEN)},
	{"owner", FIELD_UUID, OF(vm_worker, owner), FLAGS(FIELD_HIDDEN)},
	{"createdAt", FIELD_I64, OF(vm_worker, created_at_ns), TIME},
};
DESCRIBE(vm_worker_description, vm_worker);

static const struct field host_dir_policy_fields[] = {
	{"pathPrefix", FIELD_STRING, OF(host_dir_policy, path_prefix)},
	{"ro", FIELD_BOOL, OF(host_dir_policy, read_only), OMIT},
};
DESCRIBE(host_dir_policy_description, host_dir_policy);

static const struct field cluster_settings_fields[] = {
	{"schedulerProfile", FIELD_STRING, OF(cluster_settings, scheduler_profile)},
	{"hostDirPolicies", FIELD_ARRAY, OF(cluster_settings, host_dir_policies),
		&host_dir_policy_description, NULL, FIELD_OMIT_EMPTY},
	{"countAssigned", FIELD_BOOL, OF(cluster_settings, count_assigned), INITIALLY(true)},
};
DESCRIBE(cluster_settings_description, cluster_settings);

struct vm *vm_create(void)
{
	return record_create(&vm_description);
}

void vm_free(struct vm *vm)
{
	record_free(&vm_description, vm);
}

struct vm *vm_copy(const struct vm *from)
{
	struct vm *vm = record_duplicate(&vm_description, from);
	vm->record = (struct record){.create_index = from->record.create_index,
		.modify_index = from->record.modify_index};
	return vm;
}

struct vm_worker *vm_worker_create(void)
{
	return record_create(&vm_worker_description);
}

void vm_worker_free(struct vm_worker *worker)
{
	record_free(&vm_worker_description, worker);
}

struct vm_worker *vm_worker_copy(const struct vm_worker *from)
{
	struct vm_worker *worker = record_duplicate(&vm_worker_description, from);
	worker->record = (struct record){.create_index = from->record.create_index,
		.modify_index = from->record.modify_index};
	return worker;
}
