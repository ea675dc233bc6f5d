// SPDX-License-Identifier: Apache-2.0

/// Knows the pieces of every secret that is held, or was a while ago, so that no text of a peer's that repeats one is shown.
///
/// It keeps keyed hashes of pieces of eight bytes, never a secret. A peer may have been told a secret by an earlier request,
/// or by another identity's, and repeat it whole or cut off: so a text is not compared with what its own request carried
/// alone.
struct HeldSecrets {
    /// Fewer bytes than these in common with a secret may be chance.
    static let piece = 8
    /// A secret is remembered for so long after it is forgotten.
    static let memory: Duration = .seconds(600)
    /// Every piece of a secret is kept up to so many pieces in all; beyond, of a long one the beginning, the end and each
    /// ``stride``th between: a copy shows by less than 40 bytes of it.
    static let mostDense = 1 << 17
    /// More pieces are not kept: of what is held no longer the oldest go first.
    static let most = 1 << 20
    private static let stride = 32
    private static let denseEnd = 24
    /// Longer ones are documents, which are never sent.
    private static let longestSecret = 1 << 14

    private struct Piece {
        var holders: UInt32 = 0
        /// When the last holder forgot it, in seconds since ``origin``.
        var end: UInt32 = 0
    }

    /// An instant that others are counted from.
    private let origin: ContinuousClock.Instant
    private var pieces: [UInt64: Piece] = [:]
    private var nextSweep = 1 << 12
    private var lastSweep: UInt32?
    private let ordinary: Set<UInt64>

    init(at origin: ContinuousClock.Instant) {
        self.origin = origin
        ordinary = OrdinaryWords.pieces
    }

    /// How many pieces are kept.
    var count: Int { pieces.count }

    // MARK: Secrets

    /// A secret is held from now on.
    ///
    /// - Returns: its pieces, to be given to ``release(_:at:)`` as often; none for what is no text, or a document.
    mutating func hold(
        _ secret: some RandomAccessCollection<UInt8>, at now: ContinuousClock.Instant
    ) -> [UInt64] {
        guard Self.piece...Self.longestSecret ~= secret.count, Self.isToken(secret) else { return [] }
        if pieces.count >= nextSweep { sweep(at: now) }
        guard pieces.count < Self.most else { return [] }
        let all = Self.pieces(of: secret)
        let (isDense, end, last) = (pieces.count < Self.mostDense, Self.denseEnd - Self.piece, all.count - 1)
        let chosen = all.indices.filter { index in
            isDense || index <= end || index >= last - end || index.isMultiple(of: Self.stride)
        }.map { all[$0] }
        // Many a secret has "token" in it; a text that speaks of tokens repeats none.
        let telling = chosen.filter { !ordinary.contains($0) }
        let kept = telling.isEmpty ? chosen : telling
        for piece in kept { pieces[piece, default: Piece()].holders += 1 }
        return kept
    }

    /// Somebody has forgotten a secret.
    mutating func release(_ held: [UInt64], at now: ContinuousClock.Instant) {
        let end = seconds(at: now)
        for piece in held {
            guard var known = pieces[piece], known.holders > 0 else { continue }
            known.holders -= 1
            known.end = end
            pieces[piece] = known
        }
    }

    /// No documents: their words are not secret, and they are never sent.
    private static func isToken(_ secret: some RandomAccessCollection<UInt8>) -> Bool {
        guard secret.first != UInt8(ascii: "{"), !secret.starts(with: "-----BEGIN".utf8) else { return false }
        let text = secret.last == UInt8(ascii: "\n") ? secret.dropLast() : secret[...]
        return !text.contains { $0 < 0x20 }
    }

    private mutating func sweep(at now: ContinuousClock.Instant) {
        var memory = UInt32(Self.memory / .seconds(1))
        let seconds = seconds(at: now)
        // Where most are held there is little to be had.
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

    /// Whether a text repeats a piece of a secret, as it is or in an encoding that somebody may undo.
    func isRepeated(in text: some Collection<UInt8>, at now: ContinuousClock.Instant) -> Bool {
        guard !pieces.isEmpty, text.count >= Self.piece else { return false }
        let seconds = seconds(at: now)
        let memory = UInt32(Self.memory / .seconds(1))
        return DisguisedText.readings(of: Array(text)).contains { reading in
            Self.pieces(of: reading).contains { piece in
                guard let known = pieces[piece] else { return false }
                return known.holders > 0 || seconds - known.end <= memory
            }
        }
    }

    /// The hash of every run of ``piece`` bytes, whatever their case.
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
            // Keyed anew in each process: the pieces of a forgotten secret cannot be put together again.
            var hasher = Hasher()
            hasher.combine(window)
            pieces.append(UInt64(bitPattern: Int64(hasher.finalize())))
        }
        return pieces
    }
}
