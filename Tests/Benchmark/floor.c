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

enum { DESCRIPTORS = 65536, PIECE = 128 * 1024, EVENTS = 512 };

/* What is known of a descriptor. */
static struct side {
    const char *upstream; /* Of a listener; NULL for all others. */
    int peer;             /* The other end's descriptor; 0 once both have ended. */
    bool is_client, expects_request;
    bool is_empty;   /* Nothing is left to receive: an edge will tell of more. */
    bool is_ending;  /* The end stands behind what is left. */
    size_t from, to; /* What the other end has not taken of the buffer. */
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

static void watch(int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event)) err(1, "epoll_ctl");
}

static void add(int descriptor, int peer, bool is_client) {
    if (descriptor >= DESCRIPTORS) errx(1, "too many connections");
    char *buffer = sides[descriptor].buffer ? sides[descriptor].buffer : malloc(PIECE + sizeof field);
    sides[descriptor] =
        (struct side){.peer = peer, .is_client = is_client, .expects_request = is_client, .buffer = buffer};
    watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

static void end(int descriptor) {
    int peer = sides[descriptor].peer;
    sides[descriptor].peer = sides[peer].peer = 0;
    ended[ended_count++] = descriptor;
    ended[ended_count++] = peer;
}

/* Puts the token behind the first line of a request, which leaves room for it in front. */
static void add_field(struct side *side) {
    char *line = side->buffer + side->from, *line_end = memchr(line, '\n', side->to - side->from);
    if (!line_end) return;
    size_t length = (size_t)(line_end + 1 - line);
    side->from -= field_length;
    memmove(side->buffer + side->from, line, length);
    memcpy(side->buffer + side->from + length, field, field_length);
    side->expects_request = false;
}

/* Passes on what has come, until nothing is left or the other end takes no more. A piece that fills the buffer is not the
   last one. */
static void pass(int descriptor) {
    struct side *side = &sides[descriptor];
    for (;;) {
        while (side->from < side->to) {
            ssize_t sent = send(side->peer, side->buffer + side->from, side->to - side->from, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0 && errno == EAGAIN) return;
            if (sent < 0) return end(descriptor);
            side->from += (size_t)sent;
        }
        if (side->is_empty && !side->is_ending) return;
        ssize_t count = recv(descriptor, side->buffer + field_length, PIECE, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            side->is_empty = true;
            return;
        }
        if (count <= 0) return end(descriptor);
        side->is_empty = count < PIECE;
        side->from = field_length;
        side->to = field_length + (size_t)count;
        if (!side->is_client) sides[side->peer].expects_request = true;
        else if (side->expects_request) add_field(side);
    }
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
        watch(listener, EPOLLIN);
    }
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(loop, events, EVENTS, -1);
        for (int index = 0; index < ready; index++) {
            int descriptor = events[index].data.fd;
            uint32_t what = events[index].events;
            if (sides[descriptor].upstream) {
                take_client(descriptor);
                continue;
            }
            if (!sides[descriptor].peer) continue; /* Ended in this round. */
            if (what & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
                sides[descriptor].is_empty = false;
                sides[descriptor].is_ending |= (what & ~(uint32_t)(EPOLLIN | EPOLLOUT)) != 0;
                pass(descriptor);
            }
            if (what & EPOLLOUT && sides[descriptor].peer) pass(sides[descriptor].peer);
        }
        while (ended_count) close(ended[--ended_count]);
    }
}
