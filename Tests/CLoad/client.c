/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLoad.h"
#include "message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 4, PATIENCE = 60 };
enum leaving { STAYS, LEAVES_AT_ONCE, LEAVES_AT_ANSWER, HALF_CLOSES };

struct connection {
    int descriptor;
    uint64_t waiting[DEPTH];  /* nonces of the requests without an answer, the oldest first */
    int waiting_count, depth;
    enum leaving leaving;
    bool is_ending;  /* no more requests: the server or the client has said so */
    bool is_in_body;
    int status;
    struct body body;
    struct bytes input, output;
    int served;
    time_t moved_at;
};

struct load {
    const struct load_plan *plan;
    struct load_tally *tally;
    struct connection *connections;
    int epoll;
    uint64_t random, next_nonce;
};

static uint64_t choice(struct load *load) { return mixed(load->random++); }

static time_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void fault(struct load *load, struct connection *connection, const char *what) {
    if (load->tally->faults++ > 0) return;
    uint64_t nonce = connection->waiting_count > 0 ? connection->waiting[0] : 0;
    size_t count = connection->input.length - connection->input.taken;
    snprintf(load->tally->first_fault, sizeof load->tally->first_fault,
             "%s; request %016llx %s, status %d, %zu bytes into the body, then: %.*s", what,
             (unsigned long long)nonce, message_of(nonce).method, connection->status, connection->body.offset,
             (int)(count < 200 ? count : 200), connection->input.data + connection->input.taken);
}

static void append_request(struct load *load, struct connection *connection) {
    uint64_t nonce = load->next_nonce++;
    struct message message = message_of(nonce);
    bytes_print(&connection->output, "%s /%llx HTTP/1.1\r\nHost: localhost:%d\r\nX-Nonce: %016llx\r\n", message.method,
                (unsigned long long)nonce, load->plan->port, (unsigned long long)nonce);
    if (message.request_coding == CODING_LENGTH)
        bytes_print(&connection->output, "Content-Length: %zu\r\n", message.request_size);
    if (message.request_coding == CODING_CHUNKED)
        bytes_print(&connection->output, "Transfer-Encoding: chunked\r\n");
    bytes_append(&connection->output, "\r\n", 2);
    if (message.request_coding != CODING_NONE)
        append_body(&connection->output, nonce, message.request_coding, message.request_size);
    connection->waiting[connection->waiting_count++] = nonce;
    load->tally->started++;
}

static void top_up(struct load *load, struct connection *connection) {
    while (!connection->is_ending && connection->waiting_count < connection->depth &&
           load->tally->started < load->plan->requests) {
        append_request(load, connection);
        if (choice(load) % 1000 >= (uint64_t)load->plan->goes_away_permille) continue;
        connection->leaving = 1 + choice(load) % 3;
        connection->is_ending = true;
    }
}

static void open_connection(struct load *load, struct connection *connection) {
    struct bytes input = connection->input, output = connection->output;
    bytes_clear(&input);
    bytes_clear(&output);
    *connection = (struct connection){.input = input, .output = output, .moved_at = seconds()};
    connection->depth = load->plan->requests_per_connection != 1 && choice(load) % 8 == 0 ? DEPTH : 1;
    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(load->plan->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connection->descriptor < 0 ||
        (connect(connection->descriptor, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS))
        return fault(load, connection, "cannot connect");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->descriptor, &event);
    top_up(load, connection);
}

static void close_connection(struct load *load, struct connection *connection) {
    close(connection->descriptor);
    connection->descriptor = -1;
    if (load->tally->started < load->plan->requests) open_connection(load, connection);
}

/* The client goes away. */
static void leave(struct load *load, struct connection *connection) {
    load->tally->abandoned += connection->waiting_count;
    close_connection(load, connection);
}

/* The server ended the connection, or it broke. */
static void ended(struct load *load, struct connection *connection) {
    if (connection->waiting_count > 0) {
        bool had_part = connection->is_in_body || connection->input.length > connection->input.taken;
        bool expects_answer = !connection->is_ending || connection->leaving != STAYS;
        if (had_part || expects_answer) {
            load->tally->cut++;
            connection->waiting_count--;
        }
        load->tally->unserved += connection->waiting_count;
    }
    close_connection(load, connection);
}

static bool begin_answer(struct load *load, struct connection *connection) {
    const char *head = connection->input.data + connection->input.taken;
    size_t length = head_length(&connection->input), body_length, count;
    if (length == 0) return false;
    connection->status = length > 12 && memcmp(head, "HTTP/1.1 ", 9) == 0 ? atoi(head + 9) : 0;
    if (connection->status >= 100 && connection->status < 200) {
        bytes_take(&connection->input, length);
        return true;
    }
    if (connection->waiting_count == 0 || connection->status < 200 || connection->status > 599) {
        fault(load, connection, connection->waiting_count == 0 ? "an answer to no request" : "no answer");
        return false;
    }
    uint64_t nonce = connection->waiting[0], seen;
    struct message message = message_of(nonce);
    bool has_nonce = field_nonce(head, length, &seen);
    if (has_nonce && seen != nonce) fault(load, connection, "the answer to another request");
    if (!has_nonce && connection->status < 500) fault(load, connection, "an answer without its nonce");
    enum coding coding = framing(head, length, &body_length);
    if (strcmp(message.method, "HEAD") == 0) coding = CODING_NONE;
    if (field(head, length, "Connection", &count) != NULL && count == 5) connection->is_ending = true;
    body_begin(&connection->body, coding, body_length, nonce, connection->status == 200);
    connection->is_in_body = true;
    if (!has_nonce) connection->status = -connection->status;
    bytes_take(&connection->input, length);
    return true;
}

