// The reader of recorded clusters, and its ledger.
#include "state/base/error.h"
#include "tools/fleet/csv.h"
#include "tools/fleet/trace.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-trace-XXXXXX", path[64], message[300];
static struct trace trace;

static const char *file(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *content)
{
	FILE *f = fopen(file(name), "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

#define NODES "openb_node_list_all_node.csv"
#define PODS "openb_pod_list_default.csv"
#define NODE_HEADER "sn,cpu_milli,memory_mib,gpu,model\n"
#define POD_HEADER "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"

static int small_trace(void **unused)
{
	write_file(NODES, NODE_HEADER "a,32000,262144,0,\nb,64000,1000,2,T4\nc,64000,1000,2,T4\n"
				      "d,64000,1000,8,V100M16\n");
	write_file(PODS, POD_HEADER "p0,12000,100,1,1000,,LS\np1,6000,50,1,460,T4|P100,LS\n"
				    "p2,12000,100,1,1000,,LS\np3,100,50,0,0,,BE\n");
	return trace_load(&trace, folder, 9, message, sizeof message);
}

static int forget(void **unused)
{
	trace_free(&trace);
	return 0;
}

static void machines_and_pods_are_read(void **unused)
{
	assert_int_equal(trace.nodes, 4);
	assert_int_equal(trace.pods, 4);
	assert_int_equal(trace.shapes.count, 3);
	assert_int_equal(trace.pod_shape_count, 3);
	assert_int_equal(trace.pod_shape[0], trace.pod_shape[2]);
	static struct wire_register d;
	static struct shape_text text;
	shape_describe(&trace.shapes, 1, &d, &text);
	assert_int_equal(d.cpu_mhz, 64000);
	assert_int_equal(d.memory_mb, 1000);
	assert_int_equal(d.device_group_count, 1);
	assert_int_equal(d.device_groups[0].instances, 2);
	assert_true(text_equal(d.device_groups[0].name, TEXT("T4")));
	assert_true(text_equal(d.name, TEXT("openb-node-1")));
}

static void pods_come_in_order(void **unused)
{
	struct placing_source source = trace_source(&trace);
	struct placing_ask ask;
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(source.next(source.context, &ask));
		assert_int_equal(ask.number, i);
		assert_int_equal(ask.count, 1);
		assert_true(text_equal(ask.job, text_of(trace.pod_shapes[trace.pod_shape[i]].job)));
	}
	assert_false(source.next(source.context, &ask));
}

static void place(uint32_t pod, uint32_t node)
{
	struct wire_placed placed = {.count = 1, .requested = 1};
	placed.items[0].node = shape_node_id(9, node);
	struct placing_source source = trace_source(&trace);
	source.placed(source.context, pod, &placed);
}

static void ledger_finds_what_is_wrong(void **unused)
{
	place(0, 1);
	place(1, 1);
	assert_int_equal(trace.overcommitted, 0);
	assert_int_equal(trace.wrong_model, 0);
	place(2, 1); // a third GPU of two
	assert_int_equal(trace.overcommitted, 1);
	place(1, 3); // wants T4 or P100
	assert_int_equal(trace.wrong_model, 1);
	place(3, 77);
	assert_int_equal(trace.unknown_nodes, 1);
	struct trace_totals capacity, used;
	trace_totals(&trace, &capacity, &used);
	assert_int_equal(capacity.cpu_mhz, 32000 + 3 * 64000);
	assert_int_equal(capacity.gpus, 12);
	assert_int_equal(used.cpu_mhz, 12000 + 6000 + 12000 + 6000);
	assert_int_equal(used.gpus, 4);
	assert_int_equal(trace.placed, 5);
}

#define LONG_NAME "0123456789012345678901234567890123456789012345678901234567890123"

static void mistakes_name_file_and_line(void **unused)
{
	static const struct {
		const char *nodes, *pods, *says;
	} bad[] = {
		{"", POD_HEADER, "empty"},
		{NODE_HEADER, POD_HEADER, "holds no machine"},
		{"sn,cpu_milli\n", POD_HEADER, "no column named \"memory_mib\""},
		{NODE_HEADER "a,1,2,3\n", POD_HEADER, ":2: not as many fields"},
		{NODE_HEADER "a,1,2,3,m,x\n", POD_HEADER, ":2: not as many fields"},
		{NODE_HEADER "a,1,2,-3,m\n", POD_HEADER, ":2: a field that should be a number"},
		{NODE_HEADER "a,1,2,4294967296,m\n", POD_HEADER, ":2: a number above"},
		{NODE_HEADER "a,1,2,65,m\n", POD_HEADER, "more than 64 GPUs"},
		{NODE_HEADER "a,1,2,3,\"m\"\n", POD_HEADER, "quoted"},
		{NODE_HEADER "a,1,2,3," LONG_NAME "\n", POD_HEADER, "model longer than 63 bytes"},
		{",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", POD_HEADER, "more than 32 columns"},
		{NODE_HEADER "a,1,2,3,m\n", POD_HEADER "p,1,1,1,1," LONG_NAME ",q\n",
			"gpu_spec longer than 63 bytes"},
		{NODE_HEADER "a,1,2,3,m\n", "name\n", "no column named \"cpu_milli\""},
		{NODE_HEADER "a,1,2,3,m\n", POD_HEADER "p,1,x,1,1,,q\n", ":2: a field"},
	};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		write_file(NODES, bad[i].nodes);
		write_file(PODS, bad[i].pods);
		assert_int_equal(
			trace_load(&trace, folder, 1, message, sizeof message), -ERROR_CORRUPT);
		if (!strstr(message, bad[i].says) || !strstr(message, "openb_"))
			fail_msg("\"%s\" does not say \"%s\"", message, bad[i].says);
	}
	static char kinds[4000] = NODE_HEADER;
	for (uint32_t i = 0, at = (uint32_t)strlen(kinds); i <= 64; i++)
		at += (uint32_t)snprintf(kinds + at, sizeof kinds - at, "a,%u,2,3,m\n", i + 1);
	write_file(NODES, kinds);
	assert_int_equal(trace_load(&trace, folder, 1, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, ":66: more than 64 kinds of machine"));
	unlink(file(NODES));
	assert_int_equal(trace_load(&trace, folder, 1, message, sizeof message), -ENOENT);
}

