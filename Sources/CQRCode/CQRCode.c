/* SPDX-License-Identifier: Apache-2.0 */
#include "CQRCode.h"

#include <dlfcn.h>

/* What is used of libqrencode 4 is declared here and loaded late: the program is built, and runs, without it. */
typedef struct {
    int version, width;
    unsigned char *data;
} code;

size_t bearerd_qrcode(const char *text, uint8_t *modules, size_t room) {
    void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    code *(*encode)(const char *text, int version, int level);
    void (*release)(code *code);
    *(void **)&encode = dlsym(library, "QRcode_encodeString8bit");
    *(void **)&release = dlsym(library, "QRcode_free");
    enum { SMALLEST = 0, LOWEST = 0 };
    code *made = encode && release ? encode(text, SMALLEST, LOWEST) : NULL;
    size_t width = made && made->width > 0 ? (size_t)made->width : 0;
    if (width * width > room) width = 0;
    for (size_t i = 0; i < width * width; i++) modules[i] = made->data[i] & 1;
    if (made) release(made);
    dlclose(library);
    return width;
}
