#include "tools/agent/check/check_try.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/check/check_script.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 32
#define REDIRECTS_MAX 10L
#define HTTP_TOO_MANY_REQUESTS 429
#define HTTP_BAD_REQUEST 400

struct check_tries {
	CURLM *multi;
	int epoll_fd;
	int wake_fd; // of scripts that are over
	uint32_t count;
	int64_t now_ns;          // of the newest step
	int64_t timer_ns;        // unix; libcurl's; 0: none
	struct check_try *dying; // scripts that were killed
};

struct check_try {
	struct check_tries *tries;
	const struct check_rule *rule;
	int64_t deadline_ns;
	bool is_over; // the request or connection is; the answer holds
	CURL *curl;
	struct curl_slist *headers, *ways;
	char error[CURL_ERROR_SIZE];
	struct script *script; // NULL: it is none, or could not begin
	struct check_answer answer;
	struct check_try *next; // in the list of the dying
};

// No event of its socket will come. libcurl that is told so does nothing for any check from then on.
static void end_unwatched(CURL *curl)
{
	struct check_try *t = NULL;
	int error = errno;
	curl_easy_getinfo(curl, CURLINFO_PRIVATE, &t);
	if (!t) // libcurl's own, too, close connections
		return;
	t->is_over = true;
	t->answer.status = CHECK_CRITICAL;
	snprintf(t->answer.output, sizeof t->answer.output, "cannot wait for %.250s: %s",
		t->rule->address, strerror(error));
}