static void end_answer(struct load *load, struct connection *connection) {
    struct load_tally *tally = load->tally;
    struct message message = message_of(connection->waiting[0]);
    int status = connection->status;
    tally->by_status[abs(status)]++;
    if (status < 0) {
        tally->own++;
    } else if (status == 401) {
        tally->unauthorized++;
    } else {
        tally->answered++;
        size_t size = connection->body.coding == CODING_NONE ? 0 : message.answer_size;
        if (status != 200) fault(load, connection, "another status");
        if (connection->body.offset != size) fault(load, connection, "a body of another length");
        if (connection->body.is_wrong) fault(load, connection, "a body of another request");
        if (message.is_cut) fault(load, connection, "a cut answer that looks whole");
    }
    connection->is_in_body = false;
    connection->served++;
    memmove(connection->waiting, connection->waiting + 1, sizeof *connection->waiting * (DEPTH - 1));
    connection->waiting_count--;
    if (connection->served == load->plan->requests_per_connection) connection->is_ending = true;
}

/* Reads answers; false when the connection is done with. */
static bool read_answers(struct load *load, struct connection *connection) {
    while (connection->input.length > connection->input.taken) {
        long faults = load->tally->faults;
        if (!connection->is_in_body) {
            if (!begin_answer(load, connection)) return load->tally->faults == faults;
            if (!connection->is_in_body) continue;
        }
        struct body *body = &connection->body;
        bytes_take(&connection->input,
                   body_feed(body, connection->input.data + connection->input.taken,
                             connection->input.length - connection->input.taken));
        if (!body->is_done) continue;
        end_answer(load, connection);
        top_up(load, connection);
        if (connection->waiting_count == 0 && connection->leaving != HALF_CLOSES) return false;
    }
    return true;
}

static bool receive(struct load *load, struct connection *connection) {
    while (true) {
        ssize_t count = recv(connection->descriptor, bytes_room(&connection->input, 65536), 65536, 0);
        if (count < 0 && errno == EAGAIN) return true;
        if (count <= 0) {
            ended(load, connection);
            return false;
        }
        connection->input.length += (size_t)count;
        connection->moved_at = seconds();
        if (connection->leaving == LEAVES_AT_ANSWER && connection->waiting_count == 1) {
            leave(load, connection);
            return false;
        }
        if (!read_answers(load, connection)) {
            ended(load, connection);
            return false;
        }
    }
}

/* Sends what there is; false when the connection is done with. */
static bool send_requests(struct load *load, struct connection *connection) {
    struct bytes *output = &connection->output;
    while (output->length > output->taken) {
        size_t left = output->length - output->taken;
        if (connection->leaving == LEAVES_AT_ONCE && left > 1) left = 1 + choice(load) % (left - 1);
        ssize_t count = send(connection->descriptor, output->data + output->taken, left, MSG_NOSIGNAL);
        if (count < 0) return errno == EAGAIN || errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN;
        bytes_take(output, (size_t)count);
        connection->moved_at = seconds();
        if (connection->leaving == LEAVES_AT_ONCE) {
            leave(load, connection);
            return false;
        }
    }
    if (connection->leaving == HALF_CLOSES) shutdown(connection->descriptor, SHUT_WR);
    return true;
}

static void look_for_stuck(struct load *load) {
    for (int index = 0; index < load->plan->connections; index++) {
        struct connection *connection = &load->connections[index];
        if (connection->descriptor < 0 || seconds() - connection->moved_at < PATIENCE) continue;
        if (connection->waiting_count > 0) fault(load, connection, "no answer for a minute");
        ended(load, connection);
    }
}

static int open_count(const struct load *load) {
    int count = 0;
    for (int index = 0; index < load->plan->connections; index++) count += load->connections[index].descriptor >= 0;
    return count;
}

void load_run(const struct load_plan *plan, struct load_tally *tally) {
    memset(tally, 0, sizeof *tally);
    struct load load = {.plan = plan, .tally = tally, .random = plan->seed, .next_nonce = plan->seed << 32};
    load.connections = calloc((size_t)plan->connections, sizeof *load.connections);
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int index = 0; index < plan->connections; index++) {
        load.connections[index].descriptor = -1;
        if (tally->started < plan->requests) open_connection(&load, &load.connections[index]);
    }
    time_t looked_at = seconds();
    while (open_count(&load) > 0 && tally->faults < 100) {
        struct epoll_event events[256];
        int count = epoll_wait(load.epoll, events, 256, 1000);
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            if (send_requests(&load, connection) && receive(&load, connection)) send_requests(&load, connection);
        }
        if (seconds() == looked_at) continue;
        looked_at = seconds();
        look_for_stuck(&load);
    }
    for (int index = 0; index < plan->connections; index++) {
        if (load.connections[index].descriptor >= 0) close(load.connections[index].descriptor);
        bytes_free(&load.connections[index].input);
        bytes_free(&load.connections[index].output);
    }
    close(load.epoll);
    free(load.connections);
}
