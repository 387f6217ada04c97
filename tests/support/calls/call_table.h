// What can fail, and with which error. meson.build reads the names, too: each stands behind a "ROW(". One that begins
// with two underlines is what the compiler makes of a call whose sizes it knows, one that ends in 64 of one for long
// files.
#pragma once
// clang-format off

// They return -1 and set errno.
#define CALLS_MINUS(ROW) \
	ROW(open, EMFILE) ROW(open64, EMFILE) ROW(__open_2, EMFILE) ROW(__open64_2, EMFILE) \
	ROW(openat, EMFILE) ROW(openat64, EMFILE) ROW(__openat_2, EMFILE) ROW(__openat64_2, EMFILE) \
	ROW(creat, EMFILE) ROW(socket, EMFILE) ROW(accept4, EMFILE) ROW(accept, EMFILE) ROW(bind, EADDRINUSE) \
	ROW(listen, EADDRINUSE) ROW(connect, ENETUNREACH) ROW(setsockopt, ENOBUFS) ROW(getsockopt, ENOBUFS) \
	ROW(getsockname, ENOBUFS) ROW(getpeername, ENOTCONN) ROW(socketpair, EMFILE) ROW(pipe2, EMFILE) \
	ROW(eventfd, EMFILE) ROW(epoll_create1, EMFILE) ROW(epoll_ctl, ENOSPC) ROW(timerfd_create, EMFILE) \
	ROW(timerfd_settime, ENOMEM) ROW(signalfd, EMFILE) ROW(inotify_init1, EMFILE) \
	ROW(inotify_add_watch, ENOSPC) ROW(memfd_create, EMFILE) ROW(fork, EAGAIN) ROW(syscall, ENOMEM) \
	ROW(fstat, EIO) ROW(fstat64, EIO) ROW(fstatat, EIO) ROW(fstatat64, EIO) ROW(stat, EACCES) \
	ROW(stat64, EACCES) ROW(lstat, EACCES) ROW(lstat64, EACCES) ROW(statfs, EIO) ROW(statfs64, EIO) \
	ROW(statvfs, EIO) ROW(statvfs64, EIO) ROW(mkdir, EACCES) ROW(mkdirat, EACCES) ROW(rename, EIO) \
	ROW(renameat, EIO) ROW(renameat2, EINVAL) ROW(unlink, EACCES) ROW(unlinkat, EBUSY) ROW(rmdir, EBUSY) \
	ROW(symlinkat, ENOSPC) ROW(symlink, ENOSPC) ROW(link, EMLINK) ROW(linkat, EMLINK) ROW(readlink, EACCES) \
	ROW(readlinkat, EACCES) ROW(__readlink_chk, EACCES) ROW(__readlinkat_chk, EACCES) \
	ROW(chmod, EPERM) ROW(fchmod, EPERM) ROW(fchmodat, EPERM) \
	ROW(chown, EPERM) ROW(fchown, EPERM) ROW(fchownat, EPERM) ROW(lchown, EPERM) \
	ROW(ftruncate, ENOSPC) ROW(ftruncate64, ENOSPC) ROW(fallocate, ENOSPC) ROW(fallocate64, ENOSPC) \
	ROW(fsync, EIO) ROW(fdatasync, EIO) ROW(read, EIO) ROW(__read_chk, EIO) ROW(pread, EIO) \
	ROW(pread64, EIO) ROW(__pread_chk, EIO) ROW(__pread64_chk, EIO) ROW(readv, EIO) ROW(writev, ENOSPC) \
	ROW(sendto, ENOBUFS) ROW(sendmsg, ENOBUFS) ROW(sendmmsg, ENOBUFS) ROW(recv, ECONNRESET) \
	ROW(__recv_chk, ECONNRESET) ROW(recvfrom, ECONNRESET) ROW(__recvfrom_chk, ECONNRESET) \
	ROW(recvmsg, ENOMEM) ROW(recvmmsg, ENOMEM) ROW(fcntl, EINVAL) ROW(fcntl64, EINVAL) ROW(ioctl, ENOTTY) \
	ROW(dup, EMFILE) ROW(dup2, EMFILE) ROW(dup3, EMFILE) ROW(copy_file_range, EIO) ROW(sendfile, EIO) \
	ROW(sendfile64, EIO) ROW(splice, EIO) ROW(mount, EPERM) ROW(umount2, EBUSY) ROW(setns, EPERM) \
	ROW(unshare, EPERM) ROW(chdir, EACCES) ROW(fchdir, EACCES) ROW(execve, EACCES) ROW(execveat, EACCES) \
	ROW(execv, EACCES) ROW(setgroups, EPERM) ROW(setresuid, EPERM) ROW(setresgid, EPERM) \
	ROW(setsid, EPERM) ROW(prctl, EPERM) ROW(setrlimit, EPERM) ROW(setrlimit64, EPERM) \
	ROW(getrlimit, EPERM) ROW(getrlimit64, EPERM) ROW(sched_setaffinity, EINVAL) ROW(uname, EFAULT) \
	ROW(gethostname, ENAMETOOLONG) ROW(access, EACCES) ROW(faccessat, EACCES) ROW(getgrouplist, ENOMEM) \
	ROW(vasprintf, ENOMEM) ROW(asprintf, ENOMEM) ROW(getrandom, EAGAIN) ROW(__vasprintf_chk, ENOMEM) \
	ROW(__asprintf_chk, ENOMEM) ROW(fflush, ENOSPC) ROW(mkstemp, ENOSPC) \
	ROW(mkstemp64, ENOSPC) ROW(mkostemp, ENOSPC) ROW(mkostemp64, ENOSPC) ROW(grantpt, EACCES) \
	ROW(unlockpt, EACCES) ROW(posix_openpt, EMFILE) ROW(openpty, EMFILE) ROW(poll, EINTR) \
	ROW(__poll_chk, EINTR) ROW(ppoll, EINTR) ROW(__ppoll_chk, EINTR) ROW(epoll_wait, EINTR) \
	ROW(mmap, ENOMEM) ROW(mmap64, ENOMEM) ROW(munmap, ENOMEM) ROW(mprotect, ENOMEM) ROW(mlock, ENOMEM) \
	ROW(tcsetattr, ENOTTY) ROW(tcgetattr, ENOTTY) ROW(madvise, ENOMEM) ROW(flock, ENOLCK) \
	ROW(getifaddrs, ENOBUFS) ROW(sched_getaffinity, EINVAL) ROW(initgroups, EPERM) ROW(setuid, EPERM)

