import StrataCore
import Testing

/// The verdict of each check on each message, and the order of the checks.
@Suite(.timeLimit(.hang))
struct VerdictTests {
    typealias Change = @Sendable (inout GivenFacts) -> Void

    /// One check's answer to one message.
    struct Case: Sendable, CustomTestStringConvertible {
        var check: Check
        var kind: MessageKind
        var verdict: Verdict
        var change: Change

        init(_ check: Check, of kind: MessageKind = .call, _ verdict: Verdict, _ change: @escaping Change = { _ in }) {
            self.check = check
            self.kind = kind
            self.verdict = verdict
            self.change = change
        }

        var testDescription: String { "\(check) of a \(kind): \(verdict)" }
    }

    private static let existence: [Case] = [
        Case(.existence, .passed),
        Case(.existence, .depends) { $0.existence = nil },
        Case(.existence, .refused(.unknownInterface)) { $0.existence = .nobody },
        Case(.existence, of: .open, .refused(.unknownInterface)) { $0.existence = .nobody },
        Case(.existence, of: .report, .refused(.unknownModule)) { $0.existence = .nobody },
        Case(.existence, .refused(.malformed)) { $0.existence = .malformed },
        Case(.existence, of: .open, .refused(.url(.unknownHost))) { $0.existence = .url(.unknownHost) },
        Case(.existence, .depends) { $0.existence = .reserved("bus") },
        Case(.existence, .refused(.ofTheBroker)) { $0.existence = .reserved("module") },
        Case(.existence, .refused(.unknownInterface)) { $0.existence = .reserved("operator") },
        Case(.existence, .refused(.ofOperators)) { $0.existence = .reserved("launcher") },
        Case(.existence, .refused(.ofOperators)) { ($0.existence, $0.sender) = (.reserved("launcher"), .launcher) },
        Case(.existence, .passed) { ($0.existence, $0.sender) = (.reserved("launcher"), .operator) },
        Case(.existence, .depends) { ($0.existence, $0.isManaging) = (.reserved("launcher"), true) },
        Case(.existence, .refused(.ofTheBroker)) { ($0.existence, $0.isManaging) = (.reserved("module"), true) },
    ]

    private static let sender: [Case] =
        MessageKind.allCases.flatMap { kind in
            [
                Case(.sender, of: kind, .passed),
                Case(.sender, of: kind, .passed) { $0.sender = .operator },
                Case(.sender, of: kind, .refused(.launcher)) { $0.sender = .launcher },
            ]
        } + [
            Case(.sender, of: .event, .passed) { ($0.sender, $0.isOfTheApp) = (.launcher, true) },
            Case(.sender, of: .call, .refused(.launcher)) { ($0.sender, $0.isOfTheApp) = (.launcher, true) },
            Case(.trust, .free),
            Case(.trust, .refused(.untrusted)) { $0.skipsAuthorization = true },
            Case(.trust, .passed) { ($0.skipsAuthorization, $0.isTrusted) = (true, true) },
            Case(.trust, of: .open, .refused(.skipInOpen)) { ($0.skipsAuthorization, $0.isTrusted) = (true, true) },
        ]

    private static let owner: [Case] = [
        Case(.node, .free),
        Case(.node, .passed) { $0.reach = .connected },
        Case(.node, .refused(.unreachable)) { $0.reach = .disconnected },
        Case(.quarantine, .passed),
        Case(.quarantine, .refused(.quarantine)) { $0.isQuarantined = true },
        Case(.quarantine, .depends) { $0.isQuarantined = nil },
        Case(.owner, .passed),
        Case(.owner, .passed) { $0.presence = .expected },
        Case(.owner, .refused(.absent)) { $0.presence = .absent },
        Case(.owner, .depends) { $0.presence = nil },
        Case(.start, .free) { $0.presence = .expected },
        Case(.start, .free) { $0.startStep = .setUp },
        Case(.start, .refused(.waitsInSetUp)) { ($0.presence, $0.startStep) = (.expected, .setUp) },
        Case(.start, .passed) { ($0.presence, $0.startStep) = (.expected, .initialize) },
        Case(.start, .refused(.waitsForLater)) {
            ($0.presence, $0.startStep, $0.startsLater) = (.expected, .initialize, true)
        },
        Case(.start, .refused(.waitsForItself)) {
            ($0.presence, $0.startStep, $0.isOwn) = (.expected, .initialize, true)
        },
    ]

