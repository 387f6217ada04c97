#include "tests/tools/api/server.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/namespaces/job_namespace.h"
#include "tests/tools/api/described.h"
#include "tools/api/events/event_log.h"
#include "tools/keyring/keyring.h"
#include "tools/keyring/rekeyer.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *configuration(void *context)
{
	return text_copy(TEXT("{\"http\":{\"port\":1},\"scheduler\":{\"workers\":0}}"));
}

static void metrics(void *context, const struct metric_sink *sink)
{
	uint64_t buckets[32] = {[4] = 3};
	metric_put(sink, METRIC_UPTIME_SECONDS, 1.5);
	metric_put_histogram(sink, METRIC_PLACE_SECONDS, buckets, 30);
}

static char *liveness(void *context)
{
	const struct server *s = context;
	return text_copy(
		s->is_held ? TEXT("{\"Expiry\":\"held\",\"Reason\":\"the link is down\",\"Nodes\":"
				  "200,\"Silent\":150,\"Holds\":1}")
			   : TEXT("{\"Expiry\":\"as ever\",\"Nodes\":200}"));
}

static bool liveness_release(void *context)
{
	struct server *s = context;
	return atomic_exchange(&s->is_held, false);
}

static char *senders(void *context)
{
	const struct server *s = context;
	return text_copy(s->is_held
				 ? TEXT("[{\"Kind\":\"client\",\"Name\":\"ci\",\"Refused\":12345,"
					"\"Ago\":2500000000}]")
				 : TEXT("[]"));
}

static bool is_healthy(void *context, char *message, uint32_t message_size)
{
	const struct server *s = context;
	if (s->is_held)
		snprintf(message, message_size, "degraded: the link is down");
	return true;
}

static uint32_t checks(void *context, struct health_check *checks)
{
	const struct server *s = context;
	checks[0] = (struct health_check){"steady", HEALTH_OK, ""};
	checks[1] = (struct health_check){"moody", s->mood, "it is moody"};
	return 2;
}

static uint64_t acl_reset_index(void *context)
{
	const struct server *s = context;
	return s->acl_reset_index;
}

static int body_file(void *context)
{
	const struct server *s = context;
	if (s->body_file)
		return s->body_file;
	char path[] = "/tmp/berth-body.XXXXXX";
	int file = mkostemp(path, O_CLOEXEC);
	if (file < 0)
		return -errno;
	unlink(path);
	return file;
}

static bool give_snapshot(
	void *context, struct api_snapshot *snapshot, char *message, uint32_t message_size)
{
	struct server *s = context;
	*snapshot = (struct api_snapshot){.file = s->snapshot_file};
	snprintf(message, message_size, "there is no room for it");
	return snapshot->file >= 0;
}

// An archive begins with "good".
static bool take_archive(void *context, int file, char *message, uint32_t message_size)
{
	struct server *s = context;
	struct stat about;
	char begins[4] = "";
	bool is_good = read(file, begins, sizeof begins) == (ssize_t)sizeof begins &&
		       memcmp(begins, "good", sizeof begins) == 0;
	if (is_good && fstat(file, &about) == 0)
		s->restored_bytes = (uint64_t)about.st_size;
	else
		snprintf(message, message_size, "it is damaged");
	return is_good;
}

static void begin_anew(void *context)
{
	struct server *s = context;
	s->begun_anew++;
}

// The server is of the region "global", and there is another.
static bool has_peer(void *context, const char *region)
{
	return strcmp(region, "west") == 0;
}

static void tell_cluster(void *context, struct cluster_status *status)
{
	struct server *s = context;
	pthread_mutex_lock(&s->cluster_lock);
	*status = s->cluster;
	pthread_mutex_unlock(&s->cluster_lock);
}

void server_knows(struct server *s, const struct cluster_status *status)
{
	pthread_mutex_lock(&s->cluster_lock);
	s->cluster = *status;
	pthread_mutex_unlock(&s->cluster_lock);
}

const uint8_t server_line_key[PSK_KEY_BYTES] = {1, 2, 3, 5, 7, 11};

static enum line_refusal find_line_key(
	void *context, const struct psk_identity *identity, uint8_t key[static PSK_KEY_BYTES])
{
	const struct server *s = context;
	memcpy(key, server_line_key, PSK_KEY_BYTES);
	state_read_begin();
	bool is_known = state_node_by_id(s->state, &identity->node);
	state_read_end();
	return is_known ? LINE_ACCEPTED : LINE_REFUSED_UNKNOWN_NODE;
}

