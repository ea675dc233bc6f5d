// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// A page of the provider.
struct HTMLPage {
    let title: HTMLText
    let content: HTMLText

    var bytes: [UInt8] { SmallPage(title: title, content: content).bytes }
}
