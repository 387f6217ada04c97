// What merged rules allow: as a real server decided (recorded.json), and as a naive reader of the rules decides.
#include "state/base/prng.h"
#include "state/base/text.h"
#include "tools/acl/acl.h"
#include "tools/acl/acl_rules.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POLICIES_MAX 4u

// Merges the rules of several texts.
static struct acl *acl_of_task(
	const char *const *texts, uint32_t count, const struct acl_task *task)
{
	struct acl_rules *rules[POLICIES_MAX];
	char *mistake;
	assert_true(count <= POLICIES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		rules[i] = acl_rules_read(texts[i], (uint32_t)strlen(texts[i]), &mistake);
		if (!rules[i])
			print_error("%s\n%s\n", texts[i], mistake);
		assert_non_null(rules[i]);
	}
	struct acl *acl = acl_merge((const struct acl_rules *const *)rules, count, task);
	for (uint32_t i = 0; i < count; i++)
		acl_rules_free(rules[i]);
	return acl;
}

static struct acl *acl_of(const char *const *texts, uint32_t count)
{
	return acl_of_task(texts, count, NULL);
}

static bool begins(const char *text, const char *with, const char **rest)
{
	size_t size = strlen(with);
	*rest = text + size;
	return strncmp(text, with, size) == 0;
}

static bool allows_variable(const struct acl *acl, const char *path_and_query, int capability)
{
	char path[64];
	size_t size = strcspn(path_and_query, "?");
	assert_true(size < sizeof path);
	memcpy(path, path_and_query, size);
	path[size] = '\0';
	return acl_allows_variable(acl, "default", path, (enum acl_variable_capability)capability);
}

static bool allows_jobs(const struct acl *acl, const char *namespace_name)
{
	if (strcmp(namespace_name, "*") == 0)
		return acl_allows_somewhere(acl, ACL_LIST_JOBS);
	return acl_allows_in(acl, namespace_name, ACL_LIST_JOBS);
}

// Whether a recorded request is allowed.
static bool allows_request(const struct acl *acl, const char *request)
{
	const char *rest;
	if (begins(request, "GET /jobs?namespace=", &rest))
		return allows_jobs(acl, rest);
	if (strcmp(request, "GET /jobs") == 0)
		return allows_jobs(acl, "default");
	if (begins(request, "GET /var/", &rest))
		return allows_variable(acl, rest, ACL_VARIABLE_READ);
	if (begins(request, "PUT /var/", &rest))
		return allows_variable(acl, rest, ACL_VARIABLE_WRITE);
	if (begins(request, "DELETE /var/", &rest))
		return allows_variable(acl, rest, ACL_VARIABLE_DESTROY);
	if (begins(request, "PUT /job/", &rest))
		return acl_allows_in(acl, "default", ACL_SUBMIT_JOB);
	if (begins(request, "GET /nodes", &rest))
		return acl_allows_area(acl, ACL_NODE, ACL_LEVEL_READ);
	if (begins(request, "PUT /node/", &rest))
		return acl_allows_area(acl, ACL_NODE, ACL_LEVEL_WRITE);
	if (begins(request, "GET /agent/self", &rest))
		return acl_allows_area(acl, ACL_AGENT, ACL_LEVEL_READ);
	// What lists show is asked for each of their elements.
	assert_true(begins(request, "GET /vars?", &rest) ||
		    begins(request, "GET /namespaces", &rest) ||
		    begins(request, "GET /acl/", &rest));
	return true;
}

static void decides_as_recorded(void **unused)
{
	json_t *all = json_load_file(RECORDED, 0, NULL), *one;
	size_t i;
	json_array_foreach(json_object_get(all, "decisions"), i, one)
	{
		json_t *rules = json_object_get(one, "rules");
		const char *texts[POLICIES_MAX];
		for (size_t n = 0; n < json_array_size(rules); n++)
			texts[n] = json_string_value(json_array_get(rules, n));
		struct acl *acl = acl_of(texts, (uint32_t)json_array_size(rules));
		const char *request = json_string_value(json_object_get(one, "request"));
		bool allowed = json_integer_value(json_object_get(one, "status")) != 403;
		if (allows_request(acl, request) != allowed)
			print_error("%s: %s\n", texts[0], request);
		assert_int_equal(allows_request(acl, request), allowed);
		acl_free(acl);
	}
	assert_true(i > 40);
	json_decref(all);
}

