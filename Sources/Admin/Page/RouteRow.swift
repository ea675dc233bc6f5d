// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdObservability

/// A route's row on the status page.
struct RouteRow {
    let route: RouteStatus
    /// The identifier of the row's element.
    let key: String

    /// The whole row.
    var markup: HTMLText { "<tr id=\"\(key)\">\(cells)</tr>" }

    /// The part that changes.
    var part: PagePart { PagePart(key, cells) }

    private var cells: HTMLText {
        let figures = route.figures ?? RouteFigures()
        let identity: HTMLText =
            route.identity.map { "\($0.cut(to: 60))" } ?? "<span class=\"dim\">none</span>"
        let conditions: HTMLText =
            route.scope.conditions.isEmpty ? "" : "<br>\(route.scope.conditions.cut(to: 120).breakable)"
        let spoken: HTMLText = route.spokenProtocol.map { "<br><span class=\"dim\">\($0)</span>" } ?? ""
        return """
            <th scope="row"><strong>\(route.path.cut(to: 100).breakable)</strong>\(conditions)<br><span class="dim">\(route.upstream.cut(to: 120).breakable)</span>\(spoken)</th>
            <td data-label="Identity">\(identity)</td><td data-label="Upstream"><div>\(health(figures.health))</div></td>
            <td class="number" data-label="Rate">\(oneDecimal(figures.rate))/s</td>
            <td class="number" data-label="p50">\(figures.median?.shortWords ?? "–")</td>
            <td class="number" data-label="p99">\(figures.slowest?.shortWords ?? "–")</td>
            <td data-label="Answers"><div>\(answers(figures))</div></td>
            <td class="number" data-label="Replays">\(grouped(figures.replays))</td>
            <td class="number" data-label="Streams">\(grouped(figures.openStreams))</td>
            """
    }

    private func health(_ health: UpstreamHealth) -> HTMLText {
        switch health {
        case .unknown: "<span class=\"dim\">not asked yet</span>"
        case .answers: "<span class=\"state good\">answers</span>"
        case .falters(let reason):
            "<span class=\"state warn\">the last request failed</span><br>\(reason.cut(to: 160).breakable)"
        case .fails(let reason, _):
            "<span class=\"state bad\">fails</span><br>\(reason.cut(to: 400).breakable)"
        }
    }

    /// The numbers of answers by the party to blame; parties other than nobody are shown if they occurred.
    private func answers(_ figures: RouteFigures) -> HTMLText {
        AnswerBlame.allCases.filter { $0 == .nobody || figures.answers[$0] > 0 }.map { blame -> HTMLText in
            "<span class=\"blame \(blame.label)\">\(blame.words) \(grouped(figures.answers[blame]))</span>"
        }.joined()
    }
}

extension AnswerBlame {
    /// The word for people, of where it failed; a token is missing for more reasons than the provider's.
    var words: HTMLText {
        switch self {
        case .nobody: "fine"
        case .client: "client"
        case .bearerd: "bearerd"
        case .provider: "token"
        case .upstream: "upstream"
        }
    }
}
