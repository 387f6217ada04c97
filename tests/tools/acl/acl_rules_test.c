// Rules as a real server reads, expands and refuses them: recorded.json.
#include "tools/acl/acl_rules.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *recorded(const char *what)
{
	json_t *all = json_load_file(RECORDED, 0, NULL);
	json_t *part = json_incref(json_object_get(all, what));
	json_decref(all);
	assert_true(json_array_size(part) > 5);
	return part;
}

static struct acl_rules *read_rules(const char *text)
{
	char *mistake;
	struct acl_rules *rules = acl_rules_read(text, (uint32_t)strlen(text), &mistake);
	if (!rules)
		print_error("%s\n", mistake);
	assert_non_null(rules);
	return rules;
}

static void expect_mistake(const char *text, const char *expected)
{
	char *mistake;
	assert_null(acl_rules_read(text, (uint32_t)strlen(text), &mistake));
	assert_string_equal(mistake, expected);
	free(mistake);
}

static json_t *written(const struct acl_rules *rules, const char *text)
{
	struct json_writer w = {0};
	acl_rules_write(&w, rules, text);
	char *json = json_writer_take(&w);
	json_t *value = json_loads(json, 0, NULL);
	assert_non_null(value);
	free(json);
	return value;
}

static void words_stand_for_what_was_recorded(void **unused)
{
	json_t *cases = recorded("expansions"), *one;
	size_t i;
	json_array_foreach(cases, i, one)
	{
		const char *text = json_string_value(json_object_get(one, "rules"));
		struct acl_rules *rules = read_rules(text);
		json_t *ours = written(rules, text);
		assert_string_equal(json_string_value(json_object_get(ours, "Raw")), text);
		json_object_del(ours, "Raw");
		if (!json_equal(ours, json_object_get(one, "json")))
			print_error("%s\n%s\n", text, json_dumps(ours, 0));
		assert_true(json_equal(ours, json_object_get(one, "json")));
		json_decref(ours);
		acl_rules_free(rules);
	}
	json_decref(cases);
}

static void mistakes_are_told_as_recorded(void **unused)
{
	json_t *cases = recorded("mistakes"), *one;
	size_t i;
	json_array_foreach(cases, i, one)
	{
		const char *rules = json_string_value(json_object_get(one, "rules"));
		const char *text = json_string_value(json_object_get(one, "text"));
		if (text)
			expect_mistake(rules, text);
		else
			acl_rules_free(read_rules(rules));
	}
	json_decref(cases);
}

static void capabilities_that_are_given_come_first(void **unused)
{
	struct acl_rules *rules =
		read_rules("namespace \"a\" { policy = \"scale\" capabilities = [\"read-logs\"] }");
	struct acl_rule *rule = ARRAY_AT(&rules->named[ACL_NAMESPACES], struct acl_rule, 0);
	assert_int_equal(rule->capabilities.count, 5);
	assert_string_equal(*ARRAY_AT(&rule->capabilities, const char *, 0), "read-logs");
	assert_string_equal(
		*ARRAY_AT(&rule->capabilities, const char *, 1), "list-scaling-policies");
	acl_rules_free(rules);
}

static void json_says_the_same(void **unused)
{
	static const char *const texts[] = {
		"namespace \"a\" { variables { path \"x\" { capabilities = [\"read\"] } } }\n"
		"node { policy = \"read\" } namespace \"b\" { policy = \"write\" }",
		"{\"namespace\": {\"a\": {\"variables\": {\"path\": {\"x\": {\"capabilities\": "
		"[\"read\"]}}}}, \"b\": {\"policy\": \"write\"}}, \"node\": {\"policy\": "
		"\"read\"}}",
		"{\"namespace\": [{\"a\": [{\"variables\": [{\"path\": [{\"x\": "
		"{\"capabilities\": [\"read\"]}}]}]}]}, {\"b\": {\"policy\": \"write\"}}], "
		"\"node\": [{\"policy\": \"read\"}]}",
	};
	json_t *first = NULL;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct acl_rules *rules = read_rules(texts[i]);
		json_t *ours = written(rules, "");
		if (!first)
			first = json_incref(ours);
		assert_true(json_equal(ours, first));
		json_decref(ours);
		acl_rules_free(rules);
	}
	json_decref(first);
}