    private static let service: [Case] = [
        Case(.actions, .passed),
        Case(.actions, .refused(.unknownAction)) { $0.hasAction = false },
        Case(.actions, .depends) { $0.hasAction = nil },
        Case(.actions, .depends) { $0.offer = nil },
        Case(.actions, .refused(.moved)) { $0.offer = .moved },
        Case(.actions, .refused(.notBrought)) { $0.offer = .missing },
        Case(.actions, .refused(.unknownInterface)) { $0.offer = .nobodys },
        Case(.instance, .free),
        Case(.instance, .depends) { $0.hasInstances = nil },
        Case(.instance, .refused(.noInstances)) { $0.namesInstance = true },
        Case(.instance, .refused(.instanceMissing)) { $0.hasInstances = true },
        Case(.instance, .refused(.unknownInstance)) { ($0.hasInstances, $0.namesInstance) = (true, true) },
        Case(.instance, .depends) {
            ($0.hasInstances, $0.namesInstance, $0.isSendersInstance) = (true, true, nil)
        },
        Case(.instance, .passed) { ($0.hasInstances, $0.namesInstance, $0.isSendersInstance) = (true, true, true) },
        Case(.authorization, .free),
        Case(.authorization, .depends) { $0.needsAuthorization = nil },
        Case(.authorization, .depends) { $0.needsAuthorization = true },
        Case(.authorization, .depends) { ($0.needsAuthorization, $0.hasAuthorizer) = (true, nil) },
        Case(.authorization, .refused(.noAuthorizer)) { ($0.needsAuthorization, $0.hasAuthorizer) = (true, false) },
        Case(.authorization, .free) { ($0.needsAuthorization, $0.isAuthorizers) = (true, true) },
        Case(.authorization, .free) {
            ($0.needsAuthorization, $0.skipsAuthorization, $0.hasAuthorizer) = (true, true, false)
        },
    ]

    @Test(arguments: existence + sender + owner + service)
    func eachCheckHasItsAnswer(_ asked: Case) {
        #expect(GivenFacts(asked.kind, asked.change).verdict(asked.check) == asked.verdict)
    }

    /// The bus makes these checks itself when it takes the place.
    @Test(arguments: [Check.waiting, .requests, .parent, .depth, .room])
    func whatTheMomentDecidesIsNotTheJudges(_ check: Check) {
        #expect(!check.isForeseeable)
        for kind in MessageKind.allCases where kind.checks.contains(check) {
            #expect(GivenFacts(kind).verdict(check) == .depends)
        }
    }

    // MARK: Levels and declarations

    /// Each message between each pair of levels, under each policy, declared or not.
    @Test(.promise("6.20", "7.2", "M.58"), arguments: [AppTable.CallPolicy.any, .layered, .declared])
    func policyJudgesLevelAndDeclaration(_ policy: AppTable.CallPolicy) {
        for (rank, target) in (0..<9).map({ ($0 / 3, $0 % 3) }) {
            for isDeclared in [false, true] {
                let facts = { (kind: MessageKind) in
                    GivenFacts(kind) {
                        ($0.policy, $0.rank, $0.targetRank, $0.isDeclared) = (policy, rank, target, isDeclared)
                    }
                }
                let mayGoUp = target <= rank ? Verdict.passed : .refused(.level)
                #expect(facts(.call).verdict(.level) == (policy == .any ? .free : mayGoUp))
                #expect(facts(.report).verdict(.level) == mayGoUp)
                #expect(facts(.broadcast).verdict(.level) == .passed)
                let declared: Verdict =
                    policy != .declared ? .free : isDeclared ? .passed : .refused(.undeclared)
                for kind in [MessageKind.call, .report, .broadcast] {
                    #expect(facts(kind).verdict(.declaration) == declared)
                }
                #expect(facts(.open).verdict(.level) == .free && facts(.open).verdict(.declaration) == .free)
                // A row's list of events counts under each policy.
                #expect(facts(.event).verdict(.declaration) == (isDeclared ? .passed : .refused(.unlistedEvent)))
            }
        }
    }

