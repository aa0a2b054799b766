extension OverloadReport {
    func printTables(_ abuses: [Abuse], _ results: [Result], _ goals: [Goal]) {
        Console.say(
            "\n\("bystander, µs".padded(60)) p50      p99      calm p50 calm p99 × calm   alone p99")
        for (abuse, result) in zip(abuses, results) {
            let cells = [
                Result.p50(result.here), Result.p99(result.here), Result.p50(result.elsewhere),
                Result.p99(result.elsewhere),
            ].map { "\($0.rounded(toPlaces: 1))".padded(8) }
            Console.say(
                "  \(abuse.title.padded(58)) \(cells.joined(separator: " ")) "
                    + "\("\(result.ratio.rounded(toPlaces: 2))".padded(8)) \(Result.p99(result.nobody).rounded(toPlaces: 1))"
            )
        }
        Console.say("\n\("the broker's memory, KiB".padded(60)) before   peak     allowed  after    achieved a second")
        for (abuse, result) in zip(abuses, results) {
            guard let grown = result.grown, let tally = grown.abuse else { continue }
            let cells = [grown.before, grown.peak, grown.before + abuse.allowedGrowth, grown.after]
            let achieved = ["sent", "answers", "notices", "joined", "ended"].filter { tally.counts[$0] ?? 0 > 0 }
                .map { "\(Int(tally.rate($0))) \($0)" }
            Console.say(
                "  \(abuse.title.padded(58)) \(cells.map { "\($0)".padded(8) }.joined(separator: " ")) "
                    + achieved.joined(separator: ", "))
        }
        Console.say("\nwhat they were told")
        for (abuse, result) in zip(abuses, results) {
            for error in result.grown?.abuse?.errors ?? [] {
                Console.say(
                    "  \(abuse.name.padded(24)) \("\(error.count) ×".padded(10)) \(error.code): \(error.message)")
            }
        }
        Console.say("\n\("goal".padded(40)) \("wanted".padded(60)) found")
        for goal in goals {
            Console.say(
                "  \(goal.name.padded(38)) \(goal.wanted.padded(60)) \(goal.found.padded(10)) "
                    + (goal.isMet ? "met" : "NOT MET"))
        }
    }
}
