// SPDX-License-Identifier: Apache-2.0

/// Recognises texts of peers that repeat a secret which the process holds or held a while ago, so that they are not
/// shown.
///
/// Keeps keyed hashes of all pieces of eight bytes, never a secret. A peer may know a secret from an earlier request
/// or another identity's, and may repeat a part of it; so it is not enough to compare a text with its own request.
struct HeldSecrets {
    /// The length of a piece in bytes; shorter matches may be chance.
    static let piece = 8
    /// Shorter secrets are not recognised at all; those shorter than a piece only by ``isShortRepeated(in:at:)``.
    static let shortest = 3
    /// The time that a secret is remembered after it was forgotten.
    static let memory: Duration = .seconds(600)
    /// Up to this number of pieces, every piece of a secret is kept.
    ///
    /// Beyond it the beginning, the end and each ``stride``th piece of a long secret are kept: a repeated part of 40 bytes is
    /// still recognised, up to ``mostStridden``.
    static let mostDense = 1 << 17
    /// Beyond this number ``fewest`` pieces are kept between beginning and end, however long a secret is, so that there is room
    /// for the two tokens of each of ten thousand callers.
    static let mostStridden = 1 << 18
    /// The limit on pieces; the oldest of forgotten secrets make room first.
    static let most = 5 << 18
    private static let stride = 32
    private static let fewest = 8
    private static let denseEnd = 24
    /// Longer texts are documents, which are never sent.
    private static let longestSecret = 1 << 16
    /// Of a longer one each ``stride``th piece is kept, as of those beyond ``mostDense``.
    private static let longestDense = 1 << 14

    private struct Piece {
        var holders: UInt32 = 0
        /// The time when the last holder forgot it, in seconds since ``origin``.
        var end: UInt32 = 0
    }

    /// The instant from which times are counted.
    private let origin: ContinuousClock.Instant
    private var pieces: [UInt64: Piece] = [:]
    private var nextSweep = 1 << 12
    private var lastSweep: UInt32?
    private let ordinary: Set<UInt64>

    init(at origin: ContinuousClock.Instant) {
        self.origin = origin
        ordinary = OrdinaryWords.pieces
    }

    var count: Int { pieces.count }

    // MARK: Secrets

    /// Notes that a secret is held.
    ///
    /// - Returns: its pieces, for ``release(_:at:)``; none for a text that is no token.
    mutating func hold(
        _ secret: some RandomAccessCollection<UInt8>, at now: ContinuousClock.Instant
    ) -> [UInt64] {
        guard Self.shortest...Self.longestSecret ~= secret.count, Self.isToken(secret) else { return [] }
        if pieces.count >= nextSweep { sweep(at: now) }
        guard pieces.count < Self.most else { return [] }
        guard secret.count >= Self.piece else {
            let whole = Self.whole(secret)
            pieces[whole, default: Piece()].holders += 1
            return [whole]
        }
        var chosen = Self.pieces(of: secret)
        if pieces.count >= Self.mostDense || secret.count > Self.longestDense {
            let (end, last) = (Self.denseEnd - Self.piece, chosen.count - 1)
            let stride =
                pieces.count < Self.mostStridden ? Self.stride : max(Self.stride, chosen.count / Self.fewest)
            chosen = chosen.indices.filter { index in
                index <= end || index >= last - end || index.isMultiple(of: stride)
            }.map { chosen[$0] }
        }
        // Many secrets contain words like "token", and a text with such a word repeats no secret. The others are kept
        // for as long as the secret, in no more memory than they need.
        var kept = chosen
        kept.removeAll(where: ordinary.contains)
        if kept.isEmpty { kept = chosen }
        for piece in kept { pieces[piece, default: Piece()].holders += 1 }
        return kept
    }

    /// Notes that a secret is held once less.
    mutating func release(_ held: [UInt64], at now: ContinuousClock.Instant) {
        let end = seconds(at: now)
        for piece in held {
            guard var known = pieces[piece], known.holders > 0 else { continue }
            known.holders -= 1
            known.end = end
            pieces[piece] = known
        }
    }

    /// Returns false for documents: their words are no secret, and they are never sent.
    private static func isToken(_ secret: some RandomAccessCollection<UInt8>) -> Bool {
        guard secret.first != UInt8(ascii: "{"), !secret.starts(with: "-----BEGIN".utf8) else { return false }
        let text = secret.last == UInt8(ascii: "\n") ? secret.dropLast() : secret[...]
        return !text.contains { $0 < 0x20 }
    }

    private mutating func sweep(at now: ContinuousClock.Instant) {
        var memory = UInt32(Self.memory / .seconds(1))
        let seconds = seconds(at: now)
        // At most one sweep per second: if most pieces are held, a sweep frees little.
        guard lastSweep != seconds else { return }
        lastSweep = seconds
        repeat {
            pieces = pieces.filter { $0.value.holders > 0 || seconds - $0.value.end <= memory }
            memory /= 2
        } while memory > 0 && pieces.count > Self.most / 4 * 3
        nextSweep = min(max(1 << 12, pieces.count * 2), Self.most)
    }

    private func seconds(at now: ContinuousClock.Instant) -> UInt32 {
        UInt32(clamping: Int((now - origin) / .seconds(1)))
    }

    // MARK: Texts

    /// Returns true if a text repeats a piece of a secret, plain or encoded.
    func isRepeated(in text: some Collection<UInt8>, at now: ContinuousClock.Instant) -> Bool {
        guard !pieces.isEmpty, text.count >= Self.piece else { return false }
        let seconds = seconds(at: now)
        return DisguisedText.readings(of: Array(text)).contains { reading in
            Self.pieces(of: reading).contains { isKnown($0, at: seconds) }
        }
    }

    /// Returns true if a text repeats a whole secret that is shorter than a piece, plain or encoded.
    ///
    /// In texts of strangers that is mostly chance; ask only about those of who knows the secret.
    func isShortRepeated(in text: some Collection<UInt8>, at now: ContinuousClock.Instant) -> Bool {
        let seconds = seconds(at: now)
        return DisguisedText.readings(of: Array(text)).contains { reading in
            (Self.shortest..<Self.piece).contains { length in
                guard reading.count >= length else { return false }
                return (0...reading.count - length).contains { start in
                    isKnown(Self.whole(reading[start..<start + length]), at: seconds)
                }
            }
        }
    }

    private func isKnown(_ piece: UInt64, at seconds: UInt32) -> Bool {
        guard let known = pieces[piece] else { return false }
        return known.holders > 0 || seconds - known.end <= UInt32(Self.memory / .seconds(1))
    }

    /// The hash of a whole short secret, without regard to case.
    private static func whole(_ bytes: some Collection<UInt8>) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes.count)
        for byte in bytes {
            hasher.combine(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte)
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// The hash of every run of ``piece`` bytes, without regard to case.
    static func pieces(of bytes: some RandomAccessCollection<UInt8>) -> [UInt64] {
        guard bytes.count >= piece else { return [] }
        var pieces: [UInt64] = []
        pieces.reserveCapacity(bytes.count - piece + 1)
        var window: UInt64 = 0
        var read = 0
        for byte in bytes {
            let folded = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
            window = window << 8 | UInt64(folded)
            read += 1
            guard read >= piece else { continue }
            // Hasher has a random key in each process, so a secret cannot be reconstructed from its pieces.
            var hasher = Hasher()
            hasher.combine(window)
            pieces.append(UInt64(bitPattern: Int64(hasher.finalize())))
        }
        return pieces
    }
}
