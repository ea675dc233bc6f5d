/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The command helper: a copy of this process, made before the sandbox, that starts programs for it. Each request is
   served by a process of its own, the runner, which holds one end of a socket that leads to who asks: when that one goes,
   the runner ends what it has started. No function here allocates: a fork of a process with threads may not. */

enum { LONGEST_OUTPUT = BEARERD_COMMAND_OUTPUT, LONGEST_ERROR = BEARERD_COMMAND_ERROR, MOST_ARGUMENTS = 1024 };

/* How long a program has for its own end once nobody waits for it. */
enum { FAREWELL_MILLISECONDS = 1000 };

/* How long a program that was killed may take to end. */
enum { LAST_MILLISECONDS = BEARERD_COMMAND_LAST };

static char words[BEARERD_COMMAND_WORDS];
static char *arguments[MOST_ARGUMENTS + 1];
static const char *const passed_on[] = {"PATH", "HOME", "USER", "LANG", "TZ"};
static char *environment[sizeof passed_on / sizeof *passed_on + 1];

static void keep_environment(void) {
    extern char **environ;
    int count = 0;
    for (char **entry = environ; entry && *entry; entry++)
        for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
            size_t length = strlen(passed_on[i]);
            if (count < (int)(sizeof environment / sizeof *environment) - 1
                && strncmp(*entry, passed_on[i], length) == 0 && (*entry)[length] == '=')
                environment[count++] = *entry;
        }
    environment[count] = NULL;
}

static int read_whole(int descriptor, void *bytes, size_t size) {
    for (size_t count = 0; count < size;) {
        ssize_t piece = read(descriptor, (char *)bytes + count, size - count);
        if (piece < 0 && errno == EINTR) continue;
        if (piece <= 0) return -1;
        count += (size_t)piece;
    }
    return 0;
}

static int write_whole(int descriptor, const void *bytes, size_t size) {
    for (size_t count = 0; count < size;) {
        ssize_t piece = send(descriptor, (const char *)bytes + count, size - count, MSG_NOSIGNAL);
        if (piece < 0 && errno == EINTR) continue;
        if (piece < 0) return -1;
        count += (size_t)piece;
    }
    return 0;
}

static long long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* For poll: how long until then, 0 if it has passed. */
static int milliseconds_until(long long moment) {
    long long left = moment - milliseconds();
    return left <= 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

/* Becomes the program, which is searched for on PATH unless it has a slash. Unlike execvpe it gives no shell what is no
   program. Returns an errno. */
static int execute(void) {
    static char place[4096];
    const char *name = arguments[0], *search = "/usr/bin:/bin";
    if (strchr(name, '/')) {
        execve(name, arguments, environment);
        return errno;
    }
    for (char **entry = environment; *entry; entry++)
        if (strncmp(*entry, "PATH=", 5) == 0) search = *entry + 5;
    int code = ENOENT;
    size_t name_length = strlen(name);
    for (;;) {
        size_t length = strcspn(search, ":");
        if (length > 0 && length + name_length + 2 <= sizeof place) {
            memcpy(place, search, length);
            place[length] = '/';
            memcpy(place + length + 1, name, name_length + 1);
            execve(place, arguments, environment);
            if (errno == EACCES)
                code = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG && errno != ELOOP)
                return errno;
        }
        if (!search[length]) return code;
        search += length + 1;
    }
}

