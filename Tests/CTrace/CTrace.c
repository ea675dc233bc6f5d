/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CTrace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int counts(long call) {
    switch (call) {
#ifdef SYS_rename
    case SYS_rename:
    case SYS_link:
    case SYS_unlink:
#endif
    case SYS_renameat2:
    case SYS_renameat:
    case SYS_linkat:
    case SYS_unlinkat:
    case SYS_fsync:
    case SYS_fchmod:
    case SYS_flock:
    case SYS_write:
    case SYS_connect:
    case SYS_sendto:
    case SYS_recvfrom:
        return 1;
    default:
        return 0;
    }
}

static void run(char *const arguments[]) {
    setpgid(0, 0);
    int nowhere = open("/dev/null", O_RDWR);
    for (int descriptor = 0; descriptor < 3; descriptor++) dup2(nowhere, descriptor);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    execv(arguments[0], arguments);
    _exit(127);
}

int trace_until(char *const arguments[], int call) {
    pid_t process = fork();
    if (process < 0) return -1;
    if (process == 0) run(arguments);
    int status;
    if (waitpid(process, &status, 0) < 0) return -1;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC |
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, process, NULL, options) != 0) {
        int reason = errno;
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        errno = reason;
        return -1;
    }
    ptrace(PTRACE_SYSCALL, process, NULL, 0L);
    int killed = 0;
    int seen = 0;
    for (;;) {
        pid_t thread = waitpid(-process, &status, __WALL);
        if (thread < 0) return killed;
        if (WIFEXITED(status) || WIFSIGNALED(status)) continue;
        long passed = 0;
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
            int enters = size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
            if (enters && counts((long)info.entry.nr) && ++seen == call) {
                killed = 1;
                kill(-process, SIGKILL);
                continue;
            }
            if (enters && info.entry.nr == SYS_setsid) {
                /* A copy that has done its work leaves the group, where nobody would wait for it. */
                ptrace(PTRACE_DETACH, thread, NULL, 0L);
                continue;
            }
        } else if (signal != SIGTRAP && signal != SIGSTOP) {
            passed = signal;
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, passed);
    }
}

int trace_freeze(int thread) {
    int status;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0) return -1;
    return waitpid(thread, &status, __WALL) == thread ? 0 : -1;
}

int trace_thaw(int thread) {
    if (ptrace(PTRACE_DETACH, thread, NULL, NULL) == 0) return 0;
    int status;  // it has ended, and its process waits for us to notice
    return waitpid(thread, &status, __WALL) == thread ? 0 : -1;
}
