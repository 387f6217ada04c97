// What schedulers do at level debug: each line names the evaluation, its job and its namespace, and the lines of one
// place are bounded.
#include "placement/pipeline/pipeline.h"
#include "placement/pipeline/pipeline_parts.h"
#include "placement/pipeline/scheduler_thread.h"
#include "tests/placement/pipeline/cluster.h"
#include "tests/support/log_capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 2, JOBS = 100 };

static struct log_capture capture;
static char *const output = capture.output;

// How many lines of the event there are; each names an evaluation of the job.
static uint32_t count_lines(const char *event, const char *job)
{
	char wanted[64], named[64];
	uint32_t count = 0;

	snprintf(wanted, sizeof wanted, " level=debug event=%s eval=", event);
	snprintf(named, sizeof named, " job=%s", job);
	for (char *at = output, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		if (strstr(at, wanted)) {
			assert_non_null(strstr(at, named));
			assert_non_null(strstr(at, " namespace=default "));
			count++;
		}
		*end = '\n';
	}
	return count;
}

static void work_off(struct cluster *c, uint32_t jobs, int64_t instances)
{
	char id[16];

	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(c, n);
	log_capture_begin(&capture);
	for (uint32_t j = 0; j < jobs; j++) {
		snprintf(id, sizeof id, "web-%u", j);
		cluster_job(c, (struct job_ask){.id = id,
				       .type = JOB_SERVICE,
				       .count = instances,
				       .cpu = 10,
				       .memory_mb = jobs > 1 ? 10 : 6000});
	}
	(void)cluster_settle(c);
	log_capture_end(&capture);
}

static void each_step_names_evaluation_job_and_namespace(void **unused)
{
	struct cluster c;

	cluster_init(&c, 9);
	work_off(&c, 1, NODES + 1); // one finds no room
	assert_int_equal(count_lines("evaluation-dequeued", "web-0 "), 1);
	assert_int_equal(count_lines("state-awaited", "web-0 "), 1);
	assert_int_equal(count_lines("job-reconciled", "web-0 "), 1);
	assert_non_null(strstr(output, " namespace=default place=3 "));
	assert_int_equal(count_lines("evaluation-created", "web-0 "), 1);
	assert_int_equal(count_lines("plan-committed", "web-0 "), 1);
	assert_non_null(strstr(output, " attempted=2 placed=2 "));
	assert_int_equal(count_lines("evaluation-updated", "web-0 "), 1);
	assert_int_equal(count_lines("evaluation-answered", "web-0 "), 1);
	assert_non_null(strstr(output, " answer=ack\n"));
	cluster_free(&c);
}

// Two evaluations of one job: whoever gets the first waits for what the second was made with (row B10).
static void the_newest_evaluation_of_the_job_is_waited_for(void **unused)
{
	char wanted[64];
	struct cluster c;

	cluster_init(&c, 9);
	cluster_node(&c, 0);
	cluster_job(&c, (struct job_ask){.id = "web", .type = JOB_SERVICE, .cpu = 10});
	uint64_t first = state_index(c.state);
	cluster_job(&c, (struct job_ask){.id = "web", .type = JOB_SERVICE, .cpu = 10});
	uint64_t second = state_index(c.state);
	assert_true(second > first);
	log_capture_begin(&capture);
	(void)cluster_settle(&c);
	log_capture_end(&capture);
	snprintf(wanted, sizeof wanted, "triggered_by=job-register index=%lu\n",
		(unsigned long)second);
	assert_non_null(strstr(output, wanted));
	snprintf(wanted, sizeof wanted, "triggered_by=job-register index=%lu\n",
		(unsigned long)first);
	assert_null(strstr(output, wanted));
	cluster_free(&c);
}

// What a call was refused for is in the line of the nack, in the words of rows B11 and B15.
static void a_nack_says_what_it_was_for(void **unused)
{
	struct evaluation *e;
	uint64_t token, index;
	struct cluster c;

	cluster_init(&c, 9);
	cluster_node(&c, 0);
	cluster_job(&c, (struct job_ask){.id = "web", .type = JOB_SERVICE, .cpu = 10});
	(void)applier_step(c.applier);
	struct broker *broker = c.pipeline->broker;
	e = broker_dequeue(broker, 1u << EVAL_SERVICE, 0, &token, &index);
	assert_int_equal(broker_ack(broker, &e->id, token), 0);
	e->record.modify_index = 1u << 30;
	broker_enqueue(broker, e, 0);
	log_capture_begin(&capture);
	(void)scheduler_thread_turn(c.pipeline->threads[0], 0);
	log_capture_end(&capture);
	assert_non_null(strstr(output, " level=warn event=evaluation-nacked eval="));
	assert_non_null(
		strstr(output, " job=web namespace=default error=\"sync wait timeout reached\"\n"));
	evaluation_free(e);
	cluster_free(&c);
}

static void many_evaluations_log_a_few_lines(void **unused)
{
	struct cluster c;

	cluster_init(&c, 9);
	work_off(&c, JOBS, 1);
	assert_in_range(count_lines("evaluation-dequeued", "web-"), 1, JOBS / 2);
	cluster_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_names_evaluation_job_and_namespace),
		cmocka_unit_test(the_newest_evaluation_of_the_job_is_waited_for),
		cmocka_unit_test(a_nack_says_what_it_was_for),
		cmocka_unit_test(many_evaluations_log_a_few_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
