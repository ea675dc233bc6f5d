/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Linux calls that Swift's Glibc module lacks or cannot import. No _GNU_SOURCE here: it would change fd_set
   under Swift's Glibc module. What needs it is a function in CSystem.c. */
#include <features.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <stdbool.h>
#include <stdint.h>
#include <netinet/tcp.h>

/* The flag of open that names a file without opening it (O_PATH). */
extern const int bearerd_open_path;
/* Accepts a connection that is non-blocking and closed on exec (accept4). */
int bearerd_accept(int listener, struct sockaddr *address, socklen_t *length);
/* How much of what was sent the other end's kernel has not taken yet (SIOCOUTQ); -1 with errno. */
int bearerd_untaken(int descriptor);
/* How the other end stands to a connection, at this moment and whatever waits to be read (poll): bits. */
#define BEARERD_PEER_SENT 1  /* Something can be read, or would fail. */
#define BEARERD_PEER_ENDED 2 /* It sends no more (POLLRDHUP). */
#define BEARERD_PEER_LEFT 4  /* Nothing passes either way any more (POLLHUP). */
#define BEARERD_PEER_RESET 8 /* The connection has failed (POLLERR). */
int bearerd_peer_state(int descriptor);
/* The user at the other end of a Unix socket (SO_PEERCRED); -1 with errno. */
int bearerd_peer_user(int descriptor, uid_t *user, pid_t *process);
/* The two ends of a connected TCP socket (getsockname, getpeername), as so many bytes that the functions below read: -1
   with errno. */
#define BEARERD_ENDS_BYTES 40
int bearerd_ends_of(int descriptor, void *ends);
/* Whether the peer's address is a loopback one. */
int bearerd_is_peer_loopback(const void *ends);
/* Asks the kernel for the one socket of this network namespace that is the peer's end (sock_diag(7), inet_diag): 0 and
   its user; 1 if no process holds an open socket there; -1 with errno. Takes a second at most. */
int bearerd_peer_holder(const void *ends, uid_t *user);
/* Whether a TCP socket is connected, and its peer has not reset it (TCP_INFO). */
int bearerd_is_connected(int descriptor);
/* Whether the other end's kernel has yet to acknowledge what is on its way over a TCP socket, or a question for room
   (TCP_INFO). */
int bearerd_awaits_acknowledgement(int descriptor);
/* Names the calling thread, cut to 15 bytes (pthread_setname_np). */
void bearerd_name_thread(const char *name);
/* Whether the process may dump core and be traced by its own user (prctl PR_SET_DUMPABLE); -1 with errno. */
int bearerd_set_dumpable(int dumpable);
/* Starts a program that PATH or a path names, in a process group of its own, with nothing of ours but the given
   environment: no descriptor, no blocked or ignored signal (posix_spawnp). Its standard output is `output`, or goes
   nowhere if that is -1. Returns 0 or an errno. */
int bearerd_spawn(pid_t *process, char *const arguments[], char *const environment[], int output);
/* Starts a program as bearerd_spawn does, with its standard output in a pipe whose other end is `output`. */
int bearerd_spawn_reading(pid_t *process, char *const arguments[], char *const environment[], int *output);
/* Reads until the end, or until `bytes` is full, for so long at most: how many bytes came, or -1 with errno, which is
   ETIMEDOUT if the time was not enough. */
ssize_t bearerd_collect(int descriptor, void *bytes, size_t size, int limit_milliseconds);
/* Splits the process in two, which it must do before it has threads: 0 in the copy, which gets a SIGTERM when the other
   half ends, and no other signal that may end both, and the writing end of a pipe that leads there in `result`; else the
   copy's number and the reading end. -1 with errno. */
pid_t bearerd_split(int *result);
/* Lets the copy outlive the other half, its terminal and whoever waits for the descriptors that were inherited.
   Once is enough. */
void bearerd_stay_behind(void);
/* Ends the copy, and undoes nothing that is the other half's to undo (_exit). */
_Noreturn void bearerd_end_copy(void);
/* Waits for a child's end; after the limit its whole process group is killed first. The status is waitpid's.
   Returns 0, 1 if it had to be killed, or -1 with errno. */
