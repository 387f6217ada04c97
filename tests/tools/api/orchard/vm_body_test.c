// What clients may say of virtual machines and workers, and what they are told when they say it wrongly.
#include "state/base/limits.h"
#include "tools/api/orchard/vm_body.h"
#include "tools/api/orchard/vm_filter.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct reply reply;
static struct json_report report;

static struct vm *read_vm(const char *text)
{
	json_t *body = json_loads(text, 0, NULL);
	assert_non_null(body);
	struct vm *vm = vm_body_read(body, &report, &reply);
	json_decref(body);
	return vm;
}

static int tear_down(void **unused)
{
	json_writer_free(&reply.body);
	reply = (struct reply){0};
	json_report_free(&report);
	return 0;
}

static void expect_refusal(const char *text, unsigned status, const char *part)
{
	assert_null(read_vm(text));
	assert_int_equal(reply.status, status);
	char *body = json_writer_take(&reply.body);
	if (!strstr(body, part))
		fail_msg("no \"%s\" in %s", part, body);
	free(body);
	tear_down(NULL);
}

static void what_the_controller_says_is_passed_over(void **unused)
{
	struct vm *vm = read_vm("{\"name\":\"a\",\"image\":\"i\",\"uid\":\"mine\",\"worker\":\"w\","
				"\"status\":\"failed\",\"labels\":{\"x\":\"1\"},\"odd\":1}");
	assert_non_null(vm);
	assert_string_equal(vm->name, "a");
	assert_true(!vm->uid || !*vm->uid);
	assert_true(!vm->worker || !*vm->worker);
	assert_int_equal(vm->status, VM_PENDING);
	assert_int_equal(vm->labels.count, 1);
	assert_int_equal(report.warnings.count, 1);
	vm_free(vm);
}

static void mistakes_are_named_by_their_path(void **unused)
{
	expect_refusal("{\"cpu\":\"4\"}", 400, "VM.cpu: expected an integer");
	expect_refusal("{\"labels\":{\"x\":1}}", 400, "VM.labels[\"x\"]: expected a string");
	expect_refusal("{\"restart_policy\":\"Always\"}", 412, "unsupported restart policy");
	expect_refusal("{\"startup_script\":[]}", 400, "VM.startup_script: expected an object");
	expect_refusal("{\"startup_script\":{\"env\":{\"A\":1}}}", 400, "env[\"A\"]");
	expect_refusal("{\"hostDirs\":[{\"path\":\"/x\"}]}", 400,
		"VM.hostDirs[0].name: must not be empty");
	char image[ATTRIBUTE_VALUE_BYTES_MAX + 2] = "", body[sizeof image + 32];
	memset(image, 'x', sizeof image - 1);
	snprintf(body, sizeof body, "{\"image\":\"%s\"}", image);
	expect_refusal(body, 400, "VM.image: has 1025 bytes, 1024 are the most");
}

static void a_change_is_told_from_what_was_created(void **unused)
{
	const char *same = "{\"name\":\"a\",\"image\":\"i\",\"cpu\":0,\"powerState\":\"stopped\"}";
	struct vm *vm = read_vm("{\"name\":\"a\",\"image\":\"i\",\"cpu\":2}");
	struct vm *said = read_vm(same);
	json_t *body = json_loads(same, 0, NULL);
	assert_null(vm_body_differs(body, said, vm));
	json_decref(body);
	vm_free(said);
	said = read_vm("{\"name\":\"a\",\"cpu\":3}");
	body = json_loads("{\"name\":\"a\",\"cpu\":3}", 0, NULL);
	assert_string_equal(vm_body_differs(body, said, vm), "cpu");
	json_decref(body);
	vm_free(said);
	vm_free(vm);
}

static void filters_of_other_clients_are_understood(void **unused)
{
	static const struct {
		const char *said, *expression;
	} cases[] = {
		{"worker=a", "worker == \"a\""},
		{"worker=a,status=running", "worker == \"a\" and status == \"running\""},
		{"worker=", "worker == \"\""},
		{"worker == a", "worker == a"},
		{"worker==a", "worker==a"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct request request = {.parameter_count = 1};
		request.parameters[0] = (struct parameter){
			text_copy(TEXT("filter")), text_copy(text_of(cases[i].said))};
		vm_filter_translate(&request);
		assert_string_equal(request.parameters[0].value, cases[i].expression);
		free(request.parameters[0].name);
		free(request.parameters[0].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_the_controller_says_is_passed_over, tear_down),
		cmocka_unit_test_teardown(mistakes_are_named_by_their_path, tear_down),
		cmocka_unit_test_teardown(a_change_is_told_from_what_was_created, tear_down),
		cmocka_unit_test(filters_of_other_clients_are_understood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
