// SPDX-License-Identifier: Apache-2.0

internal import JSONText

/// The name of a route as lines of the access log have it, with what stands before and after it in each format.
package struct LoggedRoute: Sendable {
    private let json: [UInt8]
    private let text: [UInt8]

    package init(_ name: String) {
        var json = Array(#"","route":""#.utf8)
        json.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        json.append(contentsOf: #"","path":""#.utf8)
        self.json = json
        var text = Array(" route=".utf8)
        text.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        self.text = text
    }

    /// The piece of a line.
    func piece(in format: LogFormat) -> [UInt8] {
        switch format {
        case .json: json
        case .text: text
        }
    }
}
