#include "tools/api/server/start.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/audit/audit_ring.h"
#include "tools/api/forward/forwarder.h"
#include "tools/api/listen/listening.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/clients/guests.h"
#include "tools/api/server/elsewhere/node_line.h"
#include "tools/api/server/elsewhere/tunnels.h"
#include "tools/api/server/http.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/request_counters.h"
#include "tools/tls/identity.h"
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// How long a stopping server waits for answers that are being sent.
#define STOP_SENDING_MS 2000u
// The server drops a client that takes none of its answer for so long.
#define INACTIVITY_S 60u

// 0 or -errno.
static int find_bound_port(int fd, uint16_t *port)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof address;
	char text[8] = "0";
	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	getnameinfo((struct sockaddr *)&address, size, NULL, 0, text, sizeof text, NI_NUMERICSERV);
	*port = (uint16_t)strtoul(text, NULL, 10);
	return 0;
}

// Logs complaints of libmicrohttpd (a client that breaks off, a descriptor limit).
__attribute__((format(printf, 2, 0))) static void log_complaint(
	void *context, const char *format, va_list arguments)
{
	char text[256], quoted[300];
	vsnprintf(text, sizeof text, format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http", "message=%s", log_quote(text, quoted, sizeof quoted));
}

static enum MHD_Result may_connect(
	void *which, const struct sockaddr *address, socklen_t address_size)
{
	const struct api *api = which;
	struct guest_key from;
	if (atomic_load(&api->is_stopping))
		return MHD_NO;
	bool has_room =
		!guest_key_of_address(address, &from) || guests_have_room(api->guests, &from);
	return has_room ? MHD_YES : MHD_NO;
}

static uint32_t connections_max(const struct api_settings *settings)
{
	return settings->connections_max ? settings->connections_max : API_CONNECTIONS_MAX;
}

static uint64_t memory_max(const struct api_settings *settings)
{
	return settings->memory_bytes_max ? settings->memory_bytes_max : API_MEMORY_BYTES_MAX;
}

// fd: -1: it listens nowhere, and is given its connections.
static struct MHD_Daemon *start_daemon(struct api *api, int fd, bool is_secure)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
			 MHD_USE_ERROR_LOG | MHD_ALLOW_UPGRADE;
	if (fd < 0)
		flags |= MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
	// Each connection is given its credentials when it comes (http_connection).
	struct MHD_OptionItem secure[] = {
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)credentials_priorities},
		{MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, credentials_unasked},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem *more = is_secure ? secure : &secure[2];
	struct MHD_OptionItem listens[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL}, {MHD_OPTION_END, 0, NULL}};
	struct MHD_OptionItem *where = fd < 0 ? &listens[1] : listens;
	return MHD_start_daemon(flags | (is_secure ? MHD_USE_TLS : 0), 0, may_connect, api,
		http_access, api, MHD_OPTION_EXTERNAL_LOGGER, log_complaint, api,
		MHD_OPTION_THREAD_POOL_SIZE, (unsigned)API_THREADS, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)connections_max(&api->settings), MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)INACTIVITY_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)API_HEADER_BYTES_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_UNESCAPE_CALLBACK, http_leave_encoded, api, MHD_OPTION_URI_LOG_CALLBACK,
		http_request_line, api, MHD_OPTION_NOTIFY_CONNECTION, http_connection, api,
		MHD_OPTION_NOTIFY_COMPLETED, http_completed, api, MHD_OPTION_ARRAY, more,
		MHD_OPTION_ARRAY, where, MHD_OPTION_END);
}

static char *setting_copy(const char *text, const char *otherwise)
{
	return text_copy(text_of(text ? text : otherwise));
}

// The configured names, those of the controller and of its machine.
static char *known_hosts(const struct api_settings *settings)
{
	const char *given = settings->hosts ? settings->hosts : "";
	const char *name = settings->name ? settings->name : "";
	char machine[HOST_NAME_MAX + 1] = "";

	(void)gethostname(machine, sizeof machine - 1); // without it only the others are known
	size_t size = strlen(given) + strlen(name) + sizeof machine + 2;
	char *hosts = memory_take(size);
	snprintf(hosts, size, "%s,%s,%s", given, name, machine);
	return hosts;
}

