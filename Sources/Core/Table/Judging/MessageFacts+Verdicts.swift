/// The verdicts, with each rule about messages in one place.
extension MessageFacts {
    /// Returns the first refusal among the given checks, in the order of the message's kind.
    @inlinable
    public func refusal(_ checks: ClosedRange<Check>) -> Refusal? {
        for check in kind.checks where checks.contains(check) {
            if case .refused(let refusal) = verdict(check) { return refusal }
        }
        return nil
    }

    /// Returns the verdict of one check.
    @inlinable
    public func verdict(_ check: Check) -> Verdict {
        switch check {
        case .existence: existenceVerdict
        case .sender: senderVerdict
        case .trust: trustVerdict
        case .level: levelVerdict
        case .declaration: declarationVerdict
        case .node: nodeVerdict
        case .quarantine: Self.verdict(isQuarantined.map { !$0 }, else: .quarantine)
        case .owner: Self.verdict(presence.map { $0 != .absent }, else: .absent)
        case .start: startVerdict
        case .actions: actionsVerdict
        case .instance: instanceVerdict
        case .authorization: authorizationVerdict
        case .waiting, .requests, .parent, .depth, .room: .depends
        }
    }

    @inlinable
    static func verdict(_ passes: Bool?, else refusal: Refusal) -> Verdict {
        guard let passes else { return .depends }
        return passes ? .passed : .refused(refusal)
    }

    @inlinable
    var existenceVerdict: Verdict {
        switch existence {
        case nil: .depends
        case .found: .passed
        case .nobody: .refused(kind == .report ? .unknownModule : .unknownInterface)
        case .malformed: .refused(.malformed)
        case .url(let code): .refused(.url(code))
        // Each action of `bus` checks for itself who may call it.
        case .reserved("bus"): .depends
        // The body names the row.
        case .reserved("launcher") where isManaging: .depends
        case .reserved(let name): Refusal(ofReserved: name, to: sender).map { .refused($0) } ?? .passed
        }
    }

    @inlinable
    var senderVerdict: Verdict {
        switch sender {
        case .none, .module, .operator: .passed
        case .launcher: Self.verdict(kind == .event && isOfTheApp, else: .launcher)
        case .app: Self.verdict(kind == .open, else: .otherApp)
        case .link: .refused(.otherApp)
        case .nodeLink, .node: .refused(.nodeLink)
        }
    }

    @inlinable
    var trustVerdict: Verdict {
        guard skipsAuthorization else { return .free }
        return kind == .open ? .refused(.skipInOpen) : Self.verdict(isTrusted, else: .untrusted)
    }

    /// Whether the manifest's `calls` policy applies to it.
    @inlinable
    var isBound: Bool { sender == .module && kind != .open && !(kind == .call && isOwn) }

    @inlinable
    var levelVerdict: Verdict {
        guard isBound else { return .free }
        switch kind {
        case .open, .event: return .free
        // A broadcast is never refused here: `LevelRule.broadcastReaches` picks its observers.
        case .broadcast: return .passed
        case .report: return Self.verdict(LevelRule.reportMayGo(from: rank, to: targetRank), else: .level)
        case .call where policy == .any: return .free
        case .call: return Self.verdict(LevelRule.callMayGo(from: rank, to: targetRank), else: .level)
        }
    }

    @inlinable
    var declarationVerdict: Verdict {
        guard isBound else { return .free }
        if kind == .event { return Self.verdict(isDeclared, else: .unlistedEvent) }
        return policy == .declared ? Self.verdict(isDeclared, else: .undeclared) : .free
    }

    @inlinable
    var nodeVerdict: Verdict {
        switch reach {
        case nil: .free
        case .connected: .passed
        case .disconnected: .refused(.unreachable)
        }
    }

    /// A module that is starting would wait for itself if it waited for one that starts later.
    @inlinable
    var startVerdict: Verdict {
        guard let startStep, presence != .ready else { return .free }
        switch startStep {
        case .setUp: return .refused(.waitsInSetUp)
        case .initialize: return isOwn ? .refused(.waitsForItself) : Self.verdict(!startsLater, else: .waitsForLater)
        }
    }

    @inlinable
    var actionsVerdict: Verdict {
        switch offer {
        case .moved: .refused(.moved)
        case .missing: .refused(.notBrought)
        case .nobodys: .refused(.unknownInterface)
        case .brought: Self.verdict(hasAction, else: .unknownAction)
        case nil: .depends
        }
    }

    @inlinable
    var instanceVerdict: Verdict {
        switch (hasInstances, namesInstance) {
        case (nil, _): .depends
        case (false, false): .free
        case (false, true): .refused(.noInstances)
        case (true, false): .refused(.instanceMissing)
        case (true, true): Self.verdict(isSendersInstance, else: .unknownInstance)
        }
    }

    @inlinable
    var authorizationVerdict: Verdict {
        if isAuthorizers { return .free }
        guard let needsAuthorization else { return .depends }
        guard needsAuthorization, !skipsAuthorization else { return .free }
        // The authorizer decides each time.
        return hasAuthorizer == false ? .refused(.noAuthorizer) : .depends
    }
}
