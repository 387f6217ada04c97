// What berth refuses, or cannot do, and says so: words that are wrong, files that cannot be read or written, and
// answers that no controller gives.
#include "tests/support/etcd/fake_server.h"
#include "tests/tools/api/server.h"
#include "tests/tools/berth/run.h"
#include "tests/tools/client/responder.h"
#include "tools/archive/snapshot_archive.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY "7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de"

enum { FAILURE = 1, USAGE = 2, NOT_FOUND = 3, REFUSED = 4, UNREACHABLE = 5 };

static struct responder *responder;

struct row {
	const char *line;
	int status;
	const char *error;
};

// Each ~ of a line is the folder, each # the wire address, each ^ a URL.
static const char *filled(const char *pattern, const char *url)
{
	static char line[8192];
	size_t at = 0;
	for (; *pattern; pattern++) {
		const char one[2] = {*pattern, '\0'};
		const char *part = *pattern == '~'   ? run_folder()
				   : *pattern == '#' ? responder->address
				   : *pattern == '^' ? url
						     : one;
		at += (size_t)snprintf(line + at, sizeof line - at, "%s", part);
		assert_true(at < sizeof line);
	}
	return line;
}

static void expect_rows(const struct row *rows, size_t count, const char *url)
{
	for (size_t i = 0; i < count; i++)
		expect_run(filled(rows[i].line, url), rows[i].status, "", rows[i].error);
}

static void words_that_are_wrong(void **unused)
{
	static const struct row rows[] = {
		{"job run --hcl2-strict=maybe ~/broken.hcl", USAGE,
			"--hcl2-strict is true or false, not maybe"},
		{"node status ''", USAGE, "\"\" is no node"},
		{"alloc list --node a --job b", USAGE, "--node and --job do not go together"},
		{"operator scheduler set-config --check-index x", USAGE, "--check-index must be"},
		{"alloc exec --tty --interactive=false " NOBODY " true", USAGE,
			"--tty needs standard input"},
		{"client key a\"b", USAGE, "has no quotes or backslashes"},
		{"client key a\tb", USAGE, "1 to 64 printable characters"},
		{"client key a one", USAGE, "\"one\" is no generation"},
		{"client key a --master-key ~/none", FAILURE, "cannot open it"},
		{"client status --wire # --name tester", USAGE, "this client's key is needed"},
		{"client status --wire #", USAGE, "this client's name is needed"},
		{"client status --wire # --name tester --timeout 0", USAGE, "--timeout must be"},
		{"client status --wire # --name tester --master-key ~/none", FAILURE,
			"cannot open it"},
		{"client status --wire # --name tester --key-file ~/noise", FAILURE,
			"the client's key is not"},
		{"client status --since x", USAGE, "--since must be"},
		{"place --job web --group g --request x", USAGE, "--request must be MS:NUMBER"},
		{"place --job none", USAGE, "--group NAME is needed"},
		{"job stop none", NOT_FOUND, "job not found"},
		{"job promote web", NOT_FOUND, "has no deployment to promote"},
		{"job scale two 3", USAGE, "has 2 groups; name the one to scale"},
		{"alloc logs --job web", NOT_FOUND, "no allocation of job web runs"},
		{"status tw", NOT_FOUND, "several things begin with \"tw\""},
	};
	expect_rows(rows, sizeof rows / sizeof rows[0], "");
}

static void machines(void **unused)
{
	char line[64];
	struct response r = http(server, "POST", "/v1/vms", "{\"name\":\"m\",\"image\":\"i\"}");
	assert_int_equal(r.status, 200);
	response_free(&r);
	snprintf(line, sizeof line, "vm port-forward m %u:22", api_port(server->api));
	expect_run(line, FAILURE, "", "Address already in use; name another port, or none");
	expect_run("vm port-forward m 0", USAGE, "", "is not [LOCAL:]PORT");
}

