// SPDX-License-Identifier: Apache-2.0

/// A step of libyaml's parser (`yaml_event_t`) as a value of ours.
struct YAMLEvent {
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias(anchor: String)
        case scalar(YAMLScalar, properties: Properties)
        case sequenceStart(Properties)
        case sequenceEnd
        case mappingStart(Properties)
        case mappingEnd
    }

    /// What may stand before a value: `&anchor` and `!tag`.
    struct Properties {
        let anchor: String?
        let tag: String?
    }

    let kind: Kind
    let mark: Mark
}
