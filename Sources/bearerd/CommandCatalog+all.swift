// SPDX-License-Identifier: Apache-2.0

extension CommandCatalog {
    /// The commands of bearerd, in the order of the help.
    static var all: CommandCatalog {
        CommandCatalog([
            InitCommand.self, ProxyCommand.self, RunCommand.self, CheckCommand.self, SchemaCommand.self,
            DoctorCommand.self, StatusCommand.self, ReloadCommand.self,
            HealthcheckCommand.self, WaitCommand.self,
            LoginCommand.self, ExchangeCommand.self, TokenCommand.self, RefreshCommand.self,
            UserinfoCommand.self, RevokeCommand.self, LogoutCommand.self, ImportCommand.self,
            RegisterCommand.self, DiscoverCommand.self, DemoCommand.self, CompletionCommand.self,
            HelpCommand.self, VersionCommand.self,
        ])
    }
}
