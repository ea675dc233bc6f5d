/* SPDX-License-Identifier: Apache-2.0 */
#include "CSystem.h"

#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

size_t bearerd_end_of_token(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    /* Nearly all tokens are letters, digits and hyphens; what is none of these is looked at below. */
    const __m128i before_a = _mm_set1_epi8('a' - 1), behind_z = _mm_set1_epi8('z' + 1), lower = _mm_set1_epi8(0x20),
                  before_0 = _mm_set1_epi8('0' - 1), behind_9 = _mm_set1_epi8('9' + 1), hyphen = _mm_set1_epi8('-');
    for (; start + 16 <= end; start += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + start));
        __m128i small = _mm_or_si128(sixteen, lower);
        __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(small, before_a), _mm_cmplt_epi8(small, behind_z));
        __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(sixteen, before_0), _mm_cmplt_epi8(sixteen, behind_9));
        __m128i usual = _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(sixteen, hyphen));
        unsigned found = (unsigned)_mm_movemask_epi8(usual);
        if (found != 0xffff) {
            start += (size_t)__builtin_ctz(~found);
            break;
        }
    }
#endif
    while (start < end && is_token[bytes[start]]) start++;
    return start;
}

static bool is_content(uint8_t byte) { return (byte >= ' ' && byte != 0x7f) || byte == '\t'; }

size_t bearerd_end_of_content(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), delete = _mm_set1_epi8(0x7f);
    for (; start + 16 <= end; start += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + start));
        __m128i fine = _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(sixteen, space), sixteen), _mm_cmpeq_epi8(sixteen, tab));
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(_mm_cmpeq_epi8(sixteen, delete), fine));
        if (found != 0xffff) return start + (size_t)__builtin_ctz(~found);
    }
#endif
    while (start < end && is_content(bytes[start])) start++;
    return start;
}

struct bearerd_field_line bearerd_field_line(const uint8_t *bytes, size_t start, size_t end) {
    const struct bearerd_field_line none = {0};
    if (end > UINT32_MAX) return none;
    size_t name_end = bearerd_end_of_token(bytes, start, end);
    if (name_end == start || name_end >= end || bytes[name_end] != ':') return none;
    size_t value = name_end + 1;
    while (value < end && (bytes[value] == ' ' || bytes[value] == '\t')) value++;
    size_t content_end = bearerd_end_of_content(bytes, value, end);
    if (end - content_end < 2 || bytes[content_end] != '\r' || bytes[content_end + 1] != '\n') return none;
    size_t value_end = content_end;
    while (value_end > value && (bytes[value_end - 1] == ' ' || bytes[value_end - 1] == '\t')) value_end--;
    return (struct bearerd_field_line){
        .name_end = (uint32_t)name_end, .value = (uint32_t)value, .value_end = (uint32_t)value_end,
        .next = (uint32_t)content_end + 2};
}

static bool is_plain(uint8_t byte) { return byte > ' ' && byte < 0x7f && byte != '"' && byte != '\\'; }

size_t bearerd_end_of_plain_text(const uint8_t *bytes, size_t start, size_t end) {
#ifdef __SSE2__
    /* As signed numbers those from 0x80 on are below the space. */
    const __m128i space = _mm_set1_epi8(' '), delete = _mm_set1_epi8(0x7f), quote = _mm_set1_epi8('"'),
                  backslash = _mm_set1_epi8('\\');
    for (; start + 16 <= end; start += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + start));
        __m128i hidden = _mm_or_si128(
            _mm_cmpeq_epi8(sixteen, delete),
            _mm_or_si128(_mm_cmpeq_epi8(sixteen, quote), _mm_cmpeq_epi8(sixteen, backslash)));
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(hidden, _mm_cmpgt_epi8(sixteen, space)));
        if (found != 0xffff) return start + (size_t)__builtin_ctz(~found);
    }
#endif
    while (start < end && is_plain(bytes[start])) start++;
    return start;
}

static const char two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                 "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                 "9899";

size_t bearerd_decimal(uint64_t value, size_t width, uint8_t *text, size_t room) {
    size_t count = 1;
    for (uint64_t bound = 10; count < 20 && value >= bound; bound *= 10) count++;
    if (count < width) count = width;
    if (count > room) return 0;
    size_t index = count;
    for (; index > 1; value /= 100) {
        index -= 2;
        memcpy(text + index, two_digits + value % 100 * 2, 2);
    }
    if (index == 1) text[0] = (uint8_t)('0' + value % 10);
    return count;
}
