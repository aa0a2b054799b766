import Foundation
import Hummingbird
import NIOPosix
import StrataManifest
import StrataOperator

/// "Why not?": what the rules say of each message that a module could send. It reads the manifest each time,
/// because a reload may have changed it.
struct RuleRoutes: Sendable {
    let manifest: String?

    func add(to router: RouterGroup<PageContext>) {
        router.get("/api/matrix") { _, _ in
            try await judged { judge, manifest in RuleMatrix(judge, manifest).json }
        }
        router.get("/api/why") { request, _ in
            let query = request.uri.queryParameters
            guard let from = query["from"], let target = query["target"], !target.isEmpty else {
                throw HTTPError(.badRequest, message: "name a sender and a target: ?from=M&target=T")
            }
            let question = Question(
                from: String(from), target: String(target), kind: query["kind"].map(String.init),
                to: query["to"].map(String.init))
            return try await judged { judge, _ in try question.judgements(judge) }
        }
    }

    /// Reads the manifest and judges on a thread that may block.
    private func judged(_ body: @escaping @Sendable (Judge, Manifest) throws -> JSON) async throws -> Response {
        guard let manifest else {
            throw HTTPError(
                .notFound, message: "no manifest is known: give strata web the app's manifest with --manifest")
        }
        return try await NIOThreadPool.singleton.runIfActive {
            do {
                let manifest = try Manifest.load(path: manifest, environment: ProcessInfo.processInfo.environment)
                return .json(try body(Judge(manifest), manifest))
            } catch let errors as ManifestErrors {
                throw HTTPError(.conflict, message: "the manifest has errors: \(errors)")
            }
        }
    }
}

/// A message about which a person asks.
private struct Question: Sendable {
    let from: String
    let target: String
    let kind: String?
    let to: String?

    func judgements(_ judge: Judge) throws -> JSON {
        guard judge.modules.contains(from) else {
            throw HTTPError(.notFound, message: "no row of the manifest names \(from)")
        }
        return ["judgements": .array(try judged(judge).map(\.json))]
    }

    private func judged(_ judge: Judge) throws -> [Judgement] {
        switch kind {
        case "broadcast": return [judge.broadcast(target, from: from)]
        case "event": return [judge.emit(target, from: from)]
        case "report":
            guard let to else { throw HTTPError(.badRequest, message: "a report has a target: &to=MODULE") }
            return [judge.report(target, to: to, from: from)]
        case nil, "call", "open":
            if target.contains("://") { return [judge.open(target, from: from)] }
            if target.contains("/") || judge.interfaces.contains(target) { return [judge.call(target, from: from)] }
            if judge.notifications.contains(target) { return judge.notification(target, from: from) }
            return [judge.call(target, from: from)]
        case .some(let kind):
            throw HTTPError(.badRequest, message: "there is no kind \(kind): call, open, broadcast, event or report")
        }
    }
}

/// Each sender with each interface, and whether the bus would let a call through.
private struct RuleMatrix {
    let json: JSON

    init(_ judge: Judge, _ manifest: Manifest) {
        let rows = manifest.table.modules
        let ranks = Dictionary(rows.map { ($0.name, $0.rank) }) { $1 }
        func level(of module: String) -> [JSON.Member] {
            let rank = ranks[module] ?? 0
            return [
                .init("level", .string(manifest.table.levels[rank])), .init("rank", .integer(Int64(rank))),
            ]
        }
        let interfaces = judge.interfaces.compactMap { name in judge.provider(of: name).map { (name: name, module: $0) }
        }
        .sorted { (ranks[$0.module] ?? 0, $0.module, $0.name) < (ranks[$1.module] ?? 0, $1.module, $1.name) }
        let senders = rows.map(\.name)
        json = [
            "manifest": .string(manifest.path),
            "senders": .array(senders.map { .object([.init("name", .string($0))] + level(of: $0)) }),
            "interfaces": .array(
                interfaces.map {
                    .object(
                        [.init("name", .string($0.name)), .init("module", .string($0.module))] + level(of: $0.module))
                }),
            "cells": .array(
                senders.map { sender in
                    .array(
                        interfaces.map { interface in
                            guard interface.module != sender else { return "own" }
                            let judgement = judge.call(interface.name, from: sender)
                            if let code = judgement.code { return .string(code.rawValue) }
                            return judgement.depends ? "depends" : "allowed"
                        })
                }),
        ]
    }
}
