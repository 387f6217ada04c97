#include "placement/direct/verdicts.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void constrain(struct array *to, const char *left, const char *operand, const char *right)
{
	struct constraint *c = array_append(to, sizeof *c);
	*c = (struct constraint){
		text_copy(text_of(left)), text_copy(text_of(right)), text_copy(text_of(operand))};
}

static uint8_t verdict_of(const char *left, const char *operand, const char *right)
{
	static struct attribute attributes[] = {{.name = "a", .value = "aaaa"}};
	const struct node_class class = {.attributes = attributes, .attribute_count = 1};
	struct verdicts verdicts;
	struct job *job = job_create();
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	job->type = JOB_DIRECT;
	constrain(&group->constraints, left, operand, right);
	assert_true(job_derive(job));
	verdicts_begin(&verdicts, job, 0);
	uint8_t verdict = verdict_of_class(&verdicts, &class);
	if (verdicts_are_of_nodes(&verdicts))
		verdict = verdict_of_node(
			&verdicts, &(struct node){.node_class = (void *)&class}, verdict);
	verdicts_release(&verdicts);
	job_free(job);
	return verdict;
}

// Here the applier decides, and everybody waits for it: 10,000 nodes with a search of ten milliseconds each would be
// minutes without a commit. Validation refuses such jobs; one that was stored before finds no node.
static void patterns_are_not_searched_for(void **state)
{
	assert_int_equal(verdict_of("${attr.a}", "=", "aaaa"), VERDICT_PASS);
	assert_int_equal(verdict_of("${attr.a}", "set_contains_any", "b,aaaa"), VERDICT_PASS);
	assert_int_equal(verdict_of("${attr.a}", "regexp", "a"), VERDICT_CONSTRAINT);
	assert_int_equal(verdict_of("${attr.unique.a}", "regexp", "a"), VERDICT_CONSTRAINT);
	assert_int_equal(verdict_of("aaaa", "regexp", "${attr.a}"), VERDICT_CONSTRAINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_not_searched_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
