// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
//
// Programs that use the library products. `swift run --package-path Examples WhoAmI` builds and runs one; `make examples`
// runs all of them against the development provider.

import PackageDescription

/// A program, and the products that it uses beside `OAuth` and `OAuthRuntime`.
func program(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: (["OAuth", "OAuthRuntime"] + products).map { .product(name: $0, package: "bearerd") }
            + ["Program", "OneFileStore"],
        path: name)
}

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "bearerd", path: "..")],
    targets: [
        .target(name: "Program", path: "Program"),
        .target(
            name: "OneFileStore", dependencies: [.product(name: "OAuth", package: "bearerd")], path: "OneFileStore"),
        // `OAuth` and nothing else of the package: `.ci/links` looks at what it is linked with.
        .executableTarget(
            name: "OwnHTTP", dependencies: [.product(name: "OAuth", package: "bearerd"), "OneFileStore", "Program"],
            path: "OwnHTTP"),
        program("FoundationSession", "OAuthFoundation"),
        program("WhoAmI", "OAuthFoundation"),
        program("KeycloakLogin"),
        program("OktaSample"),
        program("DeviceLogin"),
        program("PastedCode"),
        program("OrdersAPI"),
        program("GTMMigration", "SessionImport", "StoreConformance"),
        program("Guide", "OAuthFoundation", "SessionImport", "StoreConformance"),
    ]
)