static int on_socket(CURL *curl, curl_socket_t socket, int what, void *context, void *unused)
{
	const struct check_tries *tries = context;
	struct epoll_event event = {.data.fd = socket};
	(void)unused;
	if (what == CURL_POLL_REMOVE) {
		(void)epoll_ctl(tries->epoll_fd, EPOLL_CTL_DEL, socket, NULL); // it may be closed
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	if (epoll_ctl(tries->epoll_fd, EPOLL_CTL_MOD, socket, &event) < 0 &&
		CAN_FAIL(CHECK_WATCH, epoll_ctl(tries->epoll_fd, EPOLL_CTL_ADD, socket, &event)) <
			0)
		end_unwatched(curl);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct check_tries *tries = context;
	(void)multi;
	tries->timer_ns = timeout_ms < 0 ? 0 : tries->now_ns + timeout_ms * (int64_t)NS_PER_MS;
	return 0;
}

// 0 or -errno.
static int open_tries(struct check_tries *tries)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
	tries->epoll_fd = CAN_FAIL(CHECK_EPOLL, epoll_create1(EPOLL_CLOEXEC));
	if (tries->epoll_fd >= 0)
		tries->wake_fd = CAN_FAIL(CHECK_WAKE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (tries->wake_fd < 0 ||
		epoll_ctl(tries->epoll_fd, EPOLL_CTL_ADD, tries->wake_fd, &event) < 0)
		return -errno;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		tries->multi = CAN_BREAK(CHECK_TRANSFERS, NULL, curl_multi_init());
	return tries->multi ? 0 : -ENOMEM;
}

struct check_tries *check_tries_open(void)
{
	struct check_tries *tries = memory_take(sizeof *tries);
	tries->wake_fd = -1;
	int error = open_tries(tries);
	if (error) {
		check_tries_close(tries);
		errno = -error;
		return NULL;
	}
	curl_multi_setopt(tries->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(tries->multi, CURLMOPT_SOCKETDATA, tries);
	curl_multi_setopt(tries->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(tries->multi, CURLMOPT_TIMERDATA, tries);
	return tries;
}

// Frees what has ended of the scripts that were killed.
static void bury_scripts(struct check_tries *tries, bool waits)
{
	struct check_try **link = &tries->dying;
	while (*link) {
		struct check_try *t = *link;
		if (!waits && !script_is_over(t->script)) {
			link = &t->next;
			continue;
		}
		*link = t->next;
		script_finish(t->script, NULL);
		tries->count--;
		free(t);
	}
}

void check_tries_close(struct check_tries *tries)
{
	bury_scripts(tries, true);
	curl_multi_cleanup(tries->multi);
	if (tries->wake_fd >= 0)
		close(tries->wake_fd);
	if (tries->epoll_fd >= 0)
		close(tries->epoll_fd);
	free(tries);
}

int check_tries_fd(const struct check_tries *tries)
{
	return tries->epoll_fd;
}

bool check_tries_have_room(const struct check_tries *tries)
{
	return tries->count < CHECK_TRIES_MAX;
}

int64_t check_tries_due_ns(const struct check_tries *tries)
{
	return tries->timer_ns;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *context)
{
	struct check_answer *answer = context;
	size_t room = CHECK_OUTPUT_BYTES - answer->size, taken = size < room ? size : room;
	(void)one;
	memcpy(answer->output + answer->size, bytes, taken);
	answer->size += (uint32_t)taken;
	return taken; // fewer: nobody wants the rest
}

static bool has_header(const struct check_rule *rule, const char *name)
{
	for (const char *const *line = rule->headers; *line; line++)
		if (strncasecmp(*line, name, strlen(name)) == 0)
			return true;
	return false;
}

static void add_header(struct check_try *t, const char *line)
{
	t->headers = curl_line_add(t->headers, line);
}

// The connection goes to the service, whatever the name that its certificate has to be for.
static void connect_to_service(struct check_try *t)
{
	char way[600];
	snprintf(way, sizeof way, "%.250s::%.250s", t->rule->server_name, t->rule->address);
	t->ways = curl_line_add(NULL, way);
	curl_set(t->curl, CURLOPT_CONNECT_TO, t->ways);
}

// TLS is told another name than the one that the request is sent to.
static void set_server_name(struct check_try *t)
{
	const struct check_rule *rule = t->rule;
	char line[300];
	connect_to_service(t);
	CURLU *parts = curl_url();
	if (parts && curl_url_set(parts, CURLUPART_URL, rule->url, 0) == CURLUE_OK &&
		curl_url_set(parts, CURLUPART_HOST, rule->server_name, 0) == CURLUE_OK) {
		char *url = NULL;
		if (curl_url_get(parts, CURLUPART_URL, &url, 0) == CURLUE_OK)
			curl_set(t->curl, CURLOPT_URL, url);
		curl_free(url);
		snprintf(line, sizeof line, "Host: %.250s", rule->address);
		if (!has_header(rule, "host:"))
			add_header(t, line);
	}
	curl_url_cleanup(parts);
}

static void set_request(struct check_try *t)
{
	const struct check_rule *rule = t->rule;
	bool is_head = strcasecmp(rule->method, "HEAD") == 0;
	for (const char *const *line = rule->headers; *line; line++)
		add_header(t, *line);
	if (*rule->body) {
		curl_set(t->curl, CURLOPT_POSTFIELDS, rule->body);
		add_header(t, "Expect:");
		if (!has_header(rule, "content-type:"))
			add_header(t, "Content-Type:");
	}
	curl_set(t->curl, CURLOPT_NOBODY, is_head ? 1L : 0L);
	if (!is_head)
		curl_set(t->curl, CURLOPT_CUSTOMREQUEST, rule->method);
	curl_set(t->curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_set(t->curl, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	// As for artifacts: the system's authorities, or others.
	const char *authorities = getenv("SSL_CERT_FILE");
	if (authorities && *authorities)
		curl_set(t->curl, CURLOPT_CAINFO, authorities);
	if (rule->skips_verification) {
		curl_set(t->curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_set(t->curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (*rule->server_name)
		set_server_name(t);
	curl_set(t->curl, CURLOPT_HTTPHEADER, t->headers);
}

static bool connect_to(struct check_try *t)
{
	CURL *curl = t->curl = CAN_BREAK(CHECK_TRANSFER, NULL, curl_easy_init());
	if (!curl)
		return false;
	curl_set(curl, CURLOPT_URL, t->rule->url);
	curl_set(curl, CURLOPT_PRIVATE, t);
	curl_set(curl, CURLOPT_NOSIGNAL, 1L);
	curl_set(curl, CURLOPT_PROXY, "");
	curl_set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_USERAGENT, "berth-agent/" BERTH_VERSION);
	curl_set(curl, CURLOPT_ERRORBUFFER, t->error);
	curl_set(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_set(curl, CURLOPT_WRITEDATA, &t->answer);
	// A service that is only reached by a connection of before does not pass.
	curl_set(curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_set(curl, CURLOPT_FORBID_REUSE, 1L);
	if (t->rule->type == CHECK_TCP)
		curl_set(curl, CURLOPT_CONNECT_ONLY, 1L);
	else
		set_request(t);
	return curl_multi_add_handle(t->tries->multi, curl) == CURLM_OK;
}

struct check_try *check_try_begin(struct check_tries *tries, const struct check_rule *rule,
	const struct alloc_run *a, const struct alloc_place *place)
{
	struct check_try *t = memory_take(sizeof *t);
	*t = (struct check_try){
		.tries = tries, .rule = rule, .deadline_ns = place->now_ns + rule->timeout_ns};
	tries->count++;
	tries->now_ns = place->now_ns;
	if (rule->type == CHECK_SCRIPT)
		t->script = check_script_begin(rule, a, place, tries->wake_fd, &t->answer);
	if (rule->type == CHECK_SCRIPT ? !t->script : !connect_to(t)) {
		t->is_over = true;
		t->answer.status = CHECK_CRITICAL;
		if (!*t->answer.output)
			snprintf(t->answer.output, sizeof t->answer.output,
				"the check could not be begun");
	}
	return t;
}

static void say_failure(struct check_try *t, CURLcode code)
{
	long number = 0;
	curl_easy_getinfo(t->curl, CURLINFO_OS_ERRNO, &number);
	t->answer.status = CHECK_CRITICAL;
	if (number > 0)
		snprintf(t->answer.output, sizeof t->answer.output, "cannot connect to %.250s: %s",
			t->rule->address, strerror((int)number));
	else
		snprintf(t->answer.output, sizeof t->answer.output, "%.250s: %s", t->rule->address,
			*t->error ? t->error : curl_easy_strerror(code));
}

static void judge_code(struct check_try *t)
{
	struct check_answer *answer = &t->answer;
	if (answer->http_code >= HTTP_BAD_REQUEST) {
		answer->status = answer->http_code == HTTP_TOO_MANY_REQUESTS ? CHECK_WARNING
									     : CHECK_CRITICAL;
		if (answer->size == 0)
			snprintf(answer->output, sizeof answer->output, "HTTP status %d",
				answer->http_code);
		return;
	}
	answer->status = CHECK_PASSING;
	snprintf(answer->output, sizeof answer->output, "nomad: http ok");
}

static void finish_transfer(struct check_try *t, CURLcode code)
{
	long status = 0;
	t->is_over = true;
	t->answer.output[t->answer.size] = '\0';
	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	bool has_enough = code == CURLE_WRITE_ERROR && t->answer.size == CHECK_OUTPUT_BYTES;
	if (code != CURLE_OK && !has_enough) {
		say_failure(t, code);
	} else if (t->rule->type == CHECK_TCP) {
		t->answer.status = CHECK_PASSING;
		snprintf(t->answer.output, sizeof t->answer.output, "nomad: tcp ok");
	} else {
		t->answer.http_code = (int)status;
		judge_code(t);
	}
}

void check_tries_step(struct check_tries *tries, int64_t now_ns)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int running, left;
	tries->now_ns = now_ns;
	uint64_t ended;
	while (read(tries->wake_fd, &ended, sizeof ended) < 0 && errno == EINTR)
		;
	bury_scripts(tries, false);
	int count = epoll_wait(tries->epoll_fd, events, EVENTS_AT_ONCE, 0);
	for (int i = 0; i < count; i++) {
		int what = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
			   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			   (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);
		if (events[i].data.fd >= 0)
			curl_multi_socket_action(tries->multi, events[i].data.fd, what, &running);
	}
	if (tries->timer_ns && now_ns >= tries->timer_ns) {
		tries->timer_ns = 0;
		curl_multi_socket_action(tries->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	for (const CURLMsg *m; (m = curl_multi_info_read(tries->multi, &left)) != NULL;) {
		char *t = NULL;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
		if (t && m->msg == CURLMSG_DONE)
			finish_transfer((struct check_try *)t, m->data.result);
	}
}

// False: it runs on.
static bool take_script(struct check_try *t)
{
	if (!t->script || !script_is_over(t->script))
		return false;
	check_script_end(t->script, t->rule, &t->answer);
	t->script = NULL;
	t->is_over = true;
	return true;
}

bool check_try_take(struct check_try *t, int64_t now_ns, struct check_answer *answer)
{
	if (!t->is_over && !take_script(t)) {
		if (now_ns < t->deadline_ns)
			return false;
		check_answer_late(t->rule, &t->answer);
	}
	*answer = t->answer;
	check_try_drop(t);
	return true;
}

int64_t check_try_deadline_ns(const struct check_try *t)
{
	return t->is_over ? t->tries->now_ns : t->deadline_ns;
}

void check_try_drop(struct check_try *t)
{
	if (!t)
		return;
	struct check_tries *tries = t->tries;
	if (t->curl) {
		curl_multi_remove_handle(tries->multi, t->curl);
		curl_easy_cleanup(t->curl);
	}
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->ways);
	if (t->script) {
		script_stop(t->script);
		t->next = tries->dying;
		tries->dying = t;
		return;
	}
	tries->count--;
	free(t);
}