static struct api *api_create(const struct api_settings *settings, const struct route_table *routes)
{
	struct api *api = memory_take(sizeof *api);
	api->settings = *settings;
	api->routes = routes;
	api->settings.address = api->address = setting_copy(settings->address, "127.0.0.1");
	api->settings.socket.path = api->socket_path = setting_copy(settings->socket.path, "");
	api->hosts = known_hosts(settings);
	api->settings.origins = api->origins = setting_copy(settings->origins, "");
	api->settings.region = api->region = setting_copy(settings->region, "global");
	api->settings.datacenter = api->datacenter = setting_copy(settings->datacenter, "dc1");
	api->settings.name = api->name = setting_copy(settings->name, "berth");
	api->first_index = state_index(settings->state);
	api->started_ns = time_monotonic_ns(settings->time);
	api->guests = guests_create(
		connections_max(settings), settings->connections_per_ip_max, memory_max(settings));
	api->connections = connections_create(settings->time, api->guests);
	api->counters = request_counters_create(routes);
	api->tokens = token_keeper_create(settings->state, settings->keyring, settings->acl_forced);
	pthread_mutex_init(&api->prng_lock, NULL);
	if (settings->seed)
		prng_seed(&api->prng, settings->seed);
	else
		prng_seed_from_system(&api->prng);
	api->id = prng_uuid(&api->prng);
	return api;
}

static void api_destroy(struct api *api)
{
	tunnels_destroy(api->tunnels);
	// Before the parking thread, which they wake.
	forwarder_stop(api->forwarder);
	line_hub_stop(api->line);
	for (uint32_t i = 0; i < BACKGROUND_THREADS; i++)
		if (api->background[i])
			background_answers_stop(api->background[i]);
	if (api->parking)
		parking_stop(api->parking);
	connections_destroy(api->connections);
	guests_destroy(api->guests);
	request_counters_destroy(api->counters);
	token_keeper_destroy(api->tokens);
	pthread_mutex_destroy(&api->prng_lock);
	audit_log_close(api->audit);
	audit_ring_destroy(api->audit_ring);
	identity_destroy(api->identity);
	free(api->socket_path);
	free(api->address);
	free(api->hosts);
	free(api->origins);
	free(api->region);
	free(api->datacenter);
	free(api->name);
	if (api->settings.line_key && api->settings.line_fd >= 0)
		close(api->settings.line_fd);
	free(api);
}

static bool is_given(const char *text)
{
	return text && *text;
}

static int64_t wall_s(const struct api *api)
{
	return (int64_t)(time_wall_ns(api->settings.time) / NS_PER_S);
}

// The certificate is read before anything listens.
static int load_identity(struct api *api, char *message, uint32_t message_size)
{
	if (!is_given(api->settings.tls.certificate))
		return 0;
	api->identity = identity_create(&api->settings.tls, wall_s(api), message, message_size);
	return api->identity ? 0 : -EINVAL;
}

static int open_audit(struct api *api, char *message, uint32_t message_size)
{
	if (!is_given(api->settings.audit_path))
		return 0;
	api->audit = audit_log_open(api->settings.audit_path, message, message_size);
	if (!api->audit)
		return -EINVAL;
	api->audit_ring = audit_ring_create();
	if (!api->audit_ring)
		snprintf(message, message_size, "audit.path: memory is short");
	return api->audit_ring ? 0 : -ENOMEM;
}

// Serves what comes in at a socket, or closes it.
static int serve(struct api *api, enum api_listener which, int fd, char *message, uint32_t size)
{
	bool is_secure = which == LISTENER_ADDRESS && api->identity;
	api->daemons[which] = CAN_BREAK(HTTP_SERVE, NULL, start_daemon(api, fd, is_secure));
	if (api->daemons[which])
		return 0;
	snprintf(message, size,
		"http: libmicrohttpd cannot serve%s; more is in the log at the level debug",
		is_secure ? " with TLS" : "");
	if (fd >= 0)
		close(fd);
	return -EIO;
}

static int serve_address(struct api *api, char *message, uint32_t size)
{
	if (!*api->address)
		return 0;
	int fd = listen_at_address("http", api->address, api->settings.port, message, size);
	if (fd < 0)
		return fd;
	int error = find_bound_port(fd, &api->port);
	if (error == 0)
		return serve(api, LISTENER_ADDRESS, fd, message, size);
	snprintf(
		message, size, "http: cannot tell at which port it listens: %s", error_text(error));
	close(fd);
	return error;
}

static int serve_socket(struct api *api, char *message, uint32_t size)
{
	if (!*api->socket_path)
		return 0;
	int fd = listen_at_path(&api->settings.socket, message, size);
	int error = fd < 0 ? fd : serve(api, LISTENER_SOCKET, fd, message, size);
	if (fd >= 0 && error < 0)
		unlink(api->socket_path);
	return error;
}

static int serve_nodes(struct api *api, char *message, uint32_t size)
{
	return api->settings.line_key ? serve(api, LISTENER_LINE, -1, message, size) : 0;
}

