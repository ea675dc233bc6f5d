/* SPDX-License-Identifier: Apache-2.0 */
#include "CSystem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What is asked for each line is part of the loop that asks: a call, and a struct as its answer, cost as much as the work. */
#define INLINE static inline __attribute__((always_inline))

/* The bytes of a token (RFC 9110 section 5.6.2). */
static const uint8_t is_token[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1, ['-'] = 1, ['.'] = 1,
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1,
    ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1,
    ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1,
    ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['a'] = 1,
    ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1,
    ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1,
    ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1, ['|'] = 1, ['~'] = 1,
};

#ifdef __SSE2__
/* Where to load sixteen bytes of which all from `start` on are before the end: earlier where fewer are left. What is found
   in front of `start` is shifted out. */
static inline size_t sixteen_at(size_t start, size_t end) { return end - start < 16 ? end - 16 : start; }
#endif

#ifdef __SSE2__
/* A bit for each of sixteen bytes that is no letter, digit or hyphen, which nearly all tokens consist of. */
INLINE unsigned not_usual(__m128i sixteen) {
    const __m128i before_a = _mm_set1_epi8('a' - 1), behind_z = _mm_set1_epi8('z' + 1), lower = _mm_set1_epi8(0x20),
                  before_0 = _mm_set1_epi8('0' - 1), behind_9 = _mm_set1_epi8('9' + 1), hyphen = _mm_set1_epi8('-');
    __m128i small = _mm_or_si128(sixteen, lower);
    __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(small, before_a), _mm_cmplt_epi8(small, behind_z));
    __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(sixteen, before_0), _mm_cmplt_epi8(sixteen, behind_9));
    __m128i usual = _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(sixteen, hyphen));
    return ~(unsigned)_mm_movemask_epi8(usual) & 0xffff;
}
#endif

INLINE size_t end_of_token(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    while (start < end && end >= 16) {
        size_t from = sixteen_at(start, end);
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + from));
        unsigned others = not_usual(sixteen);
        others >>= start - from;
        if (others != 0) {
            start += (size_t)__builtin_ctz(others);
            if (bytes[start] == ':') return start;
            break;
        }
        start = from + 16;
    }
#endif
    while (start < end && is_token[bytes[start]]) start++;
    return start;
}

size_t bearerd_end_of_token(const uint8_t *bytes, size_t start, size_t end) { return end_of_token(bytes, start, end); }

static bool is_content(uint8_t byte) { return (byte >= ' ' && byte != 0x7f) || byte == '\t'; }

#ifdef __SSE2__
/* A bit for each of sixteen bytes that no field's value may hold. */
INLINE unsigned no_content(const uint8_t *bytes) {
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), delete = _mm_set1_epi8(0x7f);
    __m128i sixteen = _mm_loadu_si128((const __m128i *)bytes);
    __m128i fine = _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(sixteen, space), sixteen), _mm_cmpeq_epi8(sixteen, tab));
    return ~(unsigned)_mm_movemask_epi8(_mm_andnot_si128(_mm_cmpeq_epi8(sixteen, delete), fine)) & 0xffff;
}
#endif

INLINE size_t end_of_content(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    for (; start + 16 <= end; start += 16) {
        unsigned others = no_content(bytes + start);
        if (others != 0) return start + (size_t)__builtin_ctz(others);
    }
    /* The last sixteen; what is in front of `start` is shifted out. */
    if (start < end && end >= 16) {
        unsigned others = no_content(bytes + end - 16) >> (16 - (end - start));
        return others != 0 ? start + (size_t)__builtin_ctz(others) : end;
    }
#endif
    while (start < end && is_content(bytes[start])) start++;
    return start;
}

size_t bearerd_end_of_content(const uint8_t *bytes, size_t start, size_t end) { return end_of_content(bytes, start, end); }

/* What stands behind a name and its colon at `name_end`; the next line is 0 if it is not complete or not right. */
INLINE struct bearerd_field_line rest_of_line(const uint8_t *bytes, size_t name_end, size_t end, bool *is_canonical) {
    const struct bearerd_field_line none = {0};
    size_t value = name_end + 1;
    bool is_spaced = end - value > 1 && bytes[value] == ' ' && bytes[value + 1] > ' ';
    if (is_spaced) value++;
    else while (value < end && (bytes[value] == ' ' || bytes[value] == '\t')) value++;
    size_t content_end = end_of_content(bytes, value, end);
    if (end - content_end < 2 || bytes[content_end] != '\r' || bytes[content_end + 1] != '\n') return none;
    size_t value_end = content_end;
    while (value_end > value && bytes[value_end - 1] <= ' ') value_end--;
    *is_canonical = value_end == content_end && (is_spaced || (value == name_end + 2 && bytes[value - 1] == ' '));
    return (struct bearerd_field_line){
        .name_end = (uint32_t)name_end, .value = (uint32_t)value, .value_end = (uint32_t)value_end,
        .next = (uint32_t)content_end + 2};
}