static void machines_have_a_word_of_their_own(void **unused)
{
	struct acl_rules *rules = read_rules("vm { policy = \"write\" }");
	json_t *ours = written(rules, "");
	json_t *vm = json_object_get(ours, "VM");
	assert_string_equal(json_string_value(json_object_get(vm, "Policy")), "write");
	json_decref(ours);
	acl_rules_free(rules);
	rules = read_rules("vm_admin { policy = \"read\" }");
	ours = written(rules, "");
	assert_null(json_object_get(ours, "VM"));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(ours, "VMAdmin"), "Policy")),
		"read");
	json_decref(ours);
	acl_rules_free(rules);
	rules = read_rules("vm_connect { policy = \"write\" }");
	ours = written(rules, "");
	assert_null(json_object_get(ours, "VM"));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(ours, "VMConnect"), "Policy")),
		"write");
	json_decref(ours);
	acl_rules_free(rules);
	expect_mistake("vm_admin { policy = \"all\" }",
		"Invalid vm_admin policy: &acl.VmAdminPolicy{Policy:\"all\"}");
	expect_mistake(
		"vm { policy = \"list\" }", "Invalid vm policy: &acl.VmPolicy{Policy:\"list\"}");
}

static void the_rest_is_refused(void **unused)
{
	expect_mistake("node { policy = \"read\" }\nnodes { policy = \"deny\" }",
		"Failed to parse ACL Policy: At 2:7: nodes is no word of a policy");
	expect_mistake("node { policy = \"read\" polici = \"deny\" }",
		"Failed to parse ACL Policy: At 1:33: polici is no word of a policy");
	expect_mistake(
		"node { policy = 1 }", "Failed to parse ACL Policy: At 1:17: policy is a text");
	expect_mistake(
		"node { policy { } }", "Failed to parse ACL Policy: At 1:15: policy is a text");
	expect_mistake("node = 1", "Failed to parse ACL Policy: At 1:8: node is an object");
	expect_mistake("node \"a\" { policy = \"read\" }",
		"Failed to parse ACL Policy: At 1:10: node has no name");
	expect_mistake("node { policy = \"read\" } node { policy = \"read\" }",
		"Failed to parse ACL Policy: At 1:31: node is there twice");
	expect_mistake("node { }", "Invalid node policy: &acl.NodePolicy{Policy:\"\"}");
	expect_mistake("namespace \"a\" \"b\" { }",
		"Failed to parse ACL Policy: At 1:19: namespace has one name");
	expect_mistake(
		"namespace { a \"b\" { } }", "Failed to parse ACL Policy: At 1:19: a has one name");
	expect_mistake("namespace { policy = \"read\" }",
		"Failed to parse ACL Policy: At 1:22: policy is an object");
	expect_mistake("namespace \"a\" { capabilities = \"deny\" }",
		"Failed to parse ACL Policy: At 1:32: capabilities is a list of texts");
	expect_mistake("namespace \"a\" { capabilities = [1] }",
		"Failed to parse ACL Policy: At 1:33: capabilities is a list of texts");
	expect_mistake(
		"namespace = [1]", "Failed to parse ACL Policy: At 1:14: namespace is an object");
	expect_mistake("namespace \"\" { policy = \"read\" }",
		"Invalid namespace name: &acl.NamespacePolicy{Name:\"\", Policy:\"read\", "
		"Capabilities:[]string(nil), Variables:(*acl.VariablesPolicy)(nil)}");
	expect_mistake("host_volume \"a\" { capabilities = [\"x\"] }",
		"Invalid host volume capability 'x': &acl.HostVolumePolicy{Name:\"a\", "
		"Policy:\"\", "
		"Capabilities:[]string{\"x\"}}");
	expect_mistake("host_volume \"a/b\" { }",
		"Invalid host volume name: &acl.HostVolumePolicy{Name:\"a/b\", Policy:\"\", "
		"Capabilities:[]string(nil)}");
	expect_mistake("node_pool \"a\" { capabilities = [\"x\"] }",
		"Invalid node pool capability 'x' for 'a'");
	expect_mistake("node_pool \"\" { }", "Invalid node pool name ''");
	for (enum acl_area area = 0; area < ACL_AREAS; area++) {
		char text[64], *mistake;
		snprintf(text, sizeof text, "%s { policy = \"x\" }", acl_area_name(area));
		assert_null(acl_rules_read(text, (uint32_t)strlen(text), &mistake));
		assert_memory_equal(mistake, "Invalid ", 8);
		free(mistake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_stand_for_what_was_recorded),
		cmocka_unit_test(mistakes_are_told_as_recorded),
		cmocka_unit_test(capabilities_that_are_given_come_first),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(machines_have_a_word_of_their_own),
		cmocka_unit_test(the_rest_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
