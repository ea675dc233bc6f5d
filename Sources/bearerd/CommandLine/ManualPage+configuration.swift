// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdJSON

extension ManualPage {
    /// The name under which the help tells of the configuration.
    static let configurationName = "bearerd.yaml"

    /// The page about the configuration, bearerd.yaml(5), with the keys that the reader knows.
    init(ofConfiguration schema: JSONValue) {
        self.init(
            name: Self.configurationName, purpose: "the configuration of bearerd",
            synopsis: "/etc/bearerd/config.yaml", number: 5)
        section("DESCRIPTION")
        paragraph(
            "One YAML file. An unknown key, a wrong type, a duplicate key, a missing file or an insecure mode is an error; "
                + "'bearerd check' tells all of them with their places. Changes are taken over by 'bearerd reload'."
        )
        paragraph(
            "${NAME} in a value is the environment variable NAME, put in after parsing; $${ is a literal ${. Durations are "
                + "like 500ms, 30s, 5m and 1h, sizes like 64KiB and 1MiB. Relative paths are relative to the file."
        )
        paragraph(
            "A secret X may be given as X_file, a file that is read again when it changes, or as X_credential, a name under "
                + "$CREDENTIALS_DIRECTORY (LoadCredential= of systemd.exec(5)).")
        section("EXAMPLE")
        literal(Self.example)
        keys(of: schema, at: "")
        section("SEE ALSO")
        line("bearerd(1), bearerd-check(1), bearerd-schema(1)")
        paragraph(
            "docs/configuration.md tells what each key means, and its default; a package has put it into "
                + "/usr/share/doc/bearerd/configuration.md.gz.")
    }

    private static let example = """
        listen: 127.0.0.1:8080
        admin:
          listen: 127.0.0.1:9090
        identities:
          default:
            issuer: https://sso.example.com/realms/demo
            client_id: legacy-app
            client_secret_file: /etc/bearerd/client_secret
            grant_type: client_credentials
        routes:
          - path: /
            upstream: https://api.example.com
            identity: default
        """

    /// The keys of a section, and below them those of the sections in it.
    private mutating func keys(of schema: JSONValue, at path: String) {
        guard let properties = schema["properties"]?.object else { return }
        section(path.isEmpty ? "KEYS AT THE TOP" : "KEYS OF \(path)")
        for (key, value) in properties {
            let form = Self.form(of: value)
            entry(key, form.isEmpty ? "is not a route's: it belongs to the file's own section" : form)
        }
        for (key, value) in properties {
            let inner = path.isEmpty ? key : "\(path).\(key)"
            for form in value["anyOf"]?.array ?? [value] {
                keys(of: form, at: inner)
                if let items = form["items"] { keys(of: items, at: "\(inner)[]") }
                if let members = form["additionalProperties"] { keys(of: members, at: "\(inner).NAME") }
            }
        }
    }

    /// The form of a value in words.
    private static func form(of schema: JSONValue) -> String {
        if let forms = schema["anyOf"]?.array {
            var words: [String] = []
            for form in forms.map(form(of:)) where !form.isEmpty && !words.contains(form) {
                words.append(form)
            }
            return words.joined(separator: "; or ")
        }
        if let words = schema["enum"]?.array { return words.compactMap(\.string).joined(separator: ", ") }
        if let form = schema["description"]?.string { return form }
        if schema["properties"] != nil { return "a section, see below" }
        if let items = schema["items"] { return "a list: \(form(of: items))" }
        if let members = schema["additionalProperties"] { return "a map: \(form(of: members))" }
        let types = (schema["type"]?.array ?? [schema["type"] ?? .null]).compactMap(\.string)
        switch types.first {
        case "boolean": return "true or false"
        case "integer":
            let range = ["minimum", "maximum"].map { schema[$0]?.integer.map(String.init) ?? "" }
            return "a whole number, \(range[0])...\(range[1])"
        case "number": return "a number from 0 to 1"
        case "string": return "a text"
        case "object": return "a map with anything in it"
        default: return ""
        }
    }
}