static void lists_show_what_is_visible(void **unused)
{
	struct acl *acl = acl_of(
		(const char *[]){
			"namespace \"prod-*\" { policy = \"read\" } namespace "
			"\"prod-b\" { policy = \"deny\" }\nnamespace \"v\" { variables { path "
			"\"app/*\" { capabilities = [\"list\"] } } }"},
		1);
	assert_true(acl_shows_namespace(acl, "prod-a"));
	assert_false(acl_shows_namespace(acl, "prod-b"));
	assert_false(acl_shows_namespace(acl, "default"));
	assert_false(acl_shows_namespace(acl, "v"));
	assert_true(acl_allows_variable(acl, "v", "app/x", ACL_VARIABLE_LIST));
	assert_false(acl_allows_variable(acl, "v", "ap", ACL_VARIABLE_LIST));
	assert_false(acl_allows_variable(acl, "w", "app/x", ACL_VARIABLE_LIST));
	acl_free(acl);
}

static void a_denied_namespace_denies_its_variables(void **unused)
{
	struct acl *acl =
		acl_of((const char *[]){"namespace \"*\" { variables { path \"*\" { capabilities = "
					"[\"read\"] } } }",
			       "namespace \"a\" { policy = \"deny\" }"},
			2);
	assert_true(acl_allows_variable(acl, "b", "x", ACL_VARIABLE_READ));
	assert_false(acl_allows_variable(acl, "a", "x", ACL_VARIABLE_READ));
	acl_free(acl);
}

static void areas_have_levels(void **unused)
{
	struct acl *acl = acl_of(
		(const char *[]){"node { policy = \"write\" } plugin { policy = \"list\" } vm { "
				 "policy = \"read\" } agent { policy = \"deny\" }",
			"agent { policy = \"write\" } plugin { policy = \"list\" }"},
		2);
	assert_true(acl_allows_area(acl, ACL_NODE, ACL_LEVEL_READ));
	assert_true(acl_allows_area(acl, ACL_NODE, ACL_LEVEL_WRITE));
	assert_true(acl_allows_area(acl, ACL_PLUGIN, ACL_LEVEL_LIST));
	assert_false(acl_allows_area(acl, ACL_PLUGIN, ACL_LEVEL_READ));
	assert_true(acl_allows_area(acl, ACL_VM, ACL_LEVEL_READ));
	assert_false(acl_allows_area(acl, ACL_VM, ACL_LEVEL_WRITE));
	assert_false(acl_allows_area(acl, ACL_AGENT, ACL_LEVEL_READ));
	assert_false(acl_allows_area(acl, ACL_OPERATOR, ACL_LEVEL_READ));
	acl_free(acl);
}

static void management_may_do_everything(void **unused)
{
	const struct acl *acl = acl_of_management();
	assert_true(acl_is_management(acl));
	assert_true(acl_allows_in(acl, "x", ACL_SENTINEL_OVERRIDE));
	assert_true(acl_shows_namespace(acl, "x"));
	assert_true(acl_allows_somewhere(acl, ACL_LIST_JOBS));
	assert_true(acl_allows_area(acl, ACL_VM, ACL_LEVEL_WRITE));
	assert_true(acl_allows_pool(acl, "x", ACL_POOL_DELETE));
	assert_true(acl_allows_volume(acl, "x", ACL_MOUNT_READWRITE));
	assert_true(acl_allows_variable(acl, "x", "y", ACL_VARIABLE_DESTROY));
	acl_free(acl);
}

static void no_rules_allow_nothing(void **unused)
{
	struct acl *acl = acl_merge(NULL, 0, NULL);
	assert_false(acl_is_management(acl));
	assert_false(acl_allows_in(acl, "default", ACL_LIST_JOBS));
	assert_false(acl_allows_somewhere(acl, ACL_LIST_JOBS));
	assert_false(acl_allows_pool(acl, "default", ACL_POOL_READ));
	assert_false(acl_allows_volume(acl, "default", ACL_MOUNT_READONLY));
	acl_free(acl);
}

static const struct acl_task web = {"blue", "web", "front", "server"};

static bool task_may(
	const struct acl *acl, const char *path, enum acl_variable_capability capability)
{
	return acl_allows_variable(acl, "blue", path, capability);
}

static void a_task_reads_what_its_path_names(void **unused)
{
	static const char *const own[] = {"nomad/jobs", "nomad/jobs/web", "nomad/jobs/web/front",
		"nomad/jobs/web/front/server"};
	static const char *const others[] = {"", "nomad", "nomad/job", "nomad/jobs/",
		"nomad/jobs/we", "nomad/jobs/webs", "nomad/jobs/web/", "nomad/jobs/web/back",
		"nomad/jobs/web/server", "nomad/jobs/web/front/server/more",
		"nomad/jobs/web/front/serve", "nomad/jobs/*", "web/front",
		"nomad/jobs/other/front/server", "nomad/jobs/w*b/front/server"};
	struct acl *acl = acl_of_task(NULL, 0, &web);
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		assert_true(task_may(acl, own[i], ACL_VARIABLE_READ));
		assert_true(task_may(acl, own[i], ACL_VARIABLE_LIST));
		assert_false(task_may(acl, own[i], ACL_VARIABLE_WRITE));
		assert_false(task_may(acl, own[i], ACL_VARIABLE_DESTROY));
		assert_false(acl_allows_variable(acl, "default", own[i], ACL_VARIABLE_READ));
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(task_may(acl, others[i], ACL_VARIABLE_READ));
	assert_true(acl_knows_variables(acl, "blue"));
	assert_true(acl_knows_variables(acl, NULL));
	assert_false(acl_knows_variables(acl, "default"));
	assert_false(acl_is_management(acl));
	assert_false(acl_allows_in(acl, "blue", ACL_READ_JOB));
	assert_false(acl_shows_namespace(acl, "blue"));
	acl_free(acl);
}

