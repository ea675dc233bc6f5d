// SPDX-License-Identifier: Apache-2.0

import Configuration
import JSON
import OAuth

extension ConfigurationReport {
    /// What `check --json` prints.
    var json: JSONValue {
        var document: JSONObject = [
            "valid": .bool(configuration != nil),
            "file": .string(file),
            "errors": .array(problems.filter { $0.severity == .error }.map { $0.json(in: file) }),
            "warnings": .array(problems.filter { $0.severity == .warning }.map { $0.json(in: file) }),
        ]
        if let configuration {
            document["listen"] = .array(configuration.listen.map { .string($0.description) })
            document["admin"] = configuration.admin.map { .string($0.listen.description) } ?? .null
            document["identities"] = .array(configuration.identities.map(\.json))
            document["routes"] = .array(configuration.routes.map(\.json))
        }
        return .object(document)
    }
}

extension ConfigurationProblem {
    /// `{"file":…,"line":…,"column":…,"key":…,"message":…}`; `key` is empty for the file as a whole.
    func json(in file: String) -> JSONValue {
        [
            "file": .string(file), "line": .integer(Int64(line)), "column": .integer(Int64(column)),
            "key": .string(path), "message": .string(reason),
        ]
    }
}

extension IdentityConfiguration {
    fileprivate var json: JSONValue {
        let isForPeople = client.grantType == .authorizationCode
        return [
            "name": .string(name), "grant_type": .string(client.grantType.shortName),
            "token_endpoint_auth_method": .string(client.authentication.rawValue),
            "provider": .string(provider),
            "redirect_uri": isForPeople ? .string(redirectURI.registered) : .null,
        ]
    }
}

extension RouteConfiguration {
    fileprivate var json: JSONValue {
        [
            "path": .string(path),
            "host": host.map { .string($0.description) } ?? .null,
            "methods": methods.map { .array($0.map(\.rawValue).sorted().map { .string($0) }) } ?? .null,
            "listen": listen.map { .string($0.description) } ?? .null,
            "identity": .string(identity ?? RouteConfiguration.noIdentity),
            "upstream": .string(upstream.description),
        ]
    }
}

extension JSONValue {
    /// The value as one line of text.
    var line: String { String(decoding: serialized(), as: UTF8.self) + "\n" }
}