    /// A module's own interfaces, but not reports to itself, and operators are free of both.
    @Test(.promise("6.20")) func policyBindsModulesAndTheirMessagesToOthers() {
        let later: Change = { ($0.targetRank, $0.isDeclared) = (2, false) }
        for check in [Check.level, .declaration] {
            let own = GivenFacts(.call) {
                later(&$0)
                $0.isOwn = true
            }
            #expect(own.verdict(check) == .free)
            for kind in MessageKind.allCases {
                let tool = GivenFacts(kind) {
                    later(&$0)
                    $0.sender = .operator
                }
                #expect(tool.verdict(check) == .free)
            }
        }
        #expect(
            GivenFacts(.report) { ($0.isOwn, $0.isDeclared) = (true, false) }.verdict(.declaration)
                == .refused(.undeclared))
    }

    // MARK: Order

    /// The protocol's sections 6, 7, 9 and 11.
    @Test(.promise("6.19")) func checksComeInTheProtocolsOrder() {
        let owner = "node quarantine owner start waiting"
        let places = "requests parent depth"
        let names = { (kind: MessageKind) in kind.checks.map(\.name).joined(separator: " ") }
        #expect(
            names(.call)
                == "existence sender trust level declaration \(owner) actions instance \(places) authorization room")
        #expect(
            names(.open)
                == "sender trust existence level declaration \(owner) \(places) actions instance authorization room")
        #expect(names(.report) == "sender existence level declaration node owner start waiting \(places) room")
        #expect(names(.broadcast) == "sender declaration room level")
        #expect(names(.event) == "sender declaration requests")
    }

    /// The changes that make each check refuse, as far as the judge decides it.
    private static let refusing: [(check: Check, change: Change)] = [
        (.existence, { $0.existence = .nobody }), (.sender, { $0.sender = .launcher }),
        (.trust, { $0.skipsAuthorization = true }), (.level, { $0.targetRank = 2 }),
        (.declaration, { $0.isDeclared = false }), (.node, { $0.reach = .disconnected }),
        (.quarantine, { $0.isQuarantined = true }),
        (.owner, { $0.presence = .absent }), (.start, { ($0.presence, $0.startStep) = (.expected, .setUp) }),
        (.actions, { $0.hasAction = false }), (.instance, { $0.namesInstance = true }),
        (.authorization, { ($0.needsAuthorization, $0.hasAuthorizer) = (true, false) }),
    ]

    /// If two checks refuse, the bus answers with the first, and `strata why` shows both.
    @Test(.promise("6.19"), arguments: MessageKind.allCases)
    func theFirstCheckThatRefusesIsTheAnswer(_ kind: MessageKind) throws {
        var pairs = 0
        for (place, first) in Self.refusing.enumerated() {
            for second in Self.refusing[(place + 1)...] {
                let facts = GivenFacts(kind) {
                    first.change(&$0)
                    second.change(&$0)
                }
                let refused = kind.checks.filter { if case .refused = facts.verdict($0) { true } else { false } }
                guard refused.contains(first.check), refused.contains(second.check) else { continue }
                pairs += 1
                let answer = facts.refusal(.existence ... .room)
                #expect(.refused(try #require(answer)) == facts.verdict(refused[0]))
            }
        }
        #expect((pairs > 0) == (kind != .event && kind != .broadcast), "\(pairs)")
        #expect(GivenFacts(kind).refusal(.existence ... .room) == nil)
    }

    @Test func eachRefusalHasTheProtocolsCode() {
        let codes: [(Refusal, ErrorCode)] = [
            (.malformed, .unknownInterface), (.unknownInterface, .unknownInterface), (.unknownModule, .unknownModule),
            (.url(.badURL), .badURL), (.url(.unknownPath), .unknownPath), (.ofTheBroker, .forbidden),
            (.ofOperators, .forbidden), (.launcher, .forbidden), (.skipInOpen, .forbidden), (.untrusted, .forbidden),
            (.level, .levelViolation), (.undeclared, .undeclared), (.unlistedEvent, .forbidden),
            (.unreachable, .unavailable), (.quarantine, .unavailable), (.absent, .unavailable),
            (.waitsInSetUp, .unavailable),
            (.waitsForItself, .unavailable), (.waitsForLater, .unavailable), (.moved, .unavailable),
            (.notBrought, .unavailable), (.unknownAction, .unknownAction), (.noInstances, .unknownInstance),
            (.instanceMissing, .unknownInstance), (.unknownInstance, .unknownInstance),
            (.noAuthorizer, .unauthorized),
        ]
        for (refusal, code) in codes { #expect(refusal.code == code) }
    }
}
