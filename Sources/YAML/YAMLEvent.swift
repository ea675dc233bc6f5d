// SPDX-License-Identifier: Apache-2.0

/// An event of libyaml's parser (`yaml_event_t`) as a Swift value.
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

    /// The anchor (`&a`) and tag (`!t`) before a value.
    struct Properties {
        let anchor: String?
        let tag: String?
    }

    let kind: Kind
    let mark: Mark
}
