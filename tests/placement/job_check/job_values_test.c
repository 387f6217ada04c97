// Single values of a job that are beyond what they may be.
#include "placement/job_check/job_check.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void fill(char **string, size_t bytes)
{
	free(*string);
	*string = memory_take(bytes + 1);
	memset(*string, 'x', bytes);
}

static void long_id(struct job *job)
{
	fill(&job->id, 256);
	set(&job->name, "web");
}

static void long_payload(struct job *job)
{
	fill(&job->payload, 21849);
}

static void property_of_nothing(struct job *job)
{
	constrain(&job->constraints, "", "distinct_property", "2");
}

static void distinct_affinity(struct job *job)
{
	struct affinity *affinity = prefer(&job->affinities);
	set(&affinity->operand, "distinct_hosts");
}

static void spread_beyond_all(struct job *job)
{
	struct spread *spread = spread_over(&job->spreads, "${meta.rack}");
	struct spread_target *target = array_append(&spread->targets, sizeof *target);
	set(&target->value, "r1");
	target->percent = 101;
}

static struct port *dynamic_port(struct job *job)
{
	struct network_ask *network =
		array_append(&group_of(job)->networks, sizeof(struct network_ask));
	return array_append(&network->dynamic_ports, sizeof(struct port));
}

static void port_without_label(struct job *job)
{
	(void)dynamic_port(job);
}

static void port_to_65536(struct job *job)
{
	struct port *port = dynamic_port(job);
	set(&port->label, "http");
	port->to = 65536;
}

static void meta_without_name(struct job *job)
{
	struct string_pair *pair = array_append(&job->meta, sizeof *pair);
	set(&pair->name, "");
	set(&pair->value, "v");
}

static char heard[300];

static void hear(const char *text, void *unused)
{
	snprintf(heard, sizeof heard, "%s", text);
}

static void each_value_is_refused_by_a_sentence(void **unused)
{
	static const struct {
		void (*spoil)(struct job *);
		const char *sentence;
	} rows[] = {
		{long_id, "ID has 256 bytes, more than the 255 that are allowed"},
		{long_payload, "Payload is longer than the 16384 bytes that are allowed"},
		{property_of_nothing, "constraint distinct_property needs an LTarget"},
		{distinct_affinity,
			"affinity distinct_hosts makes no sense: it belongs into a constraint"},
		{spread_beyond_all,
			"Percent of spread target \"r1\" is 101 but must be between 0 and 100"},
		{port_without_label, "group \"front\": a port has no Label"},
		{port_to_65536,
			"group \"front\": port \"http\" is mapped To 65536, which is no port"},
		{meta_without_name, "Meta has a name that is empty or not printable UTF-8"},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct job *job = job_of(JOB_SERVICE);
		rows[i].spoil(job);
		job_canonicalize(job);
		uint32_t mistakes = job_check(job, hear, NULL);
		if (mistakes != 1 || strcmp(heard, rows[i].sentence) != 0)
			fail_msg("row %u: %u mistakes, the last \"%s\"", i, mistakes, heard);
		job_free(job);
	}
}

// What is left out is everywhere, so that a check need not ask.
static void no_datacenters_are_all(void **unused)
{
	struct job *job = job_of(JOB_SERVICE);
	assert_int_equal(job->datacenters.count, 0);
	job_canonicalize(job);
	assert_int_equal(job->datacenters.count, 1);
	assert_string_equal(*ARRAY_AT(&job->datacenters, char *, 0), "*");
	assert_int_equal(job_check(job, hear, NULL), 0);
	job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_refused_by_a_sentence),
		cmocka_unit_test(no_datacenters_are_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
