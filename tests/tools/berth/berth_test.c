// The berth program as people run it: against a real API server, and a wire controller in
// miniature.
#include "state/base/memory.h"
#include "tests/api/server.h"
#include "tests/tools/client/responder.h"
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS_MAX 24

static struct server *server;
static struct responder *responder;
static char folder[] = "/tmp/berth-test-XXXXXX";
static char address[64], key_file[64];

struct run {
	int status;
	char out[65536], error[8192];
};
static struct run run;

static void slurp(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	close(fd);
}

static int file(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

// Runs berth with the words of a line, separated by blanks.
static int berth(const char *line)
{
	char program[] = BERTH_PROGRAM;
	char *words[WORDS_MAX + 1] = {program}, *copy = text_copy(text_of(line)), *next;
	int count = 1;
	for (char *word = strtok_r(copy, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
		assert_true(count < WORDS_MAX);
		words[count++] = word;
	}
	char own_address[80], path[] = "PATH=/usr/bin:/bin";
	snprintf(own_address, sizeof own_address, "BERTH_ADDR=%s", address);
	char *environment[] = {own_address, path, NULL};
	int out = file("out"), error = file("error");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, error, 2);
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, BERTH_PROGRAM, &actions, NULL, words, environment), 0);
	posix_spawn_file_actions_destroy(&actions);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(copy);
	slurp(out, run.out, sizeof run.out);
	slurp(error, run.error, sizeof run.error);
	run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	return run.status;
}

static void expect(const char *line, int status, const char *out, const char *error)
{
	berth(line);
	if (run.status != status || !strstr(run.out, out) || !strstr(run.error, error))
		fail_msg("berth %s gave %d\n%s\n%s\nnot %d with \"%s\" and \"%s\"", line,
			run.status, run.out, run.error, status, out, error);
}

