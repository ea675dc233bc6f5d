// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// The admin listener of a file that may have errors elsewhere: all that is needed to ask the daemon.
///
/// A daemon serves on by what it read before, whatever becomes of the file.
package enum AdminListener: Sendable {
    case configured(AdminConfiguration)
    /// The file has no section `admin`.
    case absent
    /// An error leaves open where it is.
    case unreadable

    /// Reads the section of a file whose syntax is right.
    init(root: YAMLNode?, environment: @escaping (String) -> String?, directory: String?) {
        // The file's problems are reported by whoever reads all of it.
        let reading = Reading(environment: environment, directory: directory)
        let root = Section<RootKey>(root, at: .root, reading: reading)
        guard root.has(.admin) else {
            self = root.isMap && !root.isInDoubt(.admin) ? .absent : .unreadable
            return
        }
        let section = root.section(.admin, AdminConfiguration.Key.self)
        let admin = AdminConfiguration(reading: section)
        self = section.isMap && !section.isInDoubt(.listen) ? .configured(admin) : .unreadable
    }

    /// Looks for the section in a file that is no YAML as a whole.
    init(broken text: [UInt8], environment: @escaping (String) -> String?, directory: String?) {
        guard let section = AdminExcerpt.lines(of: text), let root = try? YAMLNode.parse(section) else {
            self = .unreadable
            return
        }
        self.init(root: root, environment: environment, directory: directory)
    }
}
