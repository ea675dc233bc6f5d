/* SPDX-License-Identifier: Apache-2.0 */
#include "CSystem.h"

#include <string.h>

/* A line of the access log is one call: a piece of it is mostly shorter than what a call costs. Every copy has a size that
   the compiler knows, so it may write over the end of what is there; `slack` bytes are kept free behind all that is
   written. */
#define INLINE static inline __attribute__((always_inline))
enum { slack = 32 };

struct sixteen {
    uint64_t low, high;
};

/* Words overlap where the length is no multiple of theirs. */
INLINE uint8_t *put(uint8_t *to, const uint8_t *from, size_t length) {
    if (length >= 16) {
        struct sixteen word;
        for (size_t index = 0; index + 16 < length; index += 16) {
            memcpy(&word, from + index, 16);
            memcpy(to + index, &word, 16);
        }
        memcpy(&word, from + length - 16, 16);
        memcpy(to + length - 16, &word, 16);
    } else if (length >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + length - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + length - 8, &last, 8);
    } else if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + length - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + length - 4, &last, 4);
    } else if (length > 0) {
        uint8_t first = from[0], middle = from[length / 2], last = from[length - 1];
        to[0] = first;
        to[length / 2] = middle;
        to[length - 1] = last;
    }
    return to + length;
}

INLINE uint8_t *put_percent(uint8_t *to, uint8_t byte) {
    static const char digits[] = "0123456789ABCDEF";
    to[0] = '%';
    to[1] = (uint8_t)digits[byte >> 4];
    to[2] = (uint8_t)digits[byte & 15];
    return to + 3;
}

/* Copies what a client chose: quotes, backslashes and all but printable ASCII are percent-encoded. */
INLINE uint8_t *put_visible(uint8_t *to, struct bearerd_text text, size_t limit) {
    size_t length = text.length < limit ? text.length : limit, start = 0;
    while (start < length) {
        size_t end = bearerd_end_of_plain_text(text.bytes, start, length);
        to = put(to, text.bytes + start, end - start);
        if (end < length) to = put_percent(to, text.bytes[end++]);
        start = end;
    }
    if (length < text.length) {
        memcpy(to, "...", 3);
        to += 3;
    }
    return to;
}

INLINE void put_pair(uint8_t *to, uint64_t below_hundred) { memcpy(to, bearerd_two_digits + below_hundred * 2, 2); }

INLINE uint8_t *put_number(uint8_t *to, uint64_t value) {
    if (value < 10) {
        *to = (uint8_t)('0' + value);
        return to + 1;
    }
    if (value < 1000) {
        *to = (uint8_t)('0' + value / 100);
        to += value >= 100;
        put_pair(to, value % 100);
        return to + 2;
    }
    return to + bearerd_decimal(value, 1, to, 20);
}

/* With six digits behind the point. */
INLINE uint8_t *put_seconds(uint8_t *to, uint64_t nanoseconds) {
    uint64_t seconds = nanoseconds / 1000000000, microseconds = nanoseconds / 1000 - seconds * 1000000;
    to = put_number(to, seconds);
    *to = '.';
    put_pair(to + 1, microseconds / 10000);
    put_pair(to + 3, microseconds / 100 % 100);
    put_pair(to + 5, microseconds % 100);
    return to + 7;
}

size_t bearerd_write_line(const struct bearerd_line_step *steps, size_t count, const struct bearerd_line *line,
                          bool quotes, uint8_t *text, size_t room) {
    if (room < line->time.length + slack) return SIZE_MAX;
    uint8_t *last = text + room - slack, *to = put(text, line->time.bytes, line->time.length);
    for (const struct bearerd_line_step *step = steps; step < steps + count; step++) {
        /* Numbers need less than the longest key. */
        if (to > last || (size_t)(last - to) < 2 * sizeof step->key) return SIZE_MAX;
        memcpy(to, step->key, sizeof step->key);
        uint8_t *start = to + step->key_length;
        const struct bearerd_text *value = NULL;
        switch ((enum bearerd_line_field)step->field) {
        case BEARERD_LINE_REQUEST_ID: value = &line->request_id; break;
        case BEARERD_LINE_METHOD: value = &line->method; break;
        case BEARERD_LINE_ROUTE: value = &line->route; break;
        case BEARERD_LINE_PATH: value = &line->path; break;
        case BEARERD_LINE_PROTOCOL: value = &line->protocol; break;
        case BEARERD_LINE_PEER: value = &line->peer; break;
        case BEARERD_LINE_IDENTITY:
            if (line->identity.length == 0) continue;
            value = &line->identity;
            break;
        case BEARERD_LINE_CODE:
            if (line->code.length == 0) continue;
            value = &line->code;
            break;
        case BEARERD_LINE_UPSTREAM:
            if (line->upstream.length == 0) continue;
            value = &line->upstream;
            break;
        case BEARERD_LINE_ROUTE_PART:
            if ((size_t)(last - start) < line->route.length) return SIZE_MAX;
            to = put(start, line->route.bytes, line->route.length);
            continue;
        case BEARERD_LINE_GRPC_STATUS:
            if (line->has_grpc_status) to = put_number(start, line->grpc_status);
            continue;
        case BEARERD_LINE_REPLAYED:
            if (line->is_replayed) to = start;
            continue;
        case BEARERD_LINE_STATUS: to = put_number(start, line->status); continue;
        case BEARERD_LINE_BYTES_IN: to = put_number(start, line->bytes_in); continue;
        case BEARERD_LINE_BYTES_OUT: to = put_number(start, line->bytes_out); continue;
        case BEARERD_LINE_SECONDS: to = put_seconds(start, line->nanoseconds); continue;
        case BEARERD_LINE_END: to = start; continue;
        }
        size_t length = value->length;
        if (step->limit > 0) {
            size_t shown = length < step->limit ? length : step->limit;
            if ((size_t)(last - start) < 3 * shown + 3) return SIZE_MAX;
            to = put_visible(start, *value, step->limit);
        } else {
            if ((size_t)(last - start) < length) return SIZE_MAX;
            to = put(start, value->bytes, length);
        }
        if (quotes) *to++ = '"';
    }
    return (size_t)(to - text);
}
