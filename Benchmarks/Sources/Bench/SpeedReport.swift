struct SpeedReport {
    init(isQuick: Bool, _ places: Places) {}
    func run(json: String?) throws {}
}
