// SPDX-License-Identifier: Apache-2.0

/// An example of a command, for its help and its page of the manual.
struct CommandExample: Sendable {
    /// The line as it is typed.
    let line: String
    /// The purpose of the line.
    let purpose: String

    init(_ line: String, _ purpose: String) {
        self.line = line
        self.purpose = purpose
    }

    /// The examples of a command; none for one that has none.
    static func of(_ command: any Command.Type) -> [CommandExample] { all[command.name] ?? [] }

    /// The examples by the commands' names.
    private static let all: [String: [CommandExample]] = [
        "run": [
            CommandExample("bearerd run -c bearerd.yaml", "serves by this file until Ctrl-C"),
            CommandExample("bearerd run", "serves by the file that is found (see FILES in bearerd(1))"),
        ],
        "init": [
            CommandExample("bearerd init", "asks for what is needed and writes ./config.yaml"),
            CommandExample(
                "bearerd init -c a.yaml --issuer https://sso.example.com --client-id app --login --upstream https://api.example.com",
                "asks nothing"),
        ],
        "proxy": [
            CommandExample(
                "bearerd proxy https://api.example.com --issuer https://sso.example.com --client-id app --login",
                "one route for one person, without a file"),
            CommandExample(
                "bearerd proxy https://api.example.com --issuer https://sso.example.com --client-id app --client-secret-file secret",
                "one route for a service"),
        ],
        "reload": [
            CommandExample("bearerd reload -c bearerd.yaml", "takes a changed file over, or tells its errors")
        ],
        "check": [
            CommandExample("bearerd check -c bearerd.yaml", "tells every error, and the routes"),
            CommandExample("bearerd check --quiet && systemctl reload bearerd", "reloads what is right"),
            CommandExample(
                "bearerd check --explain GET /orders/17", "tells which route and rule take a request"),
        ],
        "schema": [
            CommandExample("bearerd schema > bearerd.schema.json", "for an editor, beside the configuration")
        ],
        "doctor": [
            CommandExample("bearerd doctor", "looks at everything, and changes nothing"),
            CommandExample(
                "bearerd doctor default --live", "gets a new token for one identity, and tries it"),
            CommandExample("bearerd doctor --check tls", "one check alone"),
        ],
        "status": [
            CommandExample("bearerd status", "states, expiries and last errors"),
            CommandExample("bearerd status --json | jq '.identities[].state'", "for programs"),
        ],
        "healthcheck": [
            CommandExample("bearerd healthcheck", "is it alive? for HEALTHCHECK of an image"),
            CommandExample("bearerd healthcheck --ready", "has every route its token?"),
        ],
        "wait": [CommandExample("bearerd wait --timeout 1m && exec legacy-app", "an entrypoint")],
        "login": [
            CommandExample("bearerd login", "in the browser of this machine"),
            CommandExample("bearerd login --no-browser", "prints the address to open"),
            CommandExample(
                "bearerd login person --device",
                "by a code that is typed in anywhere: for servers and containers"),
        ],
        "exchange": [
            CommandExample("bearerd login --no-exchange && bearerd exchange", "the two halves of a login")
        ],
        "token": [
            CommandExample(
                "curl -H \"$(bearerd token --header)\" https://api.example.com/", "one request by hand"),
            CommandExample("bearerd token person", "the token alone, of one identity"),
        ],
        "refresh": [
            CommandExample("bearerd refresh person", "a new token at once, whatever the old one's age")
        ],
        "userinfo": [CommandExample("bearerd userinfo person | jq .email", "who has logged in")],
        "revoke": [
            CommandExample("bearerd revoke person --token refresh", "ends what the refresh token could renew")
        ],
        "logout": [
            CommandExample("bearerd logout person", "revokes, ends the provider's session, and forgets"),
            CommandExample("bearerd logout person --local", "only forgets"),
        ],
        "import": [
            CommandExample(
                "bearerd import person --refresh-token token.txt",
                "a session that begins with a refresh token"),
            CommandExample("bearerd import person --appauth-android state.json", "what an app has kept"),
        ],
        "register": [
            CommandExample("bearerd register default", "gets a client_id where the provider gives one")
        ],
        "discover": [
            CommandExample(
                "bearerd discover https://sso.example.com | jq .grant_types_supported", "what it can do")
        ],
        "demo": [CommandExample("bearerd demo", "everything embedded; prints curl lines to try")],
        "completion": [
            CommandExample("source <(bearerd completion bash)", "in this shell"),
            CommandExample("bearerd completion fish > ~/.config/fish/completions/bearerd.fish", "for good"),
        ],
        "help": [CommandExample("bearerd help check", "what one command takes")],
        "version": [CommandExample("bearerd version", "the version alone")],
    ]
}