static void texts_that_are_none(void **unused)
{
	static const struct row rows[] = {
		{"acl policy apply p ~/bytes", USAGE, "is not UTF-8 text"},
		{"acl role create \xff", USAGE, "the name is to be UTF-8 text"},
		{"acl token create \xff", USAGE, "name and time are to be UTF-8 text"},
		{"namespace apply \xff", USAGE, "the name is to be UTF-8 text"},
		{"vm account create \xff", USAGE, "name and roles are to be UTF-8 text"},
		{"settings --profile \xff", USAGE, "--profile is no UTF-8 text"},
		{"var put a b=@~/bytes", USAGE, "is not UTF-8 text"},
		{"var put a \xff=b", USAGE, "=b: is not UTF-8 text"},
		{"var put \xff @~/variable.json", USAGE, "\xff: is not UTF-8 text"},
		{"var put a b=c --namespace \xff", USAGE, "\xff: is not UTF-8 text"},
		{"var put @~/broken.hcl", REFUSED, "broken.hcl line 1 column"},
		{"node pool apply ~/list.json", REFUSED, "a JSON object is expected"},
		{"node pool apply ~/noise", REFUSED, "expected"},
		{"job run ~", FAILURE, "Is a directory"},
		{"job run ~/large", FAILURE, "is larger than 4 MiB"},
	};
	expect_rows(rows, sizeof rows / sizeof rows[0], "");
}

static void what_is_too_long_or_too_much(void **unused)
{
	static char line[6000], part[5000];
	memset(part, 'a', 1100);
	snprintf(line, sizeof line, "node status %.1100s", part);
	expect_run(line, USAGE, "", "is too long for a node");
	snprintf(line, sizeof line, "tls ca create --directory %.1100s", part);
	expect_run(line, USAGE, "", "--directory is too long");
	snprintf(line, sizeof line, "tls cert create --directory %.1100s a", part);
	expect_run(line, USAGE, "", "--directory is too long");
	snprintf(line, sizeof line, "tls ca create --directory %s %.1100s", run_folder(), part);
	expect_run(line, FAILURE, "", "a certificate's name has 1 to");
	snprintf(line, sizeof line, "var get %.790s --namespace %.790s", part, part);
	expect_run(line, USAGE, "", "the path or its namespace is too long");
	snprintf(line, sizeof line,
		"place --wire %s --name tester --key-file %s/key --job %.300s --group g",
		responder->address, run_folder(), part);
	expect_run(line, FAILURE, "", "the request cannot be sent to");
	size_t at = (size_t)snprintf(line, sizeof line, "node list --columns id");
	for (int i = 0; i < 40; i++)
		at += (size_t)snprintf(line + at, sizeof line - at, ",id");
	expect_run(line, USAGE, "", "--columns: more than");
	at = (size_t)snprintf(line, sizeof line, "tls cert create a");
	for (int i = 0; i < 65; i++)
		at += (size_t)snprintf(line + at, sizeof line - at, " --host=a");
	expect_run(line, USAGE, "", "at most 64 --host");
}

static void fewer_are_placed(void **unused)
{
	atomic_store(&responder->rules.place_limit, 1);
	expect_run(filled("place --wire # --name tester --key-file ~/key --job web --group g "
			  "--count 2",
			   ""),
		REFUSED, "", "only 1 of 2 could be placed");
	atomic_store(&responder->rules.place_limit, 0);
}

static const char *answer_text(void *context, uint32_t request, size_t *size)
{
	*size = strlen(context);
	return context;
}

// A server that gives every request this answer.
static void expect_of(char *answer, const struct row *rows, size_t count)
{
	struct fake_server s = {.answer = answer_text, .context = answer};
	fake_server_start(&s);
	expect_rows(rows, count, s.url);
	fake_server_stop(&s);
}

#define HEAD(status, size) \
	"HTTP/1.1 " status "\r\nConnection: close\r\nContent-Length: " size "\r\n\r\n"

// Who answers so is no controller.
static void answers_of_somebody_else(void **unused)
{
	static char noise[] = HEAD("200 OK", "5") "noise", nothing[] = HEAD("500 No", "0"),
		    object[] = HEAD("200 OK", "2") "{}",
		    ids[] = HEAD("200 OK", "15") "[{\"ID\":\"abcz\"}]";
	static const struct row of_noise[] = {
		{"node list --address ^", FAILURE, "the controller's answer is no list"},
		{"operator scheduler get-config --address ^", FAILURE, "is no JSON"},
		{"job periodic force a --address ^", FAILURE, "the controller's answer is no JSON"},
		{"alloc logs " NOBODY " t --address ^", FAILURE, "is broken"},
		{"operator snapshot save ~/got --address ^", FAILURE,
			"got.part: this is no archive"},
	};
	static const struct row of_nothing[] = {
		{"operator scheduler get-config --address ^", REFUSED,
			"the controller answered 500 to "},
	};
	static const struct row of_object[] = {
		{"alloc logs " NOBODY " --address ^", REFUSED,
			"no task of allocation 7f1e9c1a has been started"},
	};
	static const struct row of_ids[] = {
		{"client status --wire # --name tester --key-file ~/key abc --address ^", USAGE,
			"\"abcz\" is no allocation id"},
		{"release --wire # --name tester --key-file ~/key abc --address ^", USAGE,
			"\"abcz\" is no allocation id"},
	};
	expect_of(noise, of_noise, sizeof of_noise / sizeof of_noise[0]);
	expect_of(nothing, of_nothing, 1);
	expect_of(object, of_object, 1);
	expect_of(ids, of_ids, sizeof of_ids / sizeof of_ids[0]);
}

