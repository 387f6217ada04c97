// Errors on demand, for tests: a call that may fail names its point, and the point fails when a test asks for it. A
// build without them (meson's option failpoints; release builds have none) knows nothing of them.
//
//	if (CAN_FAIL(LOG_FDATASYNC, fdatasync(fd)) < 0)
//		return -errno;
//
// Programs take what is to fail from the environment as they start, and end with a sentence at what they cannot read:
//
//	BERTH_FAILPOINTS="log.fdatasync=eio@3;cgroup.create=enospc"
//
// or, with @ and a path, the file in which a test arms them while they run (failpoints_share).
// Hits are counted from where the text is read on, by all threads, and by processes that are forked off later.
#pragma once
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The first word of a name is its area; a test walks all points of an area (tests/failpoints).
#define FAILPOINT_TABLE(ROW)                        \
	ROW(STORE_MKDIR, "store.mkdir")             \
	ROW(STORE_LOCK, "store.lock")               \
	ROW(STORE_MARK, "store.mark")               \
	ROW(STORE_SYNC, "store.sync")               \
	ROW(LOG_MKDIR, "log.mkdir")                 \
	ROW(LOG_PUBLISH, "log.publish")             \
	ROW(LOG_LIST, "log.list")                   \
	ROW(LOG_NEXT, "log.next")                   \
	ROW(LOG_THREAD, "log.thread")               \
	ROW(LOG_CREATE, "log.create")               \
	ROW(LOG_SPACE, "log.space")                 \
	ROW(LOG_SIZE, "log.size")                   \
	ROW(LOG_RENAME, "log.rename")               \
	ROW(LOG_FSYNC, "log.fsync")                 \
	ROW(LOG_OPEN, "log.open")                   \
	ROW(LOG_STAT, "log.stat")                   \
	ROW(LOG_READ, "log.read")                   \
	ROW(LOG_DIRECT_OPEN, "log.direct_open")     \
	ROW(LOG_DIRECT_WRITE, "log.direct_write")   \
	ROW(LOG_WRITE, "log.write")                 \
	ROW(LOG_FDATASYNC, "log.fdatasync")         \
	ROW(LMDB_OPEN, "lmdb.open")                 \
	ROW(LMDB_STAT, "lmdb.stat")                 \
	ROW(LMDB_BEGIN, "lmdb.begin")               \
	ROW(LMDB_READ, "lmdb.read")                 \
	ROW(LMDB_RENAME, "lmdb.rename")             \
	ROW(SNAPSHOT_THREAD, "snapshot.thread")     \
	ROW(SNAPSHOT_NICE, "snapshot.nice")         \
	ROW(SNAPSHOT_CREATE, "snapshot.create")     \
	ROW(SNAPSHOT_WRITE, "snapshot.write")       \
	ROW(SNAPSHOT_CUT, "snapshot.cut")           \
	ROW(SNAPSHOT_SYNC, "snapshot.sync")         \
	ROW(SNAPSHOT_RENAME, "snapshot.rename")     \
	ROW(SNAPSHOT_LIST, "snapshot.list")         \
	ROW(SNAPSHOT_NEXT, "snapshot.next")         \
	ROW(SNAPSHOT_OPEN, "snapshot.open")         \
	ROW(SNAPSHOT_READ, "snapshot.read")         \
	ROW(RESTORE_MKDIR, "restore.mkdir")         \
	ROW(RESTORE_CREATE, "restore.create")       \
	ROW(RESTORE_SYNC, "restore.sync")           \
	ROW(RESTORE_RENAME, "restore.rename")       \
	ROW(RESTORE_ARRIVE, "restore.arrive")       \
	ROW(RESTORE_REMOVE, "restore.remove")       \
	ROW(RESTORE_MOVE, "restore.move")           \
	ROW(RESTORE_LIST, "restore.list")           \
	ROW(RESTORE_NEXT, "restore.next")           \
	ROW(RESTORE_MOVE_REST, "restore.move_rest") \
	ROW(LOAD_THREAD, "load.thread")             \
	ROW(MEMORY_MAP, "memory.map")               \
	ROW(MEMORY_TAKE, "memory.take")             \
	ROW(MEMORY_RESIZE, "memory.resize")         \
	ROW(APPLIER_TABLES, "applier.tables")       \
	ROW(APPLIER_JOURNAL, "applier.journal")     \
	ROW(APPLIER_THREAD, "applier.thread")       \
	ROW(ALLOC_MKDIR, "alloc.mkdir")             \
	ROW(ALLOC_LIST, "alloc.list")               \
	ROW(ALLOC_NEXT, "alloc.next")               \
	ROW(ALLOC_LOAD, "alloc.load")               \
	ROW(ALLOC_CREATE, "alloc.create")           \
	ROW(ALLOC_WRITE, "alloc.write")             \
	ROW(ALLOC_SYNC, "alloc.sync")               \
	ROW(ALLOC_RENAME, "alloc.rename")           \
	ROW(ALLOC_SYNC_FOLDER, "alloc.sync_folder") \
	ROW(CGROUP_CREATE, "cgroup.create")         \
	ROW(CGROUP_OPEN, "cgroup.open")             \
	ROW(CGROUP_ENTER, "cgroup.enter")           \
	ROW(CGROUP_WRITE, "cgroup.write")           \
	ROW(CGROUP_KILL, "cgroup.kill_all")         \
	ROW(CGROUP_REMOVE, "cgroup.remove")         \
	ROW(CONFINE_FILTER, "confine.filter")       \
	ROW(CONFINE_PIDS, "confine.pids")           \
	ROW(CONFINE_NAMESPACE, "confine.namespace") \
	ROW(CONFINE_PRIVATE, "confine.private")     \
	ROW(CONFINE_ROOT, "confine.root")           \
	ROW(CONFINE_DEVICE, "confine.device")       \
	ROW(CONFINE_TREE, "confine.tree")           \
	ROW(CONFINE_ATTRIBUTE, "confine.attribute") \
	ROW(CONFINE_MOUNT, "confine.mount")         \
	ROW(CONFINE_PIVOT, "confine.pivot")         \
	ROW(CONFINE_BOUND, "confine.bound")         \
	ROW(CONFINE_RIGHTS, "confine.rights")       \
	ROW(CONFINE_CALLS, "confine.calls")         \
	ROW(EXEC_PIPE, "exec.pipe")                 \
	ROW(EXEC_FORK, "exec.fork")                 \
	ROW(EXEC_WATCH, "exec.watch")               \
	ROW(EXEC_OUTPUT, "exec.output")             \
	ROW(EXEC_END_FILE, "exec.end_file")         \
	ROW(EXEC_TASK, "exec.task")                 \
	ROW(EXEC_FOLDER, "exec.folder")             \
	ROW(EXEC_USER, "exec.user")                 \
	ROW(EXEC_PROGRAM, "exec.program")           \
	ROW(PORT_SOCKET, "port.socket")             \
	ROW(PORT_OPTION, "port.option")             \
	ROW(PORT_BIND, "port.bind")                 \
	ROW(PORT_EPOLL, "port.epoll")               \
	ROW(PORT_WATCH, "port.watch")               \
	ROW(PORT_RECEIVE, "port.receive")           \
	ROW(PORT_SEND, "port.send")                 \
	ROW(PORT_DROPS, "port.drops")               \
	ROW(PORT_BELL, "port.bell")                 \
	ROW(PORT_WAIT, "port.wait")                 \
	ROW(MAIN_WAIT, "main.wait")                 \
	ROW(XDP_SOCKET, "xdp.socket")               \
	ROW(XDP_ASK, "xdp.ask")                     \
	ROW(XDP_ANSWER, "xdp.answer")               \
	ROW(XDP_PROGRAM, "xdp.program")             \
	ROW(XDP_DESCRIBE, "xdp.describe")           \
	ROW(XDP_DETACH, "xdp.detach")               \
	ROW(XDP_LOAD, "xdp.load")                   \
	ROW(XDP_MAP, "xdp.map")                     \
	ROW(XDP_AIM, "xdp.aim")                     \
	ROW(HTTP_SOCKET, "http.socket")             \
	ROW(HTTP_OPTION, "http.option")             \
	ROW(HTTP_BIND, "http.bind")                 \
	ROW(HTTP_LISTEN, "http.listen")             \
	ROW(HTTP_PROBE, "http.probe")               \
	ROW(HTTP_SERVE, "http.serve")               \
	ROW(HTTP_EPOLL, "http.epoll")               \
	ROW(HTTP_WAKE, "http.wake")                 \
	ROW(HTTP_CHANGES, "http.changes")           \
	ROW(HTTP_ENTER, "http.enter")               \
	ROW(HTTP_WATCH, "http.watch")               \
	ROW(HTTP_TAKE, "http.take")                 \
	ROW(HTTP_WAIT, "http.wait")                 \
	ROW(LINE_EPOLL, "line.epoll")               \
	ROW(LINE_WAKE, "line.wake")                 \
	ROW(LINE_WATCH, "line.watch")               \
	ROW(LINE_THREAD, "line.thread")             \
	ROW(LINE_ACCEPT, "line.accept")             \
	ROW(LINE_TLS, "line.tls")                   \
	ROW(LINE_ENTER, "line.enter")               \
	ROW(LINE_HANDSHAKE, "line.handshake")       \
	ROW(LINE_SEND, "line.send")                 \
	ROW(LINE_RECEIVE, "line.receive")           \
	ROW(LINE_PAIR, "line.pair")                 \
	ROW(LINE_JOIN, "line.join")                 \
	ROW(LINE_WAIT, "line.wait")                 \
	ROW(TUNNEL_READ, "tunnel.read")             \
	ROW(TUNNEL_WRITE, "tunnel.write")           \
	ROW(TUNNEL_RECEIVE, "tunnel.receive")       \
	ROW(TUNNEL_SEND, "tunnel.send")             \
	ROW(DIAL_STOP, "dial.stop")                 \
	ROW(DIAL_THREAD, "dial.thread")             \
	ROW(DIAL_SOCKET, "dial.socket")             \
	ROW(DIAL_CONNECT, "dial.connect")           \
	ROW(DIAL_TLS, "dial.tls")                   \
	ROW(DIAL_HANDSHAKE, "dial.handshake")       \
	ROW(DIAL_PAIR, "dial.pair")                 \
	ROW(BEAT_SOCKET, "beat.socket")             \
	ROW(BEAT_BIND, "beat.bind")                 \
	ROW(BEAT_CONNECT, "beat.connect")           \
	ROW(BEAT_SEND, "beat.send")                 \
	ROW(BEAT_RECEIVE, "beat.receive")           \
	ROW(BEAT_WAIT, "beat.wait")                 \
	ROW(CLIENT_HANDLE, "client.handle")         \
	ROW(CLIENT_ASK, "client.ask")               \
	ROW(FORWARD_EPOLL, "forward.epoll")         \
	ROW(FORWARD_WAKE, "forward.wake")           \
	ROW(FORWARD_HANDLES, "forward.handles")     \
	ROW(FORWARD_WATCH, "forward.watch")         \
	ROW(FORWARD_HANDLE, "forward.handle")       \
	ROW(FORWARD_ENTER, "forward.enter")         \
	ROW(FORWARD_WAIT, "forward.wait")           \
	ROW(ETCD_HANDLES, "etcd.handles")           \
	ROW(ETCD_HANDLE, "etcd.handle")             \
	ROW(ETCD_SOCKET, "etcd.socket")             \
	ROW(ETCD_ANSWER, "etcd.answer")             \
	ROW(SERVICE_MAILBOX, "service.mailbox")     \
	ROW(SERVICE_STOP, "service.stop")           \
	ROW(SERVICE_START, "service.start")         \
	ROW(SERVICE_TAKE, "service.take")           \
	ROW(SERVICE_ANSWER, "service.answer")       \
	ROW(CHECK_EPOLL, "check.epoll")             \
	ROW(CHECK_WAKE, "check.wake")               \
	ROW(CHECK_TRANSFERS, "check.transfers")     \
	ROW(CHECK_TRANSFER, "check.transfer")       \
	ROW(CHECK_WATCH, "check.watch")             \
	ROW(QMP_OPEN, "qmp.open")                   \
	ROW(QMP_CONNECT, "qmp.connect")             \
	ROW(QMP_SEND, "qmp.send")                   \
	ROW(QMP_RECEIVE, "qmp.receive")             \
	ROW(ENGINE_SOCKET, "engine.socket")         \
	ROW(ENGINE_CONNECT, "engine.connect")       \
	ROW(ENGINE_SEND, "engine.send")             \
	ROW(ENGINE_WATCH, "engine.watch")           \
	ROW(ENGINE_RECEIVE, "engine.receive")       \
	ROW(ENGINE_HANDLES, "engine.handles")       \
	ROW(ENGINE_HANDLE, "engine.handle")

