// SPDX-License-Identifier: Apache-2.0

import System

/// The browser of the person who logs in.
struct Browser {
    private let command: [String]

    /// `$BROWSER`, else the desktop's if there is a desktop; nil where there is none.
    init?() {
        let wanted = CurrentProcess.environment("BROWSER") ?? ""
        for words in wanted.split(separator: ":").map({ $0.split(separator: " ").map(String.init) }) {
            guard let name = words.first, let path = Program.find(name) else { continue }
            command = [path] + words.dropFirst()
            return
        }
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains {
            CurrentProcess.environment($0)?.isEmpty == false
        }
        guard hasDesktop, let path = Program.find("xdg-open") else { return nil }
        command = [path]
    }

    /// Shows a page; whether the browser did is not known.
    ///
    /// - Throws: ``SystemError`` if it could not be started.
    func open(_ url: String) throws(SystemError) {
        let place = "%s"
        let words = command.map { $0 == place ? url : $0 }
        try Program.start(command.contains(place) ? words : words + [url])
    }
}
