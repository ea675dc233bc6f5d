/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLOAD_H
#define CLOAD_H

#include <features.h>
#include <stdint.h>

/*
 * A client and a resource server that agree, by a request's nonce alone, on every byte of the request and of its
 * answer: whatever is lost, mixed up or cut between them is seen by one of the two. In C, because they run for
 * millions of requests in debug builds too, and must not be what the test waits for.
 */

/* What the client is to do. */
struct load_plan {
    uint16_t port;                /* of 127.0.0.1 */
    int connections;              /* at once */
    long requests;                /* in all */
    uint64_t seed;                /* of the first nonce and of every choice */
    int goes_away_permille;       /* requests after which the client closes, resets or half-closes */
    int requests_per_connection;  /* after so many answers a new one is made; 0 for no bound */
};

/* What the client saw. Every request is counted once, except that a fault is counted beside it. */
struct load_tally {
    long started;
    long answered;      /* 200, with the right nonce and every byte of its body */
    long unauthorized;  /* 401 of the server, with the right nonce */
    long own;           /* answers without a nonce: the proxy's own; by_status tells which */
    long cut;           /* the answer ended before its end, as the connection showed */
    long unserved;      /* behind another one on a connection that ended */
    long abandoned;     /* the client went away */
    long faults;        /* wrong nonce, wrong body, wrong framing, or nothing for 60 s */
    long by_status[600];
    char first_fault[512];
};

/* Carries the plan out; returns when every request has had its end. Blocks its thread. */
void load_run(const struct load_plan *plan, struct load_tally *tally);

/* How the server behaves. */
struct load_server_plan {
    long revokes_every;   /* after so many requests the token at hand is refused from then on, but not twice within
                             the 10 s in which a route forces no second refresh; 0 for never */
    long restarts_every;  /* after so many it ends every connection, and refuses new ones for 20 ms */
};

/* What the server saw. */
struct load_server_tally {
    long requests;
    long unauthorized;  /* answered 401 */
    long restarts;
    long cut;           /* requests or answers under way that a restart ended */
    long faults;        /* requests without token, nonce, or with a wrong body */
    char first_fault[512];
};

struct load_server;

/* Starts a server on a thread of its own; NULL when it cannot listen. */
struct load_server *load_server_start(const struct load_server_plan *plan);
uint16_t load_server_port(const struct load_server *server);
/* Ends the server and frees it. */
void load_server_stop(struct load_server *server, struct load_server_tally *tally);

#endif
