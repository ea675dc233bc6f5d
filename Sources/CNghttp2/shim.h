/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <nghttp2/nghttp2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Memory for the small things of the sessions of one thread, of which nghttp2 wants some ten for each stream: what one
   has given back another gets. A block begins with its kind, which stands for its size; of what is kept, the next one
   of its kind stands behind that. */
enum { BEARERD_BLOCK_HEAD = 16, BEARERD_BLOCK_STEP = 32, BEARERD_BLOCK_KINDS = 16 };
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BEARERD_BLOCKS_KEPT 0 /* so that what is used after it was given back is seen */
#endif
#endif
#ifndef BEARERD_BLOCKS_KEPT
#define BEARERD_BLOCKS_KEPT (256 * 1024) /* bytes */
#endif

struct bearerd_blocks {
    unsigned char *first[BEARERD_BLOCK_KINDS];
    size_t kept;
};

static inline size_t bearerd_block_kind(size_t size) { return size ? (size - 1) / BEARERD_BLOCK_STEP : 0; }

static inline void *bearerd_block_take(size_t size, void *context) {
    struct bearerd_blocks *blocks = context;
    size_t kind = bearerd_block_kind(size);
    unsigned char *block = kind < BEARERD_BLOCK_KINDS ? blocks->first[kind] : NULL;
    if (block) {
        memcpy(&blocks->first[kind], block + BEARERD_BLOCK_HEAD, sizeof block);
        blocks->kept -= (kind + 1) * BEARERD_BLOCK_STEP;
        return block + BEARERD_BLOCK_HEAD;
    }
    if (kind < BEARERD_BLOCK_KINDS) size = (kind + 1) * BEARERD_BLOCK_STEP;
    if (size > SIZE_MAX - BEARERD_BLOCK_HEAD || !(block = malloc(BEARERD_BLOCK_HEAD + size))) return NULL;
    memcpy(block, &kind, sizeof kind);
    return block + BEARERD_BLOCK_HEAD;
}

/* Overwrites some pieces of 32 bytes: to call the C library for them costs as much again. */
static inline void bearerd_block_wipe(unsigned char *bytes, size_t size) {
    for (size_t position = 0; position < size; position += BEARERD_BLOCK_STEP) {
        memset(bytes + position, 0, BEARERD_BLOCK_STEP);
        __asm__ volatile("" : : "r"(bytes) : "memory");
    }
}

static inline void bearerd_block_give(void *bytes, void *context) {
    if (!bytes) return;
    struct bearerd_blocks *blocks = context;
    unsigned char *block = (unsigned char *)bytes - BEARERD_BLOCK_HEAD;
    size_t kind;
    memcpy(&kind, block, sizeof kind);
    size_t size = (kind + 1) * BEARERD_BLOCK_STEP;
    /* There may be fields in it that are secret. */
    if (kind < BEARERD_BLOCK_KINDS) bearerd_block_wipe(bytes, size);
    if (kind >= BEARERD_BLOCK_KINDS || blocks->kept + size > BEARERD_BLOCKS_KEPT) {
        free(block);
        return;
    }
    memcpy(bytes, &blocks->first[kind], sizeof block);
    blocks->first[kind] = block;
    blocks->kept += size;
}

static inline void *bearerd_block_clear(size_t count, size_t size, void *context) {
    if (size && count > SIZE_MAX / size) return NULL;
    void *bytes = bearerd_block_take(count * size, context);
    return bytes ? memset(bytes, 0, count * size) : NULL;
}

static inline void *bearerd_block_resize(void *bytes, size_t size, void *context) {
    if (!bytes) return bearerd_block_take(size, context);
    unsigned char *block = (unsigned char *)bytes - BEARERD_BLOCK_HEAD;
    size_t old, kind = bearerd_block_kind(size);
    memcpy(&old, block, sizeof old);
    if (old >= BEARERD_BLOCK_KINDS && kind >= BEARERD_BLOCK_KINDS) {
        if (size > SIZE_MAX - BEARERD_BLOCK_HEAD || !(block = realloc(block, BEARERD_BLOCK_HEAD + size))) return NULL;
        memcpy(block, &kind, sizeof kind);
        return block + BEARERD_BLOCK_HEAD;
    }
    if (old == kind) return bytes;
    void *moved = bearerd_block_take(size, context);
    if (!moved) return NULL;
    /* The smaller one of the two is of a kind that is no larger than it says. */
    memcpy(moved, bytes, old < kind ? (old + 1) * BEARERD_BLOCK_STEP : size);
    bearerd_block_give(bytes, context);
    return moved;
}

/* NULL without memory: nghttp2 uses the C library's functions then. */
static inline void *bearerd_blocks_new(void) { return calloc(1, sizeof(struct bearerd_blocks)); }

static inline size_t bearerd_blocks_kept(void *context) {
    struct bearerd_blocks *blocks = context;
    return blocks ? blocks->kept : 0;
}

/* Frees what is kept. */
static inline void bearerd_blocks_empty(void *context) {
    struct bearerd_blocks *blocks = context;
    if (!blocks) return;
    for (int kind = 0; kind < BEARERD_BLOCK_KINDS; kind++) {
        for (unsigned char *block = blocks->first[kind], *next; block; block = next) {
            memcpy(&next, block + BEARERD_BLOCK_HEAD, sizeof next);
            free(block);
        }
        blocks->first[kind] = NULL;
    }
    blocks->kept = 0;
}

/* After the last session that has memory of them. */
static inline void bearerd_blocks_free(void *context) {
    bearerd_blocks_empty(context);
    free(context);
}

/* Returns 0, or an error of nghttp2's. */
static inline int bearerd_session_new(int is_server, nghttp2_session **session, nghttp2_session_callbacks *callbacks,
                                      void *context, nghttp2_option *options, void *blocks) {
    nghttp2_mem memory = {blocks, bearerd_block_take, bearerd_block_give, bearerd_block_clear, bearerd_block_resize};
    return is_server ? nghttp2_session_server_new3(session, callbacks, context, options, blocks ? &memory : NULL)
                     : nghttp2_session_client_new3(session, callbacks, context, options, blocks ? &memory : NULL);
}
