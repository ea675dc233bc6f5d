/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CLoad.h"
#include "message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN_SIZE = 256, REVOKED = 8, HOLD_OFF_SECONDS = 10 };

struct exchange {
    int descriptor;
    struct bytes input, output;
    bool is_in_body, ends;
    bool is_refused;
    uint64_t nonce;
    struct body body;
    struct exchange *previous, *next;
};

struct load_server {
    struct load_server_plan plan;
    struct load_server_tally tally;
    struct sockaddr_in address;
    int listener, epoll;
    struct exchange exchanges;  /* the head of a ring */
    char token[TOKEN_SIZE];     /* seen last */
    char revoked[REVOKED][TOKEN_SIZE];
    int revoked_count;
    time_t revoked_at;
    long since_restart;
    atomic_bool must_stop;
    pthread_t thread;
};

static void fault(struct load_server *server, const char *what, const char *head, size_t length) {
    if (server->tally.faults++ > 0) return;
    snprintf(server->tally.first_fault, sizeof server->tally.first_fault, "%s: %.*s", what,
             (int)(length < 400 ? length : 400), head);
}

static bool start_listening(struct load_server *server) {
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t size = sizeof server->address;
    if (bind(server->listener, (struct sockaddr *)&server->address, size) != 0 || listen(server->listener, 512) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&server->address, &size) != 0) {
        close(server->listener);
        return false;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event);
    return true;
}

static void accept_all(struct load_server *server) {
    while (true) {
        int descriptor = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) return;
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct exchange *exchange = calloc(1, sizeof *exchange), *head = &server->exchanges;
        exchange->descriptor = descriptor;
        exchange->next = head->next;
        exchange->previous = head;
        head->next->previous = exchange;
        head->next = exchange;
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = exchange};
        epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event);
    }
}

static void end(struct exchange *exchange) {
    close(exchange->descriptor);
    exchange->previous->next = exchange->next;
    exchange->next->previous = exchange->previous;
    bytes_free(&exchange->input);
    bytes_free(&exchange->output);
    free(exchange);
}

static void end_all(struct load_server *server) {
    while (server->exchanges.next != &server->exchanges) {
        struct exchange *exchange = server->exchanges.next;
        if (exchange->is_in_body || exchange->input.length > exchange->input.taken ||
            exchange->output.length > exchange->output.taken)
            server->tally.cut++;
        end(exchange);
    }
}

/* Ends every connection, and is away for a moment, as a server is that is restarted. */
static void restart(struct load_server *server) {
    server->since_restart = 0;
    server->tally.restarts++;
    close(server->listener);
    end_all(server);
    do usleep(20000);
    while (!start_listening(server));
}

static bool is_revoked(struct load_server *server, const char *token) {
    for (int index = 0; index < REVOKED; index++)
        if (strcmp(server->revoked[index], token) == 0) return true;
    return false;
}

/* Takes the token back, unless it is so soon after the last time that nobody may ask for another one yet. */
static void take_back(struct load_server *server) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (server->revoked_count > 0 && now.tv_sec - server->revoked_at <= HOLD_OFF_SECONDS + 1) return;
    server->revoked_at = now.tv_sec;
    strcpy(server->revoked[server->revoked_count++ % REVOKED], server->token);
}

/* Reads the token, and now and then takes it back. */
static void judge(struct load_server *server, struct exchange *exchange, const char *head, size_t length) {
    size_t count = 0;
    const char *value = field(head, length, "Authorization", &count);
    if (value == NULL || count < 8 || count >= TOKEN_SIZE || memcmp(value, "Bearer ", 7) != 0)
        return fault(server, "no token", head, length);
    memcpy(server->token, value, count);
    server->token[count] = 0;
    exchange->is_refused = is_revoked(server, server->token);
    server->tally.requests++;
    if (exchange->is_refused || server->plan.revokes_every == 0) return;
    if (server->tally.requests % server->plan.revokes_every == 0) take_back(server);
}

