// SPDX-License-Identifier: Apache-2.0
//
// Does nothing: that it compiles shows that the code of the articles does.

print("Steps.swift has the code of the articles")
