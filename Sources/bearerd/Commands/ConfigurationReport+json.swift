// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdJSON
import BearerdRouting
import OAuth

extension ConfigurationReport {
    /// The output of `check --json`.
    var json: JSONValue {
        var document: JSONObject = [
            "valid": .bool(configuration != nil),
            "file": .string(file),
            "errors": .array(faults(.error).map(\.json)),
            "warnings": .array(faults(.warning).map(\.json)),
        ]
        if let configuration {
            document["listen"] = .array(configuration.listen.map { .string($0.description) })
            document["protocols"] = .object(
                JSONObject(
                    members: configuration.listeners.map { listener in
                        (listener.address.description, .array(listener.protocolNames.map { .string($0) }))
                    }))
            document["admin"] = configuration.admin.map { .string($0.listen.description) } ?? .null
            document["identities"] = .array(configuration.identities.map(\.json))
            document["routes"] = .array(configuration.routes.map(\.json))
        }
        return .object(document)
    }
}

extension ConfigurationReport {
    /// The problems of one kind that are told, in the order of the file.
    func faults(_ severity: ConfigurationProblem.Severity) -> [ConfigurationFault] {
        told.filter { $0.severity == severity }.map { problem in
            ConfigurationFault(
                file: file, line: problem.line, column: problem.column, key: problem.path,
                message: problem.reason)
        }
    }
}

extension IdentityConfiguration {
    fileprivate var json: JSONValue {
        let isForPeople = client.grantType == .authorizationCode
        return [
            "name": .string(name), "grant_type": .string(client.grantType.shortName),
            "token_endpoint_auth_method": .string(client.authentication.rawValue),
            "provider": .string(provider),
            "command": command,
            "redirect_uri": isForPeople ? .string(redirectURI.registered) : .null,
        ]
    }
}

extension IdentityConfiguration {
    /// The command that prints the identity's token; null if there is none.
    fileprivate var command: JSONValue {
        guard case .command(let command)? = client.source else { return .null }
        return .array(command.words.map { .string($0) })
    }
}

extension RouteConfiguration {
    fileprivate var json: JSONValue {
        [
            "path": .string(key.path),
            "host": key.host.map { .string($0.description) } ?? .null,
            "methods": key.methods.map { .array($0.map(\.rawValue).sorted().map { .string($0) }) } ?? .null,
            "listen": key.listen.map { .string($0.description) } ?? .null,
            "uid": key.user.map { .integer(Int64($0)) } ?? .null,
            "identity": .string(identity ?? RouteConfiguration.noIdentity),
            "upstream": .string(upstream.description),
            "upstream_protocol": .string(upstreamProtocol.rawValue),
        ]
    }
}

extension JSONValue {
    /// The value as one line of text.
    var line: String { String(decoding: serialized(), as: UTF8.self) + "\n" }
}
