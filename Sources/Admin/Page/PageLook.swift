// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The state of the whole in a browser's tab: its title, and an icon whose shape tells as much as its colour.
enum PageLook {
    case good, doubtful, bad
    /// The page may show what was.
    case unknown

    var title: HTMLText {
        switch self {
        case .good: "bearerd: all is well"
        case .doubtful: "▲ bearerd: have a look"
        case .bad: "✕ bearerd: something fails"
        case .unknown: "? bearerd: not live"
        }
    }

    /// A `data:` URL (RFC 2397).
    var icon: HTMLText {
        let shape: HTMLText =
            switch self {
            case .good:
                """
                %3Ccircle cx='8' cy='8' r='8' fill='%2312693f'/%3E\
                %3Cpath d='M4 8l3 3 5-6' stroke='%23fff' stroke-width='2' fill='none'/%3E
                """
            case .doubtful:
                """
                %3Cpath d='M8 0l8 15H0z' fill='%238a5200'/%3E\
                %3Cpath d='M8 5v5m0 2v1' stroke='%23fff' stroke-width='2'/%3E
                """
            case .bad:
                """
                %3Crect width='16' height='16' rx='3' fill='%23b3261e'/%3E\
                %3Cpath d='M4 4l8 8m0-8l-8 8' stroke='%23fff' stroke-width='2'/%3E
                """
            case .unknown:
                """
                %3Ccircle cx='8' cy='8' r='7' fill='none' stroke='%23707a85' stroke-width='2'/%3E\
                %3Cpath d='M6 6a2 2 0 1 1 2 3m0 2v1' stroke='%23707a85' stroke-width='2' fill='none'/%3E
                """
            }
        return """
            data:image/svg+xml,%3Csvg xmlns='http%3A//www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\(shape)%3C/svg%3E
            """
    }
}
