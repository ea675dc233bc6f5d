// SPDX-License-Identifier: Apache-2.0

/// One line of the access log with some of the fields, behind others in a buffer.
struct AccessLine: ~Copyable {
    private let format: LogFormat
    private let fields: Set<AccessField>
    private var bytes: [UInt8]

    init(_ format: LogFormat, _ fields: Set<AccessField>, behind bytes: consuming [UInt8]) {
        self.format = format
        self.fields = fields
        self.bytes = bytes
    }

    /// Writes what every line has.
    mutating func begin(unixMilliseconds: Int64, _ timestamp: inout Timestamp) {
        switch format {
        case .json:
            bytes.append(contentsOf: #"{"time":""#.utf8)
            timestamp.append(unixMilliseconds: unixMilliseconds, to: &bytes)
            bytes.append(contentsOf: #"","level":"info","message":"request""#.utf8)
        case .text:
            timestamp.append(unixMilliseconds: unixMilliseconds, to: &bytes)
            bytes.append(contentsOf: " info    request".utf8)
        }
    }

    /// Adds a text that needs no escape.
    mutating func add(_ field: AccessField, _ text: String) { add(field, escaped: Array(text.utf8)) }

    /// Adds a text that is escaped already.
    mutating func add(_ field: AccessField, escaped text: [UInt8]) {
        guard begin(field) else { return }
        quote()
        bytes.append(contentsOf: text)
        quote()
    }

    /// Adds bytes of a client's choice.
    mutating func add(_ field: AccessField, visible text: Span<UInt8>, limit: Int) {
        guard begin(field) else { return }
        quote()
        bytes.append(addingCapacity: OutputSpan.room(forVisible: text, limit: limit)) {
            $0.append(visible: text, limit: limit)
        }
        quote()
    }

    mutating func add(_ field: AccessField, _ number: UInt64) {
        guard begin(field) else { return }
        bytes.append(decimal: number)
    }

    mutating func add(_ field: AccessField, _ duration: Duration) {
        guard begin(field) else { return }
        bytes.append(seconds: duration)
    }

    mutating func addTrue(_ field: AccessField) {
        guard begin(field) else { return }
        bytes.append(contentsOf: "true".utf8)
    }

    /// Ends the line.
    ///
    /// - Returns: the buffer with the line in it.
    consuming func ended() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// - Returns: whether the line has the field.
    private mutating func begin(_ field: AccessField) -> Bool {
        guard fields.contains(field) else { return false }
        switch format {
        case .json: bytes.append(contentsOf: ",\"\(field.rawValue)\":".utf8)
        case .text: bytes.append(contentsOf: " \(field.rawValue)=".utf8)
        }
        return true
    }

    private mutating func quote() {
        if format == .json { bytes.append(UInt8(ascii: "\"")) }
    }
}
