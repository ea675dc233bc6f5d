/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static int argument_count;
static char **argument_values;

/* glibc hands a constructor what main gets. */
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    argument_values = values;
}

int bearerd_argument_count(void) {
    return argument_count;
}

const char *bearerd_argument(int index) {
    return index >= 0 && index < argument_count ? argument_values[index] : NULL;
}

/* Descriptors that were open when the process was split: the caller's, who may wait until nobody has them. */
static unsigned char inherited[1024];

pid_t bearerd_split(int *result) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t whole = getpid();
    pid_t copy = fork();
    if (copy < 0) {
        int code = errno;
        close(ends[0]);
        close(ends[1]);
        errno = code;
        return -1;
    }
    close(ends[copy == 0 ? 0 : 1]);
    *result = ends[copy == 0 ? 1 : 0];
    if (copy != 0) return copy;
    for (int number = 3; number < (int)sizeof inherited; number++)
        inherited[number] = number != *result && fcntl(number, F_GETFD) >= 0;
    /* What ends the other half from a terminal is its alone: the copy hears of it by the signal below. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != whole) _exit(1);
    return 0;
}

void bearerd_stay_behind(void) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = 0; stream < 3; stream++)
        if (nowhere < 0 || dup2(nowhere, stream) < 0) close(stream);
    if (nowhere > 2) close(nowhere);
    for (int number = 3; number < (int)sizeof inherited; number++)
        if (inherited[number]) {
            inherited[number] = 0; /* the number may be another's from now on */
            close(number);
        }
    setsid();
    prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

_Noreturn void bearerd_end_copy(void) {
    _exit(0);
}

int bearerd_open_standard_streams(void) {
    for (int stream = 0; stream < 3; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        /* The lowest number that is free is this one. Whoever writes a result to one that is closed must hear of it. */
        if (open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR) != stream) return -1;
    }
    return 0;
}

/* Where the Swift runtime would hand a job to its own pool of threads, it asks this hook first. */
typedef void (*enqueue_hook)(void *job, void *original) __attribute__((swiftcall));
extern enqueue_hook swift_task_enqueueGlobal_hook;

static _Thread_local void *thread_loop;

void *bearerd_thread_loop(void) { return thread_loop; }

void bearerd_set_thread_loop(void *loop) { thread_loop = loop; }

static void (*take_job)(void *job);

__attribute__((swiftcall)) static void divert(void *job, void *original) {
    (void)original;
    take_job(job);
}

void bearerd_divert_jobs(void (*take)(void *job)) {
    take_job = take;
    swift_task_enqueueGlobal_hook = divert;
}
