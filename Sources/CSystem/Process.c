/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
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

int bearerd_open_standard_streams(void) {
    for (int stream = 0; stream < 3; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        /* The lowest number that is free is this one. */
        if (open("/dev/null", O_RDWR) != stream) return -1;
    }
    return 0;
}

/* Where the Swift runtime would hand a job to its own pool of threads, it asks this hook first. */
typedef void (*enqueue_hook)(void *job, void *original) __attribute__((swiftcall));
extern enqueue_hook swift_task_enqueueGlobal_hook;

static void (*take_job)(void *job);

__attribute__((swiftcall)) static void divert(void *job, void *original) {
    (void)original;
    take_job(job);
}

void bearerd_divert_jobs(void (*take)(void *job)) {
    take_job = take;
    swift_task_enqueueGlobal_hook = divert;
}
