/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "CKeyring.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What is used of libsecret (0.18 or later), GIO and GLib is declared here and loaded late: the program is built, and runs,
   without them. Nothing of it is given back: the process ends with its answer. */

/* GError and GList. */
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} failure;
typedef struct list {
    void *data;
    struct list *next, *previous;
} list;

#define FUNCTIONS(F)                                                                                                   \
    F(unsigned, g_str_hash, (const void *text))                                                                        \
    F(int, g_str_equal, (const void *one, const void *other))                                                          \
    F(void *, g_hash_table_new, (unsigned (*hash)(const void *), int (*equal)(const void *, const void *)))            \
    F(int, g_hash_table_insert, (void *table, const void *key, const void *value))                                     \
    F(void *, g_variant_new, (const char *format, ...))                                                                \
    F(void *, g_variant_new_parsed, (const char *format, ...))                                                         \
    F(void, g_variant_get, (void *variant, const char *format, ...))                                                   \
    F(void *, g_bus_get_sync, (int type, void *cancellable, failure **error))                                          \
    F(void *, g_dbus_connection_call_sync,                                                                             \
      (void *connection, const char *name, const char *path, const char *interface, const char *method,                \
       void *parameters, const void *reply_type, int flags, int milliseconds, void *cancellable, failure **error))     \
    F(char *, g_dbus_error_get_remote_error, (const failure *error))                                                   \
    F(int, g_dbus_error_strip_remote_error, (failure * error))                                                         \
    F(const char *, g_dbus_proxy_get_object_path, (void *proxy))                                                       \
    F(void *, secret_service_get_sync, (int flags, void *cancellable, failure **error))                                \
    F(list *, secret_service_search_sync,                                                                              \
      (void *service, const void *schema, void *attributes, int flags, void *cancellable, failure **error))            \
    F(void *, secret_service_encode_dbus_secret, (void *service, void *value))                                         \
    F(void *, secret_collection_for_alias_sync,                                                                        \
      (void *service, const char *alias, int flags, void *cancellable, failure **error))                               \
    F(int, secret_collection_get_locked, (void *collection))                                                           \
    F(int, secret_item_get_locked, (void *item))                                                                       \
    F(int, secret_item_load_secret_sync, (void *item, void *cancellable, failure **error))                             \
    F(void *, secret_item_get_secret, (void *item))                                                                    \
    F(void *, secret_value_new, (const char *bytes, ssize_t count, const char *type))                                  \
    F(const char *, secret_value_get, (void *value, size_t *count))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static const char bus_name[] = "org.freedesktop.DBus";
static const char service_name[] = "org.freedesktop.secrets";
/* Held on the bus by who makes a key; it goes with the connection, however its process ends. */
static const char maker_name[] = "bearerd.KeyringKey";
static const struct timespec pause_of_waiting = {.tv_nsec = 10000000};

/* What is asked for, and where the answer goes. */
typedef struct {
    const char *name;
    uint8_t *value;
    size_t *count;
    size_t room;
    char *reason;
    size_t reason_size;
    void *bus, *service, *attributes, *collection;
} asking;

static int end(asking *asking, int outcome, const char *reason) {
    snprintf(asking->reason, asking->reason_size, "%s", reason ? reason : "");
    return outcome;
}

/* The end of what failed; a service that says that something is locked may say so at any call. */
static int end_failed(asking *asking, int outcome, failure *failure) {
    if (!failure) return end(asking, outcome, "it gives no reason");
    const char *remote = library.g_dbus_error_get_remote_error(failure);
    if (remote && strcmp(remote, "org.freedesktop.Secret.Error.IsLocked") == 0) outcome = BEARERD_KEYRING_LOCKED;
    library.g_dbus_error_strip_remote_error(failure);
    return end(asking, outcome, failure->message);
}