int bearerd_await(pid_t process, int limit_milliseconds, int *status);
/* What a command gets, prints and tells at most. */
#define BEARERD_COMMAND_WORDS (128 << 10)
#define BEARERD_COMMAND_OUTPUT (1 << 20)
#define BEARERD_COMMAND_ERROR 4096
/* How long a command that was killed may take to end, in milliseconds. */
#define BEARERD_COMMAND_LAST 5000
/* A request of a command helper, before so many bytes of arguments, each with a zero byte at its end. */
struct bearerd_command_request {
    uint32_t limit_milliseconds;
    uint32_t count;
    uint32_t bytes;
};
enum {
    BEARERD_COMMAND_NOT_STARTED,
    BEARERD_COMMAND_EXITED,
    BEARERD_COMMAND_SIGNALLED,
    BEARERD_COMMAND_TIMED_OUT,
    BEARERD_COMMAND_TOO_LONG,
    /* It was killed, and still runs: the runner keeps its end of the socket until it does not. */
    BEARERD_COMMAND_LEFT
};
/* Its answer, before the standard output and the beginning of standard error; `code` is an errno, an exit status or a
   signal's number. */
struct bearerd_command_result {
    int32_t kind;
    int32_t code;
    uint32_t output;
    uint32_t error;
};
/* Makes a copy of this process that starts programs for it for as long as `requests` is open; call it before there are
   threads, and before a sandbox that it would inherit. Returns 0 or an errno. */
int bearerd_command_helper(int *requests);
/* Has a command helper serve one request, which goes into `answer`; its result comes out of it. What was started ends
   when that is closed. Returns 0 or an errno; never waits. */
int bearerd_command_ask(int requests, int *answer);
/* Has the terminal of standard input not show what is typed: -1 with errno where it is none. A signal that ends or stops
   the process finds it as it was; when that goes on, it hides again, and the question is written to standard error again. */
int bearerd_hide_typing(const char *question, size_t length);
/* Ends that. */
void bearerd_show_typing(void);
/* The version of Landlock that the kernel speaks; -1 with errno where it does not. */
int bearerd_landlock_version(void);
/* A rule set that denies all that this version can deny, but for what is allowed in it later: -1 with errno.
   Connecting to TCP ports is denied only on demand. */
int bearerd_landlock_begin(int version, int denies_binding, int denies_connecting);
/* Lets whatever is at or below a path be read, or with `writes` all be done with it: -1 with errno. */
int bearerd_landlock_allow_path(int rules, int version, const char *path, int writes);
/* Lets Unix sockets be made in a directory and those below it, and files and sockets be taken out: -1 with errno. */
int bearerd_landlock_allow_sockets(int rules, const char *directory);
/* Lets a TCP port be connected to: -1 with errno. */
int bearerd_landlock_allow_port(int rules, uint16_t port);
/* Puts the calling thread, and those that it starts, under the rules for ever, and closes them. No program that it
   starts gains rights (PR_SET_NO_NEW_PRIVS). -1 with errno. */
int bearerd_landlock_enter(int rules);
/* Whether something is mounted at a path, so that nobody can replace it by renaming (statx). */
int bearerd_is_mount_point(const char *path);
/* How many processors this process may run on (sched_getaffinity). */
int bearerd_core_count(void);
/* Gives back the pages of program text that only the start needed; the kernel maps what is used again from its cache
   (madvise). Everybody who runs pays for that, so it is for the end of the start alone. */
void bearerd_drop_text(void);
/* Gives back free heap (malloc_trim). */
void bearerd_trim_heap(void);
/* Raises the soft limit of open descriptors to the hard one; children get the old one back: -1 with errno (prlimit
   RLIMIT_NOFILE). */
int bearerd_raise_descriptor_limit(void);
/* The soft limit of open descriptors; -1 with errno. */
long bearerd_descriptor_limit(void);
/* How many words the command line has, and one of them, as main gets them; NULL beyond the last. */
int bearerd_argument_count(void);
const char *bearerd_argument(int index);
/* Opens /dev/null in the place of each of the descriptors 0 to 2 that is closed, so that nothing else gets these
   numbers: -1 with errno. */
int bearerd_open_standard_streams(void);
/* Has `take` given each job that Swift's own pool of threads would run; call it once, before there are tasks. It may
   be called from any thread. */
void bearerd_divert_jobs(void (*take)(void *job));
/* What the calling thread runs: a loop, which `bearerd_set_thread_loop` has named; NULL for other threads. */
void *bearerd_thread_loop(void);
void bearerd_set_thread_loop(void *loop);
/* The first index of start..<end whose byte is no part of a token, such as a field's name; `end` if all are. */
size_t bearerd_end_of_token(const uint8_t *bytes, size_t start, size_t end);
/* The first index of start..<end whose byte no field's value may hold; `end` if all may. Sixteen are looked at
   together. */
size_t bearerd_end_of_content(const uint8_t *bytes, size_t start, size_t end);
/* The first index of start..<end whose byte is no printable ASCII, or a space, a quote or a backslash; `end` if there is
   none. */