// So do these, and beside that, as a failure of its own, they take half of what is to be written to a file or a stream.
#define CALLS_HALF(ROW) ROW(write, ENOSPC) ROW(pwrite, ENOSPC) ROW(pwrite64, ENOSPC) ROW(send, ECONNRESET)

// What they let go of is gone all the same; they return -1 and set errno. Who then tries again lets go of another's.
#define CALLS_GONE(ROW) ROW(fclose, EIO) ROW(close, EINTR)

// They return NULL and set errno.
#define CALLS_NULL(ROW) \
	ROW(opendir, EMFILE) ROW(fdopendir, ENOMEM) ROW(fopen, EMFILE) ROW(fopen64, EMFILE) \
	ROW(fdopen, ENOMEM) ROW(open_memstream, ENOMEM) ROW(mkdtemp, EACCES) ROW(realpath, EACCES) \
	ROW(__realpath_chk, EACCES) ROW(malloc, ENOMEM) ROW(calloc, ENOMEM) ROW(realloc, ENOMEM) \
	ROW(strdup, ENOMEM) ROW(strndup, ENOMEM) ROW(aligned_alloc, ENOMEM) \
	ROW(canonicalize_file_name, EACCES) ROW(if_nameindex, ENOBUFS)

// They return the error.
#define CALLS_ERROR(ROW) \
	ROW(pthread_create, EAGAIN) ROW(pthread_attr_init, ENOMEM) ROW(pthread_mutex_init, ENOMEM) \
	ROW(pthread_cond_init, ENOMEM) ROW(pthread_attr_setstacksize, EINVAL) ROW(posix_fallocate, ENOSPC) \
	ROW(posix_fallocate64, ENOSPC) ROW(posix_memalign, ENOMEM) ROW(getpwnam_r, EIO) ROW(getgrnam_r, EIO) \
	ROW(getpwuid_r, EIO) ROW(if_nametoindex, 0) ROW(pthread_setaffinity_np, EINVAL) \
	ROW(pthread_attr_setaffinity_np, EINVAL) ROW(pthread_sigmask, EINVAL) ROW(getaddrinfo, EAI_MEMORY)