// An answer with a whole archive, as of a controller whose state is small.
struct archive {
	char text[8192];
	size_t size;
};

static const char *answer_archive(void *context, uint32_t request, size_t *size)
{
	const struct archive *a = context;
	*size = a->size;
	return a->text;
}

static void make_archive(struct archive *a)
{
	const struct snapshot_meta meta = {.id = "1-2-3", .index = 2, .term = 1, .size = 5};
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	char message[512], path[100], archived[4096];
	run_write("state", "state");
	snprintf(path, sizeof path, "%s/state", run_folder());
	int from = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "%s/archived", run_folder());
	int to = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(from >= 0 && to >= 0);
	if (!snapshot_archive_write(&meta, from, to, digest, message, sizeof message))
		fail_msg("%s", message);
	ssize_t size = pread(to, archived, sizeof archived, 0);
	assert_in_range(size, 1, sizeof archived - 1);
	int head = snprintf(a->text, sizeof a->text,
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zd\r\n\r\n", size);
	memcpy(a->text + head, archived, (size_t)size);
	a->size = (size_t)head + (size_t)size;
	close(from);
	close(to);
}

static void forbid_bytes(rlim_t most, struct rlimit *before)
{
	assert_return_code(getrlimit(RLIMIT_FSIZE, before), 0);
	const struct rlimit few = {.rlim_cur = most, .rlim_max = before->rlim_max};
	signal(SIGXFSZ, SIG_IGN); // the write fails instead
	assert_return_code(setrlimit(RLIMIT_FSIZE, &few), 0);
}

static void allow_bytes(const struct rlimit *before)
{
	assert_return_code(setrlimit(RLIMIT_FSIZE, before), 0);
	signal(SIGXFSZ, SIG_DFL);
}

static bool is_there(const char *file)
{
	return access(filled(file, ""), F_OK) == 0;
}

static pid_t copy_into_pipe(void)
{
	extern char **environ;
	char program[] = "cp", from[100], to[100];
	char *const arguments[] = {program, from, to, NULL};
	pid_t pid;
	snprintf(from, sizeof from, "%s/got", run_folder());
	snprintf(to, sizeof to, "%s/pipe", run_folder());
	assert_int_equal(posix_spawnp(&pid, program, NULL, NULL, arguments, environ), 0);
	return pid;
}

static void snapshots(void **unused)
{
	static const struct row rows[] = {
		{"operator snapshot save ~/none/a --address ^", FAILURE,
			"none/a.part: No such file"},
		{"operator snapshot save ~/folder --address ^", FAILURE, "cannot make"},
		{"operator snapshot inspect ~/none", FAILURE, "cannot read"},
		{"operator snapshot inspect ~/noise", FAILURE, "this is no archive"},
		{"operator snapshot restore ~/none", FAILURE, "cannot read"},
		{"operator snapshot restore ~/noise", FAILURE, "this is no archive"},
	};
	static struct archive archive;
	struct fake_server controller = {.answer = answer_archive, .context = &archive};
	struct rlimit before;
	char folder[100];
	make_archive(&archive);
	snprintf(folder, sizeof folder, "%s/folder", run_folder());
	assert_return_code(mkdir(folder, 0700), 0);
	fake_server_start(&controller);
	expect_rows(rows, sizeof rows / sizeof rows[0], controller.url);
	forbid_bytes(128, &before);
	expect_run(filled("operator snapshot save ~/got --address ^", controller.url), FAILURE, "",
		"got.part: File too large");
	allow_bytes(&before);
	assert_false(is_there("~/got") || is_there("~/got.part") || is_there("~/folder.part"));
	expect_run(filled("operator snapshot save ~/got --address ^", controller.url), 0,
		"holds the state of index 2", "");
	// What was checked is gone then.
	assert_return_code(mkfifo(filled("~/pipe", ""), 0600), 0);
	pid_t writer = copy_into_pipe();
	expect_run(filled("operator snapshot restore ~/pipe --address ^", controller.url), FAILURE,
		"", "pipe: Illegal seek");
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	fake_server_stop(&controller);
	assert_return_code(rmdir(folder), 0);
}

