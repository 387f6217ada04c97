// Which changes of a job replace its instances and which do not, one field at a time.
#include "placement/scheduler/common/tasks_updated.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

typedef void change(struct job *);

static struct network_ask *network_of(struct array *networks)
{
	return ARRAY_AT(networks, struct network_ask, 0);
}

static struct port *port_add(struct array *ports, const char *label, int64_t value, int64_t to)
{
	struct port *port = array_append(ports, sizeof *port);
	set(&port->label, label);
	port->value = value;
	port->to = to;
	return port;
}

static void pair_add(struct array *map, const char *name, const char *value)
{
	struct string_pair *pair = map_item(map, sizeof *pair, name);
	set(&pair->value, value);
}

static struct job *build(void)
{
	struct job *job = job_of(JOB_SYSTEM);
	struct task_group *g = group_of(job);
	set(&g->name, "a");
	struct network_ask *n = array_append(&g->networks, sizeof *n);
	port_add(&n->reserved_ports, "http", 80, 0);
	port_add(&n->dynamic_ports, "admin", 0, 8080);
	struct volume_ask *v = array_append(&g->volumes, sizeof *v);
	set(&v->name, "data");
	set(&v->source, "disk");
	pair_add(&job->meta, "level", "job");
	pair_add(&g->meta, "level", "group");
	set(&task_of(job)->config, "{\"command\":\"/bin/true\"}");
	return job;
}

static struct network_ask *n(struct job *job)
{
	return network_of(&group_of(job)->networks);
}
static struct volume_ask *v(struct job *job)
{
	return ARRAY_AT(&group_of(job)->volumes, struct volume_ask, 0);
}

#define CHANGE(name, ...)                          \
	static void change_##name(struct job *job) \
	{                                          \
		__VA_ARGS__;                       \
	}

CHANGE(task_more, add_task(group_of(job), "helper"))
CHANGE(task_name, set(&task_of(job)->name, "other"))
CHANGE(disk_size, group_of(job)->disk.size_mb = 999)
CHANGE(disk_sticky, group_of(job)->disk.sticky = true)
CHANGE(disk_migrate, group_of(job)->disk.migrate = true)
CHANGE(network_mode, set(&n(job)->mode, "bridge"))
CHANGE(network_mbits, n(job)->mbits = 5)
CHANGE(network_hostname, set(&n(job)->hostname, "h"))
CHANGE(network_dns, set(&n(job)->dns, "{\"Servers\":[\"1.1.1.1\"]}"))
CHANGE(network_none, group_of(job)->networks.count = 0)
CHANGE(port_value, ARRAY_AT(&n(job)->reserved_ports, struct port, 0)->value = 81)
CHANGE(port_host_network,
	set(&ARRAY_AT(&n(job)->reserved_ports, struct port, 0)->host_network, "public"))
CHANGE(dynamic_to, ARRAY_AT(&n(job)->dynamic_ports, struct port, 0)->to = 9090)
CHANGE(dynamic_label, set(&ARRAY_AT(&n(job)->dynamic_ports, struct port, 0)->label, "x"))
CHANGE(dynamic_more, port_add(&n(job)->dynamic_ports, "more", 0, 0))
CHANGE(task_network,
	port_add(&((struct network_ask *)array_append(
			   &task_of(job)->resources.networks, sizeof(struct network_ask)))
			  ->dynamic_ports,
		"x", 0, 0))
CHANGE(volume_source, set(&v(job)->source, "other"))
CHANGE(volume_read_only, v(job)->read_only = true)
CHANGE(affinity_of_job, prefer(&job->affinities))
CHANGE(snapshot, set(&group_of(job)->snapshot, "s2"))
CHANGE(affinity_of_group, prefer(&group_of(job)->affinities))
CHANGE(affinity_of_task, prefer(&task_of(job)->affinities))
CHANGE(spread, spread_over(&group_of(job)->spreads, "${meta.rack}"))
CHANGE(driver, set(&task_of(job)->driver, "docker"))
CHANGE(user, set(&task_of(job)->user, "root"))
CHANGE(config, set(&task_of(job)->config, "{\"command\":\"/bin/false\"}"))
CHANGE(env, pair_add(&task_of(job)->env, "A", "1"))
CHANGE(artifacts, set(&task_of(job)->artifacts, "[{\"GetterSource\":\"x\"}]"))
CHANGE(vault, set(&task_of(job)->vault, "{\"Policies\":[\"x\"]}"))
CHANGE(templates, set(&task_of(job)->templates, "[{\"DestPath\":\"x\"}]"))
CHANGE(volume_mounts, set(&task_of(job)->volume_mounts, "[{\"Volume\":\"data\"}]"))
CHANGE(identity, set(&task_of(job)->identity, "{\"Env\":true}"))
CHANGE(no_logs, set(&task_of(job)->log_config, "{\"Disabled\":true,\"MaxFiles\":1}"))
CHANGE(meta_of_task, pair_add(&task_of(job)->meta, "level", "task"))
CHANGE(meta_of_group, pair_add(&group_of(job)->meta, "level", "new"))
CHANGE(meta_of_job, pair_add(&job->meta, "new", "x"))
CHANGE(cpu, task_of(job)->resources.cpu = 1234)
CHANGE(cores, task_of(job)->resources.cores = 2)
CHANGE(memory, task_of(job)->resources.memory_mb = 1234)
CHANGE(memory_max, task_of(job)->resources.memory_max_mb = 1234)
CHANGE(device, ask_device(job, "gpu", 1))
CHANGE(group_name, set(&group_of(job)->name, "gone"))

