// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Tells if the tests run under AddressSanitizer or ThreadSanitizer, which need more memory and time.
package enum Sanitizer {
    package static let isOn = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// Where they look for their options, such as the file of what is no race.
    static let variables = ["ASAN_OPTIONS", "TSAN_OPTIONS"]
}
