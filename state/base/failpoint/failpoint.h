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
// Hits are counted from where the text is read on, by all threads, and by processes that are forked off later.
#pragma once
#include <errno.h>
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
	ROW(LOG_THREAD, "log.thread")               \
	ROW(LOG_CREATE, "log.create")               \
	ROW(LOG_SPACE, "log.space")                 \
	ROW(LOG_RENAME, "log.rename")               \
	ROW(LOG_FSYNC, "log.fsync")                 \
	ROW(LOG_OPEN, "log.open")                   \
	ROW(LOG_READ, "log.read")                   \
	ROW(LOG_DIRECT_OPEN, "log.direct_open")     \
	ROW(LOG_DIRECT_WRITE, "log.direct_write")   \
	ROW(LOG_WRITE, "log.write")                 \
	ROW(LOG_FDATASYNC, "log.fdatasync")         \
	ROW(LMDB_OPEN, "lmdb.open")                 \
	ROW(LMDB_BEGIN, "lmdb.begin")               \
	ROW(LMDB_READ, "lmdb.read")                 \
	ROW(LMDB_RENAME, "lmdb.rename")             \
	ROW(SNAPSHOT_THREAD, "snapshot.thread")     \
	ROW(SNAPSHOT_CREATE, "snapshot.create")     \
	ROW(SNAPSHOT_WRITE, "snapshot.write")       \
	ROW(SNAPSHOT_CUT, "snapshot.cut")           \
	ROW(SNAPSHOT_SYNC, "snapshot.sync")         \
	ROW(SNAPSHOT_RENAME, "snapshot.rename")     \
	ROW(SNAPSHOT_LIST, "snapshot.list")         \
	ROW(SNAPSHOT_OPEN, "snapshot.open")         \
	ROW(SNAPSHOT_READ, "snapshot.read")         \
	ROW(RESTORE_MKDIR, "restore.mkdir")         \
	ROW(RESTORE_CREATE, "restore.create")       \
	ROW(RESTORE_SYNC, "restore.sync")           \
	ROW(RESTORE_RENAME, "restore.rename")       \
	ROW(RESTORE_ARRIVE, "restore.arrive")       \
	ROW(RESTORE_REMOVE, "restore.remove")       \
	ROW(RESTORE_MOVE, "restore.move")           \
	ROW(RESTORE_MOVE_REST, "restore.move_rest") \
	ROW(LOAD_THREAD, "load.thread")             \
	ROW(MEMORY_MAP, "memory.map")               \
	ROW(MEMORY_TAKE, "memory.take")             \
	ROW(MEMORY_RESIZE, "memory.resize")         \
	ROW(ALLOC_MKDIR, "alloc.mkdir")             \
	ROW(ALLOC_LIST, "alloc.list")               \
	ROW(ALLOC_LOAD, "alloc.load")               \
	ROW(ALLOC_CREATE, "alloc.create")           \
	ROW(ALLOC_WRITE, "alloc.write")             \
	ROW(ALLOC_SYNC, "alloc.sync")               \
	ROW(ALLOC_RENAME, "alloc.rename")           \
	ROW(ALLOC_SYNC_FOLDER, "alloc.sync_folder") \
	ROW(CGROUP_CREATE, "cgroup.create")         \
	ROW(CGROUP_OPEN, "cgroup.open")             \
	ROW(CGROUP_ENTER, "cgroup.enter")           \
	ROW(EXEC_PIPE, "exec.pipe")                 \
	ROW(EXEC_FORK, "exec.fork")                 \
	ROW(EXEC_WATCH, "exec.watch")               \
	ROW(EXEC_OUTPUT, "exec.output")             \
	ROW(EXEC_END_FILE, "exec.end_file")         \
	ROW(EXEC_TASK, "exec.task")                 \
	ROW(EXEC_FOLDER, "exec.folder")             \
	ROW(EXEC_USER, "exec.user")                 \
	ROW(EXEC_PROGRAM, "exec.program")

#define FAILPOINT_ENUM(id, name) FAILPOINT_##id,
enum failpoint { FAILPOINT_TABLE(FAILPOINT_ENUM) FAILPOINTS };
#undef FAILPOINT_ENUM

#ifdef BERTH_WITH_FAILPOINTS
extern bool failpoints_are_armed;

// True when the call is to fail; errno is set then. Any thread, and a child between fork and exec.
#define FAILPOINT(id) (__builtin_expect(failpoints_are_armed, 0) && failpoint_fails(FAILPOINT_##id))
bool failpoint_fails(enum failpoint);

// For tests. The text, in place of one before it: NAME=ERROR, for every hit, or NAME=ERROR@N, for the Nth, or
// NAME=ERROR@N-M, or NAME=ERROR@N-, for all from there on; ';' between them. Returns 0, or -EINVAL and a sentence:
// nothing is armed then. While no other thread hits a point.
int failpoints_arm(const char *text, char *message, uint32_t message_size);
const char *failpoint_name(enum failpoint);
uint32_t failpoint_hits(enum failpoint);     // since it was armed; of a point that is not, 0
uint32_t failpoint_failures(enum failpoint); // of those
#else
#define FAILPOINT(id) ((void)FAILPOINT_##id, false)
#endif

// A call that says -1 and errno, and one that returns the error, as those of pthread and LMDB do.
#define CAN_FAIL(id, call) (FAILPOINT(id) ? -1 : (call))
#define CAN_REFUSE(id, call) (FAILPOINT(id) ? errno : (call))
