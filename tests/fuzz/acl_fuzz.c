// The rules of a policy, as somebody wrote them. What is refused says why; what is taken can be shown, and allows no
// more together with a rule that denies than without.
#include "state/base/check.h"
#include "tools/acl/acl.h"
#include "tools/acl/acl_rules.h"
#include <jansson.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char denial_text[] =
	"namespace \"prod-a\" { policy = \"deny\" } node { policy = \"deny\" }";

static void look_at_json(const struct acl_rules *rules)
{
	struct json_writer w = {0};
	acl_rules_write(&w, rules, "");
	char *text = json_writer_take(&w);
	json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	CHECK(json_is_object(value));
	json_decref(value);
	free(text);
}

static void look_at_merged(const struct acl_rules *rules)
{
	char *mistake;
	struct acl_rules *denial = acl_rules_read(denial_text, sizeof denial_text - 1, &mistake);
	CHECK(denial);
	struct acl *alone = acl_merge(&rules, 1, NULL);
	struct acl *denied = acl_merge((const struct acl_rules *[]){rules, denial}, 2, NULL);
	for (enum acl_capability c = ACL_LIST_JOBS; c <= ACL_SUBMIT_RECOMMENDATION; c++) {
		CHECK(!acl_allows_in(denied, "prod-a", c));
		CHECK(acl_allows_in(alone, "b", c) == acl_allows_in(denied, "b", c));
		CHECK(!acl_allows_in(alone, "b", c) || acl_shows_namespace(alone, "b"));
		CHECK(!acl_allows_in(alone, "b", c) || acl_allows_somewhere(alone, c));
	}
	CHECK(!acl_allows_variable(denied, "prod-a", "x", ACL_VARIABLE_READ));
	CHECK(!acl_allows_area(denied, ACL_NODE, ACL_LEVEL_READ));
	CHECK(!acl_is_management(alone));
	acl_free(alone);
	acl_free(denied);
	acl_rules_free(denial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *mistake = NULL;
	struct acl_rules *rules = acl_rules_read((const char *)data, (uint32_t)size, &mistake);
	CHECK(!rules == (mistake != NULL));
	if (rules) {
		look_at_json(rules);
		look_at_merged(rules);
	} else {
		CHECK(*mistake);
	}
	free(mistake);
	acl_rules_free(rules);
	return 0;
}
