// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPExchange

/// Why a request's content did not get through.
enum UploadFailure: Error {
    case client(MessageError)
    case upstream(StreamError)
}
