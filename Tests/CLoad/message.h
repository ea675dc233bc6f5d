/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLOAD_MESSAGE_H
#define CLOAD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow at their end and are taken from their start. */
struct bytes {
    char *data;
    size_t length, taken, capacity;
};

void bytes_append(struct bytes *bytes, const void *data, size_t count);
void bytes_print(struct bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for `count` more; the caller adds to length what it has filled. */
char *bytes_room(struct bytes *bytes, size_t count);
void bytes_take(struct bytes *bytes, size_t count);
void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

enum coding { CODING_NONE, CODING_LENGTH, CODING_CHUNKED, CODING_CLOSE };

/* What client and server know of a request by its nonce. */
struct message {
    const char *method;
    enum coding request_coding, answer_coding;
    size_t request_size, answer_size;
    bool has_hints;  /* a 103 comes first */
    bool is_cut;     /* the server ends the connection inside the answer */
};

uint64_t mixed(uint64_t value);
struct message message_of(uint64_t nonce);
/* Appends a body of a nonce as its coding wants it. */
void append_body(struct bytes *bytes, uint64_t nonce, enum coding coding, size_t size);

/* Reads a body and compares it with the one of a nonce. */
struct body {
    enum coding coding;
    uint64_t nonce;
    bool is_checked;
    size_t left;    /* of the length, or of the chunk */
    size_t offset;  /* of the next byte in the body */
    int state;      /* of the chunked coding */
    bool is_done, is_wrong;
};

void body_begin(struct body *body, enum coding coding, size_t length, uint64_t nonce, bool is_checked);
/* Takes what belongs to the body and returns how much that was. */
size_t body_feed(struct body *body, const char *data, size_t count);

/* The length of the head that the bytes begin with; 0 if it is not whole. */
size_t head_length(const struct bytes *bytes);
/* A field's value, up to its line's end; NULL without it. */
const char *field(const char *head, size_t length, const char *name, size_t *value_length);
/* The framing that a head announces. */
enum coding framing(const char *head, size_t length, size_t *body_length);
bool field_nonce(const char *head, size_t length, uint64_t *nonce);

#endif