static int listen_for_nodes(struct server *s)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_return_code(listen(fd, 1024), 0);
	assert_return_code(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	s->line_port = ntohs(at.sin_port);
	return fd;
}

static void start_api(struct server *s, const struct server_options *options)
{
	char message[256] = "", *told = options->refusal ? options->refusal : message;
	struct api_settings settings = {
		.address = options->is_nowhere ? "" : "127.0.0.1",
		.tls = options->tls,
		.socket = options->socket,
		.audit_path = options->audit_path,
		.token_ttl_min_ns = options->token_ttl_min_ns,
		.token_ttl_max_ns = options->token_ttl_max_ns,
		.connections_max = options->connections_max ? options->connections_max : 2048,
		.memory_bytes_max = options->memory_bytes_max,
		.connections_per_ip_max = options->connections_per_ip_max,
		.page_is_off = options->page_is_off,
		.origins = options->origins,
		.response_headers = options->response_headers,
		.acl_forced = options->acl_forced,
		.state = s->state,
		.queue = s->queue,
		.time = options->time ? options->time : &time_source_real,
		.events = options->has_no_events ? NULL : s->events,
		.keyring = s->keyring,
		.region = "global",
		.has_peer = has_peer,
		.datacenter = "dc1",
		.name = "test",
		.seed = 5,
		.metrics = metrics,
		.schedulers = 2,
		.configuration = configuration,
		.healthy = is_healthy,
		.checks = checks,
		.liveness = liveness,
		.liveness_release = liveness_release,
		.senders = senders,
		.acl_reset_index = acl_reset_index,
		.body_file = body_file,
		.snapshot = options->has_snapshots ? give_snapshot : NULL,
		.restore = take_archive,
		.begin_anew = begin_anew,
		.cluster = options->is_of_cluster ? tell_cluster : NULL,
		.forward_tls = options->forward_tls,
		.forward_hold_ms = options->forward_hold_ms,
		.context = s,
	};
	s->is_secure = options->tls.certificate != NULL;
	if (options->has_line) {
		settings.line_fd = listen_for_nodes(s);
		settings.line_key = find_line_key;
		settings.line_wait_ms = options->line_wait_ms;
	}
	if (api_start(&settings, &s->api, told, sizeof message) != 0 && !options->refusal)
		fail_msg("%s", message);
}

static void create_core(struct server *s, const struct server_options *options)
{
	uint32_t nodes = options->nodes_max ? options->nodes_max : 4096;

	core_create(&s->core, (struct state_limits){nodes, 1024, 65536, 65536, 64}, 1);
	s->state = s->core.state;
	s->queue = s->core.queue;
	s->placement = placement_create(s->state, PLACEMENT_BINPACK);
	core_appoint(&s->core, (struct applier_settings){
				       .placer = placement_placer(s->placement),
				       .seed = 17,
				       .collect_after_ms = 3600000,
				       .next_plan = crew_next_plan,
				       .plan_context = &s->crew,
			       });
	s->applier = s->core.applier;
}

static void create_crew(struct server *s, const struct server_options *options)
{
	crew_create(&s->crew, &s->core,
		&(struct crew_settings){
			.seed = 23,
			.schedules = options->schedulers > 0,
			.schedulers = options->schedulers,
			.watches = options->watchers,
			.node_ttl_ns = 1000000000,
		});
	s->pipeline = s->crew.pipeline;
	s->watchers = s->crew.watchers;
}

struct server *server_start(const struct server_options *options)
{
	struct server *s = memory_take(sizeof *s);
	char why[256];
	prng_seed(&s->prng, 3);
	pthread_mutex_init(&s->cluster_lock, NULL);
	create_core(s, options);
	s->events = event_log_create();
	assert_non_null(s->events);
	state_observe(s->state, event_log_observer(s->events));
	s->keyring = options->has_no_key ? keyring_open("/nowhere/keyring", false, why, sizeof why)
					 : keyring_create();
	assert_non_null(s->keyring);
	create_crew(s, options);
	assert_int_equal(core_open(&s->core), 0);
	if (!options->no_applier_thread)
		core_start(&s->core, -1);
	crew_start(&s->crew);
	if (!options->no_applier_thread)
		s->rekeyer = rekeyer_start(&(struct rekeyer_settings){
			.keyring = s->keyring, .state = s->state, .queue = s->queue});
	start_api(s, options);
	return s;
}

