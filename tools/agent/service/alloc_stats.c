// /v1/client/allocation/:id/stats: what the processes of tasks use, between two looks at them.
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "tools/agent/service/alloc_look.h"
#include "tools/agent/service/process_use.h"
#include "tools/agent/service/service_routes.h"
#include "tools/json/json_writer.h"
#include <stdio.h>
#include <stdlib.h>

// Long enough for a share of the processors: the kernel counts in hundredths of a second.
#define BETWEEN_LOOKS_MS 500

struct usage {
	double user_percent, system_percent;
	int64_t resident_bytes, swap_bytes;
	bool is_measured;
};

static void usage_add(struct usage *sum, const struct usage *one)
{
	sum->user_percent += one->user_percent;
	sum->system_percent += one->system_percent;
	sum->resident_bytes += one->resident_bytes;
	sum->swap_bytes += one->swap_bytes;
	sum->is_measured |= one->is_measured;
}

static void put_measured(struct json_writer *json, bool is_measured, const char *const *names)
{
	if (!json_open_array_if(json, "Measured", is_measured))
		return;
	for (; *names; names++)
		json_write_string(json, *names);
	json_end_array(json);
}

static void put_usage(struct json_writer *json, const struct usage *u, double mhz, bool is_sum)
{
	static const char *const cpu[] = {"System Mode", "User Mode", "Percent", NULL};
	static const char *const memory[] = {"RSS", "Swap", NULL};
	double percent = u->user_percent + u->system_percent;
	json_begin_object(json);
	json_open_object(json, "CpuStats");
	put_measured(json, u->is_measured, cpu);
	json_put_f64(json, "Percent", percent);
	json_put_f64(json, "SystemMode", u->system_percent);
	json_put_u64(json, "ThrottledPeriods", 0);
	json_put_u64(json, "ThrottledTime", 0);
	json_put_f64(json, "TotalTicks", percent / 100 * mhz);
	json_put_f64(json, "UserMode", u->user_percent);
	json_end_object(json);
	if (json_open_array_if(json, "DeviceStats", is_sum))
		json_end_array(json);
	json_open_object(json, "MemoryStats");
	json_put_u64(json, "Cache", 0);
	json_put_u64(json, "KernelMaxUsage", 0);
	json_put_u64(json, "KernelUsage", 0);
	json_put_u64(json, "MappedFile", 0);
	json_put_u64(json, "MaxUsage", 0);
	put_measured(json, u->is_measured, memory);
	json_put_i64(json, "RSS", u->resident_bytes);
	json_put_i64(json, "Swap", u->swap_bytes);
	json_put_u64(json, "Usage", 0);
	json_end_object(json);
	json_end_object(json);
}

struct stats {
	struct process_uses before, after;
	double mhz;
	int64_t now_ns;
	struct usage sum;
};

static struct usage usage_of_process(const struct stats *s, const struct process_use *use)
{
	struct core_share share = process_share(&s->before, &s->after, use);
	return (struct usage){.user_percent = share.user_percent,
		.system_percent = share.system_percent,
		.resident_bytes = use->resident_bytes,
		.swap_bytes = process_swap_bytes(use->pid),
		.is_measured = true};
}

static void put_task(struct json_writer *json, struct stats *s, const struct task_look *task)
{
	struct usage sum = {.is_measured = true};
	char pid[16];
	json_write_key(json, task->name);
	json_begin_object(json);
	json_open_object(json, "Pids");
	process_uses_mark(&s->after, task->process, task->process_started);
	for (uint32_t i = 0; i < s->after.count; i++) {
		const struct process_use *use = &s->after.items[i];
		if (!use->is_marked)
			continue;
		struct usage one = usage_of_process(s, use);
		usage_add(&sum, &one);
		snprintf(pid, sizeof pid, "%d", (int)use->pid);
		json_write_key(json, pid);
		put_usage(json, &one, s->mhz, false);
	}
	json_end_object(json);
	json_write_key(json, "ResourceUsage");
	put_usage(json, &sum, s->mhz, false);
	json_put_i64(json, "Timestamp", s->now_ns);
	json_end_object(json);
	usage_add(&s->sum, &sum);
}

static struct MHD_Response *answer_stats(
	struct stats *s, const struct alloc_look *look, const char *task, unsigned *status)
{
	struct json_writer tasks = {0}, json = {0};
	json_begin_object(&tasks);
	for (uint32_t i = 0; i < look->task_count; i++)
		if (look->tasks[i].is_up && (!*task || strcmp(look->tasks[i].name, task) == 0))
			put_task(&tasks, s, &look->tasks[i]);
	json_end_object(&tasks);
	json_begin_object(&json);
	json_write_key(&json, "ResourceUsage");
	put_usage(&json, &s->sum, s->mhz, true);
	json_write_key(&json, "Tasks");
	json_write_raw(&json, (struct text){tasks.data, (uint32_t)tasks.size});
	json_put_i64(&json, "Timestamp", s->sum.is_measured ? s->now_ns : 0);
	json_end_object(&json);
	json_writer_free(&tasks);
	return service_json(status, &json);
}

struct MHD_Response *alloc_stats(struct service_request *request, unsigned *status)
{
	struct MHD_Response *response = NULL;
	struct stats s = {.mhz = core_mhz()};
	const char *task = service_parameter(request, "task");
	struct alloc_look *look = alloc_look(request, status, &response);
	if (!look)
		return response;
	int error = process_uses_take(&s.before);
	// Who has left gets no answer, and needs none.
	if (!error)
		(void)service_wait(request, -1, BETWEEN_LOOKS_MS);
	if (!error)
		error = process_uses_take(&s.after);
	s.now_ns = (int64_t)time_wall_ns(request->settings->time);
	// Without some of its processes a task would seem to use less than it does.
	response = error ? service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "the processes of this node cannot be listed: %s",
				   error_text(error))
			 : answer_stats(&s, look, task ? task : "", status);
	process_uses_free(&s.before);
	process_uses_free(&s.after);
	free(look);
	return response;
}
