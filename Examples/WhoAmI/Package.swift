// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "WhoAmI",
    dependencies: [
        .package(name: "bearerd", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "WhoAmI",
            dependencies: [
                .product(name: "OAuth", package: "bearerd"),
                .product(name: "OAuthRuntime", package: "bearerd"),
            ])
    ]
)