// Takes the snapshot, and has not begun anew yet.
static const char *answer_restore(void *unused, uint32_t request, size_t *size)
{
	static const char taken[] = HEAD("200 OK", "0"), stops[] = HEAD("503 No", "0");
	const char *answer = request == 0 ? taken : stops;
	*size = strlen(answer);
	return answer;
}

static void a_controller_that_does_not_come_back(void **unused)
{
	static struct archive archive;
	struct fake_server controller = {.answer = answer_restore};
	make_archive(&archive);
	fake_server_start(&controller);
	expect_run(filled("operator snapshot restore ~/archived --timeout 3 --address ^",
			   controller.url),
		UNREACHABLE, "", "was restored, but the controller is not back yet");
	assert_true(controller.requests > 1);
	fake_server_stop(&controller);
}

#ifdef BERTH_WITH_FAILPOINTS
static void without_libcurl_nothing_is_asked(void **unused)
{
	run_failing("client.handle=enomem");
	expect_run("node list", FAILURE, "", "libcurl could not be set up");
	run_failing(NULL);
}
#endif

static void nobody_can_read_it(void **unused)
{
	run_out("/dev/full");
	berth("node list");
	run_out(NULL);
	assert_int_equal(run.status, FAILURE);
	assert_non_null(strstr(run.error, "cannot write to standard output"));
}

// Files of so many bytes at most, as on a disk that is full.
static void what_has_no_room(void **unused)
{
	static const struct row rows[] = {
		{"job init ~/init.hcl", FAILURE, "File too large"},
		{"quota init ~/quota.hcl", FAILURE, "File too large"},
		{"var init ~/var.hcl", FAILURE, "File too large"},
	};
	struct rlimit before;
	forbid_bytes(128, &before);
	expect_rows(rows, sizeof rows / sizeof rows[0], "");
	allow_bytes(&before);
}

static void make_key(void)
{
	struct wire_key key;
	char text[WIRE_KEY_TEXT_BYTES];
	assert_true(client_key_derive(&responder->masters, 1, TEXT("tester"), &key));
	run_write("key", wire_key_format(1, &key, text));
}

static void make_job(const char *id, const char *groups)
{
	char body[1024];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Type\":\"service\",\"TaskGroups\":[%s]}}", id, groups);
	struct response r = http(server, "PUT", "/v1/jobs", body);
	assert_int_equal(r.status, 200);
	response_free(&r);
}

#define GROUP(name)                                                                  \
	"{\"Name\":\"" name                                                          \
	"\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":" \
	"\"/bin/true\"}}]}"

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){0});
	run_begin(api_port(server->api));
	responder = responder_start();
	make_key();
	make_job("web", GROUP("g"));
	make_job("two", GROUP("g") "," GROUP("h"));
	make_job("two-more", GROUP("g"));
	run_write("job.json", "{\"ID\":\"j\"}");
	run_write("noise", "noise");
	run_write("variable.json", "{\"Path\":\"p\",\"Items\":{\"a\":\"b\"}}");
	run_write("bytes", "\xff");
	run_write("list.json", "[]");
	run_write("broken.hcl", "= {");
	run_write("large", "");
	char large[100];
	snprintf(large, sizeof large, "%s/large", run_folder());
	assert_return_code(truncate(large, 5 << 20), 0);
	return 0;
}

static int tear_down(void **unused)
{
	run_end();
	responder_stop(responder);
	server_stop(server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_are_wrong),
		cmocka_unit_test(machines),
		cmocka_unit_test(texts_that_are_none),
		cmocka_unit_test(what_is_too_long_or_too_much),
		cmocka_unit_test(fewer_are_placed),
		cmocka_unit_test(answers_of_somebody_else),
		cmocka_unit_test(snapshots),
		cmocka_unit_test(a_controller_that_does_not_come_back),
#ifdef BERTH_WITH_FAILPOINTS
		cmocka_unit_test(without_libcurl_nothing_is_asked),
#endif
		cmocka_unit_test(nobody_can_read_it),
		cmocka_unit_test(what_has_no_room),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
