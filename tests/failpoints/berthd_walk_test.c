// Whatever the system refuses to a controller that starts and ends, checks its host, reads its files anew, becomes its
// user, or saves its state and puts it back: it is said, nothing is lost of what it has, and the next one starts.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tests/failpoints/call_walk.h"
#include "tests/failpoints/words.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/etcd/etcd_server.h"
#include "tests/support/etcd/fake_server.h"
#include "tools/berthd/backup.h"
#include "tools/berthd/berthd.h"
#include "tools/berthd/enrol.h"
#include "tools/berthd/membership/exchange.h"
#include "tools/berthd/membership/fetch.h"
#include "tools/berthd/options.h"
#include "tools/berthd/privileges.h"
#include "tools/berthd/reload.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SAID_BYTES 65536u
#define USER "nobody"

struct controller_life {
	char folder[64];
	uint16_t wire_port;
	uint32_t keys;  // in the key file
	bool is_member; // of a cluster
};

static struct etcd_server etcd_server;

static struct words *words_of(const struct controller_life *l, const char *action)
{
	static const char *const settings[] = {"ports.0.io=socket", "ports.0.addresses=127.0.0.1",
		"dataplane.huge=no", "http.port=0", "agents.address=127.0.0.1", "limits.nodes=100",
		"limits.jobs=100", "limits.allocations=100", "limits.place_requests=100",
		"limits.evaluations=100", "store.map_mb=128", "http.memory_mb=8", NULL};
	static struct words w;

	w.count = 0;
	words_add(&w, "berthd");
	if (action)
		words_add(&w, "%s", action);
	words_add(&w, "--config=%s/berthd.yaml", l->folder);
	words_add(&w, "--data_dir=%s/data", l->folder);
	words_add(&w, "--master_key_file=%s/keys", l->folder);
	words_add(&w, "--http.socket.path=%s/http", l->folder);
	words_add(&w, "--audit.path=%s/audit", l->folder);
	words_add(&w, "--wire.udp_port=%u", l->wire_port);
	words_add_settings(&w, settings);
	if (l->is_member) {
		words_add(&w, "--cluster.name=c%u", l->wire_port);
		words_add(&w, "--cluster.endpoints=%s", etcd_server.url);
		words_add(&w, "--cluster.advertise_http=http://127.0.0.1:1");
	}
	return &w;
}

static void path_in(const struct controller_life *l, const char *name, char path[static 128])
{
	snprintf(path, 128, "%s/%s", l->folder, name);
}

