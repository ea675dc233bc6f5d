// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// The browser in which a person logs in.
struct Browser {
    /// The environment variables for the browser: those of the desktop session, none of which usually holds a
    /// secret.
    ///
    /// They are names and not patterns, because a secret may be called anything.
    private static let passedOn = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "BROWSER",
        "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION",
        "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE",
        "LC_TIME",
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "ICEAUTHORITY", "SESSION_MANAGER",
        "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "GNOME_DESKTOP_SESSION_ID", "KDE_FULL_SESSION",
        "KDE_SESSION_VERSION",
        "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS",
        "XDG_DATA_HOME", "XDG_MENU_PREFIX", "XDG_RUNTIME_DIR", "XDG_SEAT", "XDG_SESSION_CLASS",
        "XDG_SESSION_DESKTOP", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "XDG_STATE_HOME", "XDG_VTNR",
        "WSL_DISTRO_NAME", "WSL_INTEROP",
    ]

    private let command: [String]

    /// Uses `$BROWSER`, or else the desktop's browser; nil if there is neither.
    init?() {
        let wanted = CurrentProcess.environment("BROWSER") ?? ""
        for words in wanted.split(separator: ":").map({ $0.split(separator: " ").map(String.init) }) {
            guard let name = words.first, let path = ChildProcess.find(name) else { continue }
            command = [path] + words.dropFirst()
            return
        }
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains {
            CurrentProcess.environment($0)?.isEmpty == false
        }
        guard hasDesktop, let path = ChildProcess.find("xdg-open") else { return nil }
        command = [path]
    }

    /// Shows a page; it is unknown whether the browser really does.
    ///
    /// - Throws: ``SystemError`` if it could not be started.
    func open(_ url: String) throws(SystemError) {
        let place = "%s"
        let words = command.map { $0 == place ? url : $0 }
        var environment: [String: String] = [:]
        for name in Self.passedOn { environment[name] = CurrentProcess.environment(name) }
        try ChildProcess.start(command.contains(place) ? words : words + [url], environment: environment)
    }
}
