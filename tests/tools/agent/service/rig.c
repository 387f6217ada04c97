#include "tests/tools/agent/service/rig.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

char rig_folder[64];
struct ask_runner *rig_mailbox;
struct agent_service *rig_service;
const struct uuid rig_id = {{0xa1, 0x0c, [15] = 1}};
static struct runner runner;
static const struct node_facts facts = {
	.name = "node-a", .datacenter = "dc1", .class_name = "", .pool = "default"};
static pthread_t thread;
static int stop[2];
static struct answer last;

void rig_nap_ms(uint32_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * NS_PER_MS};
	nanosleep(&t, NULL);
}

static void *be_the_agent(void *unused)
{
	struct pollfd polled[] = {{.fd = stop[0], .events = POLLIN},
		{.fd = runner.epoll_fd, .events = POLLIN},
		{.fd = ask_runner_fd(rig_mailbox), .events = POLLIN}};
	while (!polled[0].revents) {
		uint64_t due = runner_step(&runner), now = time_monotonic_ns(&time_source_real);
		uint64_t wait_ms = due > now ? (due - now) / NS_PER_MS + 1 : 0;
		poll(polled, 3, wait_ms < 1000 ? (int)wait_ms : 1000);
		if (polled[2].revents)
			ask_runner_serve(rig_mailbox, &runner);
	}
	return NULL;
}