#define FAILPOINT_ENUM(id, name) FAILPOINT_##id,
enum failpoint { FAILPOINT_TABLE(FAILPOINT_ENUM) FAILPOINTS };
#undef FAILPOINT_ENUM

#ifdef BERTH_WITH_FAILPOINTS
extern _Atomic bool failpoints_are_armed;

#define FAILPOINTS_ARMED atomic_load_explicit(&failpoints_are_armed, memory_order_relaxed)
// True when the call is to fail; errno is set then. Any thread, and a child between fork and exec.
#define FAILPOINT(id) (__builtin_expect(FAILPOINTS_ARMED, 0) && failpoint_fails(FAILPOINT_##id))
bool failpoint_fails(enum failpoint);

// For tests. The text, in place of one before it: NAME=ERROR, for every hit, or NAME=ERROR@N, for the Nth, or
// NAME=ERROR@N-M, or NAME=ERROR@N-, for all from there on; ';' between them. Returns 0, or -EINVAL and a sentence:
// nothing is armed then. Any time: others hit the points as they are armed before or after.
int failpoints_arm(const char *text, char *message, uint32_t message_size);
// The same file for programs that are started later with BERTH_FAILPOINTS=@PATH: what is armed here fails in them, as
// they run, and not here; hits are those of all of them. Returns 0 or a negative error. Before all else of these.
int failpoints_share(const char *path);
const char *failpoint_name(enum failpoint);
uint32_t failpoint_hits(enum failpoint);     // since it was armed; of a point that is not, 0
uint32_t failpoint_failures(enum failpoint); // of those
#else
#define FAILPOINT(id) ((void)FAILPOINT_##id, false)
#endif

// A call that says -1 and errno; one that returns the error, as those of pthread and LMDB do; and one that fails with a
// value of its library's.
#define CAN_FAIL(id, call) (FAILPOINT(id) ? -1 : (call))
#define CAN_REFUSE(id, call) (FAILPOINT(id) ? errno : (call))
#define CAN_BREAK(id, broken, call) (FAILPOINT(id) ? (broken) : (call))
