// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// The parameters of a query or a form (`application/x-www-form-urlencoded`, RFC 6749 appendix B).
struct FormParameters {
    private var values: [(name: String, value: String)] = []

    /// Parses parameters.
    ///
    /// - Parameter encoded: without the `?`.
    /// - Throws: `invalid_request` for a broken encoding, and for a known parameter that is given twice
    ///   (§3.1).
    init(_ encoded: some Collection<UInt8>) throws(ProviderError) {
        for pair in encoded.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "="))
            guard let name = PercentEncoding.decode(pair[..<(mark ?? pair.endIndex)], isForm: true),
                let value = PercentEncoding.decode(
                    mark.map { pair[$0...].dropFirst() } ?? pair[pair.endIndex...], isForm: true)
            else { throw ProviderError(.invalidRequest, "the parameters are not form-encoded UTF-8") }
            values.append((name, value))
        }
        for parameter in Parameter.allCases where parameter != .resource && all(parameter).count > 1 {
            throw ProviderError(.invalidRequest, "\(parameter.rawValue) is given more than once")
        }
    }

    /// The value of a parameter; one without a value counts as omitted (RFC 6749 §3.1).
    subscript(parameter: Parameter) -> String? { all(parameter).first { !$0.isEmpty } }

    /// Every value of a parameter that may repeat.
    func all(_ parameter: Parameter) -> [String] {
        values.filter { $0.name == parameter.rawValue }.map(\.value)
    }

    /// Returns the value of a required parameter.
    ///
    /// - Throws: `invalid_request` if it is missing.
    func required(_ parameter: Parameter) throws(ProviderError) -> String {
        guard let value = self[parameter] else {
            throw ProviderError(.invalidRequest, "\(parameter.rawValue) is missing")
        }
        return value
    }
}
