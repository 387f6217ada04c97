// What a worker says of itself.
#include "tools/agent/worker.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct fingerprint f;

static int set_up(void **unused)
{
	f = (struct fingerprint){.description = {.node = {{7}}, .memory_mb = 2048}};
	assert_true(fingerprint_pair(&f, WIRE_PAIR_ATTRIBUTE, "cpu.arch", TEXT("arm64")));
	assert_true(fingerprint_pair(&f, WIRE_PAIR_ATTRIBUTE, "cpu.numcores", TEXT("12")));
	return 0;
}

// NULL: it is not said.
static const char *said(const char *name)
{
	for (uint32_t i = 0; i < f.description.pair_count; i++)
		if (f.description.pairs[i].kind == WIRE_PAIR_SETTING &&
			text_equal(f.description.pairs[i].name, text_of(name)))
			return f.description.pairs[i].value.data;
	return NULL;
}

static void a_node_that_is_no_worker_says_nothing(void **unused)
{
	struct agent_options o = {.worker_labels = {.items = {"a=b"}, .count = 1}};
	assert_true(worker_describe(&f, &o));
	assert_int_equal(f.description.pair_count, 2);
}

static void what_is_measured_is_offered(void **unused)
{
	struct agent_options o = {.worker = true, .worker_machine_id = "m1"};
	assert_true(worker_describe(&f, &o));
	assert_string_equal(said("vm.worker"), "1");
	assert_string_equal(said("vm.machine_id"), "m1");
	assert_string_equal(said("vm.arch"), "arm64");
	assert_string_equal(said("vm.resource.org.cirruslabs.logical-cores"), "12");
	assert_string_equal(said("vm.resource.org.cirruslabs.memory-mib"), "2048");
	assert_null(said("vm.default_cpu"));
	assert_null(said("vm.default_memory"));
	assert_null(said("vm.runtime"));
}

static void what_is_said_is_offered(void **unused)
{
	struct agent_options o = {.worker = true,
		.worker_runtime = "qemu",
		.worker_default_cpu = 2,
		.worker_default_memory_mib = 512,
		.worker_resources = {.items = {"gpus=4", "org.cirruslabs.memory-mib=100"},
			.count = 2},
		.worker_labels = {.items = {"zone=a=b"}, .count = 1}};
	assert_true(worker_describe(&f, &o));
	assert_string_equal(said("vm.resource.gpus"), "4");
	assert_string_equal(said("vm.resource.org.cirruslabs.memory-mib"), "100");
	assert_string_equal(said("vm.resource.org.cirruslabs.logical-cores"), "12");
	assert_string_equal(said("vm.label.zone"), "a=b");
	assert_string_equal(said("vm.default_cpu"), "2");
	assert_string_equal(said("vm.default_memory"), "512");
	assert_string_equal(said("vm.runtime"), "qemu");
	assert_true(*said("vm.machine_id")); // the system's, or the node's
	uint32_t memory = 0;
	for (uint32_t i = 0; i < f.description.pair_count; i++)
		memory += text_equal(
			f.description.pairs[i].name, TEXT("vm.resource.org.cirruslabs.memory-mib"));
	assert_int_equal(memory, 1);
}

static void what_does_not_fit_is_said(void **unused)
{
	struct agent_options o = {.worker = true};
	while (f.description.pair_count < NODE_ATTRIBUTES_MAX)
		assert_true(fingerprint_pair(&f, WIRE_PAIR_META, "m", TEXT("")));
	assert_false(worker_describe(&f, &o));
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(a_node_that_is_no_worker_says_nothing),
		TEST(what_is_measured_is_offered), TEST(what_is_said_is_offered),
		TEST(what_does_not_fit_is_said)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
