/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* How asking the Secret Service for a key ends. */
#define BEARERD_KEYRING_FOUND 0         /* Its value is told. */
#define BEARERD_KEYRING_NONE 1          /* There is none, and none was to be made, though one could be. */
#define BEARERD_KEYRING_NO_LIBRARY 2    /* libsecret is not installed; the reason is the loader's. */
#define BEARERD_KEYRING_NO_BUS 3        /* There is no session bus. */
#define BEARERD_KEYRING_NO_SERVICE 4    /* Nobody on it keeps secrets. */
#define BEARERD_KEYRING_LOCKED 5        /* The key, or the collection it would go into, is locked. */
#define BEARERD_KEYRING_NO_COLLECTION 6 /* There is no default collection that a new key could go into. */
#define BEARERD_KEYRING_ASKS 7          /* The service would ask a person before it keeps one. */
#define BEARERD_KEYRING_SEVERAL 8       /* Several values go by this name. */
#define BEARERD_KEYRING_FAILED 9        /* Whatever else the service refuses, with its reason. */

/* Asks the Secret Service for the value whose attributes are application=bearerd and key=`name`, and has it keep
   `made` as that if there is none and `made` is not NULL; what is kept is read back. Nothing is unlocked, nothing
   replaced, nobody asked. Two processes that make a key at once get the same one.

   It may take for ever, and starts threads that nothing ends: so it is for a process that does nothing else, and that
   somebody ends. `count` is how many bytes `value` takes, and afterwards how long the value is, which may be more.
   `reason` gets a sentence about what went wrong. */
int bearerd_keyring_ask(const char *name, const uint8_t *made, size_t made_count, uint8_t *value, size_t *count,
                        char *reason, size_t reason_size);
