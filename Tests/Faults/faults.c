/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library's own, so that a system runs short of something when a test wants it to: a call fails
   where the variable of its name is in the environment; of threads, and of what is watched, there may be so many before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
    static int made;
    const char *most = getenv("FAULT_THREADS_AFTER");
    if (most && __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED) > atoi(most)) return EAGAIN;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, body, context);
}

int epoll_create1(int flags) {
    if (getenv("FAULT_EPOLL")) {
        errno = EMFILE;
        return -1;
    }
    int (*real)(int) = dlsym(RTLD_NEXT, "epoll_create1");
    return real(flags);
}

int epoll_create(int size) {
    (void)size;
    return epoll_create1(0);
}

/* While the file of that name is there, nothing further can be watched, as when a user's limit is reached. */
int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event) {
    static int watched;
    const char *file = getenv("FAULT_WATCH"), *most = getenv("FAULT_WATCH_AFTER");
    int is_over = most && operation == EPOLL_CTL_ADD && __atomic_add_fetch(&watched, 1, __ATOMIC_RELAXED) > atoi(most);
    if (is_over || (file && operation == EPOLL_CTL_ADD && access(file, F_OK) == 0)) {
        errno = ENOSPC;
        return -1;
    }
    int (*real)(int, int, int, struct epoll_event *) = dlsym(RTLD_NEXT, "epoll_ctl");
    return real(epoll, operation, descriptor, event);
}

/* While the file of that name is there, no connection can be accepted, for the reason of that number. */
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
    const char *file = getenv("FAULT_ACCEPT"), *code = getenv("FAULT_ACCEPT_ERRNO");
    if (file && code && access(file, F_OK) == 0) {
        errno = atoi(code);
        return -1;
    }
    int (*real)(int, struct sockaddr *, socklen_t *, int) = dlsym(RTLD_NEXT, "accept4");
    return real(listener, address, length, flags);
}

/* While there is a file whose name has `.hang` at its end, the file of that name does not answer, as on a network's file
   system whose server is away; a file with `.hanging` at its end tells that it was asked for. */
static void hang(const char *path) {
    const char *file = getenv("FAULT_HANG");
    char marker[4096];
    if (!file || strcmp(path, file) || snprintf(marker, sizeof marker, "%s.hanging", file) >= (int)sizeof marker) return;
    char sign[4096];
    strcpy(sign, marker);
    marker[strlen(marker) - 3] = 0;
    if (access(marker, F_OK) == 0) close(creat(sign, 0600));
    while (access(marker, F_OK) == 0) usleep(10000);
}

int openat(int base, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    hang(path);
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    return real(base, path, flags, mode);
}

int fstatat(int base, const char *path, struct stat *status, int flags) {
    hang(path);
    int (*real)(int, const char *, struct stat *, int) = dlsym(RTLD_NEXT, "fstatat");
    return real(base, path, status, flags);
}

/* As a program leaves it that makes itself an environment, far from the arguments. */
static void move_environment(void) {
    static char *moved[64];
    if (environ == moved) return;
    int count = 0;
    while (environ[count] && count < 63) {
        moved[count] = strdup(environ[count]);
        count++;
    }
    environ = moved;
}

/* Swift's own library looks for the arguments when it is loaded, before a constructor of this one has its turn: next to
   the environment, in the stack that it finds in /proc/self/maps. */
FILE *fopen(const char *path, const char *mode) {
    if (environ && getenv("FAULT_ENVIRON")) move_environment();
    FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

int getentropy(void *buffer, size_t size) {
    if (getenv("FAULT_RANDOM")) {
        errno = EIO;
        return -1;
    }
    int (*real)(void *, size_t) = dlsym(RTLD_NEXT, "getentropy");
    return real(buffer, size);
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags) {
    if (getenv("FAULT_RANDOM")) {
        errno = EIO;
        return -1;
    }
    ssize_t (*real)(void *, size_t, unsigned) = dlsym(RTLD_NEXT, "getrandom");
    return real(buffer, size, flags);
}