static int load(asking *asking) {
    void *handle = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return end(asking, BEARERD_KEYRING_NO_LIBRARY, dlerror());
#define LOAD(result, name, parameters)                                                                                 \
    *(void **)&library.name = dlsym(handle, #name);                                                                    \
    if (!library.name) return end(asking, BEARERD_KEYRING_NO_LIBRARY, dlerror());
    FUNCTIONS(LOAD)
#undef LOAD
    return BEARERD_KEYRING_FOUND;
}

/* Without either GLib would start a bus of its own. */
static int has_bus(void) {
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    if (address && *address) return 1;
    const char *directory = getenv("XDG_RUNTIME_DIR");
    char path[4096];
    return directory && *directory
        && snprintf(path, sizeof path, "%s/bus", directory) < (int)sizeof path && access(path, F_OK) == 0;
}

static int reach(asking *asking) {
    failure *failure = NULL;
    if (!has_bus())
        return end(asking, BEARERD_KEYRING_NO_BUS,
                   "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to one");
    enum { SESSION = 2 };
    asking->bus = library.g_bus_get_sync(SESSION, NULL, &failure);
    if (!asking->bus) return end_failed(asking, BEARERD_KEYRING_NO_BUS, failure);
    enum { OPEN_SESSION = 1 << 1 };
    asking->service = library.secret_service_get_sync(OPEN_SESSION, NULL, &failure);
    if (!asking->service) return end_failed(asking, BEARERD_KEYRING_NO_SERVICE, failure);
    asking->attributes = library.g_hash_table_new(library.g_str_hash, library.g_str_equal);
    library.g_hash_table_insert(asking->attributes, "application", "bearerd");
    library.g_hash_table_insert(asking->attributes, "key", asking->name);
    return BEARERD_KEYRING_FOUND;
}

static int look(asking *asking) {
    enum { ALL = 1 << 1 }; /* without UNLOCK, which would ask somebody */
    failure *failure = NULL;
    list *items = library.secret_service_search_sync(asking->service, NULL, asking->attributes, ALL, NULL, &failure);
    if (failure) return end_failed(asking, BEARERD_KEYRING_FAILED, failure);
    if (!items) return end(asking, BEARERD_KEYRING_NONE, NULL);
    const char *found = NULL;
    size_t length = 0;
    for (list *item = items; item; item = item->next) {
        if (library.secret_item_get_locked(item->data)) return end(asking, BEARERD_KEYRING_LOCKED, NULL);
        if (!library.secret_item_load_secret_sync(item->data, NULL, &failure))
            return end_failed(asking, BEARERD_KEYRING_FAILED, failure);
        void *value = library.secret_item_get_secret(item->data);
        if (!value) return end(asking, BEARERD_KEYRING_FAILED, "it gives an item without a value");
        size_t count = 0;
        const char *bytes = library.secret_value_get(value, &count);
        if (found && (count != length || memcmp(bytes, found, count) != 0))
            return end(asking, BEARERD_KEYRING_SEVERAL, NULL);
        found = bytes;
        length = count;
    }
    if (length) memcpy(asking->value, found, length < asking->room ? length : asking->room);
    *asking->count = length;
    return BEARERD_KEYRING_FOUND;
}

/* Waits until no other process makes a key. */
static int take_turn(asking *asking) {
    enum { DO_NOT_QUEUE = 4, OWNER = 1, EXISTS = 3 };
    for (;;) {
        failure *failure = NULL;
        void *reply = library.g_dbus_connection_call_sync(
            asking->bus, bus_name, "/org/freedesktop/DBus", bus_name, "RequestName",
            library.g_variant_new("(su)", maker_name, (uint32_t)DO_NOT_QUEUE), NULL, 0, -1, NULL, &failure);
        if (!reply) return end_failed(asking, BEARERD_KEYRING_FAILED, failure);
        uint32_t answer = 0;
        library.g_variant_get(reply, "(u)", &answer);
        if (answer == OWNER) return BEARERD_KEYRING_FOUND;
        if (answer != EXISTS) return end(asking, BEARERD_KEYRING_FAILED, "the bus gives no turn to make a key");
        nanosleep(&pause_of_waiting, NULL);
    }
}

/* Where a new key would go. */
static int find_collection(asking *asking) {
    failure *failure = NULL;
    asking->collection = library.secret_collection_for_alias_sync(asking->service, "default", 0, NULL, &failure);
    if (failure) return end_failed(asking, BEARERD_KEYRING_FAILED, failure);
    if (!asking->collection) return end(asking, BEARERD_KEYRING_NO_COLLECTION, NULL);
    if (library.secret_collection_get_locked(asking->collection)) return end(asking, BEARERD_KEYRING_LOCKED, NULL);
    return BEARERD_KEYRING_FOUND;
}

/* Not by secret_item_create_sync, which would answer a prompt by showing it. */
static int make(asking *asking, const uint8_t *made, size_t made_count) {
    failure *failure = NULL;
    char label[256];
    snprintf(label, sizeof label, "bearerd: %s", asking->name);
    /* The schema is what programs for people show items without one of their own as. */
    void *properties = library.g_variant_new_parsed(
        "{'org.freedesktop.Secret.Item.Label': <%s>, 'org.freedesktop.Secret.Item.Attributes': "
        "<{'xdg:schema': 'org.freedesktop.Secret.Generic', 'application': 'bearerd', 'key': %s}>}",
        label, asking->name);
    void *value = library.secret_value_new((const char *)made, (ssize_t)made_count, "application/octet-stream");
    void *reply = library.g_dbus_connection_call_sync(
        asking->bus, service_name, library.g_dbus_proxy_get_object_path(asking->collection),
        "org.freedesktop.Secret.Collection", "CreateItem",
        library.g_variant_new("(@a{sv}@(oayays)b)", properties,
                              library.secret_service_encode_dbus_secret(asking->service, value), 0),
        NULL, 0, -1, NULL, &failure);
    if (!reply) return end_failed(asking, BEARERD_KEYRING_FAILED, failure);
    const char *item = NULL, *prompt = NULL;
    library.g_variant_get(reply, "(&o&o)", &item, &prompt);
    if (strcmp(prompt, "/") == 0) return BEARERD_KEYRING_FOUND;
    library.g_dbus_connection_call_sync(asking->bus, service_name, prompt, "org.freedesktop.Secret.Prompt", "Dismiss",
                                        NULL, NULL, 0, -1, NULL, &failure);
    return end(asking, BEARERD_KEYRING_ASKS, NULL);
}

int bearerd_keyring_ask(const char *name, const uint8_t *made, size_t made_count, uint8_t *value, size_t *count,
                        char *reason, size_t reason_size) {
    asking asking = {.name = name, .value = value, .count = count, .room = *count, .reason = reason,
                     .reason_size = reason_size};
    *count = 0;
    int outcome = load(&asking);
    if (outcome == BEARERD_KEYRING_FOUND) outcome = reach(&asking);
    if (outcome == BEARERD_KEYRING_FOUND) outcome = look(&asking);
    if (outcome != BEARERD_KEYRING_NONE) return outcome;
    outcome = find_collection(&asking);
    if (!made && outcome == BEARERD_KEYRING_FOUND) return BEARERD_KEYRING_NONE;
    if (outcome == BEARERD_KEYRING_FOUND) outcome = take_turn(&asking);
    /* Whoever had the turn before may have made one. */
    if (outcome == BEARERD_KEYRING_FOUND) outcome = look(&asking);
    if (outcome != BEARERD_KEYRING_NONE) return outcome;
    outcome = make(&asking, made, made_count);
    if (outcome == BEARERD_KEYRING_FOUND) outcome = look(&asking);
    if (outcome != BEARERD_KEYRING_NONE) return outcome;
    return end(&asking, BEARERD_KEYRING_FAILED, "what it was given to keep is not there");
}