// Names with the characters of patterns are no patterns, and a job whose name has a '/' reads where that leads.
static void a_task_of_any_name(void **unused)
{
	struct acl *acl = acl_of_task(NULL, 0, &(struct acl_task){"blue", "*", "*", "*"});
	assert_false(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_READ));
	assert_true(task_may(acl, "nomad/jobs", ACL_VARIABLE_READ));
	acl_free(acl);
	acl = acl_of_task(NULL, 0, &(struct acl_task){"blue", "a/b", "g", "t"});
	assert_true(task_may(acl, "nomad/jobs/a/b", ACL_VARIABLE_READ));
	assert_false(task_may(acl, "nomad/jobs/a", ACL_VARIABLE_READ));
	assert_true(task_may(acl, "nomad/jobs/a/b/g/t", ACL_VARIABLE_READ));
	acl_free(acl);
}

// A rule for just the variable counts first, then what a task may, then patterns; a denied namespace denies all.
static void rules_and_what_a_task_may(void **unused)
{
	const char *exact = "namespace \"blue\" { variables { path \"nomad/jobs/web\" { "
			    "capabilities = [\"write\"] } } }";
	const char *pattern = "namespace \"*\" { variables { path \"*\" { capabilities = "
			      "[\"destroy\"] } } }";
	const char *denial = "namespace \"blue\" { policy = \"deny\" }";
	struct acl *acl = acl_of_task(&exact, 1, &web);
	assert_true(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_WRITE));
	assert_false(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_DESTROY));
	assert_true(task_may(acl, "nomad/jobs/web/front", ACL_VARIABLE_READ));
	acl_free(acl);
	acl = acl_of_task(&pattern, 1, &web);
	assert_true(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_READ));
	assert_false(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_DESTROY));
	assert_true(task_may(acl, "nomad/jobs/other", ACL_VARIABLE_DESTROY));
	acl_free(acl);
	acl = acl_of_task(&denial, 1, &web);
	assert_false(task_may(acl, "nomad/jobs/web", ACL_VARIABLE_READ));
	acl_free(acl);
}

// A rule of the naive model.
struct model_rule {
	enum acl_subject subject;
	char name[8], path[8]; // path: of variables
	uint32_t capabilities; // bits, ACL_DENY included
};

struct model {
	struct model_rule rules[24];
	uint32_t count;
};

static const char *const blocks[] = {[ACL_NAMESPACES] = "namespace",
	[ACL_NODE_POOLS] = "node_pool",
	[ACL_HOST_VOLUMES] = "host_volume"};
static const struct {
	const char *words[4];
} sample_words[ACL_SUBJECTS] = {
	[ACL_NAMESPACES] = {{"deny", "list-jobs", "read-job", "submit-job"}},
	[ACL_NODE_POOLS] = {{"deny", "delete", "read", "write"}},
	[ACL_HOST_VOLUMES] = {{"deny", "mount-readonly", "mount-readwrite", "mount-readonly"}},
	[ACL_VARIABLES] = {{"deny", "write", "list", "destroy"}},
};

static void random_name(struct prng *prng, char name[8], const char *letters, uint64_t kinds)
{
	uint64_t size = 1 + prng_below(prng, 4);
	for (uint64_t i = 0; i < size; i++)
		name[i] = letters[prng_below(prng, kinds)];
	name[size] = '\0';
}

static void write_capabilities(struct prng *prng, struct model_rule *rule, FILE *file)
{
	fputs("capabilities = [", file);
	for (uint64_t i = prng_below(prng, 3); i > 0; i--) {
		// Deny would otherwise be all there is.
		uint64_t word = prng_below(prng, 8) ? 1 + prng_below(prng, 3) : 0;
		const char *text = sample_words[rule->subject].words[word];
		rule->capabilities |= 1u << acl_capability_of(rule->subject, text);
		fprintf(file, "\"%s\",", text);
	}
	fputs("]", file);
}

