/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Encodes `text` as a QR code (ISO/IEC 18004, level L) into `modules`, row by row, a byte each: 1 is dark.

   Returns the number of modules in a row; 0 where libqrencode is not installed, or the code has more than `room`. */
size_t bearerd_qrcode(const char *text, uint8_t *modules, size_t room);
