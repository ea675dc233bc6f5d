/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const int bearerd_open_path = O_PATH;

int bearerd_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int bearerd_untaken(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) < 0 ? -1 : count;
}

int bearerd_peer_state(int descriptor) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLRDHUP};
    if (poll(&state, 1, 0) <= 0) return 0;
    return (state.revents & POLLIN ? BEARERD_PEER_SENT : 0) | (state.revents & POLLRDHUP ? BEARERD_PEER_ENDED : 0) |
           (state.revents & POLLHUP ? BEARERD_PEER_LEFT : 0) | (state.revents & POLLERR ? BEARERD_PEER_RESET : 0);
}

int bearerd_peer_user(int descriptor, uid_t *user, pid_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

void bearerd_name_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}

int bearerd_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}

/* What the limit of descriptors was before it was raised; nothing if it was not. A program that uses select must not
   get numbers beyond 1024, so a child does not inherit the raised one. */
static struct rlimit given_descriptors;
static int descriptors_are_raised;

long bearerd_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    return limit.rlim_cur > LONG_MAX ? LONG_MAX : (long)limit.rlim_cur;
}

int bearerd_raise_descriptor_limit(void) {
    if (getrlimit(RLIMIT_NOFILE, &given_descriptors) != 0) return -1;
    struct rlimit raised = {given_descriptors.rlim_max, given_descriptors.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return -1;
    descriptors_are_raised = 1;
    return 0;
}

int bearerd_spawn(pid_t *process, char *const arguments[], char *const environment[], int output) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int failure = posix_spawnattr_init(&attributes);
    if (failure) return failure;
    failure = posix_spawn_file_actions_init(&actions);
    if (failure) {
        posix_spawnattr_destroy(&attributes);
        return failure;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    for (int descriptor = 0; descriptor < 3 && !failure; descriptor++)
        failure = posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    if (!failure && output >= 0) failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!failure) failure = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environment);
    if (!failure && descriptors_are_raised) prlimit(*process, RLIMIT_NOFILE, &given_descriptors, NULL);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

int bearerd_spawn_reading(pid_t *process, char *const arguments[], char *const environment[], int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    int failure = bearerd_spawn(process, arguments, environment, ends[1]);
    close(ends[1]);
    if (failure)
        close(ends[0]);
    else
        *output = ends[0];
    return failure;
}

static long long milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

ssize_t bearerd_collect(int descriptor, void *bytes, size_t size, int limit_milliseconds) {
    long long end = milliseconds_now() + limit_milliseconds;
    size_t count = 0;
    for (;;) {
        long long left = end - milliseconds_now();
        struct pollfd pipe = {.fd = descriptor, .events = POLLIN};
        int ready = poll(&pipe, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) errno = ETIMEDOUT;
        if (ready <= 0) return -1;
        ssize_t piece = read(descriptor, (char *)bytes + count, size - count);
        if (piece < 0 && errno == EINTR) continue;
        if (piece < 0) return -1;
        count += (size_t)piece;
        if (piece == 0 || count == size) return (ssize_t)count;
    }
}

int bearerd_await(pid_t process, int limit_milliseconds, int *status) {
    int killed = 0;
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor >= 0) {
        struct pollfd end = {.fd = descriptor, .events = POLLIN};
        int ready;
        do ready = poll(&end, 1, limit_milliseconds);
        while (ready < 0 && errno == EINTR);
        close(descriptor);
        if (ready == 0) {
            killed = 1;
            kill(-process, SIGKILL);
        }
    }
    pid_t ended;
    do ended = waitpid(process, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 ? -1 : killed;
}

int bearerd_core_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Text is never written to, so what is dropped is read back from the file unchanged. Segments that the dynamic linker
   relocated are not touched. */
static int drop_text(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    const uintptr_t page = *(const uintptr_t *)context;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || (segment->p_flags & PF_W)) continue;
        const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        const uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void bearerd_drop_text(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(drop_text, &page);
}

void bearerd_trim_heap(void) {
    malloc_trim(0);
}
