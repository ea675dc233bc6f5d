// SPDX-License-Identifier: Apache-2.0

internal import YAML

/// Where a key or value stands, for a person (the path) and for an editor (the mark).
struct Place: Equatable {
    let path: String
    let mark: Mark

    /// The top of the file.
    static let root = Place(path: "", mark: .start)

    /// The place of a key inside this map.
    func key(_ name: String, at mark: Mark) -> Place {
        Place(path: path.isEmpty ? name : "\(path).\(name)", mark: mark)
    }

    /// The place of an item of this list.
    func item(_ index: Int, at mark: Mark) -> Place {
        Place(path: "\(path)[\(index)]", mark: mark)
    }
}