static void wake_parked(void *context)
{
	const struct api *api = context;
	parking_wake(api->parking);
}

static int start_forwarder(struct api *api)
{
	const struct api_settings *s = &api->settings;
	if (!s->cluster)
		return 0;
	return forwarder_start(&(struct forwarder_settings){.cluster = s->cluster,
				       .context = s->context,
				       .tls = s->forward_tls,
				       .hold_ms = s->forward_hold_ms,
				       .time = s->time,
				       .wake = wake_parked,
				       .wake_context = api},
		&api->forwarder);
}

static int start_threads(struct api *api, int wake_fd, char *message, uint32_t size)
{
	int error = parking_start(api, wake_fd, &api->parking);
	for (uint32_t i = 0; i < BACKGROUND_THREADS && error == 0; i++)
		error = background_answers_start(api, i, &api->background[i]);
	if (error == 0)
		error = start_forwarder(api);
	if (error == 0 && api->identity)
		error = tunnels_start(&api->tunnels);
	if (error != 0)
		snprintf(message, size, "http: cannot start its threads: %s", error_text(error));
	return error;
}

static void stop_daemons(struct api *api)
{
	// They have connections that libmicrohttpd has to have back.
	tunnels_stop(api->tunnels);
	for (uint32_t i = 0; i < API_LISTENERS; i++)
		if (api->daemons[i])
			MHD_stop_daemon(api->daemons[i]);
	if (api->daemons[LISTENER_SOCKET])
		unlink(api->socket_path);
}

static int begin_line(struct api *api, char *message, uint32_t size)
{
	int error = node_line_start(api);
	if (error != 0)
		snprintf(message, size, "agents: cannot start the thread of the line to nodes: %s",
			error_text(error));
	return error;
}

int api_server_start(const struct api_settings *settings, const struct route_table *routes,
	int wake_fd, struct api **out, char *message, uint32_t message_size)
{
	*out = NULL;
	struct api *api = api_create(settings, routes);
	int error = load_identity(api, message, message_size);
	if (error == 0)
		error = open_audit(api, message, message_size);
	if (error == 0)
		error = start_threads(api, wake_fd, message, message_size);
	if (error == 0)
		error = serve_address(api, message, message_size);
	if (error == 0)
		error = serve_socket(api, message, message_size);
	if (error == 0)
		error = serve_nodes(api, message, message_size);
	if (error == 0)
		error = begin_line(api, message, message_size);
	if (error == 0) {
		*out = api;
		return 0;
	}
	stop_daemons(api);
	api_destroy(api);
	return error;
}

bool api_server_reload(struct api *api, char *message, uint32_t message_size)
{
	// Both are tried, and the first sentence is the one that is told.
	char further[256];
	bool is_renewed =
		!api->identity || identity_renew(api->identity, wall_s(api), message, message_size);
	bool is_reopened =
		!api->audit || audit_log_reopen(api->audit, is_renewed ? message : further,
				       is_renewed ? message_size : (uint32_t)sizeof further);
	return is_renewed && is_reopened;
}

int64_t api_server_certificate_end_s(const struct api *api)
{
	if (!api->identity)
		return 0;
	struct credentials *credentials = identity_share(api->identity);
	int64_t end_s = credentials_end_s(credentials);
	credentials_release(credentials);
	return end_s;
}

static void wait_a_little(void)
{
	struct timespec millisecond = {.tv_nsec = NS_PER_MS};
	nanosleep(&millisecond, NULL);
}

static bool has_parked(const struct api *api)
{
	struct parking_counts counts;

	parking_count(api->parking, &counts);
	return counts.parked > 0;
}

void api_server_stop(struct api *api)
{
	// Not MHD_quiesce_daemon(): a worker that wakes up meanwhile takes the socket off its list, too, and
	// libmicrohttpd ends the process when it is not there the second time.
	atomic_store(&api->is_stopping, true);
	parking_close(api->parking);
	if (api->line)
		line_hub_close(api->line);
	if (api->forwarder)
		forwarder_close(api->forwarder);
	// The applier still runs commands, and accesses their submissions until then.
	while (atomic_load(&api->commands_under_way) > 0)
		wait_a_little();
	// Another thread resumes a parked request, however late, and libmicrohttpd ends the process when it is stopped
	// with one. Answers that are only being sent get limited time.
	for (uint32_t ms = 0;
		has_parked(api) || (ms < STOP_SENDING_MS && atomic_load(&api->requests_active) > 0);
		ms++)
		wait_a_little();
	stop_daemons(api);
	api_destroy(api);
}