void server_stop(struct server *s)
{
	if (s->api)
		api_stop(s->api);
	rekeyer_stop(s->rekeyer);
	crew_stop(&s->crew);
	if (s->core.is_running)
		core_stop(&s->core, 1000);
	crew_destroy(&s->crew);
	core_dismiss(&s->core);
	placement_destroy(s->placement);
	core_destroy(&s->core);
	event_log_destroy(s->events);
	keyring_destroy(s->keyring);
	pthread_mutex_destroy(&s->cluster_lock);
	free(s);
}

struct server *server;

int server_group_begin(void **unused)
{
	server = server_start(&(struct server_options){0});
	return 0;
}

int scheduler_group_begin(void **unused)
{
	server = server_start(&(struct server_options){.schedulers = 1});
	return 0;
}

int server_group_end(void **unused)
{
	server_stop(server);
	return 0;
}

enum command_outcome server_command(struct server *s, struct command *command)
{
	return core_run(&s->core, command);
}

struct uuid server_node_id(uint32_t n)
{
	struct uuid id = {{0}};
	uint32_t mixed = n * 2654435761u;
	memcpy(id.bytes, &mixed, 4);
	memcpy(id.bytes + 12, &n, 4);
	id.bytes[6] = 0x40;
	id.bytes[8] = 0x80;
	return id;
}

// The texts are views into name, which must outlive the command.
static void describe(struct node_registration *r, uint32_t n, char name[static 32])
{
	static const char *const pairs[][2] = {{"kernel.name", "linux"}, {"cpu.arch", "amd64"},
		{"cpu.numcores", "4"}, {"driver.exec", "1"}, {"os.name", "debian"},
		{"unique.hostname", "n"}};
	snprintf(name, 32, "node-%06u", n);
	r->node = server_node_id(n);
	r->sequence = 1795225440000ull + n;
	r->parts = 1;
	r->total = (struct resources){4000, 8192, 100000};
	r->reserved = (struct resources){100, 256, 1000};
	r->name = text_of(name);
	r->datacenter = TEXT("dc1");
	r->class_name = n % 2 ? TEXT("large") : TEXT("small");
	r->pool = TEXT("default");
	r->address = TEXT("10.0.0.1:4646");
	r->version = TEXT("0.1.0");
	r->device_group_count = 1;
	r->device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), 2};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		r->pairs[r->pair_count++] = (struct node_pair){
			PAIR_ATTRIBUTE, text_of(pairs[i][0]), text_of(pairs[i][1])};
	r->pairs[r->pair_count++] = (struct node_pair){PAIR_META, TEXT("rack"), TEXT("r1")};
	r->pairs[r->pair_count++] = (struct node_pair){PAIR_DRIVER, TEXT("exec"), TEXT("1")};
	r->pairs[r->pair_count++] = (struct node_pair){PAIR_DRIVER, TEXT("raw_exec"), TEXT("1")};
	r->pairs[r->pair_count++] =
		(struct node_pair){PAIR_SETTING, TEXT("cores.reservable"), TEXT("0-3")};
	r->pairs[r->pair_count++] = (struct node_pair){PAIR_VOLUME, TEXT("data"), TEXT("rw /srv")};
	r->pairs[r->pair_count++] =
		(struct node_pair){PAIR_NETWORK, TEXT("host:eth0"), TEXT("1000")};
	r->pairs[r->pair_count++] =
		(struct node_pair){PAIR_ADDRESS, TEXT("host:eth0 10.0.0.1"), TEXT("default")};
}

static void server_node_returns(struct server *s, struct node_slot node)
{
	struct command command = {
		.type = COMMAND_NODE_RETURNED, .node = {node.slot, node.generation}};
	assert_int_equal(server_command(s, &command), OUTCOME_DONE);
}

struct uuid server_node(struct server *s, uint32_t n)
{
	struct node_registration *r = memory_take(sizeof *r);
	char name[32];
	describe(r, n, name);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = r};
	assert_int_equal(server_command(s, &command), OUTCOME_DONE);
	s->newest = (struct node_slot){r->slot, r->generation};
	server_node_returns(s, s->newest);
	struct uuid id = r->node;
	free(r);
	return id;
}

// Commands that are under way together: one by one, each would wait until a busy machine gives the applier a turn.
#define TOGETHER 256u