static void write_file(const char *name, const char *text)
{
	int fd = file(name);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int set_up(void **unused)
{
	struct wire_key key;
	char text[WIRE_KEY_TEXT_BYTES], line[WIRE_KEY_TEXT_BYTES + 2];
	assert_non_null(mkdtemp(folder));
	server = server_start(&(struct server_options){0});
	snprintf(address, sizeof address, "http://127.0.0.1:%u", api_port(server->api));
	for (uint32_t i = 0; i < 3; i++)
		server_node(server, i);
	responder = responder_start();
	assert_true(client_key_derive(&responder->masters, 1, TEXT("tester"), &key));
	snprintf(line, sizeof line, "%s\n", wire_key_format(1, &key, text));
	write_file("tester.key", line);
	snprintf(key_file, sizeof key_file, "%s/tester.key", folder);
	return 0;
}

static int tear_down(void **unused)
{
	static const char *const names[] = {
		"out", "error", "tester.key", "web.json", "bad.json", "broken.json", "master.key"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[128];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	responder_stop(responder);
	server_stop(server);
	return 0;
}

static const char web[] =
	"{\"ID\":\"web\",\"Name\":\"web\",\"Type\":\"direct\",\"Datacenters\":[\"dc1\"],\"Oops\":1,"
	"\"TaskGroups\":[{\"Name\":\"g\",\"Constraints\":[{\"LTarget\":\"${attr.kernel.name}\","
	"\"RTarget\":\"linux\",\"Operand\":\"=\"}],\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\","
	"\"Config\":{\"command\":\"/bin/true\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}";

static void jobs_are_run_shown_and_stopped(void **unused)
{
	char line[256];
	write_file("web.json", web);
	snprintf(line, sizeof line, "job validate %s/web.json", folder);
	expect(line, 0, "The job is valid.", "");
	snprintf(line, sizeof line, "job run %s/web.json", folder);
	expect(line, 0, "Registered job \"web\" at index ", "Job.Oops: not known, ignored");
	snprintf(line, sizeof line, "job run -check-index=0 %s/web.json", folder);
	expect(line, 4, "", "Enforcing job modify index 0: job already exists");
	struct uuid ids[PLACE_COUNT_MAX];
	assert_int_equal(server_place(server, "web", 2, ids), 2);
	expect("job list", 0, "web  default    direct  50        running  2", "");
	expect("job status web", 0, "web.g[1]", "");
	assert_non_null(strstr(run.out, "\n  g      2 "));
	expect("job inspect web", 0, "\"Job\": {", "");
	json_t *root = json_loads(run.out, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	expect("alloc list --job web", 0, "pending", "");
	expect("alloc list --status lost", 0, "ID", "");
	assert_null(strstr(run.out, "web.g"));
	expect("job stop web", 0, "Stopped job \"web\" at index ", "");
	expect("job list", 0, "dead (stopped)", "");
	expect("job stop --purge web", 0, "and purged it", "");
	expect("job status web", 3, "", "job not found");
}

static void bad_jobs_are_told_every_mistake(void **unused)
{
	char line[256];
	write_file("bad.json",
		"{\"Job\":{\"ID\":\"a b\",\"Type\":\"direct\",\"TaskGroups\":[{\"Count\":-1}]}}");
	snprintf(line, sizeof line, "job run %s/bad.json", folder);
	expect(line, 4, "", "errors occurred:");
	snprintf(line, sizeof line, "job validate %s/bad.json", folder);
	expect(line, 4, "errors occurred:", "");
	write_file("broken.json", "{\n\"Job\": {");
	snprintf(line, sizeof line, "job run %s/broken.json", folder);
	expect(line, 4, "", "broken.json line 2 column ");
	expect("job run /nowhere.json", 1, "", "cannot read /nowhere.json: No such file");
}

static void nodes_are_listed_and_shown(void **unused)
{
	struct uuid id = server_node_id(2);
	char text[UUID_TEXT_BYTES], line[128];
	uuid_format(&id, text);
	expect("node list", 0, "ID        DC   Name         Class  Pool     Eligibility  Status",
		"");
	expect("node list --status down", 0, "ID", "");
	assert_null(strstr(run.out, "node-0"));
	snprintf(line, sizeof line, "node status %.6s", text);
	expect(line, 0, "Name         = node-000002", "");
	assert_non_null(strstr(run.out, "kernel.name"));
	assert_non_null(strstr(run.out, "nvidia/gpu/a100"));
	assert_non_null(strstr(run.out, "MHz"));
	expect("node status 99999999", 3, "", "no node id begins with 99999999");
	expect("node status zz", 2, "", "\"zz\" is no node id");
	expect("node list --json", 0, "[{\"Address\"", "");
	snprintf(line, sizeof line, "node status %s --json", text);
	expect(line, 0, "\"ComputedClass\"", "");
}

static void a_prefix_of_several_names_them(void **unused)
{
	// Ids 100000+n are made to share their first digits.
	char common[8] = "", text[UUID_TEXT_BYTES];
	struct uuid first = server_node_id(0);
	snprintf(common, sizeof common, "%.4s", uuid_format(&first, text));
	struct uuid same = server_node_id(65536);
	uuid_format(&same, text);
	assert_int_equal(strncmp(text, common, 4), 0);
	server_node(server, 65536);
	char line[64];
	snprintf(line, sizeof line, "node status %s", common);
	expect(line, 3, "", "2 or more nodes begin with");
	assert_non_null(strstr(run.error, "node-000000"));
	assert_non_null(strstr(run.error, "node-065536"));
}

static void wire_line(char *line, size_t size, const char *command, const char *rest)
{
	snprintf(line, size, "%s --wire %s --name tester --key-file %s --timeout 5 %s", command,
		responder->address, key_file, rest);
}

static void placements_are_printed_and_repeated(void **unused)
{
	char line[512], request[64], repeat[128], first[4096];
	wire_line(line, sizeof line, "place", "--job web --group g --count 2");
	expect(line, 0, "Placed 2 of 2 at index ", "");
	assert_non_null(strstr(run.out, "Allocation "));
	const char *at = strstr(run.out, "Request ");
	assert_int_equal(sscanf(at, "Request %60[0-9:]", request), 1);
	snprintf(first, sizeof first, "%.200s", run.out);
	snprintf(repeat, sizeof repeat, "--job web --group g --count 2 --request %s", request);
	wire_line(line, sizeof line, "place", repeat);
	expect(line, 0, "Placed 2 of 2", "");
	assert_int_equal(strncmp(first, run.out, 190), 0);
	char id[40];
	assert_int_equal(sscanf(strchr(run.out, '\n') + 1, "%39s", id), 1);
	wire_line(line, sizeof line, "release", id);
	expect(line, 0, "released", "");
	wire_line(line, sizeof line, "status", id);
	expect(line, 0, id, "");
	wire_line(line, sizeof line, "place", "--job web --group g --json");
	expect(line, 0, "\"Score\"", "");
	json_t *root = json_loads(run.out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "Items")), 1);
	json_decref(root);
}

static void a_refusal_says_why(void **unused)
{
	char line[512];
	atomic_store(&responder->rules.place_limit, 0);
	atomic_store(&responder->rules.refuse, 1);
	atomic_store(&responder->rules.reason, WIRE_REFUSED_NO_NODE);
	wire_line(line, sizeof line, "place", "--job web --group g");
	expect(line, 4, "", "no node can take one more instance of web.g");
	assert_non_null(strstr(run.error, "nodes seen"));
	atomic_store(&responder->rules.refuse, 1);
	atomic_store(&responder->rules.reason, WIRE_REFUSED_UNKNOWN_JOB);
	expect(line, 4, "", "unknown-job");
	wire_line(line, sizeof line, "place", "--job web --group g --count 33");
	expect(line, 2, "", "--count must be a number from 1 to 32");
	wire_line(line, sizeof line, "place", "--group g");
	expect(line, 2, "", "--job ID is needed");
	expect("place --job a --group g", 2, "", "--wire HOST:PORT");
}

static void the_wrong_key_gets_no_answer(void **unused)
{
	char line[512];
	snprintf(line, sizeof line,
		"place --job web --group g --wire %s --name other --key-file %s --timeout 1",
		responder->address, key_file);
	expect(line, 5, "", "no answer from 127.0.0.1:");
}

static void an_operator_releases_over_http(void **unused)
{
	char line[512], id[UUID_TEXT_BYTES];
	struct uuid ids[PLACE_COUNT_MAX];
	server_job(server, "over-http");
	assert_int_equal(server_place(server, "over-http", 1, ids), 1);
	snprintf(line, sizeof line, "release --operator %s", uuid_format(&ids[0], id));
	expect(line, 0, "released", "");
	snprintf(line, sizeof line, "alloc status %.12s", id);
	expect(line, 0, "complete", "");
	assert_non_null(strstr(run.out, "Placed by  = tester"));
	expect("release --operator 00000000-dead-4000-8000-000000000000", 3, "unknown", "");
	expect("release --operator xyz", 2, "", "\"xyz\" is no allocation id");
}

static void keys_are_made_and_derived(void **unused)
{
	char line[256], first[64];
	snprintf(line, sizeof line, "key generate %s/master.key", folder);
	expect(line, 0, "Wrote ", "");
	expect(line, 1, "", "master.key");
	snprintf(line, sizeof line,
		"node key 00112233-4455-6677-8899-aabbccddeeff --master-key %s/master.key", folder);
	expect(line, 0, "1:", "");
	assert_int_equal(strlen(run.out), strlen("1:0123456789abcdef0123456789abcdef\n"));
	snprintf(first, sizeof first, "%.63s", run.out);
	snprintf(line, sizeof line, "client key scaler --master-key %s/master.key", folder);
	expect(line, 0, "1:", "");
	assert_string_not_equal(first, run.out);
	snprintf(line, sizeof line, "key rotate %s/master.key", folder);
	expect(line, 0, "Put a new key", "");
	snprintf(line, sizeof line, "client key scaler --json --master-key %s/master.key", folder);
	expect(line, 0, "\"KeyID\": 2", "");
	expect("node key 0011 --master-key x", 2, "", "\"0011\" is no UUID");
	expect("client key scaler", 2, "", "--master-key FILE is needed");
}

static void figures_fit_a_screen(void **unused)
{
	expect("stats", 0, "HTTP requests", "");
	int lines = 0;
	for (const char *at = run.out; *at; at++)
		lines += *at == '\n';
	assert_true(lines > 10 && lines < 40);
	expect("stats --json", 0, "\"Gauges\": [", "");
	expect("health", 0, "ok", "");
	expect("health --json", 0, "\"ok\": true", "");
}

static void usage_is_explained(void **unused)
{
	expect("help", 0, "node status ID", "");
	expect("place --help", 0, "--count N", "");
	expect("version", 0, "berth ", "");
	expect("", 2, "", "Usage: berth");
	expect("nonsense", 2, "", "no command nonsense");
	expect("node", 2, "", "node list");
	expect("node nonsense", 2, "", "node has no subcommand nonsense");
	expect("node list extra", 2, "", "too many arguments");
	expect("node status", 2, "", "an argument is missing");
	expect("node list --count 3", 2, "", "unknown flag --count");
	expect("node list --json=yes", 2, "", "--json takes no value");
	expect("node list --address", 2, "", "--address needs a value");
	expect("node list --address http://127.0.0.1:1", 5, "",
		"no answer from http://127.0.0.1:1");
	expect("node list --address ftp://127.0.0.1", 5, "", "no answer from ftp://127.0.0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_listed_and_shown),
		cmocka_unit_test(a_prefix_of_several_names_them),
		cmocka_unit_test(jobs_are_run_shown_and_stopped),
		cmocka_unit_test(bad_jobs_are_told_every_mistake),
		cmocka_unit_test(placements_are_printed_and_repeated),
		cmocka_unit_test(a_refusal_says_why),
		cmocka_unit_test(the_wrong_key_gets_no_answer),
		cmocka_unit_test(an_operator_releases_over_http),
		cmocka_unit_test(keys_are_made_and_derived),
		cmocka_unit_test(figures_fit_a_screen),
		cmocka_unit_test(usage_is_explained),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
