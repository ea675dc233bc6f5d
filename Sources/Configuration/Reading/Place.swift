// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// The place of a key or value: a path for people, a mark for editors.
struct Place: Equatable {
    let path: String
    let mark: Mark

    static let root = Place(path: "", mark: .start)

    func key(_ name: String, at mark: Mark) -> Place {
        Place(path: path.isEmpty ? name : "\(path).\(name)", mark: mark)
    }

    func item(_ index: Int, at mark: Mark) -> Place { Place(path: "\(path)[\(index)]", mark: mark) }
}
