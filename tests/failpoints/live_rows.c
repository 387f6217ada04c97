#include "tests/failpoints/live_rows.h"
#include <stddef.h>

#define STARTS(id, error, said, ...)                                                   \
	{                                                                              \
		.point = FAILPOINT_##id, error, said, .is_of_start = true, __VA_ARGS__ \
	}
#define RUNS(id, error, said, work, ...)                       \
	{                                                      \
		FAILPOINT_##id, error, said, work, __VA_ARGS__ \
	}

const struct live_row live_rows[] = {
	STARTS(PORT_SOCKET, "emfile", "UDP port"),
	STARTS(PORT_OPTION, "enobufs", "UDP port"),
	STARTS(PORT_BIND, "eaddrinuse", "UDP port"),
	STARTS(PORT_EPOLL, "emfile", "one descriptor for 2 sockets"),
	STARTS(PORT_WATCH, "enospc", "one descriptor for 2 sockets"),
	STARTS(PORT_BELL, "emfile", "doorbell-missing", .is_absorbed = true),
	RUNS(PORT_RECEIVE, "enomem", "*berth_port_errors_total", LIVE_BEATS, .is_polled = true),
	RUNS(PORT_SEND, "eperm", "*berth_port_errors_total", LIVE_BEATS),
	RUNS(PORT_SEND, "enobufs", "*berth_port_errors_total", LIVE_BEATS),
	RUNS(PORT_DROPS, "enobufs", "port-drops-unknown", LIVE_BEATS),
	RUNS(PORT_WAIT, "enomem", "who=worker", LIVE_BEATS),

	RUNS(MAIN_WAIT, "enomem", "who=main", LIVE_BEATS),

	STARTS(HTTP_SOCKET, "emfile", "cannot open a socket for"),
	STARTS(HTTP_OPTION, "enomem", "cannot listen on"),
	STARTS(HTTP_BIND, "eaddrinuse", "cannot listen on"),
	STARTS(HTTP_LISTEN, "eaddrinuse", "cannot listen on"),
	STARTS(HTTP_PROBE, "emfile", "cannot listen at"),
	STARTS(HTTP_SERVE, "enomem", "cannot serve"),
	STARTS(HTTP_EPOLL, "emfile", "Too many open files"),
	STARTS(HTTP_WAKE, "emfile", "Too many open files"),
	STARTS(HTTP_CHANGES, "emfile", "Too many open files"),
	RUNS(HTTP_WATCH, "enospc", "changes-not-watched", LIVE_CHANGE),
	RUNS(HTTP_ENTER, "enospc", "client-not-watched", LIVE_CHANGE),
	RUNS(HTTP_TAKE, "eagain", "reason=too_many", LIVE_QUESTION),
	RUNS(HTTP_WAIT, "enomem", "who=api-parking", LIVE_CHANGE),

	STARTS(LINE_EPOLL, "emfile", "Too many open files"),
	STARTS(LINE_WAKE, "emfile", "Too many open files"),
	STARTS(LINE_WATCH, "enospc", "No space left"),
	STARTS(LINE_THREAD, "eagain", "temporarily unavailable"),
	RUNS(LINE_ACCEPT, "emfile", "line-not-accepting", LIVE_DIAL),
	RUNS(LINE_ACCEPT, "enobufs", "*berth_line_accepts_failed_total", LIVE_DIAL),
	RUNS(LINE_TLS, "enomem", "line-not-accepted", LIVE_DIAL),
	RUNS(LINE_ENTER, "enospc", "line-not-accepted", LIVE_DIAL),
	RUNS(LINE_HANDSHAKE, "econnreset", "*berth_line_refused_total", LIVE_DIAL),
	RUNS(LINE_SEND, "econnreset", "!closed the connection", LIVE_REQUEST),
	RUNS(LINE_RECEIVE, "econnreset", "!closed the connection", LIVE_REQUEST),
	RUNS(LINE_PAIR, "emfile", "reason=too_many", LIVE_QUESTION),
	RUNS(LINE_JOIN, "enospc", "reason=too_many", LIVE_QUESTION),
	RUNS(LINE_WAIT, "enomem", "who=line-hub", LIVE_DIAL),

	RUNS(TUNNEL_READ, "econnreset", "!closed the connection", LIVE_REQUEST),
	RUNS(TUNNEL_WRITE, "epipe", "!closed the connection", LIVE_REQUEST),
	RUNS(TUNNEL_RECEIVE, "econnreset", "!closed the connection", LIVE_REQUEST),
	RUNS(TUNNEL_SEND, "epipe", "!closed the connection", LIVE_REQUEST),

	STARTS(DIAL_STOP, "emfile", "line", .program = LIVE_AGENT),
	RUNS(DIAL_THREAD, "eagain", "line-not-dialled", LIVE_DIAL),
	RUNS(DIAL_SOCKET, "emfile", "line-not-dialled", LIVE_DIAL),
	RUNS(DIAL_CONNECT, "enetunreach", "line-not-dialled", LIVE_DIAL),
	RUNS(DIAL_TLS, "enomem", "line-not-dialled", LIVE_DIAL),
	RUNS(DIAL_HANDSHAKE, "econnreset", "line-not-dialled", LIVE_DIAL),
	RUNS(DIAL_PAIR, "emfile", "line-not-served", LIVE_DIAL),

	RUNS(BEAT_SOCKET, "emfile", "connect-failed", LIVE_BEATS, "beat.send=enetdown@1"),
	RUNS(BEAT_BIND, "eaddrnotavail", "connect-failed", LIVE_BEATS, "beat.send=enetdown@1"),
	RUNS(BEAT_CONNECT, "enetunreach", "connect-failed", LIVE_BEATS, "beat.send=enetdown@1"),
	RUNS(BEAT_SEND, "enetdown", "sent-nothing", LIVE_BEATS),
	RUNS(BEAT_RECEIVE, "enomem", "received-nothing", LIVE_BEATS),
	RUNS(BEAT_WAIT, "enomem", "who=agent", LIVE_BEATS),
};
const uint32_t live_row_count = sizeof live_rows / sizeof live_rows[0];