CHANGE(nothing, (void)job)
CHANGE(count, group_of(job)->count = 7)
CHANGE(priority, job->priority = 70)
CHANGE(constraint, constrain(&job->constraints, "${attr.arch}", "=", "amd64"))
CHANGE(services, set(&task_of(job)->services, "[{\"Name\":\"x\"}]"))
CHANGE(kill_timeout, task_of(job)->kill_timeout_ns = NS_PER_S)
CHANGE(restart, group_of(job)->restart = block(&restart_description))
CHANGE(group_renders, group_of(job)->restart = block(&restart_description);
	group_of(job)->restart->render_templates = true)
CHANGE(task_renders, task_of(job)->restart = block(&restart_description);
	task_of(job)->restart->render_templates = true)
CHANGE(reschedule, group_of(job)->reschedule = block(&reschedule_description))
CHANGE(update, job->update = block(&update_description))
CHANGE(dynamic_value, ARRAY_AT(&n(job)->dynamic_ports, struct port, 0)->value = 25000)
CHANGE(log_files,
	set(&task_of(job)->log_config, "{\"MaxFiles\":9,\"Note\":\"\\\"Disabled\\\":true\"}"))
CHANGE(meta_below_another, pair_add(&job->meta, "level", "hidden by the group"))
CHANGE(empty_json, set(&task_of(job)->templates, "[]"))
CHANGE(null_json, set(&task_of(job)->vault, "null"))
CHANGE(limit, group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 5})

#define ROW(name)                    \
	{                            \
#name, change_##name \
	}
static const struct row {
	const char *name;
	change *change;
} replacing[] = {ROW(task_more), ROW(task_name), ROW(disk_size), ROW(disk_sticky),
	ROW(disk_migrate), ROW(network_mode), ROW(network_mbits), ROW(network_hostname),
	ROW(network_dns), ROW(network_none), ROW(port_value), ROW(port_host_network),
	ROW(dynamic_to), ROW(dynamic_label), ROW(dynamic_more), ROW(task_network),
	ROW(volume_source), ROW(volume_read_only), ROW(affinity_of_job), ROW(snapshot),
	ROW(affinity_of_group), ROW(affinity_of_task), ROW(spread), ROW(driver), ROW(user),
	ROW(config), ROW(env), ROW(artifacts), ROW(vault), ROW(templates), ROW(volume_mounts),
	ROW(identity), ROW(no_logs), ROW(meta_of_task), ROW(meta_of_group), ROW(meta_of_job),
	ROW(cpu), ROW(cores), ROW(memory), ROW(memory_max), ROW(device), ROW(group_name),
	ROW(group_renders), ROW(task_renders)},
  harmless[] = {ROW(nothing), ROW(count), ROW(priority), ROW(constraint), ROW(services),
	  ROW(kill_timeout), ROW(restart), ROW(reschedule), ROW(update), ROW(dynamic_value),
	  ROW(log_files), ROW(meta_below_another), ROW(empty_json), ROW(null_json), ROW(limit)};

// In both directions: a removal counts as much as an addition.
static void check(const struct row *row, bool replaces)
{
	struct job *before = build(), *after = build();
	row->change(after);
	if (tasks_updated(before, after, "a") != replaces ||
		tasks_updated(after, before, "a") != replaces)
		fail_msg("%s: %s", row->name, replaces ? "must replace" : "must not replace");
	// The network that was taken off the list still must be freed.
	if (group_of(after)->networks.count == 0)
		group_of(after)->networks.count = 1;
	job_free(before);
	job_free(after);
}

static void each_of_these_changes_replaces(void **state)
{
	for (uint32_t i = 0; i < COUNT(replacing); i++)
		check(&replacing[i], true);
}

static void none_of_these_changes_replaces(void **state)
{
	for (uint32_t i = 0; i < COUNT(harmless); i++)
		check(&harmless[i], false);
}

static struct affinity *prefer_rack(struct array *affinities, int64_t weight)
{
	struct affinity *a = prefer(affinities);
	a->weight = weight;
	return a;
}

// Affinities of all levels form one set; spreads form a list.
static void affinities_may_move_and_spreads_may_not(void **state)
{
	struct job *before = build(), *after = build();
	prefer_rack(&before->affinities, 10);
	prefer_rack(&group_of(before)->affinities, 20);
	prefer_rack(&task_of(after)->affinities, 20);
	prefer_rack(&after->affinities, 10);
	assert_false(tasks_updated(before, after, "a"));
	prefer_rack(&before->affinities, 10);
	prefer_rack(&after->affinities, 20);
	assert_true(tasks_updated(before, after, "a"));
	job_free(before);
	job_free(after);
	before = build();
	after = build();
	spread_over(&before->spreads, "${meta.rack}");
	spread_over(&before->spreads, "${node.datacenter}");
	spread_over(&after->spreads, "${node.datacenter}");
	spread_over(&after->spreads, "${meta.rack}");
	assert_true(tasks_updated(before, after, "a"));
	job_free(before);
	job_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_these_changes_replaces),
		cmocka_unit_test(none_of_these_changes_replaces),
		cmocka_unit_test(affinities_may_move_and_spreads_may_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