INLINE bool is_name_end(const uint8_t *bytes, size_t start, size_t name_end, size_t end) {
    return name_end > start && name_end < end && bytes[name_end] == ':';
}

struct bearerd_field_line bearerd_field_line(const uint8_t *bytes, size_t start, size_t end) {
    if (end > UINT32_MAX) return (struct bearerd_field_line){0};
    size_t name_end = end_of_token(bytes, start, end);
    if (!is_name_end(bytes, start, name_end, end)) return (struct bearerd_field_line){0};
    bool is_canonical;
    return rest_of_line(bytes, name_end, end, &is_canonical);
}

/* The names of fields, in lower case and with their colon, by a hash of their length, their first and their last letter. */
struct name {
    uint8_t letters[32];
    /* The bit that makes a letter lower-case where there is a letter, and nothing elsewhere: with that bit CR would be
       taken for a hyphen. */
    uint8_t folds[32];
    uint8_t length;
    /* The next name of the same hash; 0 for none. */
    uint8_t next;
};

struct bearerd_names {
    uint8_t first[256];
    /* The number of `Connection`; 0 if it is not among them. */
    uint8_t connection;
    struct name names[64];
};

struct bearerd_names *bearerd_make_names(void) { return calloc(1, sizeof(struct bearerd_names)); }

void bearerd_set_connection(struct bearerd_names *names, uint8_t number) { names->connection = number; }

/* The bit that makes a letter lower-case is shifted out. */
INLINE uint8_t hash(size_t length, uint8_t first, uint8_t last) {
    return (uint8_t)(length + ((first + last * 5u) << 3));
}

bool bearerd_add_name(struct bearerd_names *names, uint8_t number, const uint8_t *letters, size_t length) {
    struct name *name = &names->names[number % 64];
    if (number == 0 || number >= 64 || length == 0 || length > sizeof name->letters || name->length > 0) return false;
    for (size_t index = 0; index < length; index++) {
        uint8_t letter = letters[index] | 0x20;
        name->folds[index] = letter >= 'a' && letter <= 'z' ? 0x20 : 0;
        name->letters[index] = letters[index] | name->folds[index];
    }
    if (length < sizeof name->letters) name->letters[length] = ':';
    name->length = (uint8_t)length;
    uint8_t *slot = &names->first[hash(length, letters[0], letters[length - 1])];
    name->next = *slot;
    *slot = number;
    return true;
}

/* Eight bytes of a name are those of `candidate` from `index` on, in whichever case. */
static inline bool same_eight(const struct name *candidate, const uint8_t *name, size_t index) {
    uint64_t bytes, folds, letters;
    memcpy(&bytes, name + index, 8);
    memcpy(&folds, candidate->folds + index, 8);
    memcpy(&letters, candidate->letters + index, 8);
    return (bytes | folds) == letters;
}

static inline bool same_four(const struct name *candidate, const uint8_t *name, size_t index) {
    uint32_t bytes, folds, letters;
    memcpy(&bytes, name + index, 4);
    memcpy(&folds, candidate->folds + index, 4);
    memcpy(&letters, candidate->letters + index, 4);
    return (bytes | folds) == letters;
}

/* Words overlap where the length is no multiple of theirs. */
INLINE bool is_name(const struct name *candidate, const uint8_t *name, size_t length) {
    if (candidate->length != length) return false;
    if (length >= 8) {
        for (size_t index = 0; index + 8 < length; index += 8)
            if (!same_eight(candidate, name, index)) return false;
        return same_eight(candidate, name, length - 8);
    }
    if (length >= 4) return same_four(candidate, name, 0) && same_four(candidate, name, length - 4);
    for (size_t index = 0; index < length; index++)
        if ((name[index] | candidate->folds[index]) != candidate->letters[index]) return false;
    return true;
}

INLINE uint8_t find_name(const struct bearerd_names *names, const uint8_t *name, size_t length) {
    uint8_t number = names->first[hash(length, name[0], name[length - 1])];
    while (number != 0 && !is_name(&names->names[number], name, length)) number = names->names[number].next;
    return number;
}

uint8_t bearerd_find_name(const struct bearerd_names *names, const uint8_t *name, size_t length) {
    return length == 0 ? 0 : find_name(names, name, length);
}

/* The number of the name that a colon ends within the longest name there is, and where it ends; 0 if there is none. */
INLINE uint8_t known_name(const struct bearerd_names *names, const uint8_t *bytes, size_t *position, size_t end) {
    const uint8_t *name = bytes + *position;
    size_t length = 0, room = end - *position < 33 ? end - *position : 33;
#ifdef __SSE2__
    const __m128i colon = _mm_set1_epi8(':');
    for (; length + 16 <= room; length += 16) {
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(name + length)), colon));
        if (found != 0) {
            length += (size_t)__builtin_ctz(found);
            break;
        }
    }