/* Runs in the child: becomes the program, or tells why it cannot through `report`, which exec closes. */
static _Noreturn void become(int output, int error, int report, pid_t runner) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != runner) _exit(127);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* Above the standard streams, so that none is overwritten by another. */
    int kept = fcntl(report, F_DUPFD_CLOEXEC, 3);
    if (nowhere < 0 || kept < 0 || dup2(nowhere, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0) _exit(127);
    if (kept > 3) close_range(3, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0U, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int code = execute();
    while (write(kept, &code, sizeof code) < 0 && errno == EINTR) {}
    _exit(127);
}

/* Takes what a pipe holds: as much as fits is kept in `bytes`, and `most` bytes are taken at most. Returns 0 at its end. */
static int take(int pipe, char *bytes, size_t *count, size_t room, size_t most) {
    char rest[4096];
    while (most > 0) {
        size_t left = room - *count;
        char *place = left > 0 ? bytes + *count : rest;
        size_t size = left > 0 ? left : sizeof rest;
        ssize_t piece = read(pipe, place, size < most ? size : most);
        if (piece < 0 && errno == EINTR) continue;
        if (piece < 0) return 1;
        if (piece == 0) return 0;
        if (left > 0) *count += (size_t)piece;
        most -= (size_t)piece;
    }
    return 1;
}

/* Sends a signal to a program and its process group, which it may have left. Not after it has been waited for: its numbers
   are its own as long as it is not. */
static void send_both(pid_t program, int number) {
    kill(-program, number);
    if (number == SIGKILL || getpgid(program) != program) kill(program, number);
}

/* Waits for the end of a program that has been killed. Returns 0 if it does not come: what runs with the rights of another
   user cannot be killed, and what waits for a disk or a network ends once that answers. */
static int wait_killed(pid_t program, int ended) {
    long long deadline = milliseconds() + LAST_MILLISECONDS;
    struct pollfd end = {.fd = ended, .events = POLLIN};
    int ready;
    do ready = poll(&end, 1, milliseconds_until(deadline));
    while (ready < 0 && errno == EINTR);
    return ready > 0 && waitpid(program, NULL, 0) == program;
}

/* Ends a program that nobody waits for any more, and its process group. It hears of that first, so that it can tidy up. */
static _Noreturn void abandon(pid_t program, int ended) {
    send_both(program, SIGTERM);
    send_both(program, SIGCONT);
    long long deadline = milliseconds() + FAREWELL_MILLISECONDS;
    struct pollfd end = {.fd = ended, .events = POLLIN};
    while (poll(&end, 1, milliseconds_until(deadline)) < 0 && errno == EINTR) {}
    send_both(program, SIGKILL);
    wait_killed(program, ended);
    _exit(0);
}

static size_t capacity(int pipe) {
    int size = fcntl(pipe, F_GETPIPE_SZ);
    return size > 0 ? (size_t)size : 65536;
}

/* Serves one request, and ends. */
static _Noreturn void serve(int asker) {
    struct bearerd_command_request request;
    struct bearerd_command_result result = {.kind = BEARERD_COMMAND_NOT_STARTED, .code = EIO};
    char *room = MAP_FAILED;
    size_t output_count = 0, error_count = 0;
    int output[2], error[2], report[2];

    signal(SIGCHLD, SIG_DFL);
    if (read_whole(asker, &request, sizeof request) != 0 || request.bytes > sizeof words
        || request.count > MOST_ARGUMENTS || request.count == 0 || read_whole(asker, words, request.bytes) != 0)
        _exit(1);
    char *next = words, *end = words + request.bytes;
    for (uint32_t i = 0; i < request.count; i++) {
        char *stop = next < end ? memchr(next, 0, (size_t)(end - next)) : NULL;
        if (!stop) _exit(1);
        arguments[i] = next;
        next = stop + 1;
    }
    arguments[request.count] = NULL;

    room = mmap(NULL, LONGEST_OUTPUT + 1 + LONGEST_ERROR, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || pipe2(output, O_CLOEXEC) || pipe2(error, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) {
        result.code = errno;
        goto tell;
    }
    int is_left = 0;
    pid_t runner = getpid(), program = fork();
    if (program < 0) {
        result.code = errno;
        goto tell;
    }
    if (program == 0) become(output[1], error[1], report[1], runner);
    setpgid(program, program);
    close(output[1]);
    close(error[1]);
    close(report[1]);
    int ended = (int)syscall(SYS_pidfd_open, program, 0);
    if (ended < 0) {
        result.code = errno;
        send_both(program, SIGKILL);
        goto tell;
    }
    /* A program on a file system that does not answer may take for ever to become one. */
    long long deadline = milliseconds() + request.limit_milliseconds;
    struct pollfd begun[] = {{.fd = report[0], .events = POLLIN}, {.fd = asker, .events = POLLRDHUP}};
    while (poll(begun, 2, milliseconds_until(deadline)) < 0 && errno == EINTR) {}
    if (begun[1].revents || !begun[0].revents) {
        send_both(program, SIGKILL);
        if (begun[1].revents) _exit(0);
        is_left = !wait_killed(program, ended);
        result.kind = is_left ? BEARERD_COMMAND_LEFT : BEARERD_COMMAND_TIMED_OUT;
        goto tell;
    }
    int code;
    ssize_t told;
    do told = read(report[0], &code, sizeof code);
    while (told < 0 && errno == EINTR);
    if (told == sizeof code) {
        waitpid(program, NULL, 0);
        result.code = code;
        goto tell;
    }
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    fcntl(error[0], F_SETFL, O_NONBLOCK);
    struct pollfd watched[] = {
        {.fd = ended, .events = POLLIN}, {.fd = asker, .events = POLLRDHUP},
        {.fd = output[0], .events = POLLIN}, {.fd = error[0], .events = POLLIN}};
    for (;;) {
        if (poll(watched, 4, milliseconds_until(deadline)) < 0 && errno == EINTR) continue;
        if (watched[1].revents) abandon(program, ended);
        int is_over = watched[0].revents != 0;
        if (is_over) kill(-program, SIGKILL);
        /* What it has left in the pipes, and no more: whoever else has them may write for ever. */
        size_t most = is_over ? capacity(output[0]) : LONGEST_OUTPUT;
        if ((is_over || watched[2].revents) && watched[2].fd >= 0
            && !take(output[0], room, &output_count, LONGEST_OUTPUT + 1, most))
            watched[2].fd = -1;
        if ((is_over || watched[3].revents) && watched[3].fd >= 0
            && !take(error[0], room + LONGEST_OUTPUT + 1, &error_count, LONGEST_ERROR, capacity(error[0])))
            watched[3].fd = -1;
        int is_late = milliseconds() >= deadline, is_long = output_count > LONGEST_OUTPUT;
        if (!is_over && !is_late && !is_long) continue;
        int status = 0;
        if (is_over)
            while (waitpid(program, &status, 0) < 0 && errno == EINTR) {}
        else {
            send_both(program, SIGKILL);
            is_left = !wait_killed(program, ended);
        }
        if (is_left)
            result.kind = BEARERD_COMMAND_LEFT;
        else if (is_long)
            result.kind = BEARERD_COMMAND_TOO_LONG;
        else if (!is_over)
            result.kind = BEARERD_COMMAND_TIMED_OUT;
        else if (WIFEXITED(status))
            result.kind = BEARERD_COMMAND_EXITED, result.code = WEXITSTATUS(status);
        else
            result.kind = BEARERD_COMMAND_SIGNALLED, result.code = WTERMSIG(status);
        break;
    }
tell:
    result.output = output_count > LONGEST_OUTPUT ? 0 : (uint32_t)output_count;
    result.error = (uint32_t)error_count;
    if (write_whole(asker, &result, sizeof result) == 0 && room != MAP_FAILED)
        if (write_whole(asker, room, result.output) == 0) write_whole(asker, room + LONGEST_OUTPUT + 1, error_count);
    if (is_left) {
        /* The answer is whole; that this end stays open tells that the program still runs. */
        shutdown(asker, SHUT_WR);
        struct pollfd last[] = {{.fd = ended, .events = POLLIN}, {.fd = asker, .events = POLLRDHUP}};
        while (poll(last, 2, -1) < 0 && errno == EINTR) {}
    }
    _exit(0);
}

/* Takes requests until nobody has the other end any more. */
static _Noreturn void help(int requests) {
    for (;;) {
        char byte;
        union {
            char bytes[CMSG_SPACE(sizeof(int))];
            struct cmsghdr header;
        } control;
        struct iovec data = {.iov_base = &byte, .iov_len = 1};
        struct msghdr message = {
            .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t count = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
        if (count < 0 && (errno == ENOMEM || errno == ENOBUFS || errno == EAGAIN)) {
            /* The system lacks something for now. */
            poll(NULL, 0, 100);
            continue;
        }
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) _exit(0);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (!header || header->cmsg_type != SCM_RIGHTS) continue;
        int asker;
        memcpy(&asker, CMSG_DATA(header), sizeof asker);
        if (fork() == 0) {
            close(requests);
            serve(asker);
        }
        close(asker);
    }
}

int bearerd_command_helper(int *requests) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    pid_t helper = fork();
    if (helper < 0) {
        int code = errno;
        close(ends[0]);
        close(ends[1]);
        return code;
    }
    if (helper == 0) {
        /* What ends the service from a terminal or a manager is for the service: we end with it. */
        const int deaf[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2};
        for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++) signal(deaf[i], SIG_IGN);
        signal(SIGCHLD, SIG_IGN);
        setsid();
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        prctl(PR_SET_NAME, "bearerd-command", 0, 0, 0);
        /* Else what programs leave behind would be the first process's, which may be the service itself. */
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        keep_environment();
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int stream = 0; stream < 3; stream++)
            if (nowhere < 0 || dup2(nowhere, stream) < 0) _exit(1);
        int kept = ends[1];
        if (kept > 3) close_range(3, (unsigned)kept - 1, 0);
        close_range((unsigned)kept + 1, ~0U, 0);
        help(kept);
    }
    close(ends[1]);
    *requests = ends[0];
    return 0;
}

int bearerd_command_ask(int requests, int *answer) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    char byte = 0;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
    ssize_t sent;
    do sent = sendmsg(requests, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    int code = sent < 0 ? errno : 0;
    close(ends[1]);
    if (code)
        close(ends[0]);
    else
        *answer = ends[0];
    return code;
}
