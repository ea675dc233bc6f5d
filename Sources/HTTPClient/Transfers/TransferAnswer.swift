// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import CBearerdLibcurl

/// The response of a transfer as received so far.
///
/// libcurl's callbacks fill it. Confined to its loop's thread.
final class TransferAnswer {
    private(set) var fields = HTTPFields()
    private(set) var body: [UInt8] = []
    private let maximumBodyBytes: Int
    private var headBytes = 0
    /// The content as it came over the connection, with what frames its chunks.
    private var framedBytes = 0

    private static let maximumHeadBytes = 64 * 1024

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Makes libcurl fill this object, which the caller keeps for as long as the handle.
    func collect(from easy: borrowing CurlEasy) throws(CurlError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_HEADERFUNCTION, to: onHeaderLine)
        try easy.set(CURLOPT_HEADERDATA, to: context)
        try easy.set(CURLOPT_WRITEFUNCTION, to: onBody)
        try easy.set(CURLOPT_WRITEDATA, to: context)
        try easy.set(CURLOPT_DEBUGDATA, to: context)
        try easy.setDebugFunction(onReceived)
        try easy.set(CURLOPT_XFERINFODATA, to: context)
        try easy.setProgressFunction(onProgress)
    }

    fileprivate func framedBytesArrived(_ count: Int) { framedBytes += count }

    /// True if the chunks of the content are more frame than content: their extensions have no end of their own.
    fileprivate var isPadded: Bool { framedBytes > 2 * maximumBodyBytes + Self.maximumHeadBytes }

    fileprivate func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let room = maximumBodyBytes - body.count
        body.append(contentsOf: bytes.prefix(room))
        return bytes.count <= room
    }

    /// Takes one line of a head with its line end: a status line, a field, or the empty line.
    fileprivate func headerLineArrived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.maximumHeadBytes else { return false }
        if bytes.starts(with: "HTTP/".utf8) {
            fields.removeAll(keepingCapacity: true)  // the final head after an interim one
            return true
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPFields.Name(String(decoding: bytes[..<colon], as: UTF8.self))
        else { return true }
        let value = bytes[(colon + 1)...].drop { $0.isWhitespace }
        let end = value.lastIndex { !$0.isWhitespace }.map { $0 + 1 } ?? value.startIndex
        fields.append(name, String(decoding: value[..<end], as: UTF8.self))
        return true
    }
}

extension UInt8 {
    /// True for bytes that may surround a field's value: space, tab, CR and LF.
    fileprivate var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}

private func onHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    deliver(bytes, count: size * count, to: context) { $0.headerLineArrived($1) }
}

private func onBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    deliver(bytes, count: size * count, to: context) { $0.bodyArrived($1) }
}

/// Calls `body` with the received bytes.
///
/// - Returns: the whole count, or another number, which makes libcurl end the transfer with
///   `CURLE_WRITE_ERROR`.
private func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, count: Int, to context: UnsafeMutableRawPointer?,
    _ body: (TransferAnswer, UnsafeRawBufferPointer) -> Bool
) -> Int {
    guard count > 0 else { return 0 }
    guard let context, let bytes else { return 0 }
    let answer = Unmanaged<TransferAnswer>.fromOpaque(context).takeUnretainedValue()
    return body(answer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

private func onReceived(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ bytes: UnsafeMutablePointer<CChar>?,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard kind == CURLINFO_DATA_IN, let context else { return 0 }
    Unmanaged<TransferAnswer>.fromOpaque(context).takeUnretainedValue().framedBytesArrived(count)
    return 0
}

/// - Returns: 0 to go on; another number makes libcurl end the transfer with `CURLE_ABORTED_BY_CALLBACK`.
private func onProgress(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<TransferAnswer>.fromOpaque(context).takeUnretainedValue().isPadded ? 1 : 0
}