static void run_together(struct server *s, struct command *commands, uint32_t count)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < count; i++)
		core_push(&s->core, &commands[i], &done);
	core_await(&s->core, &done, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(commands[i].outcome, OUTCOME_DONE);
}

void server_nodes(struct server *s, uint32_t count)
{
	struct command *commands = memory_take_array(TOGETHER, sizeof *commands);
	struct node_registration *all = memory_take_array(TOGETHER, sizeof *all);
	char(*names)[32] = memory_take_array(TOGETHER, sizeof *names);
	for (uint32_t first = 0; first < count; first += TOGETHER) {
		uint32_t some = count - first < TOGETHER ? count - first : TOGETHER;
		for (uint32_t i = 0; i < some; i++) {
			memset(&all[i], 0, sizeof all[i]);
			describe(&all[i], first + i, names[i]);
			commands[i] = (struct command){
				.type = COMMAND_NODE_REGISTER, .node_register = &all[i]};
		}
		run_together(s, commands, some);
		for (uint32_t i = 0; i < some; i++)
			commands[i] = (struct command){.type = COMMAND_NODE_RETURNED,
				.node = {all[i].slot, all[i].generation}};
		run_together(s, commands, some);
	}
	free(names);
	free(all);
	free(commands);
}

void server_node_expires(struct server *s, struct node_slot node)
{
	struct command command = {
		.type = COMMAND_NODE_EXPIRED, .node = {node.slot, node.generation}};
	assert_int_equal(server_command(s, &command), OUTCOME_DONE);
}

void server_namespace(struct server *s, const char *name)
{
	struct job_namespace *n = record_create(&job_namespace_description);
	struct command command = {.type = COMMAND_NAMESPACE, .namespace = {n}};

	n->name = text_copy(text_of(name));
	assert_int_equal(server_command(s, &command), OUTCOME_DONE);
}

void server_job(struct server *s, const char *id)
{
	char body[512];
	snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"direct\",\"Datacenters\":["
		"\"dc1\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":1,\"EphemeralDisk\":{\"SizeMB\":100},"
		"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\",\"Config\":{\"command\":\"/bin/"
		"true\"},"
		"\"Resources\":{\"CPU\":500,\"MemoryMB\":256}}]}]}}",
		id, id);
	json_decref(http_json(s, "PUT", "/v1/jobs", body));
}

uint32_t server_place(
	struct server *s, const char *job, uint8_t count, struct uuid ids[static PLACE_COUNT_MAX])
{
	struct command_place place = {
		.client = TEXT("tester"),
		.issued_ms = (int64_t)(time_wall_ns(&time_source_real) / 1000000),
		.request = prng_u64(&s->prng),
		.count = count,
		.namespace_name = TEXT(""),
		.job = text_of(job),
		.group = TEXT("g"),
	};
	struct command command = {.type = COMMAND_PLACE, .place = &place};
	assert_int_equal(server_command(s, &command), OUTCOME_DONE);
	for (uint32_t i = 0; i < place.placed; i++)
		ids[i] = place.items[i].allocation;
	return place.placed;
}

struct growing {
	char *data;
	size_t size, capacity;
};

static size_t take(char *data, size_t each, size_t count, void *context)
{
	struct growing *g = context;
	size_t size = each * count;
	if (g->size + size + 1 > g->capacity) {
		g->capacity = 2 * (g->size + size + 1);
		g->data = memory_resize(g->data, g->capacity);
	}
	memcpy(g->data + g->size, data, size);
	g->size += size;
	g->data[g->size] = '\0';
	return size;
}

struct response http_with(struct server *s, const char *method, const char *path, const char *body,
	size_t size, const char *header)
{
	char url[2048];
	struct growing text = {text_copy(TEXT("")), 0, 1}, headers = {text_copy(TEXT("")), 0, 1};
	snprintf(url, sizeof url, "http%s://127.0.0.1:%u%s", s->is_secure ? "s" : "",
		api_port(s->api), path);
	CURL *curl = curl_easy_init();
	struct curl_slist *list = header ? curl_slist_append(NULL, header) : NULL;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &headers);
	if (body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	CURLcode code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		fail_msg("%s %s: %s", method, path, curl_easy_strerror(code));
	struct response r = {.body = text.data, .headers = headers.data, .size = text.size};
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &r.status);
	const char *index = strstr(r.headers, "X-Nomad-Index: ");
	r.index = index ? strtoull(index + 15, NULL, 10) : 0;
	curl_slist_free_all(list);
	curl_easy_cleanup(curl);
	expect_described(method, path, &r);
	return r;
}

