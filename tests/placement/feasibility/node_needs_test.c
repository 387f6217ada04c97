// What a node lacks for a job's group: the first thing in the order of the checks.
#include "placement/feasibility/node_needs.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct attribute attributes[] = {{.name = "a", .value = "aaaa"}},
			drivers[] = {{"exec", "1"}};
static struct device_group devices[] = {{"nvidia", "gpu", "t4", 2}};
static struct node_class node_class = {.attributes = attributes,
	.attribute_count = 1,
	.drivers = drivers,
	.driver_count = 1,
	.devices = devices,
	.device_count = 1};
static const struct node any = {.node_class = &node_class};

static struct unmet_need unmet_of(struct job *job, enum rule_scope scope)
{
	struct node_needs needs;
	struct arena memory = {0};
	node_needs_of_group(&needs, job, 0, &memory);
	struct unmet_need unmet = node_needs_unmet(&needs, &any, scope);
	node_needs_release(&needs);
	arena_release(&memory);
	return unmet;
}

static struct job *asking_job(enum job_type type)
{
	struct job *job = job_of(type);
	set(&task_of(job)->driver, "exec");
	return job;
}

static void the_first_unmet_need_counts(void **state)
{
	struct job *job = asking_job(JOB_SERVICE);
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_NONE);
	struct network_ask *network = array_append(&group_of(job)->networks, sizeof *network);
	set(&network->mode, "bridge");
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_NETWORK);
	ask_device(job, "gpu", 3);
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_DEVICE);
	constrain(&group_of(job)->constraints, "${attr.a}", "=", "aaaa");
	constrain(&task_of(job)->constraints, "${attr.a}", "=", "b");
	struct unmet_need unmet = unmet_of(job, RULES_ALL);
	assert_int_equal(unmet.kind, UNMET_RULE);
	assert_int_equal(unmet.rule, 1);
	set(&task_of(job)->driver, "qemu");
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_DRIVER);
	job_free(job);
}

static void a_scope_leaves_the_other_rules_out(void **state)
{
	struct job *job = asking_job(JOB_SERVICE);
	constrain(&group_of(job)->constraints, "${attr.unique.x}", "=", "y");
	assert_int_equal(unmet_of(job, RULES_OF_CLASS).kind, UNMET_NONE);
	assert_int_equal(unmet_of(job, RULES_OF_NODE).kind, UNMET_RULE);
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_RULE);
	ask_device(job, "fpga", 1);
	struct network_ask *network = array_append(&group_of(job)->networks, sizeof *network);
	set(&network->mode, "bridge");
	constrain(&group_of(job)->constraints, "${attr.a}", "=", "b");
	assert_int_equal(unmet_of(job, RULES_OF_CLASS).rule, 1);
	struct unmet_need unmet = unmet_of(job, RULES_OF_NODE);
	assert_int_equal(unmet.kind, UNMET_RULE);
	assert_int_equal(unmet.rule, 0);
	struct constraint *of_node = ARRAY_AT(&group_of(job)->constraints, struct constraint, 0);
	set(&of_node->operand, "is_not_set");
	assert_int_equal(unmet_of(job, RULES_OF_NODE).kind, UNMET_NONE);
	job_free(job);
}