static void append_answer(struct load_server *server, struct exchange *exchange) {
    struct message message = message_of(exchange->nonce);
    struct bytes *output = &exchange->output;
    unsigned long long nonce = exchange->nonce;
    if (message.has_hints) bytes_print(output, "HTTP/1.1 103 Early Hints\r\nLink: </%llx>\r\n\r\n", nonce);
    if (exchange->is_refused) {
        server->tally.unauthorized++;
        return bytes_print(output,
                           "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n"
                           "X-Nonce: %016llx\r\nContent-Length: 0\r\n\r\n",
                           nonce);
    }
    bytes_print(output, "HTTP/1.1 200 OK\r\nX-Nonce: %016llx\r\n", nonce);
    if (message.answer_coding == CODING_LENGTH) bytes_print(output, "Content-Length: %zu\r\n", message.answer_size);
    if (message.answer_coding == CODING_CHUNKED) bytes_print(output, "Transfer-Encoding: chunked\r\n");
    if (message.answer_coding == CODING_CLOSE) bytes_print(output, "Connection: close\r\n");
    bytes_append(output, "\r\n", 2);
    size_t head_end = output->length;
    if (strcmp(message.method, "HEAD") != 0)
        append_body(output, exchange->nonce, message.answer_coding, message.answer_size);
    exchange->ends = message.answer_coding == CODING_CLOSE;
    if (message.is_cut) {
        output->length = head_end + (output->length - head_end) / 2;
        exchange->ends = true;
    }
}

/* Reads one request as far as it has come; true when it is whole. */
static bool read_request(struct load_server *server, struct exchange *exchange) {
    struct bytes *input = &exchange->input;
    if (!exchange->is_in_body) {
        size_t length = head_length(input), body_length;
        if (length == 0) return false;
        const char *head = input->data + input->taken;
        judge(server, exchange, head, length);
        if (!field_nonce(head, length, &exchange->nonce)) fault(server, "no nonce", head, length);
        enum coding coding = framing(head, length, &body_length);
        if (coding == CODING_CLOSE) coding = CODING_NONE;
        body_begin(&exchange->body, coding, body_length, exchange->nonce, true);
        exchange->is_in_body = true;
        bytes_take(input, length);
    }
    bytes_take(input, body_feed(&exchange->body, input->data + input->taken, input->length - input->taken));
    if (!exchange->body.is_done) return false;
    exchange->is_in_body = false;
    if (exchange->body.is_wrong || exchange->body.offset != message_of(exchange->nonce).request_size)
        fault(server, "a body of another request", message_of(exchange->nonce).method, 4);
    return true;
}

/* Serves what has come; false when the connection is to end. */
static bool serve(struct load_server *server, struct exchange *exchange) {
    bool is_over = false;
    while (!is_over) {
        ssize_t count = recv(exchange->descriptor, bytes_room(&exchange->input, 65536), 65536, 0);
        if (count < 0 && errno == EAGAIN) break;
        if (count > 0) exchange->input.length += (size_t)count;
        is_over = count <= 0;
    }
    while (exchange->input.length > exchange->input.taken && !exchange->ends && read_request(server, exchange)) {
        append_answer(server, exchange);
        server->since_restart++;
    }
    struct bytes *output = &exchange->output;
    while (output->length > output->taken) {
        ssize_t count = send(exchange->descriptor, output->data + output->taken, output->length - output->taken,
                             MSG_NOSIGNAL);
        if (count < 0) return errno == EAGAIN && !is_over;
        bytes_take(output, (size_t)count);
    }
    return !is_over && !exchange->ends;
}

static void *run(void *context) {
    struct load_server *server = context;
    while (!atomic_load(&server->must_stop)) {
        struct epoll_event events[128];
        int count = epoll_wait(server->epoll, events, 128, 50);
        for (int index = 0; index < count; index++) {
            struct exchange *exchange = events[index].data.ptr;
            if (exchange == NULL) accept_all(server);
            else if (!serve(server, exchange)) end(exchange);
        }
        if (server->plan.restarts_every > 0 && server->since_restart >= server->plan.restarts_every) restart(server);
    }
    end_all(server);
    return NULL;
}

struct load_server *load_server_start(const struct load_server_plan *plan) {
    struct load_server *server = calloc(1, sizeof *server);
    server->plan = *plan;
    server->exchanges.next = server->exchanges.previous = &server->exchanges;
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->address.sin_family = AF_INET;
    server->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!start_listening(server) || pthread_create(&server->thread, NULL, run, server) != 0) {
        free(server);
        return NULL;
    }
    return server;
}

uint16_t load_server_port(const struct load_server *server) { return ntohs(server->address.sin_port); }

void load_server_stop(struct load_server *server, struct load_server_tally *tally) {
    atomic_store(&server->must_stop, true);
    pthread_join(server->thread, NULL);
    close(server->listener);
    close(server->epoll);
    *tally = server->tally;
    free(server);
}