struct response http(struct server *s, const char *method, const char *path, const char *body)
{
	return http_with(s, method, path, body, body ? strlen(body) : 0, NULL);
}

void response_free(struct response *r)
{
	free(r->body);
	free(r->headers);
	*r = (struct response){0};
}

uint64_t server_metric(struct server *s, const char *name)
{
	char line[128];
	struct response r = http(s, "GET", "/v1/metrics?format=prometheus", NULL);
	snprintf(line, sizeof line, "\n%s ", name);
	const char *at = strstr(r.body, line);
	assert_non_null(at);
	uint64_t value = strtoull(at + strlen(line), NULL, 10);
	response_free(&r);
	return value;
}

json_t *http_json(struct server *s, const char *method, const char *path, const char *body)
{
	struct response r = http(s, method, path, body);
	if (r.status != 200)
		fail_msg("%s %s answered %ld: %s", method, path, r.status, r.body);
	assert_true(response_has(&r, "Content-Type: application/json"));
	json_error_t error;
	json_t *root = json_loads(r.body, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!root)
		fail_msg("%s %s: %s in %s", method, path, error.text, r.body);
	response_free(&r);
	return root;
}

bool response_has(const struct response *r, const char *line)
{
	const char *at = strstr(r->headers, line);
	return at && at[strlen(line)] == '\r';
}

void server_must(bool is_so, const char *what)
{
	if (!is_so)
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
	assert_true(is_so);
}

int server_connect(struct server *s)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(api_port(s->api)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	server_must(fd >= 0, "no socket");
	server_must(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "not connected");
	return fd;
}

// Of the task "t", as agents tell it.
static struct alloc_report *task_report(int status)
{
	static const char *const events[] = {"Received", "Task Setup", "Started", "Terminated"};
	int state = status == ALLOC_PENDING   ? TASK_PENDING
		    : status == ALLOC_RUNNING ? TASK_RUNNING
					      : TASK_DEAD;
	int64_t now_ns = (int64_t)time_wall_ns(&time_source_real);
	struct alloc_report *report = alloc_report_create();
	struct task_state *task = array_append(&report->task_states, sizeof *task);
	*task = (struct task_state){.task = text_copy(TEXT("t")),
		.state = state,
		.failed = status == ALLOC_FAILED,
		.started_at_ns = state == TASK_PENDING ? 0 : now_ns,
		.finished_at_ns = state == TASK_DEAD ? now_ns : 0};
	for (int i = 0; i < (int)(sizeof events / sizeof events[0]) - (state != TASK_DEAD); i++) {
		struct task_event *event = array_append(&task->events, sizeof *event);
		*event = (struct task_event){.type = text_copy(text_of(events[i])),
			.display_message = text_copy(text_of(events[i])),
			.time_ns = now_ns};
	}
	return report;
}

void server_report(
	struct server *s, struct node_slot node, const char *allocation, int status, int health)
{
	static _Atomic uint64_t sequence;
	struct alloc_update_item item = {.client_status = (uint8_t)status,
		.healthy = {health != 0, health > 0},
		.report = task_report(status)};
	assert_true(uuid_parse(allocation, &item.allocation));
	struct command_alloc_update update = {.slot = node.slot,
		.generation = node.generation,
		.sequence = ++sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};
	enum command_outcome outcome = server_command(s, &command);
	server_must(outcome == OUTCOME_DONE, command_outcomes[outcome].text);
}

int http_wait(struct server *s, const char *path, uint64_t index, const char *header)
{
	char request[512];
	int fd = server_connect(s);
	int length = snprintf(request, sizeof request,
		"GET %s?index=%lu&wait=60s HTTP/1.0\r\nHost: localhost\r\n%s%s\r\n", path, index,
		header ? header : "", header ? "\r\n" : "");
	assert_in_range(length, 1, sizeof request - 1);
	assert_int_equal(send(fd, request, (size_t)length, MSG_NOSIGNAL), length);
	return fd;
}

void http_waited(int fd, char *text, size_t size)
{
	size_t used = 0;
	for (ssize_t got = 1; got > 0; used += (size_t)got) {
		got = recv(fd, text + used, size - 1 - used, 0);
		assert_true(got >= 0);
	}
	text[used] = '\0';
	close(fd);
}