// Dynamic ports come first; a network by its own name, or by what the node says.
static void ports_name_networks_that_the_node_has(void **state)
{
	struct node_address address = {.address = "10.0.0.1", .alias = "public"};
	struct node_network host = {.mode = "host", .addresses = &address, .address_count = 1};
	const struct node_fittings fittings = {.networks = &host, .network_count = 1};
	const struct node n = {.node_class = &node_class, .fittings = &fittings};
	static const struct {
		const char *dynamic, *reserved;
		enum unmet_kind kind;
	} rows[] = {{"public", "public", UNMET_NONE}, {"", "", UNMET_NONE},
		{"private", "public", UNMET_PORT_NETWORK},
		{"public", "private", UNMET_PORT_NETWORK},
		{"${meta.net}", "private", UNMET_PORT_TEMPLATE},
		{"public", "${meta.net}", UNMET_PORT_TEMPLATE}};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct job *job = asking_job(JOB_SERVICE);
		struct network_ask *network =
			array_append(&group_of(job)->networks, sizeof *network);
		struct node_needs needs;
		struct arena memory = {0};
		struct port *port = array_append(&network->dynamic_ports, sizeof *port);
		set(&port->host_network, rows[i].dynamic);
		port = array_append(&network->reserved_ports, sizeof *port);
		set(&port->host_network, rows[i].reserved);
		node_needs_of_group(&needs, job, 0, &memory);
		struct unmet_need unmet = node_needs_unmet(&needs, &n, RULES_ALL);
		assert_int_equal(unmet.kind, rows[i].kind);
		if (unmet.kind != UNMET_NONE)
			assert_string_not_equal(unmet.port->host_network, "public");
		set(&network->mode, "none");
		assert_int_equal(node_needs_unmet(&needs, &n, RULES_ALL).kind, UNMET_NONE);
		node_needs_release(&needs);
		arena_release(&memory);
		job_free(job);
	}
}

// Rules about allocations are no needs; a job's own rules are apart from its groups'.
static void of_a_job_its_own_constraints_count(void **state)
{
	struct node_needs needs;
	struct arena memory = {0};
	struct job *job = asking_job(JOB_SERVICE);
	constrain(&job->constraints, "", "distinct_hosts", "");
	constrain(&job->constraints, "${attr.a}", "!=", "aaaa");
	constrain(&job->constraints, "${meta.x}", "distinct_property", "2");
	node_needs_of_job(&needs, job, &memory);
	assert_int_equal(needs.rules.count, 1);
	assert_int_equal(node_needs_unmet(&needs, &any, RULES_ALL).kind, UNMET_RULE);
	node_needs_release(&needs);
	arena_release(&memory);
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_NONE);
	job_free(job);
}

// Their clients run the instances.
static void direct_jobs_need_no_driver(void **state)
{
	struct job *job = asking_job(JOB_DIRECT);
	set(&task_of(job)->driver, "qemu");
	assert_int_equal(unmet_of(job, RULES_ALL).kind, UNMET_NONE);
	job_free(job);
}

static void volumes_are_met_by_their_source(void **state)
{
	struct host_volume volumes[] = {{"data[0]", "/d", false}, {"rom", "/r", true}};
	const struct node_fittings fittings = {.volumes = volumes, .volume_count = 2};
	const struct node n = {.node_class = &node_class, .fittings = (void *)&fittings};
	struct job *job = asking_job(JOB_SERVICE);
	struct node_needs needs;
	struct arena memory = {0};
	struct volume_ask *ask = array_append(&group_of(job)->volumes, sizeof *ask);
	set(&ask->source, "data");
	ask->per_alloc = true;
	node_needs_of_group(&needs, job, 0, &memory);
	assert_true(needs.volumes_per_alloc);
	assert_true(node_needs_volumes_met(&needs, &n, 0));
	assert_false(node_needs_volumes_met(&needs, &n, 1));
	assert_false(node_needs_volumes_met(&needs, &any, 0));
	ask = array_append(&group_of(job)->volumes, sizeof *ask);
	set(&ask->source, "rom");
	assert_false(node_needs_volumes_met(&needs, &n, 0));
	ask->read_only = true;
	assert_true(node_needs_volumes_met(&needs, &n, 0));
	set(&ask->type, "csi");
	assert_false(node_needs_volumes_met(&needs, &n, 0));
	node_needs_release(&needs);
	arena_release(&memory);
	job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_unmet_need_counts),
		cmocka_unit_test(a_scope_leaves_the_other_rules_out),
		cmocka_unit_test(ports_name_networks_that_the_node_has),
		cmocka_unit_test(of_a_job_its_own_constraints_count),
		cmocka_unit_test(direct_jobs_need_no_driver),
		cmocka_unit_test(volumes_are_met_by_their_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