static void write_text(const struct controller_life *l, const char *name, const char *text)
{
	char path[128];

	path_in(l, name, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(close(fd) == 0);
}

static void add_keys(struct controller_life *l)
{
	char path[128], message[BERTHD_MESSAGE_BYTES];

	path_in(l, "keys", path);
	CHECK(master_keys_generate(path, l->keys > 0, message, sizeof message) == 0);
	l->keys++;
}

static void *prepare_controller(const struct walk_row *row)
{
	struct controller_life *l = walk_shared(sizeof *l);

	snprintf(l->folder, sizeof l->folder, "%s", dir_create());
	l->wire_port = free_port();
	add_keys(l);
	write_text(l, "berthd.yaml", "log:\n  level: info\n");
	return l;
}

static void clear_controller(void *shared)
{
	struct controller_life *l = shared;

	dir_remove(l->folder);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

// What this process wrote of errors, up to now.
static bool has_said(const char *text)
{
	static char said[SAID_BYTES];
	ssize_t size = pread(STDERR_FILENO, said, sizeof said - 1, 0);

	said[size > 0 ? size : 0] = '\0';
	return strstr(said, text);
}

// What is refused is told by a sentence, and an exit status.
static bool ends_well(const struct controller_life *l, const char *action)
{
	struct words *w = words_of(l, action);
	int status = berthd_run(w->count, w->at);

	if (status != EXIT_SUCCESS && has_said("berthd: "))
		walk_said("by the daemon itself");
	return status == EXIT_SUCCESS;
}

// The signal waits until somebody takes it.
static void end_once_started(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(kill(getpid(), SIGTERM) == 0);
}

static bool start_and_end(void *shared)
{
	uint32_t descriptors = walk_descriptors();

	end_once_started();
	bool is_done = ends_well(shared, NULL);
	CHECK(!is_done || has_said("event=ready"));
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static bool is_there(const struct controller_life *l, const char *name)
{
	char path[128];

	path_in(l, name, path);
	return access(path, F_OK) == 0;
}

static void look_at_store(void *shared)
{
	CHECK(!is_there(shared, "http"));
	CHECK(!is_there(shared, "data") || ends_well(shared, "--verify-state"));
}

static bool check_host(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = ends_well(shared, "--check");

	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

// It only looked.
static void look_at_nothing(void *shared)
{
	CHECK(!is_there(shared, "data") && !is_there(shared, "http") && !is_there(shared, "audit"));
	CHECK(check_host(shared));
}

static bool read_words(struct berthd *b, const struct words *w, char *message)
{
	struct options options;

	config_defaults(&b->config);
	b->arguments = (char **)w->at;
	return options_read(w->count, (const char *const *)w->at, &b->config, &options, message);
}

static bool open_controller(struct berthd *b, struct controller_life *l, char *message)
{
	return read_words(b, words_of(l, NULL), message) &&
	       master_keys_load(
		       b->config.master_key_file, &b->keys, message, BERTHD_MESSAGE_BYTES) == 0 &&
	       berthd_open(b, false, message);
}

static bool read_anew(void *shared)
{
	struct controller_life *l = shared;
	struct berthd *b = memory_take(sizeof *b);
	char message[BERTHD_MESSAGE_BYTES];

	CHECK(open_controller(b, l, message) && berthd_start(b, message));
	add_keys(l);
	write_text(l, "berthd.yaml", "log:\n  level: debug\npeers:\n  timeout_ms: 700\n");
	berthd_reload(b);
	bool is_done = !has_said("event=reload-failed");
	CHECK(b->keys.count == l->keys || (!is_done && b->keys.count == l->keys - 1));
	CHECK(!is_done || (b->config.log_level == LOG_DEBUG && b->config.peer_timeout_ms == 700));
	berthd_reload(b); // again, and it is as the files say
	CHECK(!is_done || b->keys.count == l->keys);
	berthd_close(b);
	free(b);
	return is_done;
}

static void *prepare_data(const struct walk_row *row)
{
	struct controller_life *l = prepare_controller(row);
	char path[128];

	path_in(l, "data", path);
	CHECK(mkdir(path, 0700) == 0 && chmod(l->folder, 0755) == 0);
	write_text(l, "data/old", "");
	return l;
}

// In a process of its own, which ends with 0.
static void run_aside(int (*run)(struct controller_life *), struct controller_life *l)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(run(l));
	assert_true(waitpid(child, &status, 0) == child && status == 0);
}

static int run_once(struct controller_life *l)
{
	end_once_started();
	return ends_well(l, NULL) ? 0 : 1;
}

static char made[128]; // data_dir of a controller that ran once

static void *prepare_state(const struct walk_row *row)
{
	struct controller_life *l = prepare_controller(row);
	char path[128];

	path_in(l, "data", path);
	if (*made) {
		dir_copy(made, path);
		return l;
	}
	run_aside(run_once, l);
	snprintf(made, sizeof made, "%s", dir_create());
	dir_copy(path, made);
	return l;
}

static bool is_of(const struct controller_life *l, const char *name, uid_t user)
{
	struct stat found;
	char path[128];

	path_in(l, name, path);
	return stat(path, &found) == 0 && found.st_uid == user;
}

// Who is not the user all through does not go on.
static bool become_user(void *shared)
{
	const struct controller_life *l = shared;
	const struct passwd *user = getpwnam(USER);
	char path[128], message[BERTHD_MESSAGE_BYTES] = "";

	CHECK(user);
	path_in(l, "data", path);
	bool is_done = privileges_lower(USER, path, message, sizeof message) &&
		       privileges_drop(false, message, sizeof message);
	walk_said(message);
	CHECK(is_done == !*message);
	if (!is_done)
		_exit(WALK_REFUSED); // half another user, which nothing that looks for leaks may look into
	CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	CHECK(getuid() == user->pw_uid && geteuid() == user->pw_uid && getgid() == user->pw_gid);
	CHECK(setuid(0) < 0 && prctl(PR_CAPBSET_READ, 0, 0, 0, 0) >= 0);
	CHECK(is_of(l, "data", user->pw_uid) && is_of(l, "data/old", user->pw_uid));
	return true;
}

static void look_at_user(void *shared)
{
	CHECK(become_user(shared));
}

// The archive goes away with its descriptor, so that is where it is read from.
static bool put_back(const struct controller_life *l, int archive, char *message)
{
	struct config config;
	char path[64];

	config_defaults(&config);
	path_in(l, "restored", config.data_dir);
	snprintf(path, sizeof path, "/proc/self/fd/%d", archive);
	return berthd_restore(&config, path, message, BERTHD_MESSAGE_BYTES);
}

// Into an empty folder, and in the place of what is there: a controller that runs does that at its end.
static bool save_and_put_back(void *shared)
{
	struct controller_life *l = shared;
	struct berthd *b = memory_take(sizeof *b);
	struct api_snapshot snapshot;
	char message[BERTHD_MESSAGE_BYTES] = "";
	uint32_t descriptors = walk_descriptors();
	uint64_t index;

	bool is_saved = open_controller(b, l, message) &&
			berthd_snapshot(b, &snapshot, message, sizeof message);
	int body = is_saved ? berthd_body_file(b) : -EIO;
	walk_said(is_saved && body < 0 ? error_text(body) : "");
	CHECK(body < 0 || close(body) == 0);
	bool is_done = body >= 0 && put_back(l, snapshot.file, message) &&
		       lseek(snapshot.file, 0, SEEK_SET) == 0 &&
		       berthd_exchange_prepare(
			       &b->config, snapshot.file, &index, message, sizeof message) &&
		       berthd_exchange_commit(&b->config, index, message, sizeof message);
	CHECK(!is_saved || close(snapshot.file) == 0);
	berthd_close(b);
	free(b);
	CHECK(walk_descriptors() == descriptors);
	walk_said(is_done ? "" : message);
	return is_done;
}

#define ARCHIVE_BYTES_MOST 65536u

// What a member answers who has the archive.
struct archive_answer {
	char text[ARCHIVE_BYTES_MOST + 200];
	size_t size;
};

static void read_archive(const struct controller_life *l, struct archive_answer *a)
{
	char path[128];
	size_t size;

	path_in(l, "archive", path);
	uint8_t *archive = file_read(path, &size);
	CHECK(size <= ARCHIVE_BYTES_MOST);
	int head = snprintf(a->text, sizeof a->text,
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", size);
	memcpy(a->text + head, archive, size);
	a->size = (size_t)head + size;
	free(archive);
}

static const char *answer_archive(void *context, uint32_t request, size_t *size)
{
	const struct archive_answer *a = context;

	*size = a->size;
	return a->text;
}

static int save_archive(struct controller_life *l)
{
	struct berthd *b = memory_take(sizeof *b);
	struct api_snapshot snapshot;
	char message[BERTHD_MESSAGE_BYTES] = "", path[128];

	path_in(l, "archive", path);
	if (!open_controller(b, l, message) ||
		!berthd_snapshot(b, &snapshot, message, sizeof message))
		return 1;
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	off_t from = 0;
	return to >= 0 && sendfile(to, snapshot.file, &from, ARCHIVE_BYTES_MOST) > 0 ? 0 : 1;
}

static void *prepare_archive(const struct walk_row *row)
{
	struct controller_life *l = prepare_state(row);

	run_aside(save_archive, l);
	return l;
}

// In the place of the own state, with the epoch that it is of.
static bool fetch_state_of_another(void *shared)
{
	struct controller_life *l = shared;
	struct berthd *b = memory_take(sizeof *b);
	struct archive_answer *answer = memory_take(sizeof *answer);
	struct fake_server member = {.answer = answer_archive, .context = answer};
	char message[BERTHD_MESSAGE_BYTES] = "";
	uint32_t descriptors = walk_descriptors();

	read_archive(l, answer);
	fake_server_start(&member);
	bool is_done = read_words(b, words_of(l, NULL), message) &&
		       berthd_fetch(&b->config, member.url, 5, message, sizeof message);
	fake_server_stop(&member);
	CHECK(walk_descriptors() == descriptors);
	walk_said(is_done ? "" : message);
	free(answer);
	free(b);
	return is_done;
}

static void *prepare_candidate(const struct walk_row *row)
{
	struct controller_life *l = prepare_controller(row);

	l->is_member = true;
	return l;
}

static bool carry_out(const struct controller_life *l, const char *verb)
{
	struct berthd *b = memory_take(sizeof *b);
	char message[BERTHD_MESSAGE_BYTES];
	bool is_read = read_words(b, words_of(l, NULL), message);
	walk_said(is_read ? "" : message);
	bool is_done = is_read && berthd_enrol(b, verb) == EXIT_SUCCESS;
	free(b);
	return is_done;
}

static bool enrol_and_leave(void *shared)
{
	bool is_done = carry_out(shared, "init") && carry_out(shared, "leave");

	if (!is_done && has_said("berthd: "))
		walk_said("by the daemon itself");
	return is_done;
}

// The cluster is begun once: what another one left of it would stand in the way.
static void look_at_cluster(void *shared)
{
	if (is_there(shared, "data/cluster"))
		CHECK(carry_out(shared, "leave"));
	CHECK(enrol_and_leave(shared));
}

static int enrol_once(struct controller_life *l)
{
	return carry_out(l, "init") ? 0 : 1;
}

static void *prepare_member(const struct walk_row *row)
{
	struct controller_life *l = prepare_candidate(row);

	run_aside(enrol_once, l);
	return l;
}

static int leave_once(struct controller_life *l)
{
	return carry_out(l, "leave") ? 0 : 1;
}

// The next one may have the same name.
static void clear_member(void *shared)
{
	run_aside(leave_once, shared);
	clear_controller(shared);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})
// What cannot fail, or need not be heard.
#define NEVER                                                                                  \
	"state/base/memory.c", "pthread_mutex_init", "pthread_cond_init", "state/base/prng.c", \
		"write at state/base/log.c"
// Other walks have the store.
#define LEFT_OUT NEVER, "state/store/", "state/applier/"
#define STORE_FILES                                                                   \
	"at state/store/store.c", "at state/store/segment", "at state/store/journal", \
		"at state/store/files.c", "at state/store/recovery", "at state/store/direct"
// A start has them, too, before anything else, and ends with them.
#define CHECKED "tools/berthd/preflight.c", "dataplane/preflight.c", "tools/berthd/options.c"
#define OF_OTHERS                                                                  \
	"tools/api/server/", "tools/api/listen/", "at dataplane/packet_workers.c", \
		"pthread_sigmask at dataplane/", "tools/keyring/keyring_file.c"

static const struct {
	const char *area;
	struct walk walk;
	struct call_walk_excuses excuses;
	bool needs_root, needs_etcd;
} works[] = {
	{"start", {.prepare = prepare_controller, start_and_end, look_at_store, clear_controller},
		{.only = PARTS("tools/berthd/"),
			.only_always = true,
			.cannot_fail = PARTS(NEVER, STORE_FILES, CHECKED, OF_OTHERS,
				"poll at tools/berthd/run.c", "read at tools/berthd/run.c")}},
	{"check", {.prepare = prepare_controller, check_host, look_at_nothing, clear_controller},
		{.cannot_fail = PARTS(LEFT_OUT),
			.unsaid = PARTS("dataplane/preflight.c")}}, // on its standard output
	{"reload", {.prepare = prepare_controller, read_anew, look_at_store, clear_controller},
		{.only = PARTS("tools/berthd/reload.c"), .cannot_fail = PARTS(LEFT_OUT)}},
	{"user", {.prepare = prepare_data, become_user, look_at_user, clear_controller},
		{.only = PARTS("tools/berthd/privileges.c")}, .needs_root = true},
	{"backup", {.prepare = prepare_state, save_and_put_back, look_at_store, clear_controller},
		{.only = PARTS("tools/berthd/backup.c", "tools/berthd/membership/"),
			.cannot_fail = PARTS(NEVER)}},
	{"fetch",
		{.prepare = prepare_archive,
			fetch_state_of_another,
			look_at_store,
			clear_controller},
		{.only = PARTS("tools/berthd/membership/"), .cannot_fail = PARTS(NEVER)}},
	{"member", {.prepare = prepare_member, start_and_end, look_at_store, clear_member},
		{.only = PARTS("state/cluster/cluster.c", "tools/berthd/membership/"),
			.only_always = true,
			.cannot_fail = PARTS(NEVER, STORE_FILES, "at state/etcd/")},
		.needs_etcd = true},
	{"enrol",
		{.prepare = prepare_candidate, enrol_and_leave, look_at_cluster, clear_controller},
		{.cannot_fail = PARTS(LEFT_OUT)}, .needs_etcd = true},
};

static void what_a_controller_is_refused_is_said_and_nothing_is_lost(void **area)
{
	for (uint32_t i = 0; i < sizeof works / sizeof works[0]; i++) {
		if (strcmp(*area, works[i].area) != 0)
			continue;
		if (works[i].needs_root && geteuid() != 0)
			skip();
		if (works[i].needs_etcd)
			etcd_server_start(&etcd_server, 0);
		walk_calls(&works[i].walk, &works[i].excuses);
		if (works[i].needs_etcd)
			etcd_server_stop(&etcd_server);
		if (*made)
			dir_remove(made);
	}
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			what_a_controller_is_refused_is_said_and_nothing_is_lost, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