size_t bearerd_end_of_plain_text(const uint8_t *bytes, size_t start, size_t end);
/* Writes a number in decimal, with zeros in front up to `width` digits: how many, or 0 if there is no room for them. */
size_t bearerd_decimal(uint64_t value, size_t width, uint8_t *text, size_t room);
/* The numbers below a hundred, two digits each. */
extern const char bearerd_two_digits[];
/* A field's line: where its name ends, its value begins and ends without white space around it, and the next line begins. */
struct bearerd_field_line {
    uint32_t name_end, value, value_end, next;
};
/* Reads the line that begins at `start`: its next line begins at 0 if it is not complete or not right. Two registers take
   what is found. */
struct bearerd_field_line bearerd_field_line(const uint8_t *bytes, size_t start, size_t end);
/* Names of fields by number, of which there are 63 at most; freed with free(). */
struct bearerd_names;
struct bearerd_names *bearerd_make_names(void);
/* Has the value of this one looked at as that of `Connection`. */
void bearerd_set_connection(struct bearerd_names *names, uint8_t number);
/* False if the number is taken or none, or the name too long. */
bool bearerd_add_name(struct bearerd_names *names, uint8_t number, const uint8_t *letters, size_t length);
/* The number of a name, compared without case; 0 for one that was not added. */
uint8_t bearerd_find_name(const struct bearerd_names *names, const uint8_t *name, size_t length);
/* A field in a block of bytes, as HTTPFields keeps it. The lowest of `traits` is set if its line is written as it would be. */
struct bearerd_field {
    uint32_t name, value, value_length;
    uint16_t name_length;
    uint8_t known, traits;
};
/* How far a head has been read: where the next line begins, how many there were, and a bit for each number among them. */
struct bearerd_fields_read {
    size_t next, count;
    uint64_t present;
    bool name_is_too_long;
    /* What `Connection` says. */
    uint8_t connection;
};
enum { BEARERD_NO_CONNECTION, BEARERD_CONNECTION_CLOSE, BEARERD_CONNECTION_KEEP_ALIVE, BEARERD_CONNECTION_OTHER };
/* Reads lines up to one that is not complete or not right, or until `fields` has no room. */
void bearerd_read_field_lines(const struct bearerd_names *names, const uint8_t *bytes, size_t end,
                              struct bearerd_field *fields, size_t room, struct bearerd_fields_read *state);
/* Writes the lines of fields: how many bytes; SIZE_MAX if they are not in the block, or there is no room for them. */
size_t bearerd_write_field_lines(const struct bearerd_field *fields, size_t count, const uint8_t *block, size_t block_length,
                                 uint8_t *text, size_t room);
/* The fields of a line of the access log. */
enum bearerd_line_field {
    BEARERD_LINE_REQUEST_ID,
    BEARERD_LINE_METHOD,
    /* The route's name; or its name and identity with their keys, as they stand behind each other. */
    BEARERD_LINE_ROUTE,
    BEARERD_LINE_ROUTE_PART,
    BEARERD_LINE_IDENTITY,
    BEARERD_LINE_PATH,
    BEARERD_LINE_PROTOCOL,
    BEARERD_LINE_STATUS,
    BEARERD_LINE_GRPC_STATUS,
    BEARERD_LINE_CODE,
    BEARERD_LINE_UPSTREAM,
    BEARERD_LINE_BYTES_IN,
    BEARERD_LINE_BYTES_OUT,
    BEARERD_LINE_SECONDS,
    BEARERD_LINE_REPLAYED,
    BEARERD_LINE_PEER,
    /* The end of the line, which is its key. */
    BEARERD_LINE_END
};
/* One field: what stands in front of its value, and how many bytes of it are shown if a client has chosen it, else 0. */
struct bearerd_line_step {
    uint8_t key[24];
    uint8_t key_length, field;
    uint16_t limit;
};
struct bearerd_text {
    const uint8_t *bytes;
    size_t length;
};
/* The values; an empty identity, code or upstream is left out. `time` is all that stands in front of the first field. */
struct bearerd_line {
    struct bearerd_text time, request_id, method, route, identity, path, protocol, code, upstream, peer;
    uint64_t status, grpc_status, bytes_in, bytes_out, nanoseconds;
    bool has_grpc_status, is_replayed;
};
/* Writes a line: how many bytes; SIZE_MAX if there is no room for them. With `quotes` texts end with one. */
size_t bearerd_write_line(const struct bearerd_line_step *steps, size_t count, const struct bearerd_line *line,
                          bool quotes, uint8_t *text, size_t room);
