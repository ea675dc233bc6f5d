// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// Where the first configuration goes, and how its files are spelled in it.
struct FilePlacement {
    /// The directory in which root's configuration is for the group of the service too.
    private static let shared = "/etc/bearerd"

    let path: String
    /// The directory of the file, without a slash at its end; empty for the working directory.
    private let directory: String

    init(of path: String) {
        self.path = path
        let slash = path.lastIndex(of: "/")
        directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ""
    }

    /// A file named in the working directory, as the configuration has to spell it.
    func spelled(fromHere file: String) -> String {
        guard !file.hasPrefix("/"), !directory.isEmpty, let here = CurrentProcess.workingDirectory else {
            return file
        }
        return here == "/" ? "/\(file)" : "\(here)/\(file)"
    }

    /// A file that the configuration names, as the process opens it.
    func opened(_ file: String) -> String {
        guard !file.hasPrefix("/"), !directory.isEmpty else { return file }
        return directory == "/" ? "/\(file)" : "\(directory)/\(file)"
    }

    /// Returns the answers with the paths by which this process opens the files.
    func here(_ starter: StarterConfiguration) -> StarterConfiguration {
        var starter = starter
        starter.answers[.clientSecretFile] = starter.answers[.clientSecretFile].map(opened)
        return starter
    }

    /// Makes the configuration's file.
    ///
    /// - Throws: a failure to create that names the file.
    func write(_ text: String) throws(CommandFailure) { try write(text, to: path) }

    /// Makes a file beside the configuration, for the same readers.
    func write(_ text: String, to path: String) throws(CommandFailure) {
        let group = sharingGroup
        do throws(SystemError) {
            try FileSystem.create(
                path, with: Array(text.utf8), mode: group == nil ? 0o600 : 0o640, group: group)
        } catch {
            throw CommandFailure(.cannotCreate, "\(path): \(SystemError.text(of: error.code))")
        }
    }

    /// The group that may read what root writes for the service; nil where the owner alone reads.
    private var sharingGroup: UInt32? {
        guard CurrentProcess.effectiveUser == 0, let shared = try? FileSystem.status(of: Self.shared),
            let own = try? FileSystem.status(of: directory.isEmpty ? "." : directory),
            own.fingerprint.isSameFile(as: shared.fingerprint)
        else { return nil }
        return shared.group
    }
}
