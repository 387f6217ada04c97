#include "tools/forms/vm_spec.h"
#include "tools/json/json_record.h"

static void put_size(struct json_writer *w, const struct vm *vm)
{
	json_put_u64(w, "cpu", vm->cpu);
	json_put_u64(w, "memory", vm->memory_mib);
	json_put_u64(w, "assignedCPU", vm->assigned_cpu);
	json_put_u64(w, "assignedMemory", vm->assigned_memory_mib);
	json_put_u64(w, "diskSize", vm->disk_size_gb);
	json_put_map(w, "resources", FIELD_COUNT_MAP, &vm->resources);
}

static void put_raw(struct json_writer *w, const char *key, const char *json)
{
	if (json && *json)
		json_put_raw(w, key, json);
}

void vm_spec_json(void *context, const struct vm *vm, struct bytes_writer *out)
{
	struct json_writer w = {0};

	(void)context;
	json_begin_object(&w);
	json_put_string(&w, "name", vm->name);
	json_put_string(&w, "uid", vm->uid);
	json_put_string(&w, "localName", vm->local_name);
	json_put_string(&w, "image", vm->image);
	json_put_string(&w, "imagePullPolicy", vm->image_pull_policy);
	json_put_string(&w, "os", vm->os);
	json_put_string(&w, "arch", vm->arch);
	json_put_string(&w, "runtime", vm->runtime);
	put_size(&w, vm);
	json_put_bool(&w, "headless", vm->headless);
	json_put_bool(&w, "nested", vm->nested);
	json_put_bool(&w, "suspendable", vm->suspendable);
	json_put_bool(&w, "netSoftnet", vm->net_softnet);
	put_raw(&w, "netSoftnetAllow", vm->net_softnet_allow);
	put_raw(&w, "netSoftnetBlock", vm->net_softnet_block);
	json_put_string(&w, "net-bridged", vm->net_bridged);
	json_put_bool(&w, "randomSerial", vm->random_serial);
	put_raw(&w, "startup_script", vm->startup_script);
	put_raw(&w, "hostDirs", vm->host_dirs);
	json_put_u64(&w, "generation", vm->generation);
	json_put_string(&w, "powerState", vm_power_names[vm->power_state]);
	json_end_object(&w);
	bytes_put(out, w.data, w.size);
	json_writer_free(&w);
}
