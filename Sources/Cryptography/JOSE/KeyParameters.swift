// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The numbers that make a key (`OSSL_PARAM_BLD`); they are overwritten when the object goes.
final class KeyParameters {
    private let builder = OSSL_PARAM_BLD_new()
    // The builder points at all of these, names too, until the key is made.
    private var numbers: [OpaquePointer] = []
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private var octets: [UnsafeMutableBufferPointer<UInt8>] = []
    private var isComplete = true

    deinit {
        OSSL_PARAM_BLD_free(builder)
        numbers.forEach { BN_clear_free($0) }
        texts.forEach { $0.deallocate() }
        octets.forEach { $0.deallocate() }
    }

    /// Adds a number in big-endian bytes.
    func add(_ name: String, number: [UInt8]) {
        guard let value = BN_bin2bn(number, CInt(clamping: number.count), nil)
        else { return isComplete = false }
        numbers.append(value)
        check(OSSL_PARAM_BLD_push_BN(builder, kept(name), value))
    }

    func add(_ name: String, text: String) {
        check(OSSL_PARAM_BLD_push_utf8_string(builder, kept(name), kept(text), text.utf8.count))
    }

    func add(_ name: String, bytes: [UInt8]) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        octets.append(copy)
        check(OSSL_PARAM_BLD_push_octet_string(builder, kept(name), copy.baseAddress, bytes.count))
    }

    /// Makes the key pair (`EVP_PKEY_fromdata`).
    ///
    /// - Parameter type: `RSA` or `EC`.
    /// - Returns: a key that the caller frees; nil if the numbers make none.
    func makeKey(_ type: String) -> OpaquePointer? {
        guard isComplete, let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, bearerd_key_pair, parameters) == 1
        else { return nil }
        return key
    }

    /// A copy of the text that lives as long as the builder.
    private func kept(_ text: String) -> UnsafePointer<CChar> {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
        copy.initialize(repeating: 0, count: text.utf8.count + 1)
        for (index, byte) in text.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
        texts.append(copy)
        return UnsafePointer(copy)
    }

    private func check(_ result: CInt) {
        if result != 1 { isComplete = false }
    }
}