// Writes a policy and notes its rules.
static char *random_policy(struct prng *prng, struct model *model)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	fputs("node { policy = \"read\" }\n", file);
	for (uint64_t i = prng_below(prng, 4); i > 0; i--) {
		struct model_rule *rule = &model->rules[model->count++];
		rule->subject = (enum acl_subject)prng_below(prng, 3);
		random_name(prng, rule->name, "ab*", 3);
		fprintf(file, "%s \"%s\" { ", blocks[rule->subject], rule->name);
		write_capabilities(prng, rule, file);
		if (rule->subject == ACL_NAMESPACES && prng_below(prng, 2)) {
			struct model_rule *path = &model->rules[model->count++];
			path->subject = ACL_VARIABLES;
			memcpy(path->name, rule->name, sizeof path->name);
			random_name(prng, path->path, "xy/*", 4);
			fprintf(file, " variables { path \"%s\" { ", path->path);
			write_capabilities(prng, path, file);
			fputs(" } }", file);
		}
		fputs(" }\n", file);
	}
	fclose(file);
	return text;
}

// Characters of the name that no star stands for, and a lot more without any star; 0: it does not fit.
static uint32_t closeness(const struct model_rule *rule, const char *name, const char *path)
{
	char both[20];
	uint32_t own = 1;
	snprintf(both, sizeof both, "%s%s", rule->name, rule->path);
	if (!glob_matches(rule->name, name) || !glob_matches(rule->path, path))
		return 0;
	for (const char *c = both; *c; c++)
		own += *c != '*';
	return strchr(both, '*') ? own : own + 1000;
}

static int rule_order(const struct model_rule *a, const struct model_rule *b)
{
	int order = strcmp(a->path, b->path);
	return order ? order : strcmp(a->name, b->name);
}

// The first of the closest rules, and those of the same name; a rule as close that denies decides.
static uint32_t model_says(
	const struct model *model, enum acl_subject subject, const char *name, const char *path)
{
	const struct model_rule *best = NULL;
	uint32_t best_closeness = 0, says = 0;
	for (uint32_t i = 0; i < model->count; i++) {
		const struct model_rule *rule = &model->rules[i];
		uint32_t is = rule->subject == subject ? closeness(rule, name, path) : 0;
		if (is > best_closeness)
			says = 0;
		if (is == 0 || is < best_closeness)
			continue;
		if (is > best_closeness || rule_order(rule, best) < 0) {
			says &= 1;
			best = rule;
		}
		best_closeness = is;
		if (rule_order(rule, best) == 0)
			says |= rule->capabilities;
		says |= rule->capabilities & 1;
	}
	return says & 1 ? 1 : says;
}

static void expect_same(
	const struct model *model, const struct acl *acl, const char *name, const char *path)
{
	uint32_t says[ACL_SUBJECTS];
	for (enum acl_subject s = 0; s < ACL_SUBJECTS; s++)
		says[s] = model_says(model, s, name, s == ACL_VARIABLES ? path : "");
	if (says[ACL_NAMESPACES] & 1)
		says[ACL_VARIABLES] = 0;
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(acl_allows_in(acl, name, i), says[ACL_NAMESPACES] >> i & 1);
		assert_int_equal(acl_allows_pool(acl, name, i), says[ACL_NODE_POOLS] >> i & 1);
		assert_int_equal(acl_allows_volume(acl, name, i), says[ACL_HOST_VOLUMES] >> i & 1);
		assert_int_equal(
			acl_allows_variable(acl, name, path, i), says[ACL_VARIABLES] >> i & 1);
	}
	assert_int_equal(acl_shows_namespace(acl, name), says[ACL_NAMESPACES] > 1);
}

static void decides_as_the_naive_model(void **unused)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 20261126;
	struct prng prng;
	print_message("seed %lu\n", (unsigned long)seed);
	prng_seed(&prng, seed);
	for (uint32_t round = 0; round < 5000; round++) {
		struct model model = {0};
		char *texts[3];
		for (uint32_t i = 0; i < 3; i++)
			texts[i] = random_policy(&prng, &model);
		struct acl *acl = acl_of((const char *const *)texts, 3);
		for (uint32_t i = 0; i < 10; i++) {
			char name[8], path[8];
			random_name(&prng, name, "ab", 2);
			random_name(&prng, path, "xy/", 3);
			expect_same(&model, acl, name, path);
		}
		acl_free(acl);
		for (uint32_t i = 0; i < 3; i++)
			free(texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_as_recorded),
		cmocka_unit_test(lists_show_what_is_visible),
		cmocka_unit_test(a_denied_namespace_denies_its_variables),
		cmocka_unit_test(areas_have_levels),
		cmocka_unit_test(management_may_do_everything),
		cmocka_unit_test(no_rules_allow_nothing),
		cmocka_unit_test(a_task_reads_what_its_path_names),
		cmocka_unit_test(a_task_of_any_name),
		cmocka_unit_test(rules_and_what_a_task_may),
		cmocka_unit_test(decides_as_the_naive_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
