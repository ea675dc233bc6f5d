/* SPDX-License-Identifier: Apache-2.0 */
#include "CSystem.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The two ends of a TCP connection, in network byte order. An IPv4 address, also one that IPv6 maps, is the first word
   of its host; the others are 0. */
struct ends {
    int family;
    uint32_t own_host[4], peer_host[4];
    uint16_t own_port, peer_port;
};
_Static_assert(sizeof(struct ends) == BEARERD_ENDS_BYTES, "CSystem.h says how many bytes");

/* Puts an IPv4 address that IPv6 maps (::ffff:0:0/96) into the form of an IPv4 one: AF_INET, or AF_INET6. */
static int unmap(uint32_t host[4]) {
    if (host[0] || host[1] || host[2] != htonl(0xffff)) return AF_INET6;
    host[0] = host[3];
    host[2] = host[3] = 0;
    return AF_INET;
}

static int read_end(const struct sockaddr_storage *storage, uint32_t host[4], uint16_t *port) {
    memset(host, 0, 4 * sizeof *host);
    if (storage->ss_family == AF_INET) {
        struct sockaddr_in address;
        memcpy(&address, storage, sizeof address);
        host[0] = address.sin_addr.s_addr;
        *port = address.sin_port;
        return AF_INET;
    }
    if (storage->ss_family != AF_INET6) return errno = EAFNOSUPPORT, -1;
    struct sockaddr_in6 address;
    memcpy(&address, storage, sizeof address);
    memcpy(host, &address.sin6_addr, sizeof address.sin6_addr);
    *port = address.sin6_port;
    return unmap(host);
}

int bearerd_ends_of(int descriptor, void *bytes) {
    struct sockaddr_storage own, peer;
    struct ends ends;
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    if (getsockname(descriptor, (struct sockaddr *)&own, &own_length) != 0) return -1;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_length) != 0) return -1;
    ends.family = read_end(&own, ends.own_host, &ends.own_port);
    if (ends.family < 0) return -1;
    if (read_end(&peer, ends.peer_host, &ends.peer_port) != ends.family) return errno = EAFNOSUPPORT, -1;
    memcpy(bytes, &ends, sizeof ends);
    return 0;
}

int bearerd_is_peer_loopback(const void *bytes) {
    struct ends ends;
    memcpy(&ends, bytes, sizeof ends);
    const uint32_t *host = ends.peer_host;
    if (ends.family == AF_INET) return ntohl(host[0]) >> 24 == 127;
    return !host[0] && !host[1] && !host[2] && ntohl(host[3]) == 1;
}

/* Where no connection has these ends the kernel tells of a socket that listens there; one that nobody has accepted, or
   that has lost its process, has no inode, and is said to be user 0's. */
static int is_peer(const struct inet_diag_msg *found, const struct ends *ends) {
    if (found->idiag_state != TCP_ESTABLISHED && found->idiag_state != TCP_FIN_WAIT1 &&
        found->idiag_state != TCP_FIN_WAIT2)
        return 0;
    if (!found->idiag_inode) return 0;
    uint32_t host[4] = {found->id.idiag_src[0]}, other[4] = {found->id.idiag_dst[0]};
    if (found->idiag_family == AF_INET6) {
        memcpy(host, found->id.idiag_src, sizeof host);
        memcpy(other, found->id.idiag_dst, sizeof other);
        unmap(host);
        unmap(other);
    }
    return found->id.idiag_sport == ends->peer_port && found->id.idiag_dport == ends->own_port &&
           !memcmp(host, ends->peer_host, sizeof host) && !memcmp(other, ends->own_host, sizeof other);
}

static ssize_t ask(const void *question, size_t size, void *answer, size_t room) {
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return -1;
    struct timeval limit = {.tv_sec = 1};
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    ssize_t count = -1;
    if (setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        send(netlink, question, size, 0) == (ssize_t)size)
        count = recvfrom(netlink, answer, room, 0, (struct sockaddr *)&sender, &length);
    int failure = errno;
    close(netlink);
    /* Nobody but the kernel is believed. */
    if (count >= 0 && sender.nl_pid != 0) return errno = EPROTO, -1;
    errno = failure;
    return count;
}

int bearerd_peer_holder(const void *bytes, uid_t *user) {
    struct ends copy;
    memcpy(&copy, bytes, sizeof copy);
    const struct ends *ends = &copy;
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 socket;
    } question = {
        .head = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .socket = {.sdiag_family = (uint8_t)ends->family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U},
    };
    struct inet_diag_sockid *id = &question.socket.id;
    id->idiag_sport = ends->peer_port;
    id->idiag_dport = ends->own_port;
    memcpy(id->idiag_src, ends->peer_host, sizeof id->idiag_src);
    memcpy(id->idiag_dst, ends->own_host, sizeof id->idiag_dst);
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    ssize_t count = ask(&question, sizeof question, &answer, sizeof answer);
    if (count < 0) return -1;
    if (!NLMSG_OK(&answer.head, count)) return errno = EPROTO, -1;
    if (answer.head.nlmsg_type == NLMSG_ERROR && answer.head.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        struct nlmsgerr failure;
        memcpy(&failure, NLMSG_DATA(&answer.head), sizeof failure);
        return failure.error == -ENOENT ? 1 : (errno = -failure.error, -1);
    }
    struct inet_diag_msg found;
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.head.nlmsg_len < NLMSG_LENGTH(sizeof found))
        return errno = EPROTO, -1;
    memcpy(&found, NLMSG_DATA(&answer.head), sizeof found);
    if (!is_peer(&found, ends)) return 1;
    *user = found.idiag_uid;
    return 0;
}

static bool read_tcp_info(int descriptor, struct tcp_info *state) {
    socklen_t length = sizeof *state;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, state, &length) == 0;
}

int bearerd_is_connected(int descriptor) {
    struct tcp_info state;
    if (!read_tcp_info(descriptor, &state)) return 0;
    return state.tcpi_state == TCP_ESTABLISHED || state.tcpi_state == TCP_CLOSE_WAIT;
}

int bearerd_awaits_acknowledgement(int descriptor) {
    struct tcp_info state;
    if (!read_tcp_info(descriptor, &state)) return 0;
    /* The count begins anew with each answer, and goes up also where nothing gets out of this machine. */
    return state.tcpi_unacked > 0 || state.tcpi_probes > 1;
}
