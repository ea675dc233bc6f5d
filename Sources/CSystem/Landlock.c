/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the headers of Debian 12 do not have yet; the numbers are the kernel's for ever. */
struct ruleset {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};
struct port_rule {
    uint64_t allowed_access;
    uint64_t port;
};
enum { RULE_PATH = 1, RULE_PORT = 2 };
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_BIND (1ULL << 0)
#define NET_CONNECT (1ULL << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* What a rule on something that is no directory may speak of. */
#define FS_OF_FILES                                                                                                  \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE |        \
     FS_IOCTL_DEV)

/* All rights on files that a version knows: the first had 13 of them. */
static uint64_t all_of_files(int version) {
    uint64_t all = (1ULL << 13) - 1;
    if (version >= 2) all |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) all |= FS_TRUNCATE;
    if (version >= 5) all |= FS_IOCTL_DEV;
    return all;
}

int bearerd_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int bearerd_landlock_begin(int version, int denies_binding, int denies_connecting) {
    struct ruleset rules = {.handled_access_fs = all_of_files(version)};
    size_t size = offsetof(struct ruleset, handled_access_net);
    if (version >= 4) {
        rules.handled_access_net = (denies_binding ? NET_BIND : 0) | (denies_connecting ? NET_CONNECT : 0);
        size = offsetof(struct ruleset, scoped);
    }
    if (version >= 6) {
        rules.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
        size = sizeof rules;
    }
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

static int allow_path(int rules, const char *path, uint64_t rights) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return -1;
    struct stat status;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = rights,
        .parent_fd = descriptor,
    };
    int failure = fstat(descriptor, &status);
    if (!failure) {
        if (!S_ISDIR(status.st_mode)) rule.allowed_access &= FS_OF_FILES;
        failure = (int)syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0);
    }
    int code = errno;
    close(descriptor);
    errno = code;
    return failure;
}

int bearerd_landlock_allow_path(int rules, int version, const char *path, int writes) {
    uint64_t all = all_of_files(version) & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
    return allow_path(rules, path, writes ? all : FS_READ);
}

int bearerd_landlock_allow_sockets(int rules, const char *directory) {
    return allow_path(rules, directory, LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_SOCK);
}

int bearerd_landlock_allow_port(int rules, uint16_t port) {
    struct port_rule rule = {.allowed_access = NET_CONNECT, .port = port};
    return (int)syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0);
}

int bearerd_landlock_enter(int rules) {
    int failure = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!failure) failure = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    int code = errno;
    close(rules);
    errno = code;
    return failure;
}

int bearerd_is_mount_point(const char *path) {
    struct statx status;
    if (statx(AT_FDCWD, path, 0, 0, &status) != 0) return 0;
    return (status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) && (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}