#endif
    while (length < room && name[length] != ':') length++;
    if (length == 0 || length == room) return 0;
    *position += length;
    return find_name(names, name, length);
}

#ifdef __SSE2__
/* A bit for each of sixteen bytes that is no printable character of ASCII, spaces included: with 0x60 added these are the
   lowest of signed numbers. */
INLINE unsigned not_printable(const uint8_t *bytes) {
    __m128i moved = _mm_add_epi8(_mm_loadu_si128((const __m128i *)bytes), _mm_set1_epi8(0x60));
    return ~(unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(moved, _mm_set1_epi8(-0x21))) & 0xffff;
}

/* Reads a line as nearly all are: a name that ends, with its colon, within the first sixteen bytes, a space, and printable
   characters, of which neither the first nor the last is a space. Returns where the next line begins; 0 if this one has to be
   read with more care. */
INLINE size_t usual_line(const struct bearerd_names *names, const uint8_t *bytes, size_t start, size_t end,
                         struct bearerd_field *field) {
    if (end - start < 16) return 0;
    const uint8_t *line = bytes + start;
    __m128i sixteen = _mm_loadu_si128((const __m128i *)line);
    unsigned colons = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8(':')));
    if (colons == 0 || (colons & 1) != 0) return 0;
    size_t length = (size_t)__builtin_ctz(colons);
    /* With the colon, behind which the lengths are equal too. */
    unsigned letters = (2u << length) - 1;
    uint8_t number = names->first[hash(length, line[0], line[length - 1])];
    for (; number != 0; number = names->names[number].next) {
        const struct name *name = &names->names[number];
        __m128i folded = _mm_or_si128(sixteen, _mm_loadu_si128((const __m128i *)name->folds));
        __m128i same = _mm_cmpeq_epi8(folded, _mm_loadu_si128((const __m128i *)name->letters));
        if ((~(unsigned)_mm_movemask_epi8(same) & letters) == 0) break;
    }
    if (number == 0 && (not_usual(sixteen) & letters >> 1) != 0) return 0;
    size_t value = start + length + 2, value_end = value;
    for (;;) {
        if (value_end >= end) return 0;
        size_t from = sixteen_at(value_end, end);
        unsigned others = not_printable(bytes + from) >> (value_end - from);
        if (others != 0) {
            value_end += (size_t)__builtin_ctz(others);
            break;
        }
        value_end = from + 16;
    }
    if (end - value_end < 2 || memcmp(bytes + value_end, "\r\n", 2) != 0) return 0;
    if (bytes[value - 1] != ' ' || bytes[value] <= ' ' || bytes[value_end - 1] == ' ') return 0;
    *field = (struct bearerd_field){
        .name = (uint32_t)start, .value = (uint32_t)value, .value_length = (uint32_t)(value_end - value),
        .name_length = (uint16_t)length, .known = number, .traits = 1};
    return value_end + 2;
}
#endif

/* Reads any line. Returns where the next one begins; 0 if this one is not complete or not right. */
static size_t any_line(const struct bearerd_names *names, const uint8_t *bytes, size_t start, size_t end,
                       struct bearerd_field *field, bool *name_is_too_long) {
    size_t name_end = start;
    /* Known names are tokens, and nothing but a known name is equal to one. */
    uint8_t known = known_name(names, bytes, &name_end, end);
    if (known == 0) name_end = end_of_token(bytes, start, end);
    if (!is_name_end(bytes, start, name_end, end)) return 0;
    bool is_canonical;
    struct bearerd_field_line line = rest_of_line(bytes, name_end, end, &is_canonical);
    if (line.next == 0) return 0;
    *name_is_too_long = name_end - start > UINT16_MAX;
    *field = (struct bearerd_field){
        .name = (uint32_t)start, .value = line.value, .value_length = line.value_end - line.value,
        .name_length = (uint16_t)(name_end - start), .known = known, .traits = is_canonical};
    return *name_is_too_long ? 0 : line.next;
}

/* One of the two words that `Connection` nearly always is, in whichever case: a letter's bit 0x20 makes it lower-case. */
INLINE uint8_t connection_option(const uint8_t *value, size_t length) {
    uint64_t first, last;
    uint32_t four;
    if (length == 5) {
        memcpy(&four, value, 4);
        return (four | 0x20202020u) == 0x736f6c63u && (value[4] | 0x20) == 'e' ? BEARERD_CONNECTION_CLOSE
                                                                              : BEARERD_CONNECTION_OTHER;
    }
    if (length != 10) return BEARERD_CONNECTION_OTHER;
    memcpy(&first, value, 8);
    memcpy(&last, value + 2, 8);
    return (first | 0x2020202020202020u) == 0x696c612d7065656bu && (last | 0x2020202020202020u) == 0x6576696c612d7065u
               ? BEARERD_CONNECTION_KEEP_ALIVE
               : BEARERD_CONNECTION_OTHER;
}

