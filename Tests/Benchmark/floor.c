/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a proxy can do: what a client sends goes to an upstream connection of its own, and what comes back
   goes to the client, as it comes. The first bytes after an answer are a request; behind their first line the token
   is put in. Nothing else is looked at, nothing is logged, counted or timed.

     floor TOKEN LISTEN UPSTREAM [LISTEN UPSTREAM]...      each address is 127.0.0.1:PORT or unix:PATH */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DESCRIPTORS = 65536, CAPACITY = 65536, EVENTS = 512 };

/* What is known of a descriptor. */
static struct side {
    const char *upstream; /* Of a listener; NULL for all others. */
    int peer;             /* The other end's descriptor; 0 once both have ended. */
    bool is_client, expects_request;
    bool is_blocked; /* The other end has not taken all that was received here, which is from..<to of the buffer. */
    size_t from, to;
    char *buffer;
} sides[DESCRIPTORS];

static char field[16384];
static size_t field_length;
static int loop;
/* Closed after a round of events, so that no event of the same round is for a connection that came later. */
static int ended[2 * EVENTS];
static int ended_count;

static int open_socket(const char *address, bool is_listener) {
    union { struct sockaddr any; struct sockaddr_in tcp; struct sockaddr_un local; } name = {0};
    socklen_t length = sizeof name.local;
    if (strncmp(address, "unix:", 5) == 0) {
        name.local.sun_family = AF_UNIX;
        snprintf(name.local.sun_path, sizeof name.local.sun_path, "%s", address + 5);
    } else {
        name.tcp.sin_family = AF_INET;
        name.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        name.tcp.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
        length = sizeof name.tcp;
    }
    int descriptor = socket(name.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (descriptor < 0) err(1, "socket");
    if (name.any.sa_family == AF_INET) {
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, "reno", 4); /* Loopback is never congested. */
    }
    if (is_listener ? bind(descriptor, &name.any, length) || listen(descriptor, 4096)
                    : connect(descriptor, &name.any, length))
        err(1, "%s", address);
    return descriptor;
}

static void watch(int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (epoll_ctl(loop, operation, descriptor, &event)) err(1, "epoll_ctl");
}

static void add(int descriptor, int peer, bool is_client) {
    if (descriptor >= DESCRIPTORS) errx(1, "too many connections");
    char *buffer = sides[descriptor].buffer ? sides[descriptor].buffer : malloc(CAPACITY);
    sides[descriptor] =
        (struct side){.peer = peer, .is_client = is_client, .expects_request = is_client, .buffer = buffer};
    watch(EPOLL_CTL_ADD, descriptor, EPOLLIN);
}

static void end(int descriptor) {
    int peer = sides[descriptor].peer;
    sides[descriptor].peer = sides[peer].peer = 0;
    ended[ended_count++] = descriptor;
    ended[ended_count++] = peer;
}

/* Sends on what was received. While the other end is full nothing more is received, and its room is waited for. */
static void drain(int descriptor) {
    struct side *side = &sides[descriptor], *peer = &sides[side->peer];
    ssize_t sent = send(side->peer, side->buffer + side->from, side->to - side->from, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return end(descriptor);
    if (sent > 0) side->from += (size_t)sent;
    bool is_blocked = side->from < side->to;
    if (is_blocked == side->is_blocked) return;
    side->is_blocked = is_blocked;
    watch(EPOLL_CTL_MOD, descriptor, (is_blocked ? 0 : EPOLLIN) | (peer->is_blocked ? EPOLLOUT : 0));
    watch(EPOLL_CTL_MOD, side->peer, (peer->is_blocked ? 0 : EPOLLIN) | (is_blocked ? EPOLLOUT : 0));
}

static void forward(int descriptor) {
    struct side *side = &sides[descriptor];
    char *line = side->buffer + field_length, *line_end;
    ssize_t count = recv(descriptor, line, CAPACITY - field_length, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return end(descriptor);
    side->from = field_length;
    side->to = field_length + (size_t)count;
    if (!side->is_client) {
        sides[side->peer].expects_request = true;
    } else if (side->expects_request && (line_end = memchr(line, '\n', (size_t)count))) {
        size_t length = (size_t)(line_end + 1 - line);
        memmove(side->buffer, line, length);
        memcpy(side->buffer + length, field, field_length);
        side->from = 0;
        side->expects_request = false;
    }
    drain(descriptor);
}

static void take_client(int listener) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) return;
    int upstream = open_socket(sides[listener].upstream, false);
    add(client, upstream, true);
    add(upstream, client, false);
}

int main(int count, char **arguments) {
    if (count < 4) errx(2, "usage: floor TOKEN LISTEN UPSTREAM...");
    field_length = (size_t)snprintf(field, sizeof field, "Authorization: Bearer %s\r\n", arguments[1]);
    loop = epoll_create1(EPOLL_CLOEXEC);
    for (int index = 2; index + 1 < count; index += 2) {
        int listener = open_socket(arguments[index], true);
        sides[listener].upstream = arguments[index + 1];
        watch(EPOLL_CTL_ADD, listener, EPOLLIN);
    }
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(loop, events, EVENTS, -1);
        for (int index = 0; index < ready; index++) {
            int descriptor = events[index].data.fd;
            if (sides[descriptor].upstream) take_client(descriptor);
            else if (!sides[descriptor].peer) continue; /* Ended in this round. */
            else if (events[index].events & EPOLLOUT) drain(sides[descriptor].peer);
            else if (!sides[descriptor].is_blocked) forward(descriptor);
            else if (events[index].events & (EPOLLERR | EPOLLHUP)) end(descriptor);
        }
        while (ended_count) close(ended[--ended_count]);
    }
}
