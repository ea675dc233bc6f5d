// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A Secret Service that keeps nothing before a person has said yes, as KeePassXC does; it tells whether somebody asks.
final class AskingService: Sendable {
    /// True if D-Bus for Debian's own Python is installed (`deploy/bootstrap python3-dbus`).
    fileprivate static let isInstalled =
        (try? Subprocess.run(["/usr/bin/python3", "-c", "import dbus"]).ending) == .exited(0)

    private let process: Subprocess

    init(on bus: SessionBus) throws {
        process = try Subprocess(["/usr/bin/python3", "-c", Self.script], environment: bus.environment)
        try process.output.wait(for: "the service") { $0.text.contains("ready") ? () : nil }
    }

    /// Waits for `count` events of prompts, and returns them in order.
    func awaitPrompts(_ count: Int) throws -> [Substring] {
        try process.output.wait(for: "what becomes of prompts") { capture in
            let said = capture.text.split(separator: "\n").dropFirst()
            return said.count >= count ? Array(said) : nil
        }
    }

    private static let script = """
        import ctypes, dbus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop

        DBusGMainLoop(set_as_default=True)
        SECRET, ROOT = "org.freedesktop.Secret.", "/org/freedesktop/secrets"
        PROPERTIES = "org.freedesktop.DBus.Properties"
        bus = dbus.SessionBus()


        class Service(dbus.service.Object):
            @dbus.service.method(SECRET + "Service", in_signature="sv", out_signature="vo")
            def OpenSession(self, algorithm, value):
                if algorithm != "plain":
                    raise dbus.DBusException("not here", name="org.freedesktop.DBus.Error.NotSupported")
                return dbus.String("", variant_level=1), ROOT + "/session/1"

            @dbus.service.method(SECRET + "Service", in_signature="a{ss}", out_signature="aoao")
            def SearchItems(self, attributes):
                return [], []

            @dbus.service.method(SECRET + "Service", in_signature="s", out_signature="o")
            def ReadAlias(self, name):
                return ROOT + "/collection/main"

            @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
            def GetAll(self, interface):
                return {"Collections": dbus.Array([ROOT + "/collection/main"], signature="o", variant_level=1)}


        class Collection(dbus.service.Object):
            @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
            def GetAll(self, interface):
                return {"Locked": dbus.Boolean(False), "Label": dbus.String("main"), "Items": dbus.Array([], signature="o"),
                        "Created": dbus.UInt64(0), "Modified": dbus.UInt64(0)}

            @dbus.service.method(SECRET + "Collection", in_signature="a{sv}(oayays)b", out_signature="oo")
            def CreateItem(self, properties, secret, replace):
                return "/", ROOT + "/prompt/1"


        class Prompt(dbus.service.Object):
            @dbus.service.method(SECRET + "Prompt", in_signature="s")
            def Prompt(self, window):
                print("prompted", flush=True)

            @dbus.service.method(SECRET + "Prompt")
            def Dismiss(self):
                print("dismissed", flush=True)


        objects = [Service(bus, ROOT), Collection(bus, ROOT + "/collection/main"), Prompt(bus, ROOT + "/prompt/1")]
        name = dbus.service.BusName("org.freedesktop.secrets", bus)
        print("ready", flush=True)
        glib = ctypes.CDLL("libglib-2.0.so.0")
        glib.g_main_loop_new.restype = ctypes.c_void_p
        glib.g_main_loop_run(ctypes.c_void_p(glib.g_main_loop_new(None, 0)))
        """
}

extension Needs {
    /// D-Bus for Python, in which the service is written.
    static let askingService = Needs(orElse: "there is no python3-dbus") { AskingService.isInstalled }
}