void bearerd_read_field_lines(const struct bearerd_names *names, const uint8_t *bytes, size_t end,
                              struct bearerd_field *fields, size_t room, struct bearerd_fields_read *state) {
    if (end > UINT32_MAX) return;
    size_t start = state->next, count = state->count;
    uint64_t present = state->present;
    while (count < room && start < end && bytes[start] != '\r') {
        struct bearerd_field *field = fields + count;
        size_t next = 0;
#ifdef __SSE2__
        next = usual_line(names, bytes, start, end, field);
#endif
        if (next == 0) next = any_line(names, bytes, start, end, field, &state->name_is_too_long);
        if (next == 0) break;
        present |= (uint64_t)1 << field->known;
        if (field->known != 0 && field->known == names->connection)
            state->connection = state->connection == BEARERD_NO_CONNECTION
                                    ? connection_option(bytes + field->value, field->value_length)
                                    : BEARERD_CONNECTION_OTHER;
        count++;
        start = next;
    }
    state->next = start;
    state->count = count;
    state->present = present;
}

size_t bearerd_write_field_lines(const struct bearerd_field *fields, size_t count, const uint8_t *block, size_t block_length,
                                 uint8_t *text, size_t room) {
    size_t written = 0;
    for (size_t index = 0; index < count;) {
        const struct bearerd_field *field = &fields[index++];
        size_t end = (size_t)field->value + field->value_length + 2;
        if (!(field->traits & 1)) {
            size_t name_end = (size_t)field->name + field->name_length;
            size_t length = (size_t)field->name_length + field->value_length + 4;
            if (name_end > block_length || end - 2 > block_length || room - written < length) return SIZE_MAX;
            uint8_t *to = text + written;
            memcpy(to, block + field->name, field->name_length);
            to += field->name_length;
            *to++ = ':';
            *to++ = ' ';
            memcpy(to, block + field->value, field->value_length);
            memcpy(to + field->value_length, "\r\n", 2);
            written += length;
            continue;
        }
        /* Lines that are adjacent in the block are copied together. */
        for (; index < count && (fields[index].traits & 1) && fields[index].name == end; index++)
            end = (size_t)fields[index].value + fields[index].value_length + 2;
        if (end > block_length || field->name > end || room - written < end - field->name) return SIZE_MAX;
        memcpy(text + written, block + field->name, end - field->name);
        written += end - field->name;
    }
    return written;
}

static bool is_plain(uint8_t byte) { return byte > ' ' && byte < 0x7f && byte != '"' && byte != '\\'; }

size_t bearerd_end_of_plain_text(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    /* As signed numbers those from 0x80 on are below the space. */
    const __m128i space = _mm_set1_epi8(' '), delete = _mm_set1_epi8(0x7f), quote = _mm_set1_epi8('"'),
                  backslash = _mm_set1_epi8('\\');
    while (start < end && end >= 16) {
        size_t from = sixteen_at(start, end);
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + from));
        __m128i hidden = _mm_or_si128(
            _mm_cmpeq_epi8(sixteen, delete),
            _mm_or_si128(_mm_cmpeq_epi8(sixteen, quote), _mm_cmpeq_epi8(sixteen, backslash)));
        unsigned others = ~(unsigned)_mm_movemask_epi8(_mm_andnot_si128(hidden, _mm_cmpgt_epi8(sixteen, space))) & 0xffff;
        others >>= start - from;
        if (others != 0) return start + (size_t)__builtin_ctz(others);
        start = from + 16;
    }
#endif
    while (start < end && is_plain(bytes[start])) start++;
    return start;
}

const char bearerd_two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                  "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                  "9899";

static const uint64_t powers_of_ten[] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u,
    1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u, 10000000000000000u, 100000000000000000u,
    1000000000000000000u, 10000000000000000000u};

size_t bearerd_decimal(uint64_t value, size_t width, uint8_t *text, size_t room) {
    /* Nearly as many digits as bits times log10(2), or one fewer. */
    size_t count = ((64 - (size_t)__builtin_clzll(value | 1)) * 1233) >> 12;
    if ((value | 1) >= powers_of_ten[count]) count++;
    if (count < width) count = width;
    if (count > room) return 0;
    size_t index = count;
    for (; index > 1; value /= 100) {
        index -= 2;
        memcpy(text + index, bearerd_two_digits + value % 100 * 2, 2);
    }
    if (index == 1) text[0] = (uint8_t)('0' + value % 10);
    return count;
}
