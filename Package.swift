// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Linux only. The dependencies are C libraries of the distribution; `deploy/bootstrap` installs them.

import PackageDescription

/// Targets that hold C pointers.
///
/// Nothing above them ever sees one.
let bridge: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Everything else: an unsafe pointer is a compile error.
let safe: [SwiftSetting] =
    bridge + [
        .strictMemorySafety(),
        .treatWarning("StrictMemorySafety", as: .error),
    ]

let package = Package(
    name: "bearerd",
    products: [
        .executable(name: "bearerd", targets: ["bearerd"]),
        .library(name: "OAuth", targets: ["OAuth"]),
        .library(name: "OAuthRuntime", targets: ["OAuthRuntime"]),
        .library(name: "OAuthFoundation", targets: ["OAuthFoundation"]),
        .library(name: "SessionImport", targets: ["SessionImport"]),
        .library(name: "StoreConformance", targets: ["StoreConformance"]),
    ],
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibyaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCjose", pkgConfig: "cjose", providers: [.apt(["libcjose-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CLibplist", pkgConfig: "libplist-2.0", providers: [.apt(["libplist-dev"])]),
        .target(
            name: "CSystem",
            cSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]),

        .target(name: "EventLoop", dependencies: ["CLibevent", "CSystem", "System"], swiftSettings: bridge),
        .target(
            name: "HTTPClient",
            dependencies: [
                "CLibcurl", "COpenSSL", "Cryptography", "EventLoop", "HTTP1", "HTTP2", "HTTP2Streams",
                "HTTPExchange", "HTTPMessages", "System", "TLS",
            ],
            swiftSettings: bridge),
        .target(
            name: "TLS", dependencies: ["COpenSSL", "Cryptography", "EventLoop"], swiftSettings: bridge),
        .target(name: "YAML", dependencies: ["CLibyaml"], swiftSettings: bridge),
        .target(
            name: "JSON", dependencies: ["CJansson", "JSONText"], swiftSettings: bridge,
            linkerSettings: [.linkedLibrary("m")]),  // rounding of Double in debug builds
        .target(name: "PropertyList", dependencies: ["CLibplist"], swiftSettings: bridge),
        .target(
            name: "Cryptography", dependencies: ["COpenSSL", "CCjose", "JSON", "JSONText"],
            swiftSettings: bridge),
        .target(name: "System", dependencies: ["CSystem"], swiftSettings: bridge),
        .target(
            name: "HTTP2", dependencies: ["CNghttp2", "HTTPExchange", "HTTPMessages", "System"],
            swiftSettings: bridge),
        .target(name: "CKeyring"),
        .target(name: "CQRCode"),
        .target(name: "QRCode", dependencies: ["CQRCode"], swiftSettings: bridge),
        .target(
            name: "Keyring", dependencies: ["CKeyring", "Cryptography", "System"], swiftSettings: bridge),

        .target(name: "ExecutorConfinement", swiftSettings: bridge),
        .target(name: "JSONText", swiftSettings: safe),

        .target(name: "HTTPMessages", dependencies: ["JSONText", "System"], swiftSettings: safe),
        .target(name: "HTTPExchange", dependencies: ["EventLoop", "HTTPMessages"], swiftSettings: safe),
        .target(name: "Routing", dependencies: ["HTTPMessages", "OAuth"], swiftSettings: safe),
        .target(
            name: "HTTP1", dependencies: ["EventLoop", "HTTPExchange", "HTTPMessages", "System"],
            swiftSettings: safe),
        .target(
            name: "HTTPServer",
            dependencies: ["EventLoop", "HTTP1", "HTTPExchange", "HTTPMessages", "System"],
            swiftSettings: safe),
        .target(
            name: "HTTP2Streams",
            dependencies: ["Cryptography", "EventLoop", "HTTP2", "HTTPExchange", "HTTPMessages", "System"],
            swiftSettings: safe),
        .target(
            name: "OAuth",
            dependencies: ["ExecutorConfinement", "HTTPMessages", "Cryptography", "JSON", "JSONText"],
            swiftSettings: safe),
        // Nothing of bearerd may depend on it: Foundation is for programs that have it anyway.
        .target(name: "OAuthFoundation", dependencies: ["HTTPMessages", "OAuth"], swiftSettings: safe),
        .target(
            name: "SessionImport", dependencies: ["OAuth", "Cryptography", "JSON", "PropertyList"],
            swiftSettings: safe
        ),
        .target(name: "StoreConformance", dependencies: ["OAuth"], swiftSettings: safe),
        .target(
            name: "TokenStore", dependencies: ["ExecutorConfinement", "OAuth", "Cryptography", "System"],
            swiftSettings: safe),
        .target(name: "RESP", swiftSettings: safe),
        .target(
            name: "Redis",
            dependencies: [
                "RESP", "TokenStore", "OAuth", "HTTPClient", "HTTPExchange", "HTTPMessages", "EventLoop",
                "Cryptography", "System",
            ],
            swiftSettings: safe),
        .target(
            name: "OAuthRuntime",
            dependencies: [
                "OAuth", "TokenStore", "HTTPClient", "HTTPExchange", "HTTPServer", "HTTPMessages",
                "EventLoop",
                "System", "Cryptography",
            ],
            swiftSettings: safe),
        .target(
            name: "Configuration",
            dependencies: [
                "YAML", "OAuth", "HTTPMessages", "Cryptography", "JSON", "System", "Observability", "Routing",
                "TLS", "AdminAPI",
            ],
            swiftSettings: safe),
        .target(
            name: "Observability", dependencies: ["HTTPMessages", "JSONText", "System"], swiftSettings: safe),
        .target(
            name: "Proxy",
            dependencies: [
                "HTTP2", "HTTP2Streams", "HTTPServer", "HTTPClient", "EventLoop", "OAuth", "HTTP1",
                "HTTPExchange", "HTTPMessages",
                "Observability", "Cryptography", "Routing", "System",
            ],
            swiftSettings: safe),
        .target(
            name: "AdminAPI",
            dependencies: ["OAuth", "HTTPMessages", "JSON", "Cryptography", "Observability"],
            swiftSettings: safe),
        .target(
            name: "Admin",
            dependencies: [
                "AdminAPI", "HTTPServer", "EventLoop", "OAuth", "HTTPMessages", "JSON", "Cryptography",
                "Observability", "System",
            ],
            swiftSettings: safe),
        .target(
            name: "DevelopmentProvider",
            dependencies: [
                "HTTP2", "HTTP2Streams", "HTTPExchange", "HTTPServer", "EventLoop", "OAuth", "HTTPMessages",
                "Cryptography", "JSON",
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "bearerd",
            dependencies: [
                "Configuration", "Proxy", "Admin", "AdminAPI", "DevelopmentProvider", "TokenStore", "Redis",
                "OAuth",
                "OAuthRuntime", "HTTPClient", "HTTPExchange", "HTTPServer", "HTTPMessages", "Observability",
                "EventLoop", "Keyring", "QRCode", "Routing", "System", "Cryptography", "JSON", "JSONText",
                "SessionImport", "TLS",
            ],
            swiftSettings: safe),

        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "System", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Proxy", "Cryptography", "EventLoop", "HTTPClient", "HTTPExchange", "HTTPServer",
                "HTTPMessages", "OAuth", "Observability", "Routing", "TestSupport",
            ],
            swiftSettings: bridge),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["OAuth", "Cryptography", "HTTPMessages", "JSON", "System", "FuzzInvariants"],
            swiftSettings: bridge),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: bridge),
        .testTarget(
            name: "SessionImportTests", dependencies: ["SessionImport", "Cryptography", "FuzzInvariants"],
            swiftSettings: bridge),
        .testTarget(
            name: "CryptographyTests", dependencies: ["Cryptography", "JSON", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"], swiftSettings: bridge),
        .testTarget(
            name: "TokenStoreTests",
            dependencies: [
                "TokenStore", "Redis", "OAuth", "Cryptography", "EventLoop", "HTTPClient", "StoreConformance",
                "System",
                "TestSupport",
            ],
            swiftSettings: bridge),
        .testTarget(name: "RESPTests", dependencies: ["RESP", "FuzzInvariants"], swiftSettings: bridge),
        .testTarget(
            name: "OAuthRuntimeTests",
            dependencies: ["OAuthRuntime", "OAuth", "HTTPClient", "Cryptography", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(
            name: "OAuthFoundationTests",
            dependencies: [
                "OAuthFoundation", "OAuthRuntime", "OAuth", "StoreConformance", "HTTPMessages", "TestSupport",
            ],
            swiftSettings: bridge),
        .testTarget(name: "PropertyListTests", dependencies: ["PropertyList"], swiftSettings: bridge),
        .testTarget(
            name: "HTTP2Tests",
            dependencies: [
                "CNghttp2", "HTTP2", "HTTP2Streams", "EventLoop", "HTTPExchange", "HTTPMessages", "System",
                "FuzzInvariants", "TestSupport",
            ],
            swiftSettings: bridge),
        .testTarget(name: "YAMLTests", dependencies: ["YAML", "FuzzInvariants"], swiftSettings: bridge),
        .testTarget(
            name: "DevelopmentProviderTests",
            dependencies: [
                "DevelopmentProvider", "HTTPServer", "HTTPMessages", "OAuth", "Cryptography", "JSON",
            ],
            swiftSettings: bridge),
        .testTarget(
            name: "CommandLineTests", dependencies: ["bearerd", "Configuration", "OAuth", "Proxy"],
            swiftSettings: bridge),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "Cryptography", "HTTPMessages", "JSON", "OAuth", "Observability", "Routing",
                "TestSupport", "YAML",
            ],
            swiftSettings: bridge),
        .testTarget(
            name: "ObservabilityTests", dependencies: ["Observability", "HTTPMessages", "System"],
            swiftSettings: bridge),
        .testTarget(
            name: "AdminTests",
            dependencies: [
                "Admin", "AdminAPI", "EventLoop", "HTTPServer", "OAuth", "HTTPMessages", "JSON",
                "Cryptography", "Observability", "System", "FuzzInvariants", "TestSupport",
            ],
            swiftSettings: bridge),
        .testTarget(
            name: "AdminAPITests",
            dependencies: ["AdminAPI", "OAuth", "HTTPMessages", "JSON", "Cryptography", "Observability"],
            swiftSettings: bridge),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: ["HTTPClient", "EventLoop", "HTTPExchange", "HTTPMessages", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "EventLoop", "HTTP1", "HTTPExchange", "HTTPMessages", "TestSupport",
            ],
            swiftSettings: bridge),
        .target(name: "CTrace", path: "Tests/CTrace"),
        .target(name: "CLoad", path: "Tests/CLoad"),
        .target(
            name: "TestSupport", dependencies: ["CNghttp2", "COpenSSL", "CTrace"], path: "Tests/TestSupport",
            swiftSettings: bridge),
        .testTarget(
            name: "HTTPMessagesTests", dependencies: ["HTTPMessages", "FuzzInvariants", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(
            name: "TLSTests", dependencies: ["TLS", "Cryptography", "EventLoop", "TestSupport"],
            swiftSettings: bridge),
        .testTarget(
            name: "HTTP1Tests",
            dependencies: ["HTTP1", "EventLoop", "HTTPExchange", "HTTPMessages", "System", "FuzzInvariants"],
            swiftSettings: bridge),
        .target(
            name: "FuzzInvariants",
            dependencies: [
                "EventLoop", "HTTP1", "HTTP2", "HTTPExchange", "HTTPServer", "HTTPMessages", "YAML", "JSON",
                "SessionImport", "Cryptography", "OAuth", "RESP", "Admin", "AdminAPI", "System",
            ],
            path: "Tests/Fuzz/Invariants",
            swiftSettings: bridge),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: bridge),
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "TestSupport", "CLoad", "CTrace", "OAuth", "OAuthRuntime", "Cryptography", "JSON",
                "HTTPMessages", "FuzzInvariants",
            ],
            swiftSettings: bridge),
    ]
)

// MARK: Names

/// Modules that are no product; their names get a prefix, their folders in Sources do not.
///
/// Names of targets are unique in all that is built together, and a program's other packages have a `System` and a `Redis` too.
let inner = Set(package.targets.filter { [.regular, .system].contains($0.type) }.map(\.name))
    .subtracting(package.products.map(\.name))

/// `BearerdRedis` for `Redis`, `CBearerdOpenSSL` for `COpenSSL`.
func moduleName(_ name: String) -> String {
    guard inner.contains(name) else { return name }
    let isC = name.hasPrefix("C") && name.dropFirst().first?.isUppercase == true
    return isC ? "CBearerd\(name.dropFirst())" : "Bearerd\(name)"
}

for target in package.targets {
    if inner.contains(target.name), target.path == nil { target.path = "Sources/\(target.name)" }
    target.name = moduleName(target.name)
    target.dependencies = target.dependencies.map { dependency in
        guard case .byNameItem(let name, let condition) = dependency else { return dependency }
        return .byNameItem(name: moduleName(name), condition: condition)
    }
}