static void columns_are_found_by_name(void **unused)
{
	static const char *const wanted[] = {"b", "a"};
	struct csv csv;
	write_file("x.csv", "a,z,b\r\n1,,2\r\n\n3,4,\n");
	assert_int_equal(csv_open(&csv, file("x.csv"), wanted, 2, message, sizeof message), 0);
	uint32_t number;
	assert_int_equal(csv_next(&csv), 1);
	assert_int_equal(csv_number(&csv, 0, &number), 0);
	assert_int_equal(number, 2);
	assert_true(text_equal(csv_text(&csv, 1), TEXT("1")));
	assert_int_equal(csv_next(&csv), 1);
	assert_int_equal(csv_number(&csv, 0, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(csv_next(&csv), 0);
	csv_close(&csv);
	static char line[6000];
	memset(line, '1', sizeof line - 1);
	write_file("x.csv", line);
	assert_int_equal(
		csv_open(&csv, file("x.csv"), wanted, 2, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "longer than"));
	unlink(path);
}

static int make_folder(void **unused)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
	unlink(file(NODES));
	unlink(file(PODS));
	return rmdir(folder);
}

#define SMALL(t) cmocka_unit_test_setup_teardown(t, small_trace, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SMALL(machines_and_pods_are_read),
		SMALL(pods_come_in_order),
		SMALL(ledger_finds_what_is_wrong),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(columns_are_found_by_name),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
