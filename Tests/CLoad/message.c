/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *bytes_room(struct bytes *bytes, size_t count) {
    if (bytes->taken == bytes->length) bytes->taken = bytes->length = 0;
    if (bytes->taken > 0 && bytes->capacity - bytes->length < count) {
        memmove(bytes->data, bytes->data + bytes->taken, bytes->length - bytes->taken);
        bytes->length -= bytes->taken;
        bytes->taken = 0;
    }
    if (bytes->capacity - bytes->length < count) {
        bytes->capacity = (bytes->length + count) * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (bytes->data == NULL) abort();
    }
    return bytes->data + bytes->length;
}

void bytes_append(struct bytes *bytes, const void *data, size_t count) {
    memcpy(bytes_room(bytes, count), data, count);
    bytes->length += count;
}

void bytes_print(struct bytes *bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *room = bytes_room(bytes, 512);
    int count = vsnprintf(room, 512, format, arguments);
    va_end(arguments);
    if (count < 0 || count >= 512) abort();
    bytes->length += (size_t)count;
}

void bytes_take(struct bytes *bytes, size_t count) { bytes->taken += count; }

void bytes_clear(struct bytes *bytes) { bytes->taken = bytes->length = 0; }

void bytes_free(struct bytes *bytes) {
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

/* SplitMix64's last step. */
uint64_t mixed(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

struct message message_of(uint64_t nonce) {
    uint64_t bits = mixed(nonce);
    struct message message = {.method = "GET", .request_coding = CODING_NONE, .answer_coding = CODING_LENGTH};
    unsigned kind = bits % 100, size = (bits >> 8) % 100, coding = (bits >> 16) % 100;
    if (kind >= 60) {
        message.method = kind < 90 ? "POST" : kind < 96 ? "PUT" : "HEAD";
        message.request_coding = kind < 80 ? CODING_LENGTH : kind < 96 ? CODING_CHUNKED : CODING_NONE;
        /* One in a hundred is too large to be sent twice. */
        message.request_size = kind >= 96 ? 0 : kind == 80 ? 100000 : (bits >> 24) % 3000;
    }
    message.answer_size = (bits >> 36) % (size < 90 ? 2048 : size < 99 ? 32768 : 300000);
    if (coding >= 60) message.answer_coding = coding < 99 ? CODING_CHUNKED : CODING_CLOSE;
    message.has_hints = (bits >> 56) % 64 == 0;
    message.is_cut = kind < 96 && message.answer_coding != CODING_CLOSE && message.answer_size > 1000 &&
                     mixed(bits) % 1000 == 0;
    return message;
}

static char expected(uint64_t key, size_t offset) {
    return (char)((key >> (8 * (offset & 7))) ^ (offset >> 3) ^ (offset >> 11));
}

static void append_pattern(struct bytes *bytes, uint64_t nonce, size_t from, size_t count) {
    uint64_t key = mixed(~nonce);
    char *room = bytes_room(bytes, count);
    for (size_t index = 0; index < count; index++) room[index] = expected(key, from + index);
    bytes->length += count;
}

void append_body(struct bytes *bytes, uint64_t nonce, enum coding coding, size_t size) {
    if (coding != CODING_CHUNKED) return append_pattern(bytes, nonce, 0, size);
    size_t chunk = 1 + mixed(nonce + 1) % 20000;
    for (size_t from = 0; from < size; from += chunk) {
        size_t count = size - from < chunk ? size - from : chunk;
        bytes_print(bytes, "%zx\r\n", count);
        append_pattern(bytes, nonce, from, count);
        bytes_append(bytes, "\r\n", 2);
    }
    bytes_append(bytes, "0\r\n\r\n", 5);
}

enum { IN_SIZE, IN_SIZE_LINE, IN_DATA, IN_DATA_END, IN_TRAILER, IN_TRAILER_LINE };

void body_begin(struct body *body, enum coding coding, size_t length, uint64_t nonce, bool is_checked) {
    *body = (struct body){.coding = coding, .nonce = nonce, .is_checked = is_checked, .left = length};
    if (coding == CODING_CHUNKED) body->left = 0;
    body->is_done = coding == CODING_NONE || (coding == CODING_LENGTH && length == 0);
}

static void take_data(struct body *body, const char *data, size_t count) {
    uint64_t key = mixed(~body->nonce);
    for (size_t index = 0; body->is_checked && index < count; index++)
        if (data[index] != expected(key, body->offset + index)) body->is_wrong = true;
    body->offset += count;
    if (body->coding != CODING_CLOSE) body->left -= count;
}

/* A byte of the chunked coding's framing. */
static void take_framing(struct body *body, char byte) {
    switch (body->state) {
    case IN_SIZE: {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, byte | 0x20);
        if (byte == '\r') {
            body->state = IN_SIZE_LINE;
        } else if (byte != 0 && digit != NULL && body->left < (1u << 28)) {
            body->left = body->left * 16 + (size_t)(digit - digits);
        } else {
            body->is_wrong = body->is_done = true;
        }
        break;
    }
    case IN_SIZE_LINE: body->state = body->left > 0 ? IN_DATA : IN_TRAILER; break;
    case IN_DATA_END:
        if (byte == '\n') body->state = IN_SIZE;
        break;
    case IN_TRAILER: body->state = byte == '\r' ? IN_TRAILER_LINE + 1 : IN_TRAILER_LINE; break;
    case IN_TRAILER_LINE:
        if (byte == '\n') body->state = IN_TRAILER;
        break;
    default: body->is_done = true; break;
    }
}

size_t body_feed(struct body *body, const char *data, size_t count) {
    size_t taken = 0;
    while (taken < count && !body->is_done) {
        if (body->coding == CODING_CHUNKED && body->state != IN_DATA) {
            take_framing(body, data[taken++]);
            continue;
        }
        size_t part = count - taken;
        if (body->coding != CODING_CLOSE && part > body->left) part = body->left;
        take_data(body, data + taken, part);
        taken += part;
        if (body->coding == CODING_CLOSE || body->left > 0) continue;
        if (body->coding == CODING_CHUNKED) body->state = IN_DATA_END;
        else body->is_done = true;
    }
    return taken;
}

size_t head_length(const struct bytes *bytes) {
    const char *start = bytes->data + bytes->taken;
    const char *end = memmem(start, bytes->length - bytes->taken, "\r\n\r\n", 4);
    return end == NULL ? 0 : (size_t)(end - start) + 4;
}

const char *field(const char *head, size_t length, const char *name, size_t *value_length) {
    size_t name_length = strlen(name);
    const char *end = head + length;
    for (const char *line = memchr(head, '\n', length); line != NULL && ++line < end;
         line = memchr(line, '\n', (size_t)(end - line))) {
        if ((size_t)(end - line) <= name_length || strncasecmp(line, name, name_length) != 0) continue;
        if (line[name_length] != ':') continue;
        const char *value = line + name_length + 1;
        while (value < end && *value == ' ') value++;
        const char *stop = memchr(value, '\r', (size_t)(end - value));
        *value_length = stop == NULL ? 0 : (size_t)(stop - value);
        return value;
    }
    return NULL;
}

enum coding framing(const char *head, size_t length, size_t *body_length) {
    size_t count;
    *body_length = 0;
    if (field(head, length, "Transfer-Encoding", &count) != NULL) return CODING_CHUNKED;
    const char *value = field(head, length, "Content-Length", &count);
    if (value == NULL) return CODING_CLOSE;
    *body_length = strtoul(value, NULL, 10);
    return CODING_LENGTH;
}

bool field_nonce(const char *head, size_t length, uint64_t *nonce) {
    size_t count;
    const char *value = field(head, length, "X-Nonce", &count);
    if (value == NULL) return false;
    *nonce = strtoull(value, NULL, 16);
    return true;
}
