#include "tools/agent/confine/filter.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

// Names that this machine's libseccomp or architecture does not know are passed over.
static const char *const refused_calls[] = {
	// the machine: its clock, modules, devices, name, accounts, swap, power
	"acct", "adjtimex", "clock_adjtime", "clock_settime", "create_module", "delete_module",
	"finit_module", "get_kernel_syms", "init_module", "ioperm", "iopl", "kexec_file_load",
	"kexec_load", "lookup_dcookie", "nfsservctl", "query_module", "quotactl", "quotactl_fd",
	"reboot", "setdomainname", "sethostname", "settimeofday", "stime", "swapoff", "swapon",
	"syslog", "_sysctl", "sysfs", "uselib", "ustat", "vhangup", "vm86", "vm86old",
	// file systems and namespaces
	"fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount",
	"name_to_handle_at", "open_by_handle_at", "open_tree", "pivot_root", "setns", "umount",
	"umount2", "unshare",
	// the kernel's keys, programs and faults, all of which are one for the whole machine
	"add_key", "bpf", "fanotify_init", "io_uring_enter", "io_uring_register", "io_uring_setup",
	"keyctl", "perf_event_open", "request_key", "userfaultfd",
	// other processes
	"get_mempolicy", "kcmp", "mbind", "migrate_pages", "move_pages", "pidfd_getfd",
	"process_madvise", "process_vm_readv", "process_vm_writev", "set_mempolicy"};

static int refuse_if(scmp_filter_ctx filter, const char *name, struct scmp_arg_cmp argument)
{
	int number = seccomp_syscall_resolve_name(name);

	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 1, argument);
}

// clone3() has its flags in memory, where a filter cannot look: without it, programs use clone().
static int refuse_namespaces(scmp_filter_ctx filter)
{
	static const uint64_t flags[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
	int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	for (uint32_t i = 0; i < sizeof flags / sizeof flags[0] && !error; i++)
		error = refuse_if(filter, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
	return error;
}

// A program may be traced by what started it, not by others. Nothing may be typed into a terminal for somebody else.
static int refuse_some_uses(scmp_filter_ctx filter)
{
	static const uint64_t requests[] = {PTRACE_ATTACH, PTRACE_SEIZE};
	int error = 0;

	for (uint32_t i = 0; i < sizeof requests / sizeof requests[0] && !error; i++)
		error = refuse_if(filter, "ptrace", SCMP_A0(SCMP_CMP_EQ, requests[i]));
	return error ? error
		     : refuse_if(filter, "ioctl",
			       SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, 0x5412)); // TIOCSTI
}

static int fill_filter(scmp_filter_ctx filter)
{
	int error = 0;

#if defined(__x86_64__)
	// Programs of 32 bits are held to the same.
	error = seccomp_arch_add(filter, SCMP_ARCH_X86);
	error = error ? error : seccomp_arch_add(filter, SCMP_ARCH_X32);
#endif
	for (uint32_t i = 0; i < sizeof refused_calls / sizeof refused_calls[0] && !error; i++) {
		int number = seccomp_syscall_resolve_name(refused_calls[i]);
		if (number != __NR_SCMP_ERROR)
			error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	error = error ? error : refuse_namespaces(filter);
	return error ? error : refuse_some_uses(filter);
}

// The library writes the program to a file only.
static int export_filter(scmp_filter_ctx filter, struct sock_fprog *program)
{
	const size_t bytes_most = BPF_MAXINSNS * sizeof program->filter[0];
	int fd = CAN_FAIL(CONFINE_FILTER, memfd_create("filter", MFD_CLOEXEC));

	if (fd < 0)
		return -errno;
	int error = seccomp_export_bpf(filter, fd);
	program->filter = memory_take(bytes_most);
	ssize_t size = pread(fd, program->filter, bytes_most, 0);
	CHECK(size >= 0); // it is in memory
	program->len = (unsigned short)((size_t)size / sizeof program->filter[0]);
	close(fd);
	return error;
}

int filter_make(struct sock_fprog *program, char *message, uint32_t message_size)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int error = filter ? fill_filter(filter) : -ENOMEM;

	*program = (struct sock_fprog){0};
	error = error ? error : export_filter(filter, program);
	if (filter)
		seccomp_release(filter);
	if (error) {
		snprintf(message, message_size, "cannot make the filter of system calls: %s",
			strerror(-error));
		filter_free(program);
	}
	return error;
}

void filter_free(struct sock_fprog *program)
{
	free(program->filter);
	*program = (struct sock_fprog){0};
}

int filter_take(const struct sock_fprog *program)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); // cannot fail
	return CAN_FAIL(
		CONFINE_CALLS, (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program));
}