int rig_open(void **state)
{
	char message[200];
	snprintf(rig_folder, sizeof rig_folder, "/tmp/berth-service-XXXXXX");
	assert_non_null(mkdtemp(rig_folder));
	struct runner_settings settings = {.data_folder = rig_folder,
		.state_folder = rig_folder,
		.time = &time_source_real,
		.seed = 3};
	if (runner_open(&runner, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	runner_know_node(&runner, &facts);
	rig_mailbox = ask_runner_create();
	assert_non_null(rig_mailbox);
	struct agent_service_settings service = {
		.ask = rig_mailbox, .data_folder = rig_folder, .time = &time_source_real};
	if (agent_service_start(&service, &rig_service, message, sizeof message) < 0)
		fail_msg("%s", message);
	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	return pthread_create(&thread, NULL, be_the_agent, NULL);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static void stop_runner(struct runner *r, void *context)
{
	runner_stop_all(r);
	for (struct alloc_run *a = r->allocs; a; a = a->next)
		if (a->spec)
			alloc_run_hurry(a, INT64_MAX / 2);
}

static void count_busy(struct runner *r, void *context)
{
	*(bool *)context = !runner_is_idle(r);
}

static bool is_busy(void)
{
	bool busy = true;
	assert_int_equal(ask_runner(rig_mailbox, count_busy, &busy, 20000), 0);
	return busy;
}

int rig_close(void **state)
{
	assert_int_equal(ask_runner(rig_mailbox, stop_runner, NULL, 20000), 0);
	RIG_WAIT(!is_busy());
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(stop[0]);
	close(stop[1]);
	ask_runner_close(rig_mailbox);
	agent_service_stop(rig_service);
	ask_runner_destroy(rig_mailbox);
	runner_close(&runner);
	free(last.body);
	last.body = NULL;
	return nftw(rig_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void add_alloc(struct runner *r, void *spec)
{
	runner_add(r, &rig_id, 9, 5, spec);
}

void rig_run(const char *job_type, const char *tasks)
{
	char json[8000], message[200];
	int size = snprintf(json, sizeof json,
		"{\"ID\":\"" RIG_ID "\",\"Name\":\"j.g[0]\",\"Namespace\":\"default\","
		"\"JobID\":\"j\",\"JobName\":\"job\",\"JobType\":\"%s\",\"Region\":\"global\","
		"\"TaskGroup\":\"g\",\"Index\":0,\"Ports\":[],\"Tasks\":[%s]}",
		job_type, tasks);
	assert_in_range(size, 1, sizeof json - 1);
	struct alloc_spec *spec =
		alloc_spec_read(json, (size_t)size, &rig_id, message, sizeof message);
	if (!spec)
		fail_msg("%s: %s", message, json);
	assert_int_equal(ask_runner(rig_mailbox, add_alloc, spec, 20000), 0);
}

void rig_stop(void)
{
	assert_int_equal(ask_runner(rig_mailbox, stop_runner, NULL, 20000), 0);
}

struct copy {
	const char *name;
	struct task task;
	uint8_t status;
};

static void copy_out(struct runner *r, void *context)
{
	struct copy *copy = context;
	struct alloc_run *a = runner_find(r, &rig_id);
	for (uint32_t i = 0; a && i < a->task_count; i++)
		if (copy->name && strcmp(a->tasks[i].spec->name, copy->name) == 0)
			copy->task = a->tasks[i];
	copy->status = a ? a->status : UINT8_MAX;
}

struct task rig_task(const char *name)
{
	struct copy copy = {.name = name};
	assert_int_equal(ask_runner(rig_mailbox, copy_out, &copy, 20000), 0);
	return copy.task;
}

uint8_t rig_status(void)
{
	struct copy copy = {.name = NULL};
	assert_int_equal(ask_runner(rig_mailbox, copy_out, &copy, 20000), 0);
	return copy.status;
}

bool rig_has_event(const char *name, const char *type, const char *part)
{
	struct task t = rig_task(name);
	for (uint32_t i = 0; i < t.note_count; i++)
		if (strcmp(t.notes[i].type, type) == 0 && strstr(t.notes[i].message, part))
			return true;
	return false;
}

void rig_path(const char *below, char path[static 300])
{
	snprintf(path, 300, "%s/alloc/" RIG_ID "/%s", rig_folder, below);
}

void rig_write(const char *below, const char *flags, const char *text)
{
	char path[300];
	rig_path(below, path);
	FILE *file = fopen(path, flags);
	if (!file)
		fail_msg("%s", path);
	fputs(text, file);
	fclose(file);
}

// The client's end of a connection on which a request was sent.
static int send_request(const char *method, const char *path, const char *body)
{
	int ends[2];
	size_t size = strlen(path) + (body ? strlen(body) : 0) + 200;
	char *text = memory_take(size);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(rig_service, ends[1]), 0);
	int used =
		snprintf(text, size, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
			method, path, body ? strlen(body) : 0, body ? body : "");
	assert_int_equal(send(ends[0], text, (size_t)used, MSG_NOSIGNAL), used);
	free(text);
	return ends[0];
}

// A byte; -1: there is none, or none for ten seconds.
static int read_byte(int fd)
{
	unsigned char byte;
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	return poll(&polled, 1, 10000) == 1 && read(fd, &byte, 1) == 1 ? byte : -1;
}

static void read_head(int fd, char *head, size_t most)
{
	size_t size = 0;
	while (size < 4 || memcmp(head + size - 4, "\r\n\r\n", 4) != 0) {
		int byte = read_byte(fd);
		if (byte < 0 || size + 1 >= most)
			fail_msg("no head: %.*s", (int)size, head);
		head[size++] = (char)byte;
		head[size] = '\0';
	}
}

static bool read_exactly(int fd, char *to, size_t size)
{
	while (size > 0) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		ssize_t n = poll(&polled, 1, 10000) == 1 ? read(fd, to, size) : -1;
		if (n <= 0)
			return false;
		to += n;
		size -= (size_t)n;
	}
	return true;
}

// Size of the next chunk; -1: the answer was cut off.
static long chunk_size(int fd)
{
	char line[20] = "";
	size_t size = 0;
	while (!strstr(line, "\r\n")) {
		int byte = read_byte(fd);
		if (byte < 0 || size + 1 >= sizeof line)
			return -1;
		line[size++] = (char)byte;
		line[size] = '\0';
	}
	return strtol(line, NULL, 16);
}

static void read_chunks(int fd, struct answer *answer)
{
	long size;
	char end[2];
	while ((size = chunk_size(fd)) > 0) {
		answer->body = memory_resize(answer->body, answer->size + (size_t)size + 1);
		assert_true(read_exactly(fd, answer->body + answer->size, (size_t)size));
		assert_true(read_exactly(fd, end, 2));
		answer->size += (size_t)size;
	}
	assert_int_equal(size, 0);
}

bool rig_has_header(const struct answer *answer, const char *line)
{
	const char *at = strcasestr(answer->head, line);
	size_t size = strlen(line);
	return at && at[-1] == '\n' && at[size] == '\r';
}

const struct answer *rig_ask(const char *method, const char *path, const char *body)
{
	free(last.body);
	last = (struct answer){.body = memory_take(1)};
	int fd = send_request(method, path, body);
	read_head(fd, last.head, sizeof last.head);
	last.status = (int)strtol(last.head + 9, NULL, 10);
	const char *length = strcasestr(last.head, "\nContent-Length: ");
	if (length) {
		last.size = strtoul(length + 17, NULL, 10);
		last.body = memory_resize(last.body, last.size + 1);
		assert_true(read_exactly(fd, last.body, last.size));
	} else {
		read_chunks(fd, &last);
	}
	last.body[last.size] = '\0';
	close(fd);
	return &last;
}

const struct answer *rig_get(const char *format, ...)
{
	char path[5000];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	return rig_ask("GET", path, NULL);
}

int rig_follow(const char *path)
{
	char head[2000];
	int fd = send_request("GET", path, NULL);
	read_head(fd, head, sizeof head);
	if (strncmp(head, "HTTP/1.1 200", 12) != 0)
		fail_msg("%s", head);
	return fd;
}

bool rig_read_until(int fd, char *text, size_t most, const char *part)
{
	size_t size = 0;
	text[0] = '\0';
	while (!strstr(text, part)) {
		long chunk = chunk_size(fd);
		if (chunk <= 0)
			return false;
		assert_true(size + (size_t)chunk + 3 < most);
		if (!read_exactly(fd, text + size, (size_t)chunk + 2))
			return false;
		size += (size_t)chunk;
		text[size] = '\0';
	}
	return true;
}
